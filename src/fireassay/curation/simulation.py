"""Is the interval an interval? Simulate labelling functions whose accuracy is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.chart import Chart
from fireassay.core.drawing import axis, curves
from fireassay.core.errors import ParameterError
from fireassay.core.estimate import Estimate
from fireassay.core.lazy import pd
from fireassay.core.result import Result
from fireassay.core.seeds import generator
from fireassay.core.validation import check_integer
from fireassay.curation.curate import curate
from fireassay.curation.labelers.triplet import FittedTriplet
from fireassay.curation.votes import ABSTAIN
from fireassay.statistics import share


@dataclass(frozen=True, eq=False)
class IntervalCoverage(Result):
    """How often the interval around a weak label's confidence holds the true probability.

    Attributes:
        covered: Share of samples whose true P(label is right | votes) is inside; 95 % interval.
        nominal: What a confidence interval would have to reach.
        is_confidence_interval: Whether it does; if not, the interval is a score to order by.
        by_votes: The same for each number of votes.
    """

    covered: Estimate
    nominal: float
    is_confidence_interval: bool
    by_votes: pd.DataFrame

    def frame(self) -> pd.DataFrame:
        """Coverage for each number of votes."""
        return self.by_votes

    def summary(self) -> str:
        """What the interval is, and how often it holds the truth."""
        return f"A {self.name}: covered {self.covered}, nominal {self.nominal:g}"

    @property
    def name(self) -> str:
        """What the interval deserves to be called."""
        return "confidence interval" if self.is_confidence_interval else "score"


def simulated_coverage(
    accuracies: Sequence[float],
    coverage: float | Sequence[float] = 0.6,
    n: int = 20_000,
    n_classes: int = 2,
    *,
    labeler: Any = "majority",
    interval: str = "posterior",
    confidence: float = 0.95,
    seed: int = 0,
) -> IntervalCoverage:
    """Draw independent votes with known accuracies, curate them, and count.

    The truth is exact: P(Y | votes) is then naive Bayes with the true numbers.

    Args:
        accuracies, coverage: How often a labelling function's vote is right, and there is one.
        n, n_classes: How many samples of how many classes to draw.
        labeler, interval, confidence, seed: As for `curate`.

    >>> simulated_coverage([0.9] * 10, 1.0, n=2000, interval="paper").name
    'score'
    """
    check_integer(n, "n", low=1)
    votes, _ = simulate_votes(accuracies, coverage, n, n_classes, seed)
    result = curate(votes, n_classes, labeler=labeler, prune=None, interval=interval,
                    confidence=confidence, drop_silent=False, seed=seed)  # fmt: skip
    truth = FittedTriplet.from_accuracy(
        np.asarray(accuracies, dtype=np.float64), np.full(n_classes, 1 / n_classes)
    )
    posterior = truth.posterior(result.patterns.votes)
    true_confidence = np.take_along_axis(posterior, result.table.labels[:, None], axis=1)[:, 0]
    inside = true_confidence >= result.table.lower - 1e-9
    inside &= true_confidence <= result.table.upper + 1e-9
    n_rows = result.patterns.counts
    frame = pd.DataFrame({"votes": result.table.n_votes, "n": n_rows, "hits": n_rows * inside})
    by_votes = frame.groupby("votes", as_index=False)[["n", "hits"]].sum()
    by_votes["covered"] = by_votes["hits"] / by_votes["n"]
    covered = share(int(by_votes["hits"].sum()), n)
    return IntervalCoverage(covered, confidence, covered.high >= confidence, by_votes)


def simulate_votes(
    accuracies: Sequence[float],
    coverage: float | Sequence[float],
    n: int,
    n_classes: int = 2,
    seed: int = 0,
) -> tuple[NDArray[np.int8], IntArray]:
    """Independent votes of known accuracy on known classes, errors spread evenly.

    Args:
        accuracies: How often each labelling function is right when it votes, in [0, 1].
        coverage: How often it votes: one number, or one per labelling function.
        n, n_classes: Samples and classes.
        seed: Of classes and votes.

    >>> votes, y = simulate_votes([0.7] * 3, coverage=0.6, n=5, seed=0)
    >>> votes.shape, y.shape
    ((5, 3), (5,))
    """
    rights = np.asarray(accuracies, dtype=np.float64)
    covers = np.broadcast_to(np.asarray(coverage, dtype=np.float64), rights.shape)
    if rights.ndim != 1 or not len(rights) or ((rights <= 0) | (rights >= 1)).any():
        raise ParameterError("The 'accuracies' must be in (0, 1), one per labelling function.")
    if ((covers < 0) | (covers > 1)).any():
        raise ParameterError("The 'coverage' must be in [0, 1].", got=str(coverage))
    rng = generator(seed, "votes")
    y = rng.integers(n_classes, size=n)
    shape = (n, len(rights))
    wrong = (y[:, None] + rng.integers(1, n_classes, size=shape)) % n_classes
    votes = np.where(rng.random(shape) < rights, y[:, None], wrong)
    votes[rng.random(shape) >= covers] = ABSTAIN
    return votes.astype(np.int8), y


APPROACHES: dict[str, tuple[bool, str]] = {
    "PL Conf with all LFs": (False, "confidence"),
    "PL Conf with Indep. LFs": (True, "confidence"),
    "CI LB with all LFs": (False, "lower_bound"),
    "Our Approach": (True, "lower_bound"),
}
_OF_TREND = (
    "rho", "p_value", "definition_3", "permutation_p", "auc", "auc_p_value", "verdict",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class FourApproaches(Result):
    """One row per labeler and approach; print it to see the paper's table."""

    case: str
    rows: pd.DataFrame
    accuracy: FloatArray

    def frame(self) -> pd.DataFrame:
        """One row per labeler and approach."""
        return self.rows

    def table(self, calibrated: bool = False) -> pd.DataFrame:
        """Table III: ``rho (p)`` per labeler and approach, or ``AUC (p)`` of the valid test."""
        value, p = ("auc", "auc_p_value") if calibrated else ("rho", "p_value")
        cells = self.rows.assign(
            cell=[f"{v:.3f} ({q:.3f})" for v, q in zip(self.rows[value], self.rows[p], strict=True)]
        )
        wide = cells.pivot(index="labeler", columns="approach", values="cell")
        wide = wide.loc[list(dict.fromkeys(self.rows["labeler"])), list(APPROACHES)]
        wide.columns.name = None
        wide.insert(0, "case", self.case)
        return wide.reset_index().set_index(["case", "labeler"])

    def __str__(self) -> str:
        return str(self.table().to_string())

    def charts(self) -> dict[str, Chart]:
        """Accuracy of the datasets by approach, one panel per labeler (Figure 3)."""
        panels = []
        for labeler in dict.fromkeys(self.rows["labeler"]):
            numbers = np.arange(1, self.accuracy.shape[1] + 1)
            lines = {
                str(self.rows["approach"].iloc[place]): (numbers, self.accuracy[place])
                for place in np.flatnonzero(self.rows["labeler"] == labeler)
            }
            across = {"axis": axis("dataset", tickMinStep=1), "scale": {"zero": False}}
            title = axis("accuracy of the weak labels", "share")
            up = {"axis": title, "scale": {"domain": [0, 1]}}
            panel = curves(lines, across, up, points=True, width=300)
            panels.append({"title": f"{self.case}: {labeler}", **panel})
        caption = f"{self.case}: accuracy of the datasets by approach, one panel per label model."
        return {"approaches": Chart({"hconcat": panels}, caption, "Lines along the datasets.")}

    def summary(self) -> str:
        """How often the published rule and the calibrated test agree."""
        agree = int((self.rows["definition_3"] == self.rows["verdict"]).sum())
        return (
            f"{self.case}: the published rule and the calibrated test agree in {agree} of "
            f"{len(self.rows)} combinations of label model and approach."
        )


