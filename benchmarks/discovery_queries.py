"""How many queries a row needs: errors that a search finds among 40, by the attack's budget.

    python benchmarks/discovery_queries.py [--worlds 20]

Each world is a model of sklearn's digits trained on 150 rows, its confidences calibrated, and 400
other rows to search in with the default settings. The default of ``[discovery] max_queries`` was
chosen on seeds below 100; what is kept in results/discovery_queries.json has others.
"""

import argparse
import json
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

import fireassay as fa
from fireassay.classifiers import calibrate
from fireassay.core import NotEnoughEvidenceError
from fireassay.discovery import Search

RESULTS = Path(__file__).resolve().parent / "results" / "discovery_queries.json"
BUDGETS = (150, 200, 250, 300)
SEARCHED, FIRST_SEED = 40, 100


def models(seed):
    """Two kinds, of which the first is often unsure and the second sure."""
    return {
        "network": MLPClassifier((32,), max_iter=60, random_state=seed),
        "logistic": LogisticRegression(max_iter=60, C=20),
    }


def found(X, y, model, seed):
    """Wrong predictions among the first of the search, for every budget."""
    order = np.random.default_rng(seed).permutation(len(X))
    train, other, pool = order[:150], order[150:500], order[500:900]
    fitted = fa.as_classifier(model.fit(X[train], y[train]), bounds=(0, 1))
    honest = calibrate(fitted, X[other], y[other])
    errors = {}
    for queries in BUDGETS:
        state = Search(
            "adversarial-distance", model=honest, X=X[pool], threshold=0.65,
            max_queries=queries, seed=seed,
        ).state  # fmt: skip
        first = np.argsort(state.scores, kind="stable")[:SEARCHED]
        errors[queries] = int((state.predicted != y[pool][state.rows])[first].sum())
    return errors


def main():
    """Search every world with every budget and keep the sums and the differences."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--worlds", type=int, default=20)
    X, y = load_digits(return_X_y=True)
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of networks that stop early, on purpose
        for seed in range(FIRST_SEED, FIRST_SEED + parser.parse_args().worlds):
            for model in models(seed).values():
                try:
                    rows.append(list(found(X / 16, y, model, seed).values()))
                except NotEnoughEvidenceError:  # never surer than 0.65
                    continue
    errors = np.array(rows)
    more = errors - errors[:, -1:]
    kept = {
        "command": "python benchmarks/discovery_queries.py",
        "worlds": len(errors),
        "errors": dict(zip(BUDGETS, errors.sum(axis=0).tolist(), strict=True)),
        "more_than_at_300": dict(zip(BUDGETS, more.mean(axis=0).tolist(), strict=True)),
        "standard_error": dict(
            zip(BUDGETS, (more.std(axis=0, ddof=1) / len(more) ** 0.5).tolist(), strict=True)
        ),
    }
    print(json.dumps(kept))
    RESULTS.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
