"""Lakkaraju's search: clusters are the arms of a bandit whose reward is an error."""

import numpy as np

from fireassay.core.arrays import IntArray
from fireassay.discovery.coverage import Coverage
from fireassay.discovery.strategy import Candidates, Choice, Strategy, first_largest


class LakkarajuPublished(Strategy):
    """Upper confidence bounds over clusters, a random row inside (Lakkaraju et al. 2017).

    Each arm once, then the one with the largest ū + √(2 ln(t + 1) / ñ). A cluster of N rows with n
    pulls weighs its j-th pull with (N − n) / (N − pulls before j): what is left of a cluster
    counts, not what was.
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
        self._coverage = Coverage(candidates)

    def learn(self, row: int, wrong: bool) -> None:
        """Reward the arm and, for an error, update the coverage."""
        super().learn(row, wrong)
        if wrong:
            self._coverage.add_error(row)

    def _inside(self, rows: IntArray, rng: np.random.Generator) -> Choice:  # noqa: ARG002
        return first_largest(self._coverage.totals, rows)
