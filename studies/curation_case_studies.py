"""Tables I to III and Fig. 3 of the curation paper on all nine case studies.

    FIREASSAY_DATA=FOLDER python studies/curation_case_studies.py --work FOLDER

Needs the folder ``nad/`` with the votes ``*_L_*.npy``, labels ``*_Y_*.npy`` and ``expected.csv``,
whose column ``paper_rho`` holds the published coefficients. Each case study is journalled. Writes
studies/results/curation_case_studies.json and docs/papers/curation_fig_3.svg. ``--quick`` takes
the smallest case study alone; ``--figures`` only draws what is stored.
"""

import json
import time

import pandas as pd
from commands import data_folder, draw, executor, options, write

from fireassay.papers.case_studies import CASES, disagreement, random_orders, sizes, table_three
from fireassay.papers.curation_figure import figure_3


def assess(case, folder):
    """All cells of one case study."""
    started = time.process_time()
    return {
        "sizes": sizes(folder, case),
        "cells": table_three(folder, case).to_dict("records"),
        "cpu_seconds": time.process_time() - started,
    }


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--figures", action="store_true", help="Only draw what is stored.")
    chosen = parser.parse_args()
    if chosen.figures:
        stored = json.loads((chosen.results / "curation_case_studies.json").read_text())
        draw(chosen, "curation", {"fig_3": figure_3(stored["cells"])})
        return
    folder = data_folder() / "nad"
    cases = ["spo2_hr_lo"] if chosen.quick else list(CASES)
    found = executor(chosen).map(assess, cases, {"folder": str(folder)}, name="Table III")
    published = pd.read_csv(folder / "expected.csv").dropna(subset="paper_rho")
    cells = pd.DataFrame([cell for part in found for cell in part["cells"]]).merge(
        published[["case", "labeler", "approach", "paper_rho", "paper_p"]],
        on=["case", "labeler", "approach"],
    )
    shown = ["case", "labeler", "approach", "paper_rho", "authors_rho", "rho", "definition_3",
             "auc", "verdict"]  # fmt: skip
    print(cells[shown].to_string(index=False, float_format="{:.3f}".format))
    rows = cells.to_dict("records")
    results = {
        "random_orders": random_orders(folder, 20 if chosen.quick else 200),
        "disagreement": disagreement(folder),
        "sizes": {case: part["sizes"] for case, part in zip(cases, found, strict=True)},
        "cells": rows,
        "cpu_seconds": sum(part["cpu_seconds"] for part in found),
    }
    write(chosen, "curation_case_studies", results)
    draw(chosen, "curation", {"fig_3": figure_3(rows)})


if __name__ == "__main__":
    main()
