"""Whether rows use the range in which an attack may move."""

from typing import Any

from numpy.typing import NDArray

from fireassay.core.errors import DataError
from fireassay.core.percent import percent

_LEAST_SHARE = 0.02


def check_clip_range(X: NDArray[Any], bounds: tuple[float, float] | None) -> None:
    """Refuse rows in a small part of the range: such an attack measures nothing.

    Rows in 0 to 1 under bounds of 0 to 255, for example, would fall to any attack.
    """
    if bounds is None:
        return
    low, high = bounds
    used = float(X.max()) - float(X.min())
    if used < _LEAST_SHARE * (high - low):
        raise DataError(
            f"X must use the range in which an attack may move, [{low:g}, {high:g}].",
            got=f"values from {X.min():g} to {X.max():g}, {percent(used / (high - low), 2)} of it",
            do="The clip range is not the input range: correct bounds=, or scale X.",
        )
