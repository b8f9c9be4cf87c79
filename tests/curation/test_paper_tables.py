"""Paper mode against reference values of the paper's case studies (needs FIREASSAY_DATA)."""

import os
from pathlib import Path

import pandas as pd
import pytest

from fireassay.curation import curate
from fireassay.papers.case_studies import CASES, read_case, table_three

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


ALL_BUT_THE_LARGEST = [case for case in CASES if case != "recsys"]


@pytest.mark.parametrize("case", CASES)
def test_every_cell_to_three_decimals(case):
    root = folder()
    expected = pd.read_csv(root / "expected.csv")
    study = read_case(root, case)
    rows = expected[expected["case"] == case]
    assert len(rows) == 12
    for row in rows.itertuples():
        prune, order_by, interval = APPROACHES[row.approach]
        result = curate(
            study.votes,
            fit_votes=study.fit,
            labeler=LABELERS[row.labeler],
            prune=prune,
            order_by=order_by,
            interval=interval,
            default_class=CASES[case].default_class,
            drop_silent=False,
            seed=1234567,
        )
        trend = result.validate(study.y, n_permutations=1)
        found = [trend.rho, trend.p_value, *trend.accuracy[[0, 4, 9]]]
        wanted = [row.expected_rho, row.expected_p, row.acc_1, row.acc_5, row.acc_10]
        assert found == pytest.approx(wanted, abs=5e-4), (row.labeler, row.approach)
        if prune is not None:
            assert len(result.kept_lfs) == row.kept_lfs


@pytest.mark.parametrize("case", ALL_BUT_THE_LARGEST)
def test_printed_cells_come_out_with_the_authors_ties(case):
    root = folder()
    printed = pd.read_csv(root / "expected.csv").dropna(subset="paper_rho")
    found = table_three(root, case, n_permutations=1).merge(
        printed, on=["case", "labeler", "approach"]
    )
    assert len(found) == 8
    ours = [f"{r:.3f} ({p:.3f})" for r, p in zip(found.authors_rho, found.authors_p, strict=True)]
    theirs = [f"{r:.3f} ({p:.3f})" for r, p in zip(found.paper_rho, found.paper_p, strict=True)]
    assert ours == theirs
