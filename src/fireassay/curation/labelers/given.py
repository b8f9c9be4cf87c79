"""Probabilities from elsewhere: a crowd model, a foundation model, a pathologist's estimates."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fireassay.core.validation import check_probabilities


@dataclass(frozen=True, eq=False)
class GivenProbabilities:
    """Class probabilities of each sample, shape (n, k); the votes give only the number of votes."""

    probabilities: Any
    name: ClassVar[str] = "given"

    def checked(self, n: int, n_classes: int) -> NDArray[np.float64]:
        """The probabilities, valid and of the right shape."""
        return check_probabilities(self.probabilities, n=n, n_classes=n_classes)
