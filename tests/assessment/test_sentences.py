"""What users read: short sentences in the field's words, one place for each part."""

import importlib
import re

import pytest

from fireassay.assessment.parts.table import PARTS
from fireassay.report import advice
from fireassay.report.gates import USUAL, unknown_number
from fireassay.report.verdict import HEADS, PRESUMED, WORDS

PLACES = {
    name: "fireassay.assessment.parts.accuracy_result"
    if name == "accuracy"
    else f"fireassay.{name}.measures"
    for name in PARTS
}
# The gloss may stand after the usual name, never instead of it.
BANNED = re.compile(
    r"\b(pcs|gen|misread|confidence off by|wrong in the field|left alone|in the mean|auto"
    r"|stands against|tells .* from|finds a class|kept|broken by|caught)\b",
    re.IGNORECASE,
)
NEGATIONS = re.compile(r"\b(not|no|none|never|without|nothing)\b", re.IGNORECASE)


def sentences():
    for name, place in PLACES.items():
        for key, text in importlib.import_module(place).SENTENCES.items():
            yield f"{name}: {key}", text
    for key in ("_TOO_CLOSE", "_WILL_NOT_HELP", "_NO_INTERVAL", "_MORE_GROUPS", "_NO_SUCH"):
        yield f"advice: {key}", getattr(advice, key)
    yield from ((f"presumed: {key}", text) for key, text in PRESUMED.items())


@pytest.mark.parametrize(("place", "text"), list(sentences()))
def test_sentences_are_short_and_in_the_fields_words(place, text):
    for sentence in re.split(r"(?<=[.:;]) ", text):
        assert len(sentence.split()) <= 20, place
        assert len(NEGATIONS.findall(sentence)) <= 1 or ";" in text, f"{place}: double negation"
    assert not BANNED.search(text), place


@pytest.mark.parametrize("part", PARTS)
def test_every_gate_has_a_usual_name_and_a_meaning(part):
    for measure in PARTS[part].measures:
        assert not BANNED.search(measure.label), measure
        assert measure.label[0].isupper() or measure.label.startswith("{}"), measure
        assert len(measure.label.split()) <= 12, measure
        assert measure.meaning.endswith("."), measure
        assert measure.label != measure.name


def test_names_from_elsewhere_lead_to_numbers_that_there_are():
    known = {name: [m.name for m in part.measures] for name, part in PARTS.items()}
    for name, meant in USUAL.items():
        for number in meant:
            part, _, short = number.partition(".")
            assert short in known[part], name
    assert "accuracy.calibration_error" in str(unknown_number("ece", known))
    assert len(str(unknown_number("robustness", known)).split(",")) <= 5
    assert "limits.md" in str(unknown_number("zzzzzz", known))


def test_states_and_verdicts_have_one_word_each():
    assert WORDS == {"pass": "met", "fail": "not met", "undecided": "undecided"}
    assert list(HEADS.values()) == ["PASS", "FAIL", "INCONCLUSIVE", "NO LIMITS SET"]
