"""A number with its interval."""

import math
from dataclasses import dataclass
from typing import Any, Literal, get_args

from fireassay.core.errors import ParameterError

Kind = Literal["interval", "bound", "count", "point"]
_KINDS = get_args(Kind)
_CONFIDENCE_OF = {"count": 1.0, "point": 0.0}


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its interval, the interval's confidence, the sample size and the method.

    Attributes:
        value, low, high: ``low <= value <= high``; all equal for a bound, a count and a point.
        confidence: Of the interval or bound; 1 for a count, which is exact, 0 for a point.
        n: The number of observations behind the value.
        method: How the interval was made, in words.
        kind: ``"interval"``; ``"bound"``: itself a one-sided confidence bound; ``"count"``:
            counted, not estimated; ``"point"``: a number without an interval. An interval that has
            shrunk to a point is still an interval, not a bound.
        rests_on: Ids of the assumptions (`Assumption.id`) without which the number says nothing.

    >>> print(Estimate(0.031, 0.020, 0.047, confidence=0.95, n=400, method="Clopper-Pearson"))
    0.031 [0.020, 0.047] n=400
    """

    value: float
    low: float
    high: float
    confidence: float
    n: int
    method: str
    kind: Kind = "interval"
    rests_on: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("value", "low", "high", "confidence"):
            object.__setattr__(self, name, float(getattr(self, name)))
        object.__setattr__(self, "n", int(self.n))
        object.__setattr__(self, "rests_on", tuple(self.rests_on))
        if self.kind not in _KINDS:
            raise ParameterError(
                f"The 'kind' of an Estimate must be one of {', '.join(_KINDS)}.",
                got=repr(self.kind),
            )
        if not (0.0 < self.confidence < 1.0 or self.confidence == _CONFIDENCE_OF.get(self.kind)):
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
        if self.kind != "interval" and self.low < self.high:
            raise ParameterError(
                f"A {self.kind} has no interval around it.", got=f"[{self.low}, {self.high}]"
            )

    @classmethod
    def around(
        cls,
        value: float,
        low: float,
        high: float,
        *,
        confidence: float,
        n: int,
        method: str,
        rests_on: tuple[str, ...] = (),
    ) -> "Estimate":
        """An interval that is widened to its value where rounding or the method left it outside.

        >>> Estimate.around(1.0, 0.97, 0.999, confidence=0.95, n=50, method="logit").high
        1.0
        """
        return cls(
            value, min(low, value), max(high, value), confidence, n, method, rests_on=rests_on
        )

    @classmethod
    def bound(
        cls, value: float, confidence: float, n: int, method: str, *, rests_on: tuple[str, ...] = ()
    ) -> "Estimate":
        """A one-sided confidence bound: it is compared with a gate as it stands."""
        return cls(value, value, value, confidence, n, method, "bound", rests_on)

    @classmethod
    def count(cls, value: float, n: int, method: str = "counted") -> "Estimate":
        """A number that was counted: exact, and about nothing but the rows at hand.

        >>> print(Estimate.count(3, n=40))
        3 n=40
        """
        return cls(value, value, value, _CONFIDENCE_OF["count"], n, method, "count")

    @classmethod
    def point(
        cls, value: float, n: int, method: str, *, rests_on: tuple[str, ...] = ()
    ) -> "Estimate":
        """A number that nobody has an interval for; a gate on it can only be undecided."""
        return cls(value, value, value, _CONFIDENCE_OF["point"], n, method, "point", rests_on)

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        if math.isnan(self.value):
            return f"not estimable n={self.n}"
        digits = _digits(self.value, self.low, self.high)
        if self.kind == "count" and self.value.is_integer():
            return f"{self.value:.0f} n={self.n}"
        if self.kind != "interval":
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
        if self.kind != "interval":
            return f"{value} % (n = {self.n})"
        return f"{value} % ({100 * self.confidence:g} % interval {low} to {high} %, n = {self.n})"

    def _repr_html_(self) -> str:
        from fireassay.core.notebook import estimate_html

        return estimate_html(self)

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain types, for JSON."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {**fields, "rests_on": list(self.rests_on)}

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
