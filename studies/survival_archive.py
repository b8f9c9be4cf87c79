"""Table I and Figs. 1 to 4 of the TRASHFIRE paper from its archived experiments.

    FIREASSAY_DATA=FOLDER python studies/survival_archive.py --work FOLDER
    python studies/survival_archive.py --work FOLDER --table experiments.csv

Reads FOLDER/deckard/cifar100.csv and writes studies/results/survival_archive.json and
docs/papers/survival_fig_*.svg. With ``--table`` another table of experiments is read (columns
adv_fit_time, adv_accuracy …), and results and figures stay in ``--work``. Seconds, so no journal.
"""

import time
import warnings
from pathlib import Path

from commands import data_folder, draw, options, write

from fireassay.core.errors import AssumptionWarning
from fireassay.papers.trashfire_archive import read_archive


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--table", type=Path, help="Another table of experiments (CSV).")
    parser.add_argument("--seed", type=int, default=0, help="Of the training and test part.")
    chosen = parser.parse_args()
    chosen.quick = chosen.quick or chosen.table is not None
    table = chosen.table or data_folder() / "deckard" / "cifar100.csv"
    started = time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", AssumptionWarning)
        found = read_archive(table, chosen.seed)
    for text in dict.fromkeys(str(warning.message) for warning in caught):
        print(f"Warning: {text}", flush=True)
    print(found.beside_printed().T.to_string(float_format="{:.3g}".format), flush=True)
    spent = {"cpu_seconds": time.process_time() - started}
    write(chosen, "survival_archive", found.to_dict() | spent)
    draw(chosen, "survival", found.charts())


if __name__ == "__main__":
    main()
