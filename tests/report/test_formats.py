import json
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from fireassay.core import (
    Assumption,
    Chart,
    Claim,
    DataError,
    Estimate,
    Evidence,
    Measure,
    ParameterError,
    Provenance,
    Sample,
    Table,
)
from fireassay.core.drawing import bars
from fireassay.report import About, Report, result_schema
from fireassay.report.exports import to_summary
from fireassay.report.first_screen import first_screen
from fireassay.report.page_charts import csp_hash
from fireassay.report.verdict import HEADS

HOSTILE = "</script><script>alert(1)</script> {{7*7}} =cmd() & \" ' \x00 \ud83d\ude00"
HOSTILE = HOSTILE.encode("utf-16", "surrogatepass").decode("utf-16")


def full(text="fine"):
    return Evidence(
        "reliability",
        text,
        claims=(Claim(text, True),),
        estimates={text: Estimate(0.1, 0.0, 0.2, 0.95, 3, text)},
        assumptions=(Assumption(text, "contradicted", text, "an-id"),),
        tables={text: Table((text,), ((text,), (float("nan"),)), text)},
        charts={text: Chart(bars([(text, 1.0)], text), text, text)},
        samples=(Sample(text, text, truth=text, said=text, text=((text, 1.0),)),),
        limits=(text,),
        provenance=Provenance(seed=0, model_sha256="ab"),
    )


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.sources, self.text = [], [], ""
        self.scripts, self.policy = [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.sources += [value for name, value in attrs if name in ("src", "href", "srcset")]
        assert not [name for name, _ in attrs if name.startswith("on")]
        given = dict(attrs)
        if tag == "script":
            self.scripts.append((given["type"], []))
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policy = given["content"]

    def handle_data(self, data):
        if self.lasttag == "script" and self.cdata_elem == "script":
            self.scripts[-1][1].append(data)
        else:
            self.text += data

    def check_scripts(self):
        """One script runs, and the policy names its hash; the others are data."""
        kinds = [kind for kind, _ in self.scripts]
        assert sorted(set(kinds)) == ["application/json", "module"]
        (running,) = ("".join(text) for kind, text in self.scripts if kind == "module")
        assert f"script-src {csp_hash(running)}" in self.policy
        assert "unsafe" not in self.policy
        for kind, text in self.scripts:
            if kind == "application/json":
                json.loads("".join(text))


def test_hostile_names_are_shown_as_text(tmp_path):
    report = Report([full(HOSTILE), Evidence.failed("survival", HOSTILE)], title=HOSTILE)
    page = Page(report.to_html(tmp_path / "r.html").read_text().replace("\N{NO-BREAK SPACE}", " "))
    page.check_scripts()
    assert "<script>alert(1)</script> {{7*7}}" in page.text
    ElementTree.fromstring(report.to_junit(tmp_path / "r.xml").read_text())
    assert json.loads(report.to_json(tmp_path / "r.json").read_text())["title"] == HOSTILE
    card = report.to_model_card(tmp_path / "card.md").read_text()
    assert "<script>" not in card.split("---", 2)[2]
    for line in report.to_gsn(tmp_path / "r.yaml").read_text().splitlines():
        key, _, value = line.strip().partition(": ")
        if key == "text":
            assert isinstance(json.loads(value), str)


def test_the_page_needs_no_network_and_runs_one_script_of_ours(tmp_path):
    page = Page(
        Report([full()]).to_html(tmp_path / "r.html").read_text().replace("\N{NO-BREAK SPACE}", " ")
    )
    assert all(source.startswith(("#", "data:image/")) for source in page.sources)
    page.check_scripts()
    assert not {"link", "iframe", "object"} & set(page.tags)
    assert "svg" in page.tags  # drawn without the script, too


def described(**changes):
    """A part with a share whose independence the data contradicts."""
    label = Measure("error", "Wrong on labelled rows", "share", "low", "How often it is wrong.")
    return Evidence(
        "accuracy",
        "Right on 97 %.",
        estimates={
            "error": Estimate(
                0.0312, 0.0198, 0.0468, 0.95, 400, "Wilson", rests_on=("independent-rows",)
            )
        },
        assumptions=(Assumption("Independent.", "contradicted", "9 repeat.", "independent-rows"),),
        measures=(label,),
        **changes,
    )


def test_every_number_stands_with_label_interval_n_method_and_name_for_gates(tmp_path):
    page = (
        Report([described()])
        .to_html(tmp_path / "r.html")
        .read_text()
        .replace("\N{NO-BREAK SPACE}", " ")
    )
    text = Page(page).text
    for words in (
        "Wrong on labelled rows",
        "How often it is wrong.",
        "3.1 % [2.0, 4.7]",
        "95 %",
        "accuracy.error",
    ):
        assert words in text
    assert (
        "inf"
        not in Page(Report([full_nan("discovery")]).to_html(tmp_path / "n.html").read_text()).text
    )


def test_a_number_that_rests_on_a_contradicted_assumption_is_struck_through(tmp_path):
    page = (
        Report([described()])
        .to_html(tmp_path / "r.html")
        .read_text()
        .replace("\N{NO-BREAK SPACE}", " ")
    )
    assert "<s>3.1 % [2.0, 4.7]</s>" in page
    assert "Contradicted (independent-rows): 9 repeat." in page


def test_an_accepted_assumption_is_said_wherever_the_number_is(tmp_path):
    reason = "one row per patient, see protocol 7"
    report = Report([described()], accepted={"independent-rows": reason})
    gates = {"max": {"error": 0.05}}
    page = report.to_html(tmp_path / "r.html", gates).read_text()
    assert "<s>" not in page
    assert page.count(reason) >= 2
    assert reason in report.to_junit(tmp_path / "r.xml", gates).read_text()
    assert reason in report.to_gsn(tmp_path / "r.yaml", gates).read_text()
    assert reason in report.to_model_card(tmp_path / "c.md", gates).read_text()
    path = report.to_json(tmp_path / "r.json")
    assert json.loads(path.read_text())["accepted"] == {"independent-rows": reason}
    assert Report.from_json(path).verdict(gates).status == "pass"


STATES = {
    "pass": {"max": {"fine": 0.3}},
    "fail": {"min": {"fine": 0.3}},
    "not enough evidence": {"max": {"fine": 0.1}},
    "no limits set": {},
}
SHAPES = {"pass": "✓", "fail": "✗", "not enough evidence": "?", "no limits set": "○"}


def plain():
    fine = Estimate(0.1, 0.0, 0.2, 0.95, 3, "m")
    supported = Assumption("s", "supported", "c")
    evidence = Evidence("reliability", "h", estimates={"fine": fine}, assumptions=(supported,))
    return Report([replace(evidence, claims=(Claim("so", True),))])


@pytest.mark.parametrize("state", STATES)
def test_the_page_starts_with_the_verdict_and_only_a_pass_is_green(tmp_path, state):
    page = plain().to_html(tmp_path / "r.html", STATES[state]).read_text()
    body = page[page.index("<body>") :]
    box = body[body.index('<section class="verdict') : body.index("</section>")]
    assert body.index('<section class="verdict') < body.index("<nav")
    assert HEADS[state] in box
    assert f'aria-hidden="true">{SHAPES[state]}</span>' in box
    greens = [tag for tag in body.split("<") if "class=" in tag and "good" in tag.split(">")[0]]
    assert bool(greens) == (state == "pass")


@pytest.mark.parametrize("state", STATES)
def test_every_form_says_the_verdict(tmp_path, state):
    report, gates = plain(), STATES[state]
    goal = report.to_gsn(tmp_path / "r.yaml", gates).read_text().split("C1:")[0]
    assert ("undeveloped: true" in goal) == (state != "pass")
    assert ("supportedBy: [S1]" in goal) == (state == "pass")
    assert f"**Verdict: {HEADS[state]}" in report.to_model_card(tmp_path / "c", gates).read_text()
    suite = ElementTree.fromstring(report.to_junit(tmp_path / "r.xml", gates).read_text())
    kind = {"fail": "failure", "not enough evidence": "error", "no limits set": "skipped"}.get(
        state
    )
    case = suite.findall("testcase[@classname='fireassay.gates']")[0]
    assert [child.tag for child in case] == ([kind] if kind else [])
    if state == "no limits set":
        assert case[0].get("message") == "no limits set"


def test_the_page_shows_failures_and_gates(tmp_path):
    report = Report([full(), Evidence.failed("survival", "disk full")])
    gates = {"max": {"fine": 0.1, "survival.standing_share": 1}}
    text = Page(report.to_html(tmp_path / "r.html", gates).read_text()).text
    assert "Failed: disk full" in text
    assert "survival is failed: disk full" in text


def test_stale_and_partial_parts_are_marked_everywhere(tmp_path):
    parts = [described(stale="another model"), replace(full(), partial="stopped after 2 minutes")]
    report = Report(parts)
    page = Page(
        report.to_html(tmp_path / "r.html").read_text().replace("\N{NO-BREAK SPACE}", " ")
    ).text
    assert "Stale: made with another model." in page
    assert "Partial: stopped after 2 minutes" in page
    assert "(done, stale)" in report.to_model_card(tmp_path / "c.md").read_text()
    goals = report.to_gsn(tmp_path / "r.yaml").read_text()
    assert "[stale]" in goals
    assert "Sn1" not in goals
    again = Report.from_json(report.to_json(tmp_path / "r.json"))
    assert again["accuracy"].stale == "another model"
    assert again["reliability"].partial == "stopped after 2 minutes"
    assert "accuracy (stale): Right on 97 %." in str(again)


def test_the_frame_has_one_row_per_number_and_print_is_readable():
    report = Report([described(), full_nan("discovery")], title="Digits")
    frame = report.frame()
    assert list(frame.columns) == [
        "part", "name", "label", "value", "low", "high", "confidence", "n", "kind", "method",
    ]  # fmt: skip
    assert frame.loc[0, "label"] == "Wrong on labelled rows"
    assert frame["name"].tolist() == ["error", "x"]
    text = str(report)
    assert text.startswith("Digits\n\naccuracy: Right on 97 %.")
    assert "Wrong on labelled rows: 3.1 % [2.0, 4.7] (n = 400)  (contradicted by the data)" in text


def test_json_round_trip_and_equal_bytes(tmp_path):
    report = Report([full(), Evidence.not_available("survival", "no torch")], title="t")
    first = report.to_json(tmp_path / "a.json")
    again = Report.from_json(first)
    assert again.to_json(tmp_path / "b.json").read_bytes() == first.read_bytes()
    document = json.loads(first.read_text())
    assert document["parts"]["survival"]["status"] == "not available"
    assert document["parts"]["reliability"]["estimates"]["fine"]["high"] == 0.2


@pytest.mark.parametrize(
    "text", ["{}", "[]", '{"schema_version": 99}', '{"schema_version": 1}', "nonsense"]
)
def test_files_that_are_no_result_are_refused(tmp_path, text):
    (tmp_path / "r.json").write_text(text)
    with pytest.raises(DataError):
        Report.from_json(tmp_path / "r.json")


def test_a_result_of_an_older_schema_is_refused_by_name(tmp_path):
    path = Report([full()]).to_json(tmp_path / "r.json")
    path.write_text(path.read_text().replace('"schema_version": 3', '"schema_version": 1'))
    with pytest.raises(DataError, match=r"schema version 3. Got version 1.*new folder"):
        Report.from_json(path)


def test_junit_counts_failures_errors_and_skips(tmp_path):
    parts = [full(), Evidence.failed("survival", "x"), Evidence.not_available("curation", "y")]
    path = Report(parts).to_junit(tmp_path / "r.xml", gates={"min": {"fine": 0.3}})
    suite = ElementTree.fromstring(path.read_text())
    assert {key: suite.get(key) for key in ("tests", "failures", "errors", "skipped")} == {
        "tests": "3",
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
    assert "| fine | 0\\.10 \\[0\\.00, 0\\.20\\] | 95 % | 3 | fine | reliability\\.fine |" in body
    assert "| not estimable |" in body.replace("x | ", "| ")


def test_a_summary_says_what_changed_and_where_the_whole_report_is():
    error = Estimate(0.04, 0.02, 0.06, 0.95, 500, "known")
    part = Evidence("accuracy", "Wrong on 4 %.", estimates={"error": error})
    verdict = Report([part]).verdict({"max": {"accuracy.error": 0.1}})
    about = About("m.onnx", (), 0, change="Since the last run error went from 5 to 4 %.")
    told = to_summary("runs/two", first_screen([part], verdict, None, about))
    assert "Since the last run error went from 5 to 4 %" in told.replace("\\", "")
    assert told.rstrip().endswith("Whole report: `runs/two/report.html`")
