"""Does the accuracy of the weak labels fall along the datasets? Definition 3, and a valid test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fireassay.core.arrays import BoolArray, FloatArray, IntArray
from fireassay.core.chart import Chart
from fireassay.core.estimate import Estimate
from fireassay.core.evidence import Assumption
from fireassay.core.lazy import pd
from fireassay.core.seeds import generator
from fireassay.core.validation import check_choice, check_integer, check_labels, check_real
from fireassay.core.words import p_text, percent
from fireassay.curation import order as ordering
from fireassay.curation.analysis import accuracy_chart
from fireassay.curation.findings import Finding, dataset_frame, independent_rows
from fireassay.statistics import clopper_pearson, share, spearman

if TYPE_CHECKING:
    from fireassay.curation.curate import Curation
_PAPER_Z = 1.64
_MANY_ROWS = 100_000  # from here on samples are counted by pattern, which no exact test needs
_PAPER_RULE = "The rule of the published method (rank correlation over the nested sets)"
_RULE_SAYS = {
    "decreasing": "get less reliable from set to set, as hoped",
    "increasing": "get more reliable from set to set, the wrong way round",
    "none": "do not change from set to set",
}


@dataclass(frozen=True, eq=False)
class Trend(Finding):
    """Does the accuracy of the weak labels fall from D_1 to D_N?

    Attributes:
        rho, p_value: Definition 2: Spearman's correlation of dataset number and accuracy. The
            datasets are nested, so this p-value is far too small: about four in ten random orders
            of ten datasets pass it.
        accuracy, accuracy_interval: Of each dataset; the 90 % interval is the paper's.
        exact_interval: Clopper-Pearson, 95 %.
        permutation_p: A valid p-value of the same correlation, by permutation.
        auc, auc_interval, auc_p_value: Chance that a right label scores above a wrong one, every
            sample counted once; 95 %.
        verdict: "decreasing", "increasing" or "none", from the AUC alone.
        definition_3: The same three words by the paper's rule.
        n_groups: Number of groups the test counted, 0 when samples were taken as independent.
        sizes, n, n_correct: Samples in each dataset, samples in all, and how many weak labels are
            right.
        gamma, ties, method: Level of the tests, how ties were treated, and which test gave the AUC.

    >>> from fireassay.curation import curate, simulate_votes
    >>> votes, y = simulate_votes([0.9, 0.9, 0.6, 0.6], coverage=0.8, n=1000, seed=0)
    >>> trend = curate(votes).validate(y)
    >>> trend.verdict, bool(trend.accuracy[0] > trend.accuracy[-1])
    ('decreasing', True)
    """

    rho: float
    p_value: float
    accuracy: FloatArray
    accuracy_interval: FloatArray
    exact_interval: FloatArray
    permutation_p: float
    auc: float
    auc_interval: tuple[float, float]
    auc_p_value: float
    verdict: str
    definition_3: str
    sizes: IntArray
    n: int
    n_correct: int
    gamma: float
    ties: str
    n_groups: int
    method: str

    @property
    def agrees(self) -> bool:
        """Whether the paper's rule and the calibrated test say the same."""
        return self.verdict == self.definition_3

    @property
    def added(self) -> tuple[IntArray, FloatArray, FloatArray]:
        """Rows that each dataset adds to the one before, their accuracy and its exact interval.

        One bad tenth hides in the nested sets: here every row counts once. NaN where none is added.
        """
        sizes = np.diff(self.sizes, prepend=0)
        right = np.diff(self.accuracy * self.sizes, prepend=0.0)
        with np.errstate(invalid="ignore"):
            accuracy = np.where(sizes > 0, np.clip(right / sizes, 0.0, 1.0), np.nan)
        ends = np.full((len(sizes), 2), np.nan)
        ends[sizes > 0] = exact_interval(accuracy[sizes > 0], sizes[sizes > 0])
        return sizes, accuracy, ends

    def frame(self) -> pd.DataFrame:
        """One row per dataset: size, accuracy, both intervals, and the same of the rows it adds."""
        sizes, accuracy, ends = self.added
        return dataset_frame(
            self.sizes,
            accuracy=self.accuracy,
            low_90_paper=self.accuracy_interval[:, 0],
            high_90_paper=self.accuracy_interval[:, 1],
            low_95_exact=self.exact_interval[:, 0],
            high_95_exact=self.exact_interval[:, 1],
            added=sizes,
            accuracy_added=accuracy,
            low_95_added=ends[:, 0],
            high_95_added=ends[:, 1],
        )

    def charts(self) -> dict[str, Chart]:
        """Accuracy against dataset, with intervals (the paper's Figure 3)."""
        return {"accuracy": accuracy_chart(self)}

    @property
    def holds(self) -> bool:
        """Whether the order is shown to be adversarial."""
        return self.verdict == "decreasing"

    def in_words(self) -> str:
        """What the two tests say, for a reader who knows the patients and not the statistics."""
        said = _verdict_sentence(self)
        if self.agrees:
            return f"{said} {_PAPER_RULE} says the same."
        return f"{said} {_disagreement(self)}"

    def estimates(self) -> dict[str, Estimate]:
        """The AUC, and the accuracy of the first and the last dataset."""
        rests = ("independent-rows",)
        found = {
            "order_auc": Estimate.around(
                self.auc, *self.auc_interval, confidence=0.95, n=self.n, method=self.method,
                rests_on=rests,
            )
        }  # fmt: skip
        for name, i in (("first_accuracy", 0), ("last_accuracy", -1)):
            if not np.isnan(self.accuracy[i]):
                size = int(self.sizes[i])
                found[name] = share(self.accuracy[i] * size, size, rests_on=rests)
        return found

    def assumptions(self) -> tuple[Assumption, ...]:
        """That samples, or at least groups of them, are independent."""
        return (independent_rows(self.n_groups),)


