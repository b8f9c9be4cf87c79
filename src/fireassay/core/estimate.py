"""A number with its interval."""

import math
from dataclasses import dataclass
from typing import Any

from fireassay.core.errors import ParameterError


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its interval, the interval's confidence, the sample size and the method.

    A number that is itself a bound has ``low == value == high`` (see `Estimate.bound`).

    >>> print(Estimate(0.031, 0.020, 0.047, confidence=0.95, n=400, method="Clopper-Pearson"))
    0.031 [0.020, 0.047] n=400
    """

    value: float
    low: float
    high: float
    confidence: float
    n: int
    method: str

    def __post_init__(self) -> None:
        for name in ("value", "low", "high", "confidence"):
            object.__setattr__(self, name, float(getattr(self, name)))
        object.__setattr__(self, "n", int(self.n))
        if not 0.0 < self.confidence < 1.0:
            raise ParameterError(
                "The 'confidence' of an Estimate must be in (0, 1).", got=f"{self.confidence}"
            )
        if self.n < 0:
            raise ParameterError("The 'n' of an Estimate must be at least 0.", got=f"{self.n}")
        if self.low > self.value or self.value > self.high:
            raise ParameterError(
                "An Estimate needs low <= value <= high.",
                got=f"low={self.low}, value={self.value}, high={self.high}",
            )

    @classmethod
    def bound(cls, value: float, confidence: float, n: int, method: str) -> "Estimate":
        """A one-sided confidence bound: it is compared with a gate as it stands."""
        return cls(value, value, value, confidence, n, method)

    @property
    def is_bound(self) -> bool:
        """Whether the value is itself a bound (or exact), without an interval around it."""
        return self.low == self.value == self.high

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        if math.isnan(self.value):
            return f"not estimable n={self.n}"
        digits = _digits(self.value, self.low, self.high)
        if self.is_bound:
            return f"{_rounded(self.value, digits)} n={self.n}"
        value, low, high = (_rounded(v, digits) for v in (self.value, self.low, self.high))
        return f"{value} [{low}, {high}] n={self.n}"

    def __format__(self, spec: str) -> str:
        return format(self.value, spec) if spec else str(self)

    def percent(self) -> str:
        """The number as a share for a sentence.

        >>> Estimate(0.031, 0.020, 0.047, confidence=0.95, n=400, method="m").percent()
        '3.1 % (95 % interval 2.0 to 4.7 %, n = 400)'
        """
        if math.isnan(self.value):
            return str(self)
        digits = max(1, _digits(self.value, self.low, self.high) - 2)
        value, low, high = (_rounded(100 * v, digits) for v in (self.value, self.low, self.high))
        if self.is_bound:
            return f"{value} % (n = {self.n})"
        return f"{value} % ({100 * self.confidence:g} % interval {low} to {high} %, n = {self.n})"

    def _repr_html_(self) -> str:
        return f"<span title='{self.confidence:.0%}'>{self}</span>"

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain types, for JSON."""
        return {
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "confidence": self.confidence,
            "n": self.n,
            "method": self.method,
        }

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> "Estimate":
        """The inverse of `to_dict`."""
        return cls(**fields)


def _digits(value: float, low: float, high: float) -> int:
    """Decimals that show two significant digits of the interval's width, at least three."""
    width = high - low
    scale = width if 0 < width < math.inf else abs(value)
    if scale == 0 or not math.isfinite(scale):
        return 3
    return min(12, max(3, 1 - math.floor(math.log10(scale))))


def _rounded(value: float, digits: int) -> str:
    return f"{value:.{digits}f}" if math.isfinite(value) else str(value)
