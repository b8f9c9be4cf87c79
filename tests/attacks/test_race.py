"""Directions that are bisected together: the nearest is left, and queries are counted."""

import numpy as np
import pytest

from fireassay.attacks.attacked_model import AttackedModel
from fireassay.attacks.line_search import nearest_of

AXES = np.eye(4, dtype=np.float32)


def walls(*at):
    """Another class behind a wall on every axis, at these distances from zero."""

    def model(X):
        behind = (np.array(at) < X).any(axis=1)
        return np.column_stack([~behind, behind]).astype(float)

    return model


def raced(norm, rivals, at=(0.8, 0.5, 0.2, 0.3), max_queries=None):
    target = AttackedModel(
        "race", walls(*at), np.zeros((2, 4), np.float32), [0, 0], norm=norm, seed=0,
        max_queries=max_queries,
    )  # fmt: skip
    rows = target.begin(np.arange(2))
    points = np.repeat(AXES[:1], 2, axis=0)
    found = nearest_of(target, rows, points, np.repeat(rivals[None], 2, axis=0), 0.01)
    return found, target


@pytest.mark.parametrize("norm", ["l2", "linf"])
@pytest.mark.parametrize("order", [[1, 2, 3], [3, 2, 1], [2, 1, 3]])
def test_the_direction_with_the_nearest_boundary_is_left(norm, order):
    found, target = raced(norm, AXES[order])
    assert found.argmax(axis=1).tolist() == [2, 2], "the wall at .2 is the nearest"
    assert ((found.max(axis=1) > 0.2) & (found.max(axis=1) < 0.202)).all()
    assert target.queries.max() <= 20, "bisecting all four one after the other takes over thirty"
    np.testing.assert_array_equal(target.best, found)


@pytest.mark.parametrize("rivals", [-AXES[1:], AXES[:0]])
def test_directions_that_lead_nowhere_leave_the_first(rivals):
    found, _ = raced("l2", rivals)
    assert found.argmax(axis=1).tolist() == [0, 0]
    assert ((found[:, 0] > 0.8) & (found[:, 0] < 0.81)).all()


@pytest.mark.parametrize("limit", range(1, 12))
def test_a_race_asks_no_more_than_there_is_room_for(limit):
    found, target = raced("l2", AXES[1:], max_queries=limit)
    assert target.queries.max() <= limit
    assert walls(0.8, 0.5, 0.2, 0.3)(found)[:, 1].all(), "what is returned is wrong"
