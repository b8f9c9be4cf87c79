"""The paper's Table III on its public case studies: theirs, ours, and the calibrated test.

    FIREASSAY_DATA=/path/to/data python studies/curation_case_studies.py [--output table.csv]

Needs the folder ``nad/`` with the votes ``*_L_*.npy``, labels ``*_Y_*.npy`` and ``expected.csv``,
whose column ``paper_rho`` holds the published coefficients.
"""

import argparse
import os
from pathlib import Path

import numpy as np
import pandas as pd

from fireassay.papers.four_approaches import compare_approaches

CASES = {"spo2_hr_hi": 1, "rr_lo": 1, "crossmodal": 0, "crowd": 0, "spam": 0}
COLUMNS = {
    "pl_conf_all": "PL Conf with all LFs",
    "pl_conf_indep": "PL Conf with Indep. LFs",
    "ci_lb_all": "CI LB with all LFs",
    "ours": "Our Approach",
}


def read(folder, case):
    fit, votes, labels = [], [], []
    for split in ("train", "dev", "test"):
        file = folder / f"{case}_L_{split}.npy"
        if file.is_file():
            fit.append(np.load(file))
            truth = folder / f"{case}_Y_{split}.npy"
            if truth.is_file():
                votes.append(fit[-1])
                labels.append(np.load(truth))
    return np.concatenate(fit), np.concatenate(votes), np.concatenate(labels)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    folder = Path(os.environ["FIREASSAY_DATA"]) / "nad"
    published = pd.read_csv(folder / "expected.csv").replace(
        {"labeler": {"majorityvote": "majority"}, "approach": COLUMNS}
    )
    tables = []
    for case, default_class in CASES.items():
        fit, votes, y = read(folder, case)
        found = compare_approaches(
            votes, y, fit_votes=fit, default_class=default_class, seed=1234567, case=case
        )
        tables.append(found.rows.assign(case=case, n=len(y)))
    table = pd.concat(tables).merge(
        published[["case", "labeler", "approach", "paper_rho", "paper_p"]],
        on=["case", "labeler", "approach"],
    )
    says = np.where(table["paper_p"] > 0.05, "none",
                    np.where(table["paper_rho"] < 0, "decreasing", "increasing"))  # fmt: skip
    table.insert(0, "paper_says", says)
    shown = ["case", "labeler", "approach", "n", "paper_rho", "rho", "paper_says", "definition_3",
             "permutation_p", "auc", "auc_p_value", "verdict"]  # fmt: skip
    print(table[shown].to_string(index=False, float_format="{:.3f}".format))
    print(
        f"\n{len(table)} cells. Same direction as published, ties taken in expectation: "
        f"{(table['paper_says'] == table['definition_3']).sum()}. "
        f"Published 'decreasing': {(says == 'decreasing').sum()}, of which the calibrated test "
        f"confirms {((says == 'decreasing') & (table['verdict'] == 'decreasing')).sum()}, calls "
        f"{((says == 'decreasing') & (table['verdict'] == 'none')).sum()} not shown and "
        f"{((says == 'decreasing') & (table['verdict'] == 'increasing')).sum()} the wrong way."
    )
    if options.output:
        table.to_csv(options.output, index=False)


if __name__ == "__main__":
    main()
