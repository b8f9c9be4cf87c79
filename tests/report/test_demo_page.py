"""The first report anyone sees: the demo's, as people meet it."""

import json
import os
import re
import shutil
import warnings
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fireassay.cli.main import app
from fireassay.core import AssumptionWarning

pytestmark = [pytest.mark.slow, pytest.mark.extras]
_SENTENCE = re.compile(r'<p class="sentence">(.*?)</p>')
_NUMBER = re.compile(r"\d[\d.,]*")
_ATTACKED = re.compile(r"With \d+ tries and changes up to [\d./]+|held to \d+ %|[\d.]+ expected")


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo") / "demo"
    made = os.environ.get("FIREASSAY_SAMPLE")  # by "make docs": the same command goes on from there
    if made and Path(made).is_dir():
        shutil.copytree(made, folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)  # of its ambiguous inputs: it is meant
        done = CliRunner().invoke(app, ["demo", "--output", str(folder)])
    assert done.exit_code == 0, done.output  # whatever its verdict
    assert f"report: {folder / 'report.html'}" in done.output
    return folder


@pytest.fixture(scope="module")
def text(demo):
    return (demo / "report.html").read_text().replace("\N{NO-BREAK SPACE}", " ")


def test_it_answers_every_question_and_shows_all_three_states(demo, text):
    result = json.loads((demo / "result.json").read_text())["parts"]
    assert {part["status"] for part in result.values()} == {"done"}
    accuracy = result["accuracy"]["estimates"]["accuracy"]
    assert 0.9 < accuracy["low"] < accuracy["value"] < accuracy["high"] < 1
    assert json.loads((demo / "timings.json").read_text())["accuracy"] > 0
    first = text[text.index("<body>") : text.index("<main>")]
    states = re.findall(r'<span class="state \w+">. ([\w ]+)</span>', first)
    assert sorted(states) == ["met", "not met", "undecided"]
    for words in ("Why: the worst inputs", "Do next", "Do not rely on"):
        assert words in first


def test_every_sentence_is_short_and_has_one_number(text):
    sentences = [re.sub(r"</?s>", "", found) for found in _SENTENCE.findall(text)]
    assert len(sentences) == 7
    for sentence in sentences:
        assert len(sentence.split()) <= 20, sentence
        assert len(_NUMBER.findall(_ATTACKED.sub("", sentence))) <= 1, sentence


def test_no_machine_talk_outside_the_column_for_gates(text):
    body = re.sub(r"<script.*?</script>|<svg.*?</svg>|<code>.*?</code>", "", text, flags=re.S)
    shown = re.sub(r"<[^>]+>", " ", body[body.index("<body>") :])
    assert not re.search(r"\binf\b|\bnan\b|\bn=\d|\d%", shown)  # "95 %" is written one way
    unfolded = re.sub(r"<details.*?</details>", "", body, flags=re.S)
    assert not re.search(r"[a-z]_[a-z]", re.sub(r"<[^>]+>", " ", unfolded[body.index("<body>") :]))


def test_every_part_shows_samples_and_a_page_stays_a_page(demo, text):
    sections = text[text.index("<main>") :].split('<section id="part-')[1:]
    assert len(sections) == 7
    for section in sections:
        assert section.count("row") > 2
        assert "<li>" in section or 'class="samples' in section
    assert text.count("<img ") <= 600  # 200 samples, of which attacked ones have three pictures
    assert (demo / "report.html").stat().st_size < 5_000_000


@pytest.mark.parametrize(
    ("scheme", "width"), [("light", 1200), ("dark", 1200), ("light", 390)],
    ids=["light", "dark", "phone"],
)  # fmt: skip
def test_no_barrier_and_nothing_beside_the_screen(demo, browser, barriers, scheme, width):
    context = browser.new_context(
        color_scheme=scheme, viewport={"width": width, "height": 900}, bypass_csp=True
    )
    page = context.new_page()
    page.goto((demo / "report.html").as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert barriers(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    context.close()


def test_a_cell_of_the_pair_matrix_opens_its_pictures(demo, browser):
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    said = []
    page.on("console", lambda message: said.append(message.text))
    page.goto((demo / "report.html").as_uri())
    section = page.locator("#part-3")
    section.scroll_into_view_if_needed()
    section.locator(".chart[data-drawn=live]").first.wait_for()
    cell = section.locator(".chart-live g.mark-rect path").first.bounding_box()
    page.mouse.click(cell["x"] + 5, cell["y"] + 5)
    shown = page.locator(".marked .group:target")
    shown.wait_for(state="visible", timeout=5000)
    assert shown.locator("img").count() >= 1
    assert said == []  # the policy forbids nothing that the page does
    page.close()


def test_it_prints_on_at_most_eight_pages(demo, browser):
    page = browser.new_page()
    page.goto((demo / "report.html").as_uri())
    printed = page.pdf(prefer_css_page_size=True)
    assert 3 <= len(re.findall(rb"/Type /Page\b", printed)) <= 8
    page.close()


def test_beside_the_digits_stands_a_clinical_table_with_patients_slices_and_costs(demo):
    result = json.loads((demo / "clinical" / "result.json").read_text())["parts"]["accuracy"]
    assert result["status"] == "done"
    assert result["estimates"]["expected_cost"]["low"] > 0
    assert result["estimates"]["sensitivity[sepsis]"]["method"].count("group")
    page = (demo / "clinical" / "report.html").read_text()
    assert "synthetic" in page
    first = page[page.index("<body>") : page.index("<main>")]
    states = re.findall(r'<span class="state (\w+)">', first)
    assert len(set(states)) == 3  # a limit that is met, one that is not, one undecided
    table = (demo / "synthetic-admissions.csv").read_text().splitlines()
    assert table[0] == "admission,patient,ward,sex,age,truth,probability"
    assert len(table) > 1_500
