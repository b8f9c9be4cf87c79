"""Where no ambiguous inputs can be made, a plain sentence says what was tried and what to do."""

import re

import numpy as np
import pytest

import fireassay as fa

pytest.importorskip("torch")
JARGON = re.compile(r"split|autoencoder|report\.|try \d|real/fake|accepted|\(0\.|latent")


def test_the_reason_is_a_sentence_that_anybody_understands():
    rng = np.random.default_rng(0)
    X = rng.choice([0.0, 1.0, 50.0], (120, 12)) * rng.random((120, 12)) ** 9
    y = np.where(rng.random(120) < 0.5, "healthy", "ill")  # nothing tells the two apart

    def model(rows):
        return np.tile([0.6, 0.4], (len(rows), 1))

    part = fa.evaluate(
        fa.as_classifier(model, classes=["healthy", "ill"]), X, y, parts=["ambiguity"]
    )["ambiguity"]
    assert part.status == "not available"
    assert not JARGON.search(part.reason), part.reason
    assert "“healthy” and “ill”" in part.reason
    assert "says nothing for or against" in part.reason
    assert "tries = 4 under [ambiguity]" in part.reason
    assert max(len(sentence.split()) for sentence in part.reason.split(". ")) < 50


def test_changes_that_keep_the_meaning_make_nothing_ambiguous():
    texts, y = ["a good film", "a bad film"] * 20, ["good", "bad"] * 20

    def model(rows):
        p = np.array([0.9 if "bad" in row else 0.2 for row in rows])
        return np.column_stack([p, 1 - p])

    classifier = fa.as_classifier(model, classes=["bad", "good"])
    for more, said in (({}, "nothing between two texts"), (_PERTURB, "perturb keeps the meaning")):
        part = fa.evaluate(classifier, texts, y, parts=["ambiguity"], **more)["ambiguity"]
        assert part.status == "not available"
        assert said in part.reason


_PERTURB = {"perturb": lambda text, rng: [text.upper()]}
