"""Table III of the curation paper on all nine case studies: printed, repeated, and tested.

    FIREASSAY_DATA=/path/to/data python studies/curation_case_studies.py [--store DIR] [--quick]

Needs the folder ``nad/`` with the votes ``*_L_*.npy``, labels ``*_Y_*.npy`` and ``expected.csv``,
whose column ``paper_rho`` holds the published coefficients. Each case study is a task of a run
store: a killed study goes on. Writes studies/results/curation_case_studies.json. ``--quick``
leaves the largest case study out and writes nothing.
"""

import argparse
import json
import os
from pathlib import Path

import pandas as pd

from fireassay.engine import Executor, RunStore
from fireassay.papers.case_studies import CASES, LABELERS, default_order, table_three

RESULT = Path(__file__).parent / "results" / "curation_case_studies.json"


def assess(case, folder):
    """All cells of one case study, and what the product's own default makes of it."""
    return {
        "cells": table_three(folder, case).to_dict("records"),
        "default": [default_order(folder, case, labeler) for labeler in LABELERS.values()],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--store", type=Path, help="Folder of the journal; a kill loses nothing.")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    folder = Path(os.environ["FIREASSAY_DATA"]) / "nad"
    cases = [case for case in CASES if not (options.quick and case == "recsys")]
    store = None if options.store is None else RunStore(options.store)
    executor = Executor(
        workers=options.workers,
        store=store,
        progress=lambda done, of: print(f"{done} of {of} case studies", flush=True),
    )
    found = executor.map(assess, cases, {"folder": str(folder)}, name="Table III")
    published = pd.read_csv(folder / "expected.csv").dropna(subset="paper_rho")
    cells = pd.DataFrame([cell for part in found for cell in part["cells"]]).merge(
        published[["case", "labeler", "approach", "paper_rho", "paper_p"]],
        on=["case", "labeler", "approach"],
    )
    shown = ["case", "labeler", "approach", "paper_rho", "authors_rho", "rho", "definition_3",
             "auc", "verdict"]  # fmt: skip
    print(cells[shown].to_string(index=False, float_format="{:.3f}".format))
    if not options.quick:
        default = [row for part in found for row in part["default"]]
        RESULT.write_text(
            json.dumps({"cells": cells.to_dict("records"), "default": default}, indent=1) + "\n"
        )
        print(f"wrote {RESULT.name}")


if __name__ == "__main__":
    main()