def validate(
    result: Curation,
    y: Any,
    gamma: float = 0.05,
    ties: str = "expected",
    *,
    groups: Any = None,
    n_permutations: int = 2000,
) -> Trend:
    """Check the order of a curation against true labels (see `Curation.validate`)."""
    check_real(gamma, "gamma", low=0.0, high=1.0)
    check_choice(ties, "ties", ("expected", "stable", "published"))
    check_integer(n_permutations, "n_permutations", low=1)
    truth = check_labels(y, n=result.n)
    grouped = ordering.check_groups(groups, len(truth))
    sizes, seed = result.sizes, result.settings.seed
    of_test: dict[str, Any] = {"gamma": gamma, "n_permutations": n_permutations, "seed": seed}
    if grouped is None and ties == "expected" and len(truth) >= _MANY_ROWS:
        table = _table_by_pattern(result, truth)
        return trend_of(table, sizes, ordering.grouped_order_test(table), **of_test)
    correct = np.asarray(truth == result.labels)
    scores = result.score  # a new array each time
    if ties != "expected":  # a strict order: every sample its own level
        order = result.order if ties == "stable" else ordering.published_order(result)
        scores[order] = -np.arange(len(scores), dtype=np.float64)
    table = ordering.ScoreTable.of(scores, correct)
    # The calibrated test always treats tied scores as tied: a tie-break is no information.
    test = ordering.order_test(result.score, correct, grouped)
    if grouped is not None:
        rho = definition_2(table.accuracies(sizes))[0]
        of_test["n_groups"] = int(grouped.max()) + 1
        of_test["permutation_p"] = grouped_permutation_p_value(
            scores, correct, grouped, sizes, rho, n_permutations, seed
        )
    return trend_of(table, sizes, test, ties=ties, **of_test)


def _table_by_pattern(result: Curation, truth: IntArray) -> ordering.ScoreTable:
    """The score table of all samples, from counts of (pattern, true class): no row is looked up."""
    patterns, k = result.patterns, result.settings.n_classes
    if truth.dtype.kind in "iu" and truth.min() >= 0 and truth.max() < k:
        cells = patterns.of_row.astype(np.int64) * k + truth
        seen = np.bincount(cells, minlength=len(patterns.counts) * k).reshape(-1, k)
        right = seen[np.arange(len(seen)), result.table.labels]
    else:
        right = np.bincount(patterns.of_row[truth == result.labels], None, len(patterns.counts))
    levels, where = ordering.score_levels(result.table.score(result.settings.order_by))
    # Whole numbers below 2**53: their sums are exact.
    sums = (np.bincount(where, each, len(levels)) for each in (patterns.counts, right))
    return ordering.ScoreTable(*(np.asarray(each, dtype=np.int64) for each in sums))