def compare_approaches(
    votes: Any,
    y: Any,
    n_classes: int = 2,
    fit_votes: Any = None,
    labelers: Sequence[Any] = ("majority", "snorkel"),
    prune: float = 0.5,
    interval: str = "paper",
    confidence: float = 0.95,
    n_sets: int = 10,
    default_class: int = 0,
    drop_silent: bool = False,
    seed: int = 0,
    *,
    gamma: float = 0.05,
    ties: str = "expected",
    groups: Any = None,
    case: str = "votes",
) -> FourApproaches:
    """Order by confidence or lower bound, with all or independent functions (Table III)."""
    # The defaults are the paper's; interval="posterior" and drop_silent=True correct the interval.
    rows, accuracy = [], []
    for labeler in labelers:
        for approach, (pruned, order_by) in APPROACHES.items():
            result = curate(
                votes, n_classes, fit_votes, labeler, prune if pruned else None, order_by, interval,
                confidence, n_sets, default_class, drop_silent, seed,
            )  # fmt: skip
            trend = result.validate(y, gamma, ties, groups=groups)
            row: dict[str, Any] = {"labeler": result.settings.labeler, "approach": approach}
            row["kept_lfs"] = len(result.kept_lfs)
            rows.append({**row, **{name: getattr(trend, name) for name in _OF_TREND}})
            accuracy.append(trend.accuracy)
    return FourApproaches(case, pd.DataFrame(rows), np.array(accuracy))
