"""Every number of ambiguity is declared once, and says what it rests on."""

import pytest

pytest.importorskip("torch")

from fireassay.ambiguity import MEASURES, check_soft_labels, evaluate
from fireassay.classifiers import as_classifier
from fireassay.core.arrays import softmax
from fireassay.core.measure import find_measure

pytestmark = pytest.mark.extras


@pytest.fixture(scope="module")
def found(amb, digits):
    def by_first_pixels(X):
        return softmax(X.reshape(len(X), -1)[:, 2:12])

    return {
        "set": amb.evidence(),
        "answers": evaluate(as_classifier(by_first_pixels, classes=range(10)), amb).evidence(),
        "labels": check_soft_labels(amb, digits.X, digits.y, members=2).evidence(),
    }


@pytest.mark.parametrize("which", ["set", "answers", "labels"])
def test_every_number_has_a_measure_and_known_assumptions(found, which):
    evidence = found[which]
    ids = {assumption.id for assumption in evidence.assumptions}
    assert "" not in ids
    assert evidence.estimates
    for name, estimate in evidence.estimates.items():
        assert find_measure(name, evidence.measures) is not None, name
        assert set(estimate.rests_on) <= ids, name


def test_every_measure_is_used(found):
    used = {name for evidence in found.values() for name in evidence.estimates}
    assert {measure.name for measure in MEASURES} == used
