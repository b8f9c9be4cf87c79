"""What three of the papers' own public files say, in seconds.

    FIREASSAY_DATA=FOLDER python studies/authors_archives.py --work FOLDER

AmbiGuess, Section 6.2: the baseline's label files (FOLDER/ambiguess). Adversarial distance: the
early, uncalibrated rows of cats and dogs (FOLDER/advdist), raw and temperature scaled. TRASHFIRE:
the coefficients of the pooled fits and the table of scores (FOLDER/deckard/published_*.csv).
Writes studies/results/authors_archives.json.
"""

import time

from commands import data_folder, options, write

from fireassay.papers.authors_archives import baseline_labels, cats_and_dogs, pooled_fits


def main() -> None:
    chosen = options(__doc__).parse_args()
    folder = data_folder()
    started = time.process_time()
    found = {
        "ambiguity": baseline_labels(folder / "ambiguess"),
        "discovery": cats_and_dogs(folder / "advdist" / "kaggle_cats_dogs.csv"),
        "survival": pooled_fits(folder / "deckard"),
    }
    write(chosen, "authors_archives", found | {"cpu_seconds": time.process_time() - started})


if __name__ == "__main__":
    main()
