"""What each row belongs to, and how large such a group can be."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike


class Groups(np.ndarray[Any, np.dtype[Any]]):
    """For each row its patient, device or document, with the most rows that one can have."""

    largest: float | None  # stays with every choice of rows; None where nobody declared it

    def __new__(cls, names: ArrayLike, largest: float | None = None) -> "Groups":
        """Names as an array, and the declared size."""
        found = np.asarray(names).view(cls)
        found.largest = None if largest is None else float(largest)
        return found

    def __array_finalize__(self, other: Any) -> None:
        self.largest = getattr(other, "largest", None)

    def __reduce__(self) -> Any:
        return Groups, (np.asarray(self), self.largest)


def largest_group(groups: Any) -> float | None:
    """The most rows that a group can have, where it was declared."""
    found = getattr(groups, "largest", None)
    return None if found is None else float(found)
