"""From votes to adversarially ordered datasets, and what can be asked of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.chart import Chart
from fireassay.core.errors import DataError, deprecated
from fireassay.core.evidence import Evidence
from fireassay.core.lazy import pd
from fireassay.core.result import Answer
from fireassay.core.seeds import check_seed
from fireassay.curation.accuracy_bounds import AccuracyBounds, frechet_bounds
from fireassay.curation.analysis import analysis_table, dependence_chart, score_chart
from fireassay.curation.audit import Audit, AuditPlan, audit, draw_audit, plan_audit
from fireassay.curation.files import export
from fireassay.curation.findings import CurationFindings
from fireassay.curation.label_calibration import LabelCalibration, calibrate
from fireassay.curation.labelers import GivenProbabilities, as_labeler
from fireassay.curation.labelling import PatternLabels, Settings, careful, label_patterns
from fireassay.curation.order import adversarial_order, dataset_sizes, score_levels
from fireassay.curation.robustness import Robustness, robustness
from fireassay.curation.stability import Stability, stability
from fireassay.curation.trend import Trend, validate
from fireassay.curation.votes import (
    VotePatterns,
    check_n_classes,
    check_votes,
    every_row,
    lf_names,
    unique_patterns,
)


def curate(
    votes: Any,
    n_classes: int = 2,
    fit_votes: Any = None,
    labeler: Any = "majority",
    prune: float | None = 0.5,
    order_by: str = "lower_bound",
    interval: str = "posterior",
    confidence: float = 0.95,
    n_sets: int = 10,
    default_class: int = 0,
    drop_silent: bool = True,
    seed: int = 0,
    *,
    prune_by: str = "votes",
    effective_votes: bool = False,
    names: Any = None,
) -> Curation:
    """Label samples from weak votes and order them from safe to naturally adversarial.

    Args:
        votes: Shape (n, m): -1 abstains, 0..k-1 are classes. Dense (also a memory map or a frame),
            or scipy sparse with the class plus one stored.
        n_classes: The number of classes, at least 2.
        fit_votes: Votes to prune and fit on, when more samples are there than are to be ordered.
        labeler: The name of a label model (`fireassay.curation.LABELERS`), a labeler object, or
            class probabilities of shape (n, k).
        prune: Of two labelling functions that correlate more than this one goes; None keeps all.
        order_by: ``"lower_bound"`` of the interval, or the labeler's ``"confidence"``.
        interval: ``"posterior"``, or ``"paper"`` as the authors' program computes it.
        confidence: Nominal confidence of the interval, two-sided.
        n_sets: The number of cumulative datasets.
        default_class: The label where the two best classes are tied, or nobody votes.
        drop_silent: Drop labelling functions that never vote before pruning.
        seed: Same seed, same result.
        prune_by: ``"votes"``: correlation of the raw votes; ``"errors"``: of the errors under the
            majority vote, which lets two labelling functions both be right.
        effective_votes: Count dependent votes as fewer in the interval.
        names: Names of the labelling functions; a frame's columns by default.

    Returns:
        Labels, confidences, intervals, order and datasets; `Curation.warnings` says what to be
        careful about.

    Raises:
        DataError: For votes outside the classes, missing votes, or tables that do not fit together.

    >>> result = curate([[0, 0, 0], [1, 1, 1], [0, 1, -1], [1, 1, -1]], prune=None, n_sets=2)
    >>> result.labels.tolist()
    [0, 1, 0, 1]
    >>> [sorted(rows.tolist()) for rows in result.datasets]
    [[0, 1], [0, 1, 2, 3]]
    """
    k = check_n_classes(n_classes)
    chosen = as_labeler(labeler)
    settings = Settings(
        k, chosen.name, prune, order_by, interval, confidence, n_sets, default_class, drop_silent,
        prune_by, effective_votes, check_seed(seed),
    )  # fmt: skip
    checked = check_votes(votes)
    named = lf_names(votes if hasattr(votes, "shape") else checked, names)
    given = None
    if isinstance(chosen, GivenProbabilities):
        given = chosen.checked(checked.shape[0], k)
    patterns = unique_patterns(checked, k) if given is None else every_row(checked, k)
    fit_patterns = patterns
    if fit_votes is not None:
        more = check_votes(fit_votes, name="fit_votes")
        if more.shape[1] != checked.shape[1]:
            raise DataError(
                "votes and fit_votes must have the same labelling functions.",
                got=f"{checked.shape[1]} and {more.shape[1]} columns",
            )
        fit_patterns = unique_patterns(more, k, name="fit_votes")
    table = label_patterns(patterns, fit_patterns, chosen, settings, given=given)
    return Curation(
        kept_lfs=table.pruning.kept,
        lf_names=named,
        patterns=patterns,
        own_fit_patterns=None if fit_patterns is patterns else fit_patterns,
        table=table,
        settings=settings,
        warnings=careful(patterns, table, settings),
    )


@dataclass(frozen=True, eq=False)
class Curation(Answer):
    """Samples labelled by weak votes and ordered from safe to naturally adversarial.

    Attributes:
        kept_lfs: Indices of the labelling functions that survived pruning.
        patterns, table: The distinct rows of votes, and what each of them gets.
        warnings: What to be careful about, in plain words.
    """

    kept_lfs: IntArray
    lf_names: tuple[str, ...]
    patterns: VotePatterns
    own_fit_patterns: VotePatterns | None
    table: PatternLabels
    settings: Settings
    warnings: tuple[str, ...]

    @property
    def fit_patterns(self) -> VotePatterns:
        """The vote patterns it was pruned and fitted on."""
        return self.patterns if self.own_fit_patterns is None else self.own_fit_patterns

    @property
    def n(self) -> int:
        """The number of samples."""
        return len(self.patterns.of_row)

    @cached_property
    def labels(self) -> IntArray:
        """The weak label of each sample."""
        return self.table.labels[self.patterns.of_row]

    @cached_property
    def confidence(self) -> FloatArray:
        """The probability of each label under the labeler."""
        return self.table.confidence[self.patterns.of_row]

    @cached_property
    def lower(self) -> FloatArray:
        """Lower end of the interval around each confidence: a score to order by.

        How often the interval holds the true probability depends on the labelling functions; see
        `fireassay.curation.simulated_coverage`.
        """
        return self.table.lower[self.patterns.of_row]

    @cached_property
    def upper(self) -> FloatArray:
        """Upper end of the interval around each confidence."""
        return self.table.upper[self.patterns.of_row]

    @cached_property
    def order(self) -> IntArray:
        """Sample numbers from the highest score to the lowest, ties shuffled with the seed."""
        levels, level_of_pattern = score_levels(self.table.score(self.settings.order_by))
        level_of_row = level_of_pattern.astype(np.int32)[self.patterns.of_row]
        return adversarial_order(level_of_row, len(levels), self.settings.seed)

    @property
    def score(self) -> FloatArray:
        """What the samples are ordered by, rounded to 9 decimals."""
        return self.table.score(self.settings.order_by)[self.patterns.of_row]

    @cached_property
    def sizes(self) -> IntArray:
        """The sizes of the cumulative datasets."""
        return dataset_sizes(self.n, self.settings.n_sets)

    @property
    def datasets(self) -> list[IntArray]:
        """D_1 … D_N as arrays of sample numbers: views of one order, each holds the one before."""
        return [self.order[:size] for size in self.sizes]

    @property
    def added_rows(self) -> list[IntArray]:
        """Sample numbers in dataset k that are not in dataset k - 1, for each k."""
        starts = np.concatenate([[0], self.sizes[:-1]])
        return [self.order[a:b] for a, b in zip(starts, self.sizes, strict=True)]

    @property
    @deprecated("Curation.added_rows", gone_in="0.5")
    def rings(self) -> list[IntArray]:
        """The old name of `added_rows`."""
        return self.added_rows

    @property
    def dataset_number(self) -> IntArray:
        """The number (1 … N) of the first dataset each sample is in."""
        numbers = np.empty(self.n, dtype=np.int64)
        for number, ring in enumerate(self.added_rows, start=1):
            numbers[ring] = number
        return numbers

    @property
    def posterior(self) -> FloatArray:
        """P(class | votes) of each sample, shape (n, k)."""
        return np.take(self.table.posterior, self.patterns.of_row, axis=0)

    def frame(self) -> pd.DataFrame:
        """One row per sample: label, confidence, interval, votes, dataset number."""
        table = self.table.frame().iloc[self.patterns.of_row].reset_index(drop=True)
        table["dataset"] = self.dataset_number
        return table

    def lf_analysis(self, y: Any = None) -> pd.DataFrame:
        """One row per labelling function: coverage, overlap, conflict, accuracy, why pruned."""
        return analysis_table(
            self.fit_patterns, self.table.pruning, self.lf_names, self.settings.prune,
            labelled=None if y is None else (self.patterns, y),
        )  # fmt: skip

    def validate(
        self,
        y: Any,
        gamma: float = 0.05,
        ties: str = "expected",
        *,
        groups: Any = None,
        n_permutations: int = 2000,
    ) -> Trend:
        """Check the order against true labels.

        Args:
            y: The true class of each sample.
            gamma: Level of the tests.
            ties: ``"expected"``: accuracies in expectation over random tie-breaks; ``"stable"``: of
                the very datasets of this result; ``"published"``: in the paper's order of ties.
            groups: A label per sample (patient, device) when samples of one group are alike;
                without it the test takes repeated patients for new evidence.
            n_permutations: For `Trend.permutation_p`.
        """
        return validate(self, y, gamma, ties, groups=groups, n_permutations=n_permutations)

    def audit_rows(self, n_labels: int) -> IntArray:
        """Which samples to have labelled: equally many from each ring, at random."""
        return draw_audit(self, n_labels)

    def audit(self, rows: Any, y_audit: Any, gamma: float = 0.05) -> Audit:
        """Judge the order from a few labels that were drawn at random within each ring."""
        return audit(self, rows, y_audit, gamma)

    def plan_audit(
        self,
        accuracy_first: float = 0.9,
        accuracy_last: float = 0.7,
        power: float = 0.8,
        gamma: float = 0.05,
    ) -> AuditPlan:
        """How many labels an audit needs to find a fall of accuracy of this size."""
        return plan_audit(self, accuracy_first, accuracy_last, power, gamma)

    def bounds(
        self,
        predictions: Any,
        confidence: float = 0.95,
        n_bins: int = 10,
        labelers: Sequence[Any] = (),
        seeds: Sequence[int] = (),
    ) -> AccuracyBounds:
        """Accuracy of a classifier without any label, as bounds (see `frechet_bounds`)."""
        return frechet_bounds(self, predictions, confidence, n_bins, labelers, seeds)

    def robustness(
        self, predictions: Any, by: Any = None, *, validity: Any = None, gamma: float = 0.05,
        groups: Any = None,
    ) -> Robustness:  # fmt: skip
        """How a classifier agrees with the weak labels along D_1 … D_N.

        ``validity`` is what shows that the order is adversarial: a `Trend`, an `Audit` or
        `AccuracyBounds`. Without it the verdict is "not enough evidence".
        """
        return robustness(self, predictions, by, validity=validity, gamma=gamma, groups=groups)

    def calibration(self, y_audit: Any, rows: Any = None, n_bins: int = 10) -> LabelCalibration:
        """Compare the weak confidences with true labels, and recalibrate them."""
        return calibrate(self, y_audit, rows, n_bins)

    def stability(
        self,
        y: Any = None,
        n_boot: int = 200,
        *,
        seeds: Sequence[int] = tuple(range(10)),
        labelers: Sequence[Any] | None = None,
        gamma: float = 0.05,
        groups: Any = None,
        audit: tuple[Any, Any] | None = None,
        predictions: Any = None,
    ) -> Stability:
        """How much the answer depends on the seed, the labeler (all by default) and the sample.

        Without ``y``, audited rows with their labels or a model's predictions judge the labelers.
        """
        return stability(
            self, y, n_boot, seeds=seeds, labelers=labelers, gamma=gamma, groups=groups,
            audit=audit, predictions=predictions,
        )  # fmt: skip

    def findings(self, **parts: Any) -> CurationFindings:
        """All that is known in one result.

        Parts: ``trend``, ``audit``, ``bounds``, ``robustness``, ``stability``, ``calibration``.
        """
        return CurationFindings(self, **parts)

    def charts(self) -> dict[str, Chart]:
        """Functions that depend on each other, if any, and the scores along the order."""
        scores, dependent = score_chart(self), dependence_chart(self)
        return {"scores": scores, **({"labelling functions": dependent} if dependent else {})}

    def evidence(self) -> Evidence:
        """Evidence without labels: the order is not shown to be valid."""
        return self.findings().evidence()

    def export(
        self, folder: str | Path, ids: Any = None, findings: CurationFindings | None = None
    ) -> list[Path]:
        """Write index files and tables of the datasets.

        ``findings`` is what is known about the order; unless they show that later sets are harder,
        the files are called ``unvalidated``.
        """
        return export(self, folder, ids, (findings or self.findings()).verdict)
