"""A classifier's accuracy without labels, as far as votes and label model can bound it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.errors import DataError
from fireassay.core.estimate import Estimate
from fireassay.core.evidence import Assumption
from fireassay.core.lazy import pd
from fireassay.core.validation import check_integer, check_labels, check_probabilities, check_real
from fireassay.curation.findings import LABEL_MODEL, Finding, dataset_frame
from fireassay.curation.labelling import relabelled

if TYPE_CHECKING:
    from fireassay.curation.curate import Curation


@dataclass(frozen=True, eq=False)
class AccuracyBounds(Finding):
    """Between what limits the accuracy of a classifier lies in each dataset.

    Everything here is conditional on the label model: if its posteriors are wrong, so are the
    bounds. Passing several labelers and seeds widens them to hold for each of those.

    Attributes:
        low, high: Accuracy of the classifier on each dataset.
        rest_low, rest_high: The same on all samples outside D_1.
        verdict: "decreasing" when even the most favourable accuracy outside D_1 is below the least
            favourable one inside; otherwise "not enough evidence".
        sizes: Samples in each dataset.
        confidence: The chance that both ends of every bound hold, given the label model.
        models: Label models and seeds that the bounds hold for.

    >>> from fireassay.curation import curate, simulate_votes
    >>> votes, y = simulate_votes([0.9, 0.9, 0.6, 0.6], coverage=0.8, n=1000, seed=0)
    >>> bounds = curate(votes).bounds(y)  # a classifier that is always right
    >>> bool(bounds.low[-1] < 1.0), float(bounds.high[-1])
    (True, 1.0)
    """

    low: FloatArray
    high: FloatArray
    rest_low: float
    rest_high: float
    sizes: IntArray
    verdict: str
    confidence: float
    models: tuple[str, ...]

    def frame(self) -> pd.DataFrame:
        """One row per dataset."""
        return dataset_frame(self.sizes, low=self.low, high=self.high)

    def in_words(self) -> str:
        """The finding in one sentence, with its condition."""
        return (
            "Without labels, if the label model is right, the classifier's accuracy is at least "
            f"{self.low[0]:.2f} on the safest set and at most {self.rest_high:.2f} on the rest: "
            f"{self.verdict}."
        )

    @property
    def holds(self) -> bool | None:
        """Whether the order is shown to be adversarial; bounds can never refute it."""
        return self.verdict == "decreasing" or None

    def estimates(self) -> dict[str, Estimate]:
        """The classifier's accuracy on all samples, as two bounds."""
        rests, n = ("label-model", "independent-votes"), int(self.sizes[-1])
        ends = {"lower": self.low[-1], "upper": self.high[-1]}
        found = {}
        for name, end in ends.items():
            bound = Estimate.bound(end, self.confidence, n, "Fréchet", rests_on=rests)
            found[f"classifier_accuracy_{name}"] = bound
        return found

    def assumptions(self) -> tuple[Assumption, ...]:
        """That the label model is right."""
        check = "No true labels to check it."
        return (Assumption(LABEL_MODEL, "untestable", check, "label-model"),)


