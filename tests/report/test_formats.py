import json
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from fireassay.core import (
    Assumption,
    Claim,
    DataError,
    Estimate,
    Evidence,
    ParameterError,
    Picture,
    Provenance,
    Table,
)
from fireassay.report import Report, result_schema

HOSTILE = "</script><script>alert(1)</script> {{7*7}} =cmd() & \" ' \x00 \ud83d\ude00"
HOSTILE = HOSTILE.encode("utf-16", "surrogatepass").decode("utf-16")


def full(text="fine"):
    return Evidence(
        "reliability",
        text,
        claims=(Claim(text, True),),
        estimates={text: Estimate(0.1, 0.0, 0.2, 0.95, 3, text)},
        assumptions=(Assumption(text, "contradicted", text),),
        tables={text: Table((text,), ((text,), (float("nan"),)), text)},
        figures={text: Picture("<svg xmlns='http://www.w3.org/2000/svg'/>", text, text)},
        limits=(text,),
        provenance=Provenance(seed=0, model_sha256="ab"),
    )


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.sources, self.text = [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.sources += [value for name, value in attrs if name in ("src", "href", "srcset")]
        assert not [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data):
        self.text += data


def test_hostile_names_are_shown_as_text(tmp_path):
    report = Report([full(HOSTILE), Evidence.failed("survival", HOSTILE)], title=HOSTILE)
    page = Page(report.to_html(tmp_path / "r.html").read_text())
    assert "script" not in page.tags
    assert "<script>alert(1)</script> {{7*7}}" in page.text
    ElementTree.fromstring(report.to_junit(tmp_path / "r.xml").read_text())
    assert json.loads(report.to_json(tmp_path / "r.json").read_text())["title"] == HOSTILE
    card = report.to_model_card(tmp_path / "card.md").read_text()
    assert "<script>" not in card.split("---", 2)[2]
    for line in report.to_gsn(tmp_path / "r.yaml").read_text().splitlines():
        key, _, value = line.strip().partition(": ")
        if key == "text":
            assert isinstance(json.loads(value), str)


def test_the_page_needs_no_network_and_no_script(tmp_path):
    page = Page(Report([full()]).to_html(tmp_path / "r.html").read_text())
    assert all(source.startswith(("#", "data:image/")) for source in page.sources)
    assert not {"script", "link", "iframe", "object"} & set(page.tags)


def test_every_number_stands_with_interval_n_and_method(tmp_path):
    text = Page(Report([full()]).to_html(tmp_path / "r.html").read_text()).text
    assert "0.1 [0, 0.2]" in text
    assert "95 %" in text


def test_the_page_shows_failures_and_gates(tmp_path):
    report = Report([full(), Evidence.failed("survival", "disk full")])
    page = report.to_html(tmp_path / "r.html", gates={"max": {"fine": 0.1}})
    text = Page(page.read_text()).text
    assert "Failed: disk full" in text
    assert "upper end 0.2, must be at most 0.1" in text


def test_json_round_trip_and_equal_bytes(tmp_path):
    report = Report([full(), Evidence.not_available("survival", "no torch")], title="t")
    first = report.to_json(tmp_path / "a.json")
    again = Report.from_json(first)
    assert again.to_json(tmp_path / "b.json").read_bytes() == first.read_bytes()
    document = json.loads(first.read_text())
    assert document["parts"]["survival"]["status"] == "not available"
    assert document["parts"]["reliability"]["estimates"]["fine"]["high"] == 0.2


@pytest.mark.parametrize("text", ["{}", "[]", '{"schema_version": 99}', "nonsense"])
def test_files_that_are_no_result_are_refused(tmp_path, text):
    (tmp_path / "r.json").write_text(text)
    with pytest.raises(DataError):
        Report.from_json(tmp_path / "r.json")


def test_junit_counts_failures_errors_and_skips(tmp_path):
    parts = [full(), Evidence.failed("survival", "x"), Evidence.not_available("curation", "y")]
    path = Report(parts).to_junit(tmp_path / "r.xml", gates={"max": {"fine": 0.0}})
    suite = ElementTree.fromstring(path.read_text())
    assert {key: suite.get(key) for key in ("tests", "failures", "errors", "skipped")} == {
        "tests": "4",
        "failures": "1",
        "errors": "1",
        "skipped": "1",
    }


def test_one_answer_per_question():
    with pytest.raises(ParameterError, match="one answer per question"):
        Report([full(), full()])


def test_the_published_schema_fits_what_is_written(tmp_path):
    jsonschema = pytest.importorskip("jsonschema")
    parts = [full(), full_nan("discovery"), Evidence.failed("survival", "x")]
    document = json.loads(Report(parts).to_json(tmp_path / "r.json").read_text())
    jsonschema.validate(document, result_schema())
    document["parts"]["survival"]["status"] = "passed"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, result_schema())


def test_the_schema_on_the_web_is_the_one_in_the_code():
    published = Path(__file__).parents[2] / "docs" / "result.schema.json"
    assert json.loads(published.read_text()) == result_schema()


def full_nan(question):
    nothing = Estimate(float("nan"), float("nan"), float("inf"), 0.95, 0, "m")
    return Evidence(question, "h", estimates={"x": nothing})


def test_the_card_lists_numbers_and_metadata(tmp_path):
    card = Report([full(), full_nan("discovery")], title="t: x").to_model_card(tmp_path / "c.md")
    text = card.read_text()
    head, body = text.split("---\n")[1:3]
    assert '- name: "t: x"' in head
    assert "value: 0.1" in head
    assert "nan" not in head
    assert "| fine | 0.1 | 0 to 0.2 | 0.95 | 3 | fine |" in body
