"""What notebooks show of a number and of an answer."""

from fireassay.core import Estimate, Evidence
from fireassay.core.notebook import estimate_html, evidence_html, table_html


def test_a_count_is_shown_with_how_it_came_about():
    shown = estimate_html(Estimate.count(3, n=40))
    assert "<strong>3</strong>" in shown
    assert "counted, n = 40" in shown


def test_an_answer_is_shown_with_its_headline_and_escaped():
    shown = evidence_html(Evidence("my question", "Nothing was <asked>."))
    assert "Nothing was &lt;asked&gt;." in shown
    assert table_html(("n",), [("3",)]).count("<td") == 1
