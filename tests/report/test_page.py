"""The first screen: what it is about, the verdict and its bars, what to do, what not to trust."""

import re
from dataclasses import replace

import pytest

from fireassay.core import Assumption, Cell, Estimate, Evidence, Measure, Sample
from fireassay.report import About, DataFacts, Report
from fireassay.report.gates import Gate
from fireassay.report.page_charts import interval_bar

PMI = {
    "pmi": Estimate(0.047, 0.032, 0.066, 0.95, 719, "m"),
    "pmi_upper": Estimate.bound(0.0655, 0.975, 719, "m"),
    "pmi_lower": Estimate.bound(0.032, 0.975, 719, "m"),
}
UPPER = Measure("pmi_upper", "Wrong in the field, at most", "share", "low", "A bound.")
PART = Evidence(
    "reliability",
    "At most 6.6 % (97.5 % confidence).",
    estimates=PMI,
    measures=(UPPER,),
    answer="pmi_upper",
    sentence="At most 6.6 % of inputs will be misclassified.",
    limits=("Nothing about attacks.",),
)
ABOUT = About(
    "net.onnx",
    (DataFacts("test.npz", 719, labelled=True, groups=312), DataFacts("t.npz", 1, role="x")),
    7,
    "2026-11-16T22:00:00+00:00",
)


def page_of(report, tmp_path, gates=()):
    text = report.to_html(tmp_path / "r.html", gates).read_text()
    return text.replace("\N{NO-BREAK SPACE}", " ")


def test_model_data_sizes_day_and_seed_are_on_the_first_screen(tmp_path):
    page = page_of(Report([PART], about=ABOUT), tmp_path)
    for words in ("net.onnx", "test.npz, 719 labelled rows of 312 groups", "16 November 2026"):
        assert words in page
    assert "seed 7" in page
    assert "t.npz, 1 row x" in page
    assert About.from_dict(ABOUT.to_dict()) == ABOUT


def test_the_bar_of_a_bound_has_its_sibling_and_the_limit_inside():
    bar = interval_bar(UPPER, PMI, Gate("pmi_upper", "max", 0.05))
    assert 0 < bar.low < bar.value < bar.limit < bar.high < 100
    assert bar.keeps == (0.0, bar.limit)
    # On the line, distances are as the numbers': (0.05 - 0.032) / (0.0655 - 0.032).
    where = (bar.limit - bar.low) / (bar.high - bar.low)
    assert where == pytest.approx((0.05 - 0.032) / (0.0655 - 0.032), abs=0.01)
    assert "limit ≤ 5 %" in bar.words


def test_what_not_to_rely_on_and_what_was_not_answered(tmp_path):
    against = Assumption("From the field.", "contradicted", "AUROC 0.8.", "labels-from-the-field")
    resting = {k: replace(e, rests_on=("labels-from-the-field",)) for k, e in PMI.items()}
    parts = [
        replace(PART, estimates=resting, assumptions=(against,)),
        Evidence.not_available("survival", "no bounds"),
        Evidence.failed("discovery", "disk full"),
    ]
    page = page_of(Report(parts), tmp_path)
    first = page[page.index("<body>") : page.index("<main>")]
    assert "Do not rely on" in first
    assert "the data contradicts that from the field." in first
    assert "<strong>discovery</strong>: failed (disk full)" in first
    assert "survival: no bounds" in first
    assert "<s>At most 6.6 % of inputs will be misclassified.</s>" in page
    accepted = Report(parts, accepted={"labels-from-the-field": "protocol 7"})
    text = page_of(accepted, tmp_path)
    assert "<s>At most 6.6 %" not in text
    assert "protocol 7" in text
    gated = page_of(accepted, tmp_path, {"max": {"pmi_upper": 0.1}})
    assert "protocol 7" in gated[gated.index("<body>") : gated.index("<main>")]


def test_samples_stand_beside_their_part_and_the_worst_first_of_all(tmp_path):
    shown = Sample(17, "wrong, and sure", truth="<cat>", said="dog", confidence=0.99)
    row = Sample("r3", "odd", cells=(Cell("age", "97", unusual=True, usual="31 to 64"),))
    parts = [
        replace(PART, samples=(shown,) * 20),
        Evidence("accuracy", "h", samples=(row,), withheld=0),
        Evidence("survival", "h", withheld=5),
    ]
    page = page_of(Report(parts), tmp_path)
    first = page[page.index("<body>") : page.index("<main>")]
    assert "Why: the worst inputs" in first
    assert "&lt;cat&gt; → dog" in first
    assert page[page.index("<main>") :].count("&lt;cat&gt; → dog") == 12
    assert "<strong>97</strong>" in page
    assert "usually 31 to 64" in page
    assert "5 samples are left out on request." in page


def test_the_policy_allows_this_style_and_nothing_else(tmp_path):
    page = page_of(Report([PART]), tmp_path)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert "unsafe" not in policy
    assert "script-src" not in policy  # without charts nothing runs
    assert "style=" not in page[page.index("<body>") :]


def test_code_names_stand_in_the_column_for_gates_alone(tmp_path):
    page = page_of(Report([PART]), tmp_path, {"max": {"pmi_upper": 0.05}})
    body = page[page.index("<body>") :]
    named = [m.start() for m in re.finditer("pmi_upper", body)]
    assert named
    assert all(body[:at].endswith("<code>reliability.") for at in named)
