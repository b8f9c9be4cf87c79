"""Table 1 of the reliability paper, its two-dimensional rows, and Figs. 1 to 3.

    FIREASSAY_DATA=FOLDER python studies/reliability_table1.py --work FOLDER

The running example and DS-1 are the authors' data; DS-2 is not public. Writes
studies/results/reliability_table1.json and docs/papers/reliability_fig_*.svg.
"""

from commands import data_folder, draw, executor, options, write

from fireassay.papers.grid_study import FILES, PUBLISHED, figures, grid_row


def main() -> None:
    chosen = options(__doc__).parse_args()
    folder = str(data_folder())
    rows = [{"data": name, "cells": 50 if chosen.quick else 250} for name in FILES]
    found = executor(chosen).map(grid_row, rows, {"folder": folder}, name="Table 1")
    write(chosen, "reliability_table1", {"rows": found, "published": PUBLISHED})
    draw(chosen, "reliability", figures(folder))


if __name__ == "__main__":
    main()
