"""Posteriors of crowd-kit 1.4.2 for the Dawid-Skene tests.

Made with: python -m venv peers; peers/bin/pip install crowd-kit==1.4.2
           peers/bin/python tests/curation/oracles/make_crowdkit.py
"""

from pathlib import Path

import crowdkit
import numpy as np
import pandas as pd
from crowdkit.aggregation.classification.dawid_skene import DawidSkene, OneCoinDawidSkene


def main():
    assert crowdkit.__version__ == "1.4.2"
    rng = np.random.default_rng(7)
    n, k, accuracy = 500, 3, (0.85, 0.75, 0.7, 0.65, 0.8, 0.6)
    y = rng.choice(k, size=n, p=(0.5, 0.3, 0.2))
    columns = []
    for a in accuracy:
        wrong = (y + rng.integers(1, k, size=n)) % k
        vote = np.where(rng.random(n) < a, y, wrong)
        columns.append(np.where(rng.random(n) < 0.85, vote, -1))
    votes = np.array(columns, dtype=np.int8).T.copy()
    votes = votes[(votes != -1).any(axis=1)]
    rows, workers = np.nonzero(votes != -1)
    data = pd.DataFrame({"task": rows, "worker": workers, "label": votes[rows, workers]})
    stored = {"votes": votes}
    for name, model in (
        ("full", DawidSkene(n_iter=5000, tol=1e-13)),
        ("one_coin", OneCoinDawidSkene(n_iter=5000, tol=1e-13)),
    ):
        probas = model.fit_predict_proba(data)
        stored[name] = probas.sort_index().sort_index(axis=1).to_numpy()
    np.savez_compressed(Path(__file__).with_name("crowdkit.npz"), **stored)


if __name__ == "__main__":
    main()
