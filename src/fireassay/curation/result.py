"""What `curate` returns: labels, intervals, the order, and what can be asked of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fireassay.core.evidence import Evidence
from fireassay.core.result import Answer
from fireassay.curation.ordering import dataset_sizes
from fireassay.curation.patterns import VotePatterns
from fireassay.curation.pipeline import PatternLabels, Settings
from fireassay.curation.validation import Trend, validate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fireassay.curation.answer import CurationAnswer
    from fireassay.curation.audit import Audit
    from fireassay.curation.audit_plan import AuditPlan
    from fireassay.curation.bounds import Bounds
    from fireassay.curation.calibration import Calibration
    from fireassay.curation.robustness import Robustness
    from fireassay.curation.stability import Stability


@dataclass(frozen=True, eq=False)
class Curation(Answer):
    """Samples labelled by weak votes and ordered from safe to naturally adversarial.

    Attributes
    ----------
    labels, confidence
        The weak label of each sample and its probability under the labeler.
    lower, upper
        The interval around that confidence: a score to order by. How often it holds the true
        probability depends on the labelling functions; see `fireassay.curation.coverage`.
    order
        Sample numbers from the highest score to the lowest, ties shuffled with the seed.
    kept_lfs
        Indices of the labelling functions that survived pruning.
    warnings
        What to be careful about, in plain words.
    """

    labels: NDArray[np.int64]
    confidence: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    order: NDArray[np.int64]
    kept_lfs: NDArray[np.int64]
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
        return len(self.labels)

    @property
    def score(self) -> NDArray[np.float64]:
        """What the samples are ordered by, rounded to 9 decimals."""
        return self.table.score(self.settings.order_by)[self.patterns.of_row]

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """The sizes of the cumulative datasets."""
        return dataset_sizes(self.n, self.settings.n_sets)

    @property
    def datasets(self) -> list[NDArray[np.int64]]:
        """D_1 … D_N as arrays of sample numbers: views of one order, each holds the one before."""
        return [self.order[:size] for size in self.sizes]

    @property
    def rings(self) -> list[NDArray[np.int64]]:
        """What each dataset adds to the one before it."""
        starts = np.concatenate([[0], self.sizes[:-1]])
        return [self.order[a:b] for a, b in zip(starts, self.sizes, strict=True)]

    @property
    def dataset_number(self) -> NDArray[np.int64]:
        """The number (1 … N) of the first dataset each sample is in."""
        numbers = np.empty(self.n, dtype=np.int64)
        for number, ring in enumerate(self.rings, start=1):
            numbers[ring] = number
        return numbers

    @property
    def posterior(self) -> NDArray[np.float64]:
        """P(class | votes) of each sample, shape (n, k)."""
        return self.table.posterior[self.patterns.of_row]

    def frame(self) -> pd.DataFrame:
        """One row per sample: label, confidence, interval, votes, dataset number."""
        return pd.DataFrame(
            {
                "label": self.labels,
                "confidence": self.confidence,
                "lower": self.lower,
                "upper": self.upper,
                "votes": self.table.n_votes[self.patterns.of_row],
                "dataset": self.dataset_number,
            }
        )

    def lf_analysis(self, y: Any = None) -> pd.DataFrame:
        """One row per labelling function: coverage, overlap, conflict, accuracy, why pruned."""
        from fireassay.curation.analysis import analysis_table

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

        Parameters
        ----------
        y
            The true class of each sample.
        gamma
            Level of the tests.
        ties
            ``"expected"``: accuracies in expectation over random tie-breaks; ``"stable"``: of the
            very datasets of this result.
        groups
            A label per sample (patient, device) when samples of one group are alike; without it
            the test takes repeated patients for new evidence.
        n_permutations
            For `Trend.permutation_p`.
        """
        return validate(self, y, gamma, ties, groups=groups, n_permutations=n_permutations)

    def audit_rows(self, n_labels: int) -> NDArray[np.int64]:
        """Which samples to have labelled: equally many from each ring, at random."""
        from fireassay.curation.audit import draw_audit

        return draw_audit(self, n_labels)

    def audit(self, rows: Any, y_audit: Any, gamma: float = 0.05) -> "Audit":
        """Judge the order from a few labels (see `fireassay.curation.audit`)."""
        from fireassay.curation.audit import audit

        return audit(self, rows, y_audit, gamma)

    def plan_audit(
        self,
        accuracy_first: float = 0.9,
        accuracy_last: float = 0.7,
        power: float = 0.8,
        gamma: float = 0.05,
    ) -> "AuditPlan":
        """How many labels an audit needs to find a fall of accuracy of this size."""
        from fireassay.curation.audit_plan import plan_audit

        return plan_audit(self, accuracy_first, accuracy_last, power, gamma)

    def bounds(
        self,
        predictions: Any,
        delta: float = 0.05,
        n_bins: int = 10,
        labelers: Sequence[Any] = (),
        seeds: Sequence[int] = (),
    ) -> "Bounds":
        """Accuracy of a classifier without any label, as bounds (see `bounds.frechet_bounds`)."""
        from fireassay.curation.bounds import frechet_bounds

        return frechet_bounds(self, predictions, delta, n_bins, labelers, seeds)

    def robustness(
        self, predictions: Any, by: Any = None, *, validity: Any = None, gamma: float = 0.05,
        groups: Any = None,
    ) -> "Robustness":  # fmt: skip
        """How a classifier agrees with the weak labels along D_1 … D_N.

        ``validity`` is what shows that the order is adversarial: a `Trend`, an `Audit` or
        `Bounds`. Without it the verdict is "not enough evidence".
        """
        from fireassay.curation.robustness import robustness

        return robustness(self, predictions, by, validity=validity, gamma=gamma, groups=groups)

    def calibration(self, y_audit: Any, rows: Any = None, n_bins: int = 10) -> "Calibration":
        """Compare the weak confidences with true labels, and recalibrate them."""
        from fireassay.curation.calibration import calibrate

        return calibrate(self, y_audit, rows, n_bins)

    def stability(
        self,
        y: Any = None,
        n_boot: int = 200,
        *,
        seeds: Sequence[int] = tuple(range(10)),
        labelers: Sequence[Any] = ("majority", "snorkel", "dawid-skene", "one-coin", "triplet"),
        gamma: float = 0.05,
        groups: Any = None,
    ) -> "Stability":
        """How much the answer depends on the seed, the labeler and the sample."""
        from fireassay.curation.stability import stability

        return stability(
            self, y, n_boot, seeds=seeds, labelers=labelers, gamma=gamma, groups=groups
        )

    def answer(self, **parts: Any) -> "CurationAnswer":
        """All that is known in one result.

        Parts: ``trend``, ``audit``, ``bounds``, ``robustness``, ``stability``, ``calibration``.
        """
        from fireassay.curation.answer import CurationAnswer

        return CurationAnswer(self, **parts)

    def figures(self) -> "dict[str, Figure]":
        """The labelling functions' dependence graph and the scores along the order."""
        from fireassay.curation.figures import lf_graph_figure, score_figure

        return {"labelling functions": lf_graph_figure(self), "scores": score_figure(self)}

    def evidence(self) -> Evidence:
        """Evidence without labels: the order is not shown to be valid."""
        return self.answer().evidence()

    def export(self, folder: str | Path, ids: Any = None) -> list[Path]:
        """Write index files and tables (see `fireassay.curation.export`)."""
        from fireassay.curation.export import export

        return export(self, folder, ids)
