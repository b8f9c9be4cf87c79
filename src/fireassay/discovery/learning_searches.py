"""Searches that learn from labels: Bansal–Weld, facility location, hybrid."""

import numpy as np

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.discovery.strategy import Candidates, Choice, Strategy, first_largest

# Smaller gains of cover change no choice and need not be carried along.
_LEAST_CHANGE = 1e-7


class ErrorsCovered:
    """Σ_x c_x max(cov_x, G_xi) for every row i, kept up to date as errors are found."""

    def __init__(self, candidates: Candidates) -> None:
        self._confidence = candidates.confidence.astype(np.float32)
        self._cover = candidates.space.cover
        self._covered = np.zeros(len(candidates), dtype=np.float32)
        self.totals: FloatArray = (self._confidence @ self._cover).astype(np.float64)

    def add_error(self, row: int) -> None:
        """Take in a found error."""
        covered = np.maximum(self._covered, self._cover[row])
        changed = np.flatnonzero(covered - self._covered > _LEAST_CHANGE)
        block = self._cover[changed]
        after = self._confidence[changed] @ np.maximum(block, covered[changed, None])
        before = self._confidence[changed] @ np.maximum(block, self._covered[changed, None])
        self.totals += after.astype(np.float64) - before
        self._covered = covered


_PRIOR_STRENGTH = 2.0


class BansalWeld(Strategy):
    """Greedy expected coverage (Bansal and Weld 2018).

    φ_i = (2 (1 − c_i) + errors in i's cluster) / (2 + queries in i's cluster); the next row
    maximises φ_i Σ_x c_x max(cov_x, G_xi).
    """

    name = "bansal-weld"
    summary = "what would cover most of the pool, if it were an error"

    def __init__(self, candidates: Candidates) -> None:
        self._confidence = candidates.confidence
        self._clusters = candidates.clusters
        self._coverage = ErrorsCovered(candidates)
        count = int(self._clusters.max()) + 1
        self._errors, self._queries = np.zeros(count), np.zeros(count)

    def choose(self, free: IntArray, rng: np.random.Generator) -> Choice:  # noqa: ARG002
        """The free row with the largest expected coverage."""
        prior = _PRIOR_STRENGTH * (1 - self._confidence) + self._errors[self._clusters]
        chance = prior / (_PRIOR_STRENGTH + self._queries[self._clusters])
        return first_largest(chance * self._coverage.totals, free)

    def learn(self, row: int, wrong: bool) -> None:
        """Update the cluster's error rate and, for an error, the coverage."""
        self._queries[self._clusters[row]] += 1
        if wrong:
            self._errors[self._clusters[row]] += 1
            self._coverage.add_error(row)


_STEPS = 25


def logistic_chances(
    features: FloatArray, rows: IntArray, wrong: FloatArray, penalty: float = 1.0
) -> FloatArray:
    """Chance of an error for every row, learnt from the labelled ``rows`` by Newton's method."""
    # Features are standardised over all rows; the intercept is not penalised.
    spread = features.std(axis=0)
    standard = (features - features.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    design = np.column_stack([np.ones(len(features)), standard])
    seen = design[rows]
    ridge = penalty * np.eye(design.shape[1])
    ridge[0, 0] = 1e-6
    weights = np.zeros(design.shape[1])
    for _ in range(_STEPS):
        chance = _sigmoid(seen @ weights)
        slope = seen.T @ (wrong - chance) - ridge @ weights
        curvature = (seen * (chance * (1 - chance))[:, None]).T @ seen + ridge
        step = np.linalg.solve(curvature, slope)
        weights += np.clip(step, -4.0, 4.0)
        if np.abs(step).max() < 1e-8:
            break
    return _sigmoid(design @ weights)


def _sigmoid(values: FloatArray) -> FloatArray:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(values, -40.0, 40.0))))


_LEAST_DOUBT = 1e-6
_BLOCK = 512


class FacilityLocation(Strategy):
    """Greedy expected facility-location utility (Maurer and Bennette 2019).

    W = Σ_errors log(1 / (1 − c)) − mean distance to the nearest found error. The next row maximises
    φ W(error) + (1 − φ) W(none); φ = 1 − c until both are seen, then a logistic regression.
    """

    name = "facility-location"
    summary = "surprising errors, near everything"

    def __init__(self, candidates: Candidates) -> None:
        self._confidence = candidates.confidence
        self._space = candidates.space
        self._surprise = -np.log(np.maximum(1 - candidates.confidence, _LEAST_DOUBT))
        self._known = np.column_stack([candidates.features, candidates.confidence])
        self._nearest = np.ones(len(candidates))
        self._savings = self._all_savings()
        self._rows: list[int] = []
        self._wrong: list[float] = []

    def choose(self, free: IntArray, rng: np.random.Generator) -> Choice:  # noqa: ARG002
        """The free row with the largest expected gain of utility."""
        chance = 1 - self._confidence
        if 0 < sum(self._wrong) < len(self._wrong):
            rows = np.asarray(self._rows, dtype=np.int64)
            chance = logistic_chances(self._known, rows, np.asarray(self._wrong))
        return first_largest(chance * (self._surprise + self._savings), free)

    def learn(self, row: int, wrong: bool) -> None:
        """Keep the answer; an error is a new facility."""
        self._rows.append(row)
        self._wrong.append(float(wrong))
        if wrong:
            self._nearest = np.minimum(self._nearest, self._space.distances(row)[0])
            self._savings = self._all_savings()

    def _all_savings(self) -> FloatArray:
        """By how much each row, as a facility, would shorten the mean distance."""
        savings = np.empty(len(self._space))
        for start in range(0, len(savings), _BLOCK):
            rows = np.arange(start, min(start + _BLOCK, len(savings)))
            shorter = self._nearest[None, :] - self._space.distances(rows)
            savings[rows] = np.maximum(shorter, 0.0, out=shorter).mean(axis=1)
        return savings


