"""Means over architectures and trainings: their intervals in a world with a known truth."""

import numpy as np
import pytest

from fireassay.papers.supervision_summary import summary

NETWORKS, RUNS, TRUTH = 21, 5, 0.7


def study(supervisor, rng, rows=0.0):
    """Runs of four architectures; an ensemble's AUROC is the mean over all networks but one.

    ``rows`` is how much the rows of a run add, as attacked ones do: each run has its own.
    """
    parts = []
    for architecture in range(4):
        networks = TRUTH + 0.05 * rng.standard_normal(NETWORKS)
        for run in range(RUNS):
            together = supervisor.startswith("ensemble-")
            auroc = np.delete(networks, run).mean() if together else networks[run]
            auroc += rows * rng.standard_normal()
            record = {"supervisor": supervisor, "set": "ambiguous", "auroc": auroc,
                      "status": "done", "note": "", "reason": ""}  # fmt: skip
            row = {"data": "mnist", "architecture": f"network {architecture}"}
            parts.append((row, {"records": [record]}))
    return parts


@pytest.mark.slow
@pytest.mark.parametrize("supervisor", ["max-softmax", "ensemble-mean-softmax"])
def test_the_interval_holds_for_supervisors_of_one_network_and_of_many(supervisor):
    rng = np.random.default_rng(0)
    found = [summary(study(supervisor, rng), NETWORKS)[0] for _ in range(120)]
    missed = sum(abs(row["mean"] - TRUTH) > row["arm"] for row in found)
    assert 1 <= missed <= 16  # of 120 at 5 %, all but three times in a thousand


@pytest.mark.slow
@pytest.mark.parametrize("rows", [0.005, 0.05])
def test_the_interval_of_an_ensemble_is_wide_enough_where_rows_differ_between_runs(rows):
    rng = np.random.default_rng(1)
    found = [summary(study("ensemble-mean-softmax", rng, rows), NETWORKS)[0] for _ in range(120)]
    assert sum(abs(row["mean"] - TRUTH) > row["arm"] for row in found) <= 16


def test_runs_that_share_their_networks_do_not_count_as_independent():
    rng = np.random.default_rng(0)
    row = summary(study("ensemble-mean-softmax", rng), NETWORKS)[0]
    assert row["arm"] == pytest.approx(2.12 * row["spread"] * 20 / np.sqrt(21 * 4), rel=1e-3)
    assert row["published"] == 0.97
