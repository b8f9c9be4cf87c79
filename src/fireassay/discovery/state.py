"""All that a search is, in one file: settings, candidates, what was asked and answered."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class SearchState:
    """Saved after every label; a search goes on from it without the model and without X.

    Attributes
    ----------
    rows
        Positions in X of the candidates; every other position here counts within these.
    asked, arms, probabilities
        Candidates in the order they were asked about, for which purpose ("search" or "matched"),
        and with what chance they were drawn (NaN: not drawn).
    answers
        (candidate, label, annotator) in the order they were told; a later one replaces.
    skipped
        Candidates that nobody could label.
    """

    name: str
    budget: int
    seed: int
    threshold: float
    critical_class: Any
    matched_share: float
    classes: tuple[Any, ...]
    rows: NDArray[np.int64]
    ids: NDArray[Any] | None
    predicted: NDArray[np.int64]
    confidence: NDArray[np.float64]
    features: NDArray[np.float64]
    scores: NDArray[np.float64] | None
    log_mae: NDArray[np.float64] | None
    model_sha256: str
    data_sha256: str
    queries: int
    asked: tuple[int, ...] = ()
    arms: tuple[str, ...] = ()
    probabilities: tuple[float, ...] = ()
    answers: tuple[tuple[int, Any, str], ...] = ()
    skipped: tuple[int, ...] = ()