_WARM_UP = 10


class Hybrid(Strategy):
    """Ten rows by adversarial distance, then the row with the largest excess of error chance.

    The chance is a ridge logistic regression on features, confidence and the rank of the
    adversarial distance, less 1 − confidence; by that distance until both outcomes are seen.
    """

    name, needs = "hybrid", "distances"
    summary = "ten by adversarial distance, then what a regression on the labels says"

    def __init__(self, candidates: Candidates) -> None:
        scores = candidates.suspicion
        self._confidence = candidates.confidence
        self._order = -scores
        rank = np.empty(len(scores))
        rank[np.lexsort((np.arange(len(scores)), scores))] = np.linspace(0, 1, len(scores))
        self._known = np.column_stack([candidates.features, candidates.confidence, rank])
        self._rows: list[int] = []
        self._wrong: list[float] = []

    def choose(self, free: IntArray, rng: np.random.Generator) -> Choice:  # noqa: ARG002
        """By distance while warming up, by excess afterwards."""
        if len(self._rows) < _WARM_UP or not 0 < sum(self._wrong) < len(self._wrong):
            return first_largest(self._order, free)
        rows = np.asarray(self._rows, dtype=np.int64)
        chance = logistic_chances(self._known, rows, np.asarray(self._wrong))
        return first_largest(chance - (1 - self._confidence), free)

    def learn(self, row: int, wrong: bool) -> None:
        """Keep the answer."""
        self._rows.append(row)
        self._wrong.append(float(wrong))


class LakkarajuPublished(Strategy):
    """Upper confidence bounds over clusters, a random row inside (Lakkaraju et al. 2017).

    Each arm once, then the one with the largest ū + √(2 ln(t + 1) / ñ). A cluster of N rows with n
    pulls weighs its j-th pull with (N − n) / (N − pulls before j): what is left counts.
    """

    name = "lakkaraju-published"
    summary = "clusters as arms of a bandit, a random row inside, as published"

    def __init__(self, candidates: Candidates) -> None:
        self._clusters = candidates.clusters
        self._sizes = np.bincount(self._clusters)
        self._rewards: list[list[float]] = [[] for _ in self._sizes]

    def choose(self, free: IntArray, rng: np.random.Generator) -> Choice:
        """A row of the best arm that still has one."""
        open_arms = np.unique(self._clusters[free])
        pulls = np.array([len(self._rewards[arm]) for arm in open_arms])
        if (pulls == 0).any():
            arm = int(open_arms[np.argmin(pulls)])
        else:
            bounds = [self._upper_bound(int(arm)) for arm in open_arms]
            arm = int(open_arms[int(np.argmax(bounds))])
        return self._inside(free[self._clusters[free] == arm], rng)

    def learn(self, row: int, wrong: bool) -> None:
        """Reward the row's arm with 1 for an error."""
        self._rewards[self._clusters[row]].append(float(wrong))

    def _inside(self, rows: IntArray, rng: np.random.Generator) -> Choice:
        return Choice(int(rows[rng.integers(len(rows))]))

    def _upper_bound(self, arm: int) -> float:
        rewards = np.asarray(self._rewards[arm])
        size, pulls = self._sizes[arm], len(rewards)
        weights = (size - pulls) / (size - np.arange(pulls))
        effective = max(float(weights.sum()), 1e-9)
        total = sum(len(r) for r in self._rewards)
        mean = float(weights @ rewards) / effective
        return mean + float(np.sqrt(2 * np.log(total + 1) / effective))


class Lakkaraju(LakkarajuPublished):
    """As it was run by Bansal and Weld: inside the arm, the row that would cover most."""

    name = "lakkaraju"
    summary = "clusters as arms of a bandit, the row that covers most inside"

    def __init__(self, candidates: Candidates) -> None:
        super().__init__(candidates)
        self._coverage = ErrorsCovered(candidates)

    def learn(self, row: int, wrong: bool) -> None:
        """Reward the arm and, for an error, update the coverage."""
        super().learn(row, wrong)
        if wrong:
            self._coverage.add_error(row)

    def _inside(self, rows: IntArray, rng: np.random.Generator) -> Choice:  # noqa: ARG002
        return first_largest(self._coverage.totals, rows)
