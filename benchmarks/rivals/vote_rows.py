"""Label models and verdicts from votes."""

import by_hand
import numpy as np
from race import Race, largest_difference, rival

_SMALL = "label model, 847,486 × 5 votes"
_DISTINCT = "label model, 100,000 × 40 votes, no two rows alike"


def _votes(rows: int, lfs: int = 5, coverage: float = 0.45):
    from fireassay import curation

    return curation.simulate_votes(np.linspace(0.58, 0.8, lfs), coverage, rows, seed=0)


def _posterior(votes):
    from fireassay.curation.labelers import Snorkel
    from fireassay.curation.votes import unique_patterns

    patterns = unique_patterns(votes, 2)
    fitted = Snorkel().fit(patterns, seed=1)
    return np.take(fitted.posterior(patterns.votes), patterns.of_row, axis=0)


def _snorkel(votes):
    from snorkel.labeling.model import LabelModel

    model = LabelModel(cardinality=2, verbose=False)
    model.fit(votes, seed=1, progress_bar=False)
    return model.predict_proba(votes)


def _label_model(quick: bool, peer, distinct: bool) -> Race:
    if distinct:
        votes = _votes(2_000 if quick else 100_000, 40, 0.6)[0]
    else:
        votes = _votes(20_000 if quick else 847_486)[0]
    return Race(lambda: _posterior(votes), lambda: peer(votes), largest_difference)


@rival("snorkel label model", "curation", _SMALL)
def _(quick: bool) -> Race:
    return _label_model(quick, _snorkel, distinct=False)


@rival("sparse numpy, label model", "curation", _SMALL)
def _(quick: bool) -> Race:
    return _label_model(quick, by_hand.label_model, distinct=False)


@rival("snorkel, distinct rows", "curation", _DISTINCT, target=10,
       why="a third is finding out that no two rows are alike")  # fmt: skip
def _(quick: bool) -> Race:
    return _label_model(quick, _snorkel, distinct=True)


@rival("sparse numpy, distinct rows", "curation", _DISTINCT)
def _(quick: bool) -> Race:
    return _label_model(quick, by_hand.label_model, distinct=True)


@rival("snorkel + statsmodels", "curation", "label model, exact intervals and order, 20,000 × 5")
def _(quick: bool) -> Race:
    from statsmodels.stats.proportion import proportion_confint

    from fireassay import curation

    votes = _votes(2_000 if quick else 20_000)[0]

    def peer():
        best = _snorkel(votes).max(axis=1)
        n = (votes != -1).sum(axis=1)
        lower = np.zeros(len(votes))
        for i in np.flatnonzero(n):
            lower[i] = proportion_confint(n[i] * best[i], n[i], alpha=0.05, method="beta")[0]
        np.argsort(-lower, kind="stable")
        return lower

    def ours():
        result = curation.curate(votes, labeler="snorkel", prune=None, seed=1)
        assert len(result.order) == len(votes)
        return result.lower

    return Race(ours, peer, largest_difference)


@rival("crowd-kit Dawid–Skene", "curation", "Dawid–Skene, 100 steps, 100,000 × 10")
def _(quick: bool) -> Race:
    import pandas as pd
    from crowdkit.aggregation import DawidSkene as Theirs

    from fireassay.curation.labelers import DawidSkene
    from fireassay.curation.votes import unique_patterns

    votes = _votes(2_000 if quick else 100_000, 10)[0]
    row, lf = np.nonzero(votes != -1)
    frame = pd.DataFrame({"task": row, "worker": lf, "label": votes[row, lf]})

    def ours():
        patterns = unique_patterns(votes, 2)
        fitted = DawidSkene(max_steps=100, tolerance=0.0).fit(patterns)
        return fitted.posterior(patterns.votes)[patterns.of_row]

    def peer():
        found = Theirs(n_iter=100, tol=0.0).fit_predict_proba(frame).sort_index()[[0, 1]]
        return found.to_numpy(), found.index.to_numpy()

    def agree(mine, theirs):
        same = (mine[theirs[1]].argmax(1) == theirs[0].argmax(1)).mean()
        return f"same class in {same:.1%} of rows"

    return Race(ours, peer, agree)


@rival("numpy and scipy, verdict", "curation", "votes to verdict, majority, 10,000,000 × 10")
def _(quick: bool) -> Race:
    from fireassay import curation

    votes, y = _votes(20_000 if quick else 10_000_000, 10)

    def ours():
        trend = curation.curate(votes, prune=None, seed=1).validate(y)
        return trend.auc, trend.accuracy

    def agree(mine, theirs):
        return f"AUC {mine[0]:.6f}, peer {theirs[0]:.6f}"

    return Race(ours, lambda: by_hand.majority_verdict(votes, y), agree)
