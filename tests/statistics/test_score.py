"""Numbers with intervals beside those of scikit-learn."""

import numpy as np
import pytest
from sklearn import metrics

import fireassay as fa
from fireassay.core import DataError

RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, 300)
P = np.clip(0.5 * Y + RNG.normal(0.25, 0.25, 300), 0.001, 0.999)
SAID = (P > 0.5).astype(int)
ORACLES = {
    "auroc": lambda: metrics.roc_auc_score(Y, P),
    "average_precision": lambda: metrics.average_precision_score(Y, P),
    "accuracy": lambda: metrics.accuracy_score(Y, SAID),
    "f1": lambda: metrics.f1_score(Y, SAID),
    "recall": lambda: metrics.recall_score(Y, SAID),
    "precision": lambda: metrics.precision_score(Y, SAID),
    "mcc": lambda: metrics.matthews_corrcoef(Y, SAID),
    "kappa": lambda: metrics.cohen_kappa_score(Y, SAID),
    "log_loss": lambda: metrics.log_loss(Y, P),
}


@pytest.mark.parametrize("name", ORACLES)
def test_values_are_those_of_scikit_learn(name):
    found = fa.score(Y, P, name)
    assert found.value == pytest.approx(ORACLES[name](), abs=1e-9)
    assert found.low < found.value < found.high
    assert 0 < found.n <= 300  # a share counts the rows it is a share of


def test_answers_alone_are_enough_for_what_they_can_say():
    assert fa.score(Y, SAID, "f1").value == pytest.approx(metrics.f1_score(Y, SAID))


def test_names_of_classes_and_columns():
    names = np.array(["none", "sepsis"])[Y]
    found = fa.score(names, np.column_stack([1 - P, P]), "auroc[sepsis]")
    assert found.value == pytest.approx(metrics.roc_auc_score(Y, P))
    assert fa.score(names, P, "f1", positive="sepsis").value == pytest.approx(
        metrics.f1_score(Y, SAID)
    )


def test_groups_widen_the_interval():
    groups = np.arange(300) // 10
    alone, together = fa.score(Y, P, "accuracy"), fa.score(Y, P, "accuracy", groups=groups)
    assert together.high - together.low > alone.high - alone.low


def test_a_single_column_needs_a_positive_class():
    with pytest.raises(DataError, match="positive="):
        fa.score(np.array(["a", "b"])[Y], P, "auroc")


def test_a_class_that_nobody_named_is_refused():
    with pytest.raises(DataError, match="classes="):
        fa.score(Y, np.column_stack([1 - P, P]), classes=[1, 2])