def frechet_bounds(
    result: Curation,
    predictions: Any,
    confidence: float = 0.95,
    n_bins: int = 10,
    labelers: Sequence[Any] = (),
    seeds: Sequence[int] = (),
) -> AccuracyBounds:
    """Bounds on P(h = Y) from P(h | cell) and P(Y | cell), cells by weak label and confidence."""
    # Fréchet: at least max_y(a_y + b_y) - 1, at most sum_y min(a_y, b_y) in a cell. Both ends are
    # widened by ½ Σ p_z √((K−1)/n_z) + √(ln(2/δ)/2n) for the estimated shares.
    check_real(confidence, "confidence", low=0.0, high=1.0)
    check_integer(n_bins, "n_bins", low=1)
    k = result.settings.n_classes
    answers = check_predictions(predictions, result.n, k)
    cells = _cells(result, n_bins)
    posteriors = dict(_posteriors(result, labelers, seeds))
    inside = [result.order[:size] for size in result.sizes]
    regions = [*inside, result.order[result.sizes[0] :]]
    lows, highs = [], []
    for posterior in posteriors.values():
        ends = [_region(rows, cells, answers, posterior, result, confidence) for rows in regions]
        lows.append([low for low, _ in ends])
        highs.append([high for _, high in ends])
    low, high = np.min(lows, axis=0), np.max(highs, axis=0)
    proven = bool(len(regions[-1]) and len(inside[0]) and high[-1] < low[0])
    return AccuracyBounds(
        low=low[:-1],
        high=high[:-1],
        rest_low=float(low[-1]),
        rest_high=float(high[-1]),
        sizes=result.sizes,
        verdict="decreasing" if proven else "not enough evidence",
        confidence=confidence,
        models=tuple(posteriors),
    )


def _cells(result: Curation, n_bins: int) -> IntArray:
    """The cell of each pattern: its weak label and the bin of its confidence."""
    k = result.settings.n_classes
    place = (result.table.confidence - 1 / k) / (1 - 1 / k) * n_bins
    bins = np.clip(place.astype(np.int64), 0, n_bins - 1)
    return result.table.labels * n_bins + bins


def _posteriors(
    result: Curation, labelers: Sequence[Any], seeds: Sequence[int]
) -> Iterable[tuple[str, FloatArray]]:
    settings = result.settings
    yield f"{settings.labeler}, seed {settings.seed}", result.table.posterior
    chosen = labelers or ([settings.labeler] if seeds else [])
    purpose = "A bound over several labelers"
    for name, seed, table in relabelled(result, chosen, seeds or (settings.seed,), purpose):
        yield f"{name}, seed {seed}", table.posterior


def _region(
    rows: IntArray,
    cells: IntArray,
    answers: IntArray,
    posterior: FloatArray,
    result: Curation,
    confidence: float,
) -> tuple[float, float]:
    n, k = len(rows), result.settings.n_classes
    if n == 0:
        return 0.0, 1.0
    pattern = result.patterns.of_row[rows]
    cell = cells[pattern]
    n_cells = int(cells.max()) + 1
    count = np.bincount(cell, minlength=n_cells)
    used = count > 0
    size = count[used][:, None]
    says = np.bincount(cell * k + answers[rows], minlength=n_cells * k).reshape(n_cells, k)
    truth = np.stack([np.bincount(cell, posterior[pattern, y], n_cells) for y in range(k)], axis=1)
    a, b = says[used] / size, truth[used] / size
    share = count[used] / n
    low = float(share @ np.maximum((a + b).max(axis=1) - 1, 0.0))
    high = float(share @ np.minimum(a, b).sum(axis=1))
    widening = 0.5 * float(share @ np.sqrt((k - 1) / count[used]))
    widening += float(np.sqrt(np.log(2 / (1 - confidence)) / (2 * n)))
    return max(0.0, low - widening), min(1.0, high + widening)


def check_predictions(predictions: Any, n: int, n_classes: int) -> IntArray:
    """Predicted classes, from class numbers (n,) or probabilities (n, k)."""
    array = np.asarray(predictions)
    if array.ndim == 2 and array.shape[1] > 1:
        probabilities = check_probabilities(array, name="predictions", n=n, n_classes=n_classes)
        return np.asarray(probabilities.argmax(axis=1))
    labels = check_labels(array, name="predictions", n=n)
    if labels.dtype.kind not in "iub" or labels.min() < 0 or labels.max() >= n_classes:
        raise DataError(
            f"predictions must be class numbers 0..{n_classes - 1}, as in the votes.",
            got=f"values such as {np.unique(labels)[:4].tolist()}",
            do="Map the model's class names to the classes of the labelling functions.",
        )
    return labels.astype(np.int64)
