"""A classifier's accuracy without labels, as far as votes and label model can bound it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fireassay.core.errors import ParameterError
from fireassay.core.evidence import Evidence
from fireassay.core.result import Answer
from fireassay.core.validation import check_integer, check_real
from fireassay.curation.estimates import bounds_estimates
from fireassay.curation.labelers import GivenProbabilities, as_labeler
from fireassay.curation.lone_evidence import lone_evidence
from fireassay.curation.pipeline import label_patterns
from fireassay.curation.predictions import check_predictions

if TYPE_CHECKING:
    from fireassay.curation.result import Curation


@dataclass(frozen=True, eq=False)
class Bounds(Answer):
    """Between what limits the accuracy of a classifier lies in each dataset.

    Everything here is conditional on the label model: if its posteriors are wrong, so are the
    bounds. Passing several labelers and seeds widens them to hold for each of those.

    Attributes
    ----------
    low, high
        Accuracy of the classifier on each dataset.
    rest_low, rest_high
        The same on all samples outside D_1.
    verdict
        "decreasing" when even the most favourable accuracy outside D_1 is below the least
        favourable one inside; otherwise "not enough evidence".
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    rest_low: float
    rest_high: float
    sizes: NDArray[np.int64]
    verdict: str
    delta: float
    models: tuple[str, ...]

    def frame(self) -> pd.DataFrame:
        """One row per dataset."""
        return pd.DataFrame(
            {
                "dataset": np.arange(1, len(self.sizes) + 1),
                "size": self.sizes,
                "low": self.low,
                "high": self.high,
            }
        )

    def in_words(self) -> str:
        """The finding in one sentence, with its condition."""
        return (
            "Without labels, if the label model is right, the classifier's accuracy is at least "
            f"{self.low[0]:.2f} on the safest set and at most {self.rest_high:.2f} on the rest: "
            f"{self.verdict}."
        )

    def evidence(self) -> Evidence:
        """The bounds alone."""
        holds = self.verdict == "decreasing" or None
        return lone_evidence(self.in_words(), holds, bounds_estimates(self), self.frame())


def frechet_bounds(
    result: "Curation",
    predictions: Any,
    delta: float = 0.05,
    n_bins: int = 10,
    labelers: Sequence[Any] = (),
    seeds: Sequence[int] = (),
) -> Bounds:
    """Bounds on the accuracy of a classifier h from P(h | cell) and P(Y | cell) alone.

    Samples are put into cells by weak label and confidence. Knowing only how often h and Y take
    each class in a cell, P(h = Y) there is at least ``max_y(a_y + b_y) - 1`` and at most
    ``sum_y min(a_y, b_y)`` (Fréchet). Both ends are widened by
    ``½ Σ p_z √((K−1)/n_z) + √(ln(2/δ)/2n)`` for the estimated shares.

    Parameters
    ----------
    result
        A curation.
    predictions
        The classifier's classes (n,) or probabilities (n, k).
    delta
        Error probability of the widening.
    n_bins
        Confidence bins per weak label.
    labelers, seeds
        Further label models and seeds the bounds shall hold for.
    """
    check_real(delta, "delta", low=0.0, high=1.0)
    check_integer(n_bins, "n_bins", low=1)
    k = result.settings.n_classes
    answers = check_predictions(predictions, result.n, k)
    cells = _cells(result, n_bins)
    posteriors = dict(_posteriors(result, labelers, seeds))
    inside = [result.order[:size] for size in result.sizes]
    regions = [*inside, result.order[result.sizes[0] :]]
    lows, highs = [], []
    for posterior in posteriors.values():
        ends = [_region(rows, cells, answers, posterior, result, delta) for rows in regions]
        lows.append([low for low, _ in ends])
        highs.append([high for _, high in ends])
    low, high = np.min(lows, axis=0), np.max(highs, axis=0)
    proven = bool(len(regions[-1]) and len(inside[0]) and high[-1] < low[0])
    return Bounds(
        low=low[:-1],
        high=high[:-1],
        rest_low=float(low[-1]),
        rest_high=float(high[-1]),
        sizes=result.sizes,
        verdict="decreasing" if proven else "not enough evidence",
        delta=delta,
        models=tuple(posteriors),
    )


def _cells(result: "Curation", n_bins: int) -> NDArray[np.int64]:
    """The cell of each pattern: its weak label and the bin of its confidence."""
    k = result.settings.n_classes
    place = (result.table.confidence - 1 / k) / (1 - 1 / k) * n_bins
    bins = np.clip(place.astype(np.int64), 0, n_bins - 1)
    return result.table.labels * n_bins + bins


def _posteriors(
    result: "Curation", labelers: Sequence[Any], seeds: Sequence[int]
) -> Iterable[tuple[str, NDArray[np.float64]]]:
    settings = result.settings
    yield f"{settings.labeler}, seed {settings.seed}", result.table.posterior
    chosen = list(labelers)
    if not chosen and seeds:
        chosen = [settings.labeler]
    for item in chosen:
        labeler = as_labeler(item)
        if isinstance(labeler, GivenProbabilities):
            raise ParameterError(
                "The 'labelers' of bounds must be label models.", got="given probabilities"
            )
        for seed in seeds or (settings.seed,):
            varied = replace(settings, labeler=labeler.name, seed=seed)
            table = label_patterns(result.patterns, result.fit_patterns, labeler, varied)
            yield f"{labeler.name}, seed {seed}", table.posterior


def _region(
    rows: NDArray[np.int64],
    cells: NDArray[np.int64],
    answers: NDArray[np.int64],
    posterior: NDArray[np.float64],
    result: "Curation",
    delta: float,
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
    truth = np.stack(
        [np.bincount(cell, weights=posterior[pattern, y], minlength=n_cells) for y in range(k)], 1
    )
    a, b = says[used] / size, truth[used] / size
    share = count[used] / n
    low = float(share @ np.maximum((a + b).max(axis=1) - 1, 0.0))
    high = float(share @ np.minimum(a, b).sum(axis=1))
    widening = 0.5 * float(share @ np.sqrt((k - 1) / count[used]))
    widening += float(np.sqrt(np.log(2 / delta) / (2 * n)))
    return max(0.0, low - widening), min(1.0, high + widening)
