"""What the rows themselves say against being independent draws."""

from dataclasses import dataclass

from numpy.typing import ArrayLike

from fireassay.core.validation import check_features
from fireassay.statistics.clumped_rows import (
    ClumpedRows,
    clumped_rows,
    clumps_among,
    looks_at_all_columns,
)
from fireassay.statistics.independence import NearDuplicates, repeats_among
from fireassay.statistics.neighbouring_rows import NeighbouringRows, neighbouring_rows
from fireassay.statistics.projected_rows import standardised

_NAME_THEM = "as those of one patient do: name them with groups."


@dataclass(frozen=True, slots=True)
class AlikeRows:
    """Rows that nearly repeat each other, come in clumps, or resemble their neighbours.

    Attributes
    ----------
    repeated, clumped, neighbours
        The three checks.

    >>> import numpy as np
    >>> alike_rows(np.random.default_rng(0).normal(size=(300, 5))).many
    False
    """

    repeated: NearDuplicates
    clumped: ClumpedRows
    neighbours: NeighbouringRows

    @property
    def many(self) -> bool:
        """Whether any of them speaks against independent rows."""
        return self.repeated.many or self.clumped.many or self.neighbours.many

    def __str__(self) -> str:
        said = f"{self.repeated.count} of {self.repeated.looked_at} rows nearly repeat another."
        if not self.clumped.looked_at:
            said += " Whether they come in clumps was not judged: too few rows, or too few values."
        if self.clumped.many:
            said += (
                f" Rows come in clumps (jump {self.clumped.jump:.1f}, by chance about 4), "
                f"{_NAME_THEM}"
            )
        if self.neighbours.many:
            said += (
                f" Rows that stand together in the file are alike (the next row is at "
                f"{100 * self.neighbours.ratio:.0f} % of the distance to others), {_NAME_THEM}"
            )
        return said


def alike_rows(X: ArrayLike, labels: ArrayLike | None = None, seed: int = 0) -> AlikeRows:
    """Look for rows that belong together though nobody said so.

    That nothing is found shows nothing: rows of one patient need not look alike.

    Parameters
    ----------
    X
        Rows in the order of the file.
    labels
        Their classes, since files are often sorted by class.
    seed
        Of the references that the rows are compared with.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> patients = np.repeat(rng.normal(size=(30, 4)), 10, axis=0)
    >>> alike_rows(patients + 0.3 * rng.normal(size=(300, 4))).neighbours.many
    True
    """
    rows = check_features(X)
    flat = standardised(rows, seed)
    repeated = repeats_among(rows, flat, seed)
    clumped = clumped_rows(rows, seed) if looks_at_all_columns(rows) else clumps_among(flat, seed)
    return AlikeRows(repeated, clumped, neighbouring_rows(rows, labels))
