"""Paper mode against reference values of the paper's case studies (needs FIREASSAY_DATA)."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fireassay.curation import curate

APPROACHES = {
    "pl_conf_all": (None, "confidence", "paper"),
    "pl_conf_indep": (0.5, "confidence", "paper"),
    "ci_lb_all": (None, "lower_bound", "paper"),
    "ours": (0.5, "lower_bound", "paper"),
    "post_all": (None, "lower_bound", "posterior"),
    "post_indep": (0.5, "lower_bound", "posterior"),
}
LABELERS = {"majorityvote": "majority", "snorkel": "snorkel"}


def folder():
    root = os.environ.get("FIREASSAY_DATA")
    if not root or not (Path(root) / "nad" / "expected.csv").is_file():
        pytest.skip("FIREASSAY_DATA does not point to the case studies (nad/)")
    return Path(root) / "nad"


def case_study(root, case):
    everything, scored, labels = [], [], []
    for split in ("train", "dev", "test"):
        path = root / f"{case}_L_{split}.npy"
        if path.is_file():
            everything.append(np.load(path))
            truth = root / f"{case}_Y_{split}.npy"
            if truth.is_file():
                scored.append(everything[-1])
                labels.append(np.load(truth))
    return np.concatenate(everything), np.concatenate(scored), np.concatenate(labels)


@pytest.mark.parametrize("case", ["spo2_hr_hi", "rr_lo", "crossmodal", "crowd", "spam"])
def test_every_cell_to_three_decimals(case):
    root = folder()
    expected = pd.read_csv(root / "expected.csv")
    fit_votes, votes, y = case_study(root, case)
    rows = expected[expected["case"] == case]
    assert len(rows) == 12
    for row in rows.itertuples():
        prune, order_by, interval = APPROACHES[row.approach]
        result = curate(
            votes,
            fit_votes=fit_votes,
            labeler=LABELERS[row.labeler],
            prune=prune,
            order_by=order_by,
            interval=interval,
            default_class=1 if case in ("spo2_hr_hi", "rr_lo") else 0,
            drop_silent=False,
            seed=1234567,
        )
        trend = result.validate(y, n_permutations=1)
        found = [trend.rho, trend.p_value, *trend.accuracy[[0, 4, 9]]]
        wanted = [row.expected_rho, row.expected_p, row.acc_1, row.acc_5, row.acc_10]
        assert found == pytest.approx(wanted, abs=5e-4), (row.labeler, row.approach)
        if prune is not None:
            assert len(result.kept_lfs) == row.kept_lfs
