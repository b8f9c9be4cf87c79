"""Table I and Figs. 1 to 4 of the TRASHFIRE paper from its archived experiments.

    FIREASSAY_DATA=FOLDER python studies/survival_archive.py --work FOLDER

Reads FOLDER/deckard/cifar100.csv, as ``fireassay survival paper --figures`` does, and writes
studies/results/survival_archive.json and docs/papers/survival_fig_*.svg. Seconds, so no journal.
"""

import time
import warnings

from commands import data_folder, draw, options, write

from fireassay.core.errors import AssumptionWarning
from fireassay.papers.trashfire_archive import read_archive


def main() -> None:
    chosen = options(__doc__).parse_args()
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)  # the command says them
        found = read_archive(data_folder() / "deckard" / "cifar100.csv")
    spent = {"cpu_seconds": time.process_time() - started}
    write(chosen, "survival_archive", found.to_dict() | spent)
    draw(chosen, "survival", found.charts())


if __name__ == "__main__":
    main()
