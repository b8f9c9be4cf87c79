"""The result of checking an order against true labels."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fireassay.core.evidence import Evidence
from fireassay.core.result import Answer
from fireassay.core.validation import check_choice, check_integer, check_labels, check_real
from fireassay.curation import trend as trends
from fireassay.curation.estimates import trend_estimates
from fireassay.curation.lone_evidence import lone_evidence
from fireassay.statistics import clopper_pearson

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fireassay.curation.result import Curation


@dataclass(frozen=True, eq=False)
class Trend(Answer):
    """Does the accuracy of the weak labels fall from D_1 to D_N?

    Attributes
    ----------
    rho, p_value
        Definition 2: Spearman's correlation of dataset number and accuracy. The datasets are
        nested, so this p-value is far too small: random orders pass it about one time in four.
    accuracy, accuracy_interval
        Of each dataset; the 90 % interval is the paper's.
    exact_interval
        Clopper-Pearson, 95 %.
    permutation_p
        A valid p-value of the same correlation, by permutation.
    auc, auc_interval, auc_p_value
        Chance that a right label scores above a wrong one, every sample counted once; 95 %.
    verdict
        "decreasing", "increasing" or "none", from the AUC alone.
    definition_3
        The same three words by the paper's rule.
    n_groups
        Number of groups the test counted, 0 when samples were taken as independent.
    """

    rho: float
    p_value: float
    accuracy: NDArray[np.float64]
    accuracy_interval: NDArray[np.float64]
    exact_interval: NDArray[np.float64]
    permutation_p: float
    auc: float
    auc_interval: tuple[float, float]
    auc_p_value: float
    verdict: str
    definition_3: str
    sizes: NDArray[np.int64]
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

    def frame(self) -> pd.DataFrame:
        """One row per dataset: size, accuracy, both intervals."""
        return pd.DataFrame(
            {
                "dataset": np.arange(1, len(self.sizes) + 1),
                "size": self.sizes,
                "accuracy": self.accuracy,
                "low_90_paper": self.accuracy_interval[:, 0],
                "high_90_paper": self.accuracy_interval[:, 1],
                "low_95_exact": self.exact_interval[:, 0],
                "high_95_exact": self.exact_interval[:, 1],
            }
        )

    def figures(self) -> "dict[str, Figure]":
        """Accuracy against dataset, with intervals (the paper's Figure 3)."""
        from fireassay.curation.figures import accuracy_figure

        return {"accuracy": accuracy_figure(self)}

    def in_words(self) -> str:
        """What the two tests say, for a reader who knows the patients and not the statistics."""
        from fireassay.curation.words import trend_in_words

        return trend_in_words(self)

    def evidence(self) -> Evidence:
        """The validation alone; `Curation.answer` gives the whole."""
        return lone_evidence(
            self.in_words(), self.verdict == "decreasing", trend_estimates(self), self.frame()
        )


def validate(
    result: "Curation",
    y: Any,
    gamma: float = 0.05,
    ties: str = "expected",
    *,
    groups: Any = None,
    n_permutations: int = 2000,
) -> Trend:
    """Check the order of a curation against true labels (see `Curation.validate`)."""
    check_real(gamma, "gamma", low=0.0, high=1.0)
    check_choice(ties, "ties", ("expected", "stable"))
    check_integer(n_permutations, "n_permutations", low=1)
    truth = check_labels(y, n=len(result.labels))
    clusters = trends.check_groups(groups, len(truth))
    correct = np.asarray(truth == result.labels)
    scores, sizes = result.score, result.sizes
    if ties == "stable":
        # A strict order: every sample its own level.
        scores = scores.copy()
        scores[result.order] = -np.arange(len(scores), dtype=np.float64)
    table = trends.ScoreTable.of(scores, correct)
    # The calibrated test always treats tied scores as tied: a tie-break is no information.
    test = trends.order_test(result.score, correct, clusters)
    seed = result.settings.seed
    if clusters is None:
        return trend_of(
            table, sizes, test, gamma=gamma, n_permutations=n_permutations, seed=seed, ties=ties
        )
    rho = trends.definition_2(table.accuracies(sizes))[0]
    shuffled = trends.clustered_permutation_p_value(
        scores, correct, clusters, sizes, rho, n_permutations, seed
    )
    n_groups = int(clusters.max()) + 1
    return trend_of(
        table, sizes, test, gamma=gamma, ties=ties, n_groups=n_groups, permutation_p=shuffled
    )


def trend_of(
    table: trends.ScoreTable,
    sizes: NDArray[np.int64],
    test: trends.OrderTest,
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
    rho, p_value = trends.definition_2(accuracy)
    if permutation_p is None:
        permutation_p = trends.permutation_p_value(table, sizes, rho, n_permutations, seed)
    return Trend(
        rho=rho,
        p_value=p_value,
        accuracy=accuracy,
        accuracy_interval=trends.paper_interval(accuracy, sizes),
        exact_interval=exact_interval(accuracy, sizes),
        permutation_p=permutation_p,
        auc=test.auc,
        auc_interval=(test.low, test.high),
        auc_p_value=test.p_value,
        verdict=test.verdict(gamma),
        definition_3=trends.direction(rho, p_value, gamma),
        sizes=sizes,
        n=int(table.counts.sum()),
        n_correct=int(table.correct.sum()),
        gamma=gamma,
        ties=ties,
        n_groups=n_groups,
        method=test.method,
    )


def exact_interval(
    share: NDArray[np.float64], sizes: NDArray[np.int64], confidence: float = 0.95
) -> NDArray[np.float64]:
    """Clopper-Pearson interval of each share, shape (datasets, 2); [0, 1] for empty datasets."""
    hits = np.where(sizes > 0, np.nan_to_num(share) * sizes, 0.0)
    low, high = clopper_pearson(hits, sizes, confidence)
    return np.column_stack([low, high])
