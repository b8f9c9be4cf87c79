"""Posteriors of snorkel 0.10.0 for the label-model tests.

Made with: python -m venv peers; peers/bin/pip install snorkel==0.10.0 torch==2.13.0
           peers/bin/python tests/curation/oracles/make_snorkel.py
"""

from pathlib import Path

import numpy as np
import snorkel
from snorkel.labeling.model import LabelModel

SEEDS = (0, 1234567)


def votes_of(n, k, accuracy, coverage, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    columns = []
    for a, c in zip(accuracy, coverage, strict=True):
        wrong = (y + rng.integers(1, k, size=n)) % k
        vote = np.where(rng.random(n) < a, y, wrong)
        columns.append(np.where(rng.random(n) < c, vote, -1))
    return np.array(columns, dtype=np.int8).T.copy()


def main():
    rng = np.random.default_rng(5)
    cases = {
        "binary": (2, votes_of(300, 2, [0.9, 0.8, 0.7, 0.65, 0.6, 0.75], [0.8] * 6, 1)),
        "three": (3, votes_of(240, 3, [0.8, 0.7, 0.75, 0.6, 0.5], [0.9, 0.5, 0.7, 1, 0.3], 2)),
        "many": (2, votes_of(400, 2, rng.uniform(0.5, 0.95, 30), rng.uniform(0.02, 0.4, 30), 3)),
    }
    assert snorkel.__version__ == "0.10.0"
    stored = {}
    for name, (k, votes) in cases.items():
        stored[f"{name}_votes"] = votes
        for seed in SEEDS:
            model = LabelModel(cardinality=k, verbose=False)
            model.fit(votes, seed=seed, progress_bar=False)
            stored[f"{name}_{seed}"] = model.predict_proba(votes)
    np.savez_compressed(Path(__file__).with_name("snorkel.npz"), **stored)


if __name__ == "__main__":
    main()