def trend_of(
    table: ordering.ScoreTable,
    sizes: IntArray,
    test: ordering.OrderTest,
    *,
    gamma: float,
    n_permutations: int = 2000,
    seed: int = 0,
    ties: str = "expected",
    n_groups: int = 0,
    permutation_p: float | None = None,
) -> Trend:
    """A `Trend` from the table of scores and the calibrated test."""
    accuracy = table.accuracies(sizes)
    rho, p_value = definition_2(accuracy)
    if permutation_p is None:
        permutation_p = permutation_p_value(table, sizes, rho, n_permutations, seed)
    return Trend(
        rho=rho,
        p_value=p_value,
        accuracy=accuracy,
        accuracy_interval=paper_interval(accuracy, sizes),
        exact_interval=exact_interval(accuracy, sizes),
        permutation_p=permutation_p,
        auc=test.auc,
        auc_interval=(test.low, test.high),
        auc_p_value=test.p_value,
        verdict=test.verdict(gamma),
        definition_3=ordering.direction(rho, p_value, gamma),
        sizes=sizes,
        n=int(table.counts.sum()),
        n_correct=int(table.correct.sum()),
        gamma=gamma,
        ties=ties,
        n_groups=n_groups,
        method=test.method,
    )


def exact_interval(share: FloatArray, sizes: IntArray, confidence: float = 0.95) -> FloatArray:
    """Clopper-Pearson interval of each share, shape (datasets, 2); [0, 1] for empty datasets."""
    hits = np.where(sizes > 0, np.nan_to_num(share) * sizes, 0.0)
    low, high = clopper_pearson(hits, sizes, confidence)
    return np.column_stack([low, high])


def _disagreement(trend: Trend) -> str:
    """Why the published rule and the calibrated test may differ, and which one to follow."""
    rule = _RULE_SAYS[trend.definition_3]
    if trend.definition_3 == "none":
        return (
            f"{_PAPER_RULE} does not see this: it looks at {len(trend.sizes)} sets "
            "only, while the test above compares every right label with every wrong one. "
            "Follow the test."
        )
    if trend.verdict == "none":
        return (
            f"{_PAPER_RULE} would have said that the labels {rule} "
            f"(rho {trend.rho:+.2f}, {p_text(trend.p_value)}). Do not rely on that: each larger "
            "set contains all cases of the smaller ones, so the same cases are counted again and "
            "again, and about four in ten randomly shuffled lists pass that rule one way or the "
            "other. Counted once each, these cases do not show it. Treat the order as not proven."
        )
    return (
        f"{_PAPER_RULE} says the opposite: the labels {rule} "
        f"(rho {trend.rho:+.2f}, {p_text(trend.p_value)}). It counts the cases of the first sets "
        "again in every later one, so a few unusual cases at the start can turn it around. Follow "
        "the test that counts each case once, and look at the first set by hand."
    )


def _verdict_sentence(trend: Trend) -> str:
    low, high = trend.auc_interval
    chance = f"{percent(trend.auc)} ({percent(low)} to {percent(high)})"
    if trend.verdict == "decreasing":
        return (
            "The cases at the end of the list are truly harder: take one correctly and one "
            f"wrongly labelled case, and in {chance} of such pairs the correct one stands earlier."
        )
    if trend.verdict == "increasing":
        return (
            "The list is the wrong way round: wrongly labelled cases stand before correct ones; "
            f"a correct label stands earlier in only {chance} of pairs. Do not use this order."
        )
    if trend.method.startswith("undefined"):
        return f"Nothing can be said about the order ({trend.method.removeprefix('undefined: ')})."
    return (
        "It is not shown that the cases at the end of the list are harder: of a correctly and a "
        f"wrongly labelled case the correct one stands earlier in {chance} of pairs, and 50 % "
        "would be a coin toss."
    )


