"""What users read: short sentences in the field's words, one place for each part."""

import importlib
import re

import pytest

from fireassay.assessment.parts.table import PARTS
from fireassay.core import Estimate, Evidence
from fireassay.report import Report, advice
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


def headlines():
    """The verdict on every number that a limit can name: not met, and undecided."""
    for name, part in PARTS.items():
        for measure in part.measures:
            number = re.sub(r"\[\*\]", "[sick -> well]", measure.name).replace("*", "one")
            for value in (0.2, 0.45):  # far from the limit, and near it
                made = Estimate.around(value, value - 0.1, value + 0.1, confidence=0.95, n=99,
                                       method="DeLong")  # fmt: skip
                found = Evidence(name, "h", estimates={number: made}, measures=(measure,))
                side = "max" if measure.better == "low" else "min"
                limit = 0.5 if side == "min" else 0.05 if value == 0.2 else 0.4
                verdict = Report([found]).verdict({side: {f"{name}.{number}": limit}})
                assert verdict.status == ("fail" if value == 0.2 else "not enough evidence")
                yield pytest.param(verdict, id=f"{name}.{measure.name}-{verdict.checks[0].word}")


# The noun that each label is about. It is singular, so that "is below" follows.
_NOUNS = re.compile(
    r"(accuracy|error|rate|kappa|correlation|sensitivity|specificity|f1|ratio|auroc|auc|precision"
    r"|score|loss|slope|intercept|benefit|number|size|gap|share|coverage|agreement|entropy|distance"
    r"|bound|cost|saving|threshold|temperature|robustness|survival|time|effect|concordance"
    r"|fraction|ppv|npv)$"
)


@pytest.mark.parametrize("verdict", list(headlines()))
def test_the_headline_is_a_sentence_about_a_noun(verdict):
    head, _, said = verdict.headline.partition(": ")
    assert head in ("FAIL", "INCONCLUSIVE")
    assert len(verdict.headline.split()) <= 20
    about = re.fullmatch(
        r"(.+?)(?:, at (?:most|least))? is (?:above|below|not shown to (?:stay within|reach)) .+\.",
        said,
    )
    assert about, said
    assert not re.search("[:,]", about[1]), said
    subject = re.split(r" (?:of|in|on|by|to|for|against|among|from|at|per|with|without|after|inside"
                       r"|before|above|between|under) | \(", about[1])[0]  # fmt: skip
    assert _NOUNS.search(subject.lower()), said
    assert subject[0].islower() or re.match("[A-Z][A-Z1]|Brier|Cohen|Matthews", subject), said


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
