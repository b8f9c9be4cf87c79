"""The probe finds models that are random, or that mix rows of a block."""

import numpy as np
import pytest

import fireassay as fa
from fireassay.classifiers import TemperatureScaled, probe
from fireassay.core import (
    BudgetExceededError,
    DataError,
    ParameterError,
    ReproducibilityWarning,
)

X = np.random.default_rng(0).random((40, 3))


def steady(rows: np.ndarray) -> np.ndarray:
    return np.column_stack([rows[:, 0], 1 - rows[:, 0]])


def mixing(rows: np.ndarray) -> np.ndarray:
    share = rows[:, 0] / (rows[:, 0] + rows[:, 0].mean())
    return np.column_stack([share, 1 - share])


def ordered(rows: np.ndarray) -> np.ndarray:
    share = rows[:, 0] / (1 + np.arange(len(rows)))
    return np.column_stack([share, 1 - share])


def test_a_steady_model_passes_and_its_rows_are_counted_apart() -> None:
    model = fa.as_classifier(steady)
    found = probe(model, X)
    assert (found.deterministic, found.batch_invariant, found.order_invariant) == (True,) * 3
    assert (found.repeat_difference, found.rows, found.queries) == (0.0, 16, 64)
    assert (model.queries, model.rows_delivered) == (0, 64)  # type: ignore[attr-defined]
    model.predict_proba(X)
    assert (model.queries, model.rows_delivered) == (40, 104)  # type: ignore[attr-defined]


def test_a_random_model_is_found_and_warned_about() -> None:
    generator = np.random.default_rng(0)

    def noisy(rows: np.ndarray) -> np.ndarray:
        share = generator.random(len(rows))
        return np.column_stack([share, 1 - share])

    with pytest.warns(ReproducibilityWarning, match="not deterministic"):
        found = probe(fa.as_classifier(noisy), X)
    assert not found.deterministic
    assert found.repeat_difference > 0.1


def test_models_that_mix_rows_are_found() -> None:
    mixed = probe(fa.as_classifier(mixing), X)
    assert mixed.deterministic
    assert not mixed.batch_invariant
    assert mixed.batch_difference > 0.01
    by_place = probe(fa.as_classifier(ordered), X)
    assert by_place.deterministic
    assert not by_place.order_invariant


def test_the_budget_holds_for_probes_and_bad_arguments_are_refused() -> None:
    with pytest.raises(BudgetExceededError):
        probe(fa.as_classifier(steady, max_queries=40), X)
    with pytest.raises(DataError):
        probe(steady, np.zeros((0, 3)))
    with pytest.raises(ParameterError):
        probe(steady, X, rows=0)


def test_a_scaled_classifier_is_probed_inside() -> None:
    inner = fa.as_classifier(steady)
    assert probe(TemperatureScaled(inner, 2.0), X, rows=3).queries == 12
    assert inner.rows_delivered == 12  # type: ignore[attr-defined]


@pytest.mark.extras
def test_dropout_left_on_is_found() -> None:
    torch = pytest.importorskip("torch")
    dropout = torch.nn.Dropout(0.5)

    def forgotten(rows: np.ndarray) -> np.ndarray:
        share = dropout(torch.from_numpy(rows[:, 0])).numpy() / 2
        return np.column_stack([share, 1 - share])

    with pytest.warns(ReproducibilityWarning):
        assert not probe(forgotten, X).deterministic
