"""Rows of patients that nobody named must not end in a plain green."""

import numpy as np
import pytest

import fireassay as fa

LIMIT = {"max": {"accuracy.error": 0.15}}
WORDS = "if no two rows belong to one patient, device or document"
UNSEEN = "if the model was not trained on these rows"


def patients(shuffled):
    """40 patients of 10 rows, noise 30 %, four columns; a model that is often right."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(40, 4)), 10, axis=0) + 0.3 * rng.normal(size=(400, 4))
    y = (X[:, 0] > 0).astype(int)
    if shuffled:
        order = rng.permutation(400)
        X, y = X[order], y[order]

    def model(rows):
        p = 1 / (1 + np.exp(-6 * rows[:, 0]))
        return np.column_stack([1 - p, p])

    return fa.evaluate(fa.as_classifier(model, classes=[0, 1]), X, y, parts=["accuracy"])


def verdict(shuffled, gates=LIMIT, accept=None):
    report = patients(shuffled)
    return report.verdict(gates, accept) if accept else report.verdict(gates)


@pytest.mark.parametrize("shuffled", [False, True])
def test_a_pass_says_what_no_data_shows(shuffled):
    """No rule on contents tells patients from persons; the verdict is the same in any order."""
    found = verdict(shuffled)
    assert found.status == "pass"
    assert found.checks[0].presumed == ("independent-rows", "unseen-rows")
    assert WORDS in found.checks[0].explanation
    assert UNSEEN in found.checks[0].explanation
    assert found.headline == f"PASS: the limit is met, {WORDS} and {UNSEEN}."


def test_every_form_of_the_report_says_it_in_the_same_words(tmp_path):
    """Shuffled rows of unnamed patients look like any others: the words are all there is."""
    report = patients(shuffled=True)
    # With the verdict and beside the limit; a test case of JUnit that passed has no text.
    for write, name, times in (
        (report.to_html, "page.html", 2),
        (report.to_model_card, "card.md", 2),
        (report.to_junit, "gates.xml", 1),
        (report.to_gsn, "case.yaml", 2),
    ):
        text = " ".join(write(tmp_path / name, LIMIT).read_text().split())
        assert min(text.count(WORDS), text.count(UNSEEN)) >= times, name
    found = report.verdict(LIMIT)
    assert WORDS in found._repr_html_()
    assert str(found).count(WORDS) == 2


@pytest.mark.parametrize("shuffled", [True, False])
def test_somebody_can_vouch_for_it_and_is_quoted(shuffled):
    accept = {"independent-rows": "one row per patient, protocol 7", "unseen-rows": "protocol 3"}
    found = verdict(shuffled, accept=accept)
    assert found.status == "pass"
    assert "protocol 7" in found.checks[0].explanation
    assert found.checks[0].presumed == ()
    assert WORDS not in found.headline