def definition_2(accuracy: FloatArray) -> tuple[float, float]:
    """Spearman's correlation of dataset number and accuracy (Definition 2), and its p-value."""
    # Empty datasets are left out; with fewer than three datasets there is no trend: (0, 1).
    filled = ~np.isnan(accuracy)
    if filled.sum() < 3:
        return 0.0, 1.0
    return spearman(np.flatnonzero(filled), accuracy[filled])


def permutation_p_value(
    table: ordering.ScoreTable, sizes: IntArray, rho: float, n_permutations: int, seed: int
) -> float:
    """P-value of the nested correlation when right answers fall on the samples at random."""
    # Tied samples are exchangeable: only counts per group are drawn (multivariate hypergeometric).
    sizes = sizes[sizes > 0]
    if len(sizes) < 3:
        return 1.0
    counts = _merged(table.counts, sizes)
    rng = generator(seed, "permutation")
    draws = rng.multivariate_hypergeometric(
        counts, int(table.correct.sum()), size=n_permutations, method="marginals"
    )
    accuracy = ordering.prefix_accuracies(counts, draws, sizes)
    return _two_sided(nested_correlations(accuracy), rho)


def grouped_permutation_p_value(
    scores: FloatArray,
    correct: BoolArray,
    groups: IntArray,
    sizes: IntArray,
    rho: float,
    n_permutations: int,
    seed: int,
) -> float:
    """The same with whole groups moved: right answers of one group stay next to each other."""
    used = sizes[sizes > 0]
    if len(used) < 3:
        return 1.0
    levels, where = ordering.score_levels(scores)
    counts = np.bincount(where, minlength=len(levels))
    rows = np.argsort(groups, kind="stable")
    level, blocks = where[rows], np.split(correct[rows], np.cumsum(np.bincount(groups))[:-1])
    rng = generator(seed, "permutation", "groups")
    hits = np.empty((n_permutations, len(levels)), dtype=np.int64)
    for shuffled in hits:
        right = np.concatenate([blocks[g] for g in rng.permutation(len(blocks))])
        shuffled[:] = np.bincount(level, weights=right, minlength=len(levels))
    return _two_sided(nested_correlations(ordering.prefix_accuracies(counts, hits, used)), rho)


def paper_interval(accuracy: FloatArray, sizes: IntArray) -> FloatArray:
    """The paper's 90 % interval of each accuracy: 1.64 standard errors, shape (datasets, 2)."""
    with np.errstate(invalid="ignore", divide="ignore"):
        half = _PAPER_Z * np.sqrt(accuracy * (1 - accuracy) / sizes)
    ends: FloatArray = np.column_stack([accuracy - half, accuracy + half])
    return np.asarray(ends.clip(0.0, 1.0))


def _merged(counts: IntArray, sizes: IntArray) -> IntArray:
    """Join neighbouring levels wherever no dataset ends inside or between them."""
    edges = np.concatenate([[0], np.cumsum(counts)])
    group = np.clip(np.searchsorted(edges, sizes, side="left") - 1, 0, len(counts) - 1)
    needed = np.unique(np.concatenate([[0], edges[group], edges[group + 1], edges[-1:]]))
    return np.diff(needed)


def _two_sided(null: FloatArray, rho: float) -> float:
    above = 1 + int((null >= rho - 1e-12).sum())
    below = 1 + int((null <= rho + 1e-12).sum())
    return min(1.0, 2 * min(above, below) / (len(null) + 1))


def nested_correlations(accuracy: FloatArray) -> FloatArray:
    """Spearman's correlation with the dataset number for each row of accuracies."""
    n_sets = accuracy.shape[1]
    below = (accuracy[:, None, :] < accuracy[:, :, None]).sum(axis=2, dtype=np.float64)
    equal = (accuracy[:, None, :] == accuracy[:, :, None]).sum(axis=2, dtype=np.float64)
    ranks = below + equal / 2
    ranks -= ranks.mean(axis=1, keepdims=True)
    place = np.arange(n_sets) - (n_sets - 1) / 2
    scale = np.sqrt((ranks**2).sum(axis=1) * (place @ place))
    return np.asarray(np.divide(ranks @ place, scale, out=np.zeros(len(ranks)), where=scale > 0))
