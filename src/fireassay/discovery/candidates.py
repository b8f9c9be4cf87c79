"""The rows a search may ask about, and everything it may know of them before any label."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fireassay.core.errors import ParameterError
from fireassay.discovery.clusters import nested_clusters
from fireassay.discovery.space import Space

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Candidates:
    """Confidences, positions in feature space, and scores (low = suspicious) of the pool's rows."""

    confidence: Vector
    features: NDArray[np.float64]
    scores: Vector | None = None
    seed: int = 0

    def __len__(self) -> int:
        return len(self.confidence)

    @cached_property
    def space(self) -> Space:
        """Scaled distances between the rows."""
        return Space(self.features)

    @cached_property
    def clusters(self) -> NDArray[np.int64]:
        """Groups by confidence, and by position inside each."""
        return nested_clusters(self.confidence, self.features, self.seed)

    def need_scores(self, search: str) -> Vector:
        """The scores, or an error that says how to get them."""
        if self.scores is None:
            raise ParameterError(
                f"The search '{search}' needs scores, one per row.",
                got="none",
                do="Pass model= and X= (they are then measured), or scores=.",
            )
        return self.scores
