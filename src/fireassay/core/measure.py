"""What a number is: one definition for report, app, console, comparison, gates and docs."""

import dataclasses
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from fireassay.core.errors import ParameterError
from fireassay.core.estimate import Estimate
from fireassay.core.words import within_a_sentence

Unit = Literal["share", "bits", "queries", "seconds", "count", "ratio", "auc"]
Better = Literal["low", "high", "neither"]
_SUFFIX = {"share": " %", "bits": " bits", "queries": " queries", "seconds": " s"}


@dataclass(frozen=True, slots=True)
class Measure:
    """One number of a part, declared once in the package that computes it.

    Attributes:
        name: What gates and ``result.json`` use; stable. A name such as ``"auroc_*"`` stands for a
            family, one number per set, class or attack, which ``{}`` in the label then names.
        label: What people read.
        unit: A ``"share"`` is shown in per cent, a ``"count"`` without decimals.
        better: Which way is better for the user of the model.
        meaning: One sentence, no jargon.

    >>> Measure("caught_*", "Caught: {}", "share", "high", "Trouble that raises the alarm.").of(
    ...     "caught_corrupted").label
    'Caught: corrupted'
    """

    name: str
    label: str
    unit: Unit
    better: Better
    meaning: str

    def __post_init__(self) -> None:
        for field, allowed in (("unit", get_args(Unit)), ("better", get_args(Better))):
            if getattr(self, field) not in allowed:
                raise ParameterError(
                    f"The '{field}' of a Measure must be one of {', '.join(allowed)}.",
                    got=repr(getattr(self, field)),
                )

    @classmethod
    def undescribed(cls, name: str) -> "Measure":
        """A number of a user's own part, of which only the name is known."""
        return cls(name, name.replace("_", " "), "ratio", "neither", "")

    @property
    def said(self) -> str:
        """The label within a sentence.

        >>> Measure("ppv[sepsis]", "PPV (precision): sepsis", "share", "high", "").said
        'PPV (precision) of sepsis'
        """
        return within_a_sentence(self.label).replace(": ", " of ", 1)

    def matches(self, name: str) -> bool:
        """Whether this is the measure of a number, by its own name or by its family's."""
        start, star, end = self.name.partition("*")
        if not star:
            return name == self.name
        longer = len(name) > len(start) + len(end)
        return longer and name.startswith(start) and name.endswith(end)

    def of(self, name: str) -> "Measure":
        """The measure of one member of a family."""
        start, star, end = self.name.partition("*")
        if not star:
            return self
        member = name[len(start) : len(name) - len(end)]
        # A class may be called anything, braces included: only the first {} is ours.
        label = self.label.replace("{}", member.replace(" -> ", " → "), 1)
        return dataclasses.replace(self, name=name, label=label)

    def shown(self, estimate: Estimate) -> str:
        """A number as people read it: shares in per cent, counts whole, no endless interval.

        Rounded to two significant digits of the interval's width.

        >>> errors = Measure("error", "Wrong", "share", "low", "")
        >>> errors.shown(Estimate(0.031, 0.020, 0.047, 0.95, 400, "Clopper-Pearson"))
        '3.1 % [2.0, 4.7]'
        >>> errors.shown(Estimate.bound(0.05, 0.975, 59, "exact"))
        '5.0 %'
        >>> most = Measure("error_upper", "Wrong, at most", "share", "low", "")
        >>> most.shown(Estimate.bound(0.06546, 0.975, 719, "exact"))  # rounded up: still a bound
        '6.6 %'
        """
        if math.isnan(estimate.value):
            return "not estimable"
        digits = self.decimals(estimate)
        value = self.shown_value(self._outward(estimate, digits), digits)
        low, high = (math.isfinite(end) for end in (estimate.low, estimate.high))
        if estimate.kind != "interval" or not (low or high):
            return value
        ends = [self._digits_of(end, digits) for end in (estimate.low, estimate.high)]
        if not high:
            return f"{value} [at least {ends[0]}]"
        return f"{value} [{ends[0]}, {ends[1]}]" if low else f"{value} [at most {ends[1]}]"

    def between(self, estimate: Estimate) -> str:
        """The ends of an interval in words, with as many digits as it allows.

        >>> errors = Measure("error", "Wrong", "share", "low", "")
        >>> errors.between(Estimate(0.0312, 0.020, 0.047, 0.95, 400, "Clopper-Pearson"))
        '2.0 to 4.7 %'
        """
        digits, suffix = self.decimals(estimate), _SUFFIX.get(self.unit, "")
        low, high = (self._digits_of(end, digits) for end in (estimate.low, estimate.high))
        if not math.isfinite(estimate.high):
            return f"from {low}{suffix}, no upper end"
        return (
            f"{low} to {high}{suffix}" if math.isfinite(estimate.low) else f"up to {high}{suffix}"
        )

    def told(self, estimate: Estimate) -> str:
        """The value alone, for a sentence, with as many digits as its interval allows.

        >>> errors = Measure("error", "Wrong", "share", "low", "")
        >>> errors.told(Estimate(0.0312, 0.020, 0.047, 0.95, 400, "Clopper-Pearson"))
        '3.1 %'
        """
        if math.isnan(estimate.value):
            return "an unknown share" if self.unit == "share" else "an unknown number"
        digits = self.decimals(estimate)
        return self.shown_value(self._outward(estimate, digits), digits)

    def _outward(self, estimate: Estimate, decimals: int) -> float:
        """The value as it is rounded: a bound to its own side, so that it stays one."""
        side = {"_upper": math.ceil, "_lower": math.floor}.get(self.name[-6:])
        if estimate.kind != "bound" or side is None or not math.isfinite(estimate.value):
            return estimate.value
        scale = (100.0 if self.unit == "share" else 1.0) * 10.0**decimals
        nudge = 1e-9 if side is math.floor else -1e-9
        return side(estimate.value * scale + nudge) / scale

    def shown_value(self, value: float, decimals: int | None = None) -> str:
        """One value with its unit, e.g. a limit; as many decimals as it needs, or as given."""
        return self._digits_of(value, decimals) + _SUFFIX.get(self.unit, "")

    def _digits_of(self, value: float, decimals: int | None) -> str:
        if not math.isfinite(value):
            return {math.inf: "∞", -math.inf: "−∞"}.get(value, "not estimable")
        scaled = 100 * value if self.unit == "share" else value
        if decimals is None:
            return f"{scaled:,.6g}" if abs(scaled) < 1e6 else f"{scaled:,.0f}"
        return f"{scaled:,.{decimals}f}"

    def decimals(self, estimate: Estimate) -> int:
        """Decimals that show two significant digits of the width, or of a value without one."""
        value, width = estimate.value, estimate.high - estimate.low
        whole = value.is_integer() and (self.unit == "count" or estimate.kind == "count")
        if whole and not 0 < width < 10:
            return 0
        size = width if 0 < width < math.inf else abs(value)
        if self.unit == "share":
            size *= 100
        if size == 0 or not math.isfinite(size):
            return 0
        least = 1 if estimate.kind == "bound" and self.unit == "share" else 0
        return min(12, max(least, 1 - math.floor(math.log10(size))))


def find_measure(name: str, measures: Iterable[Measure]) -> Measure | None:
    """The measure of a number: its own before that of a family, a longer family name first."""
    known = tuple(measures)
    own = next((measure for measure in known if measure.name == name), None)
    if own is not None and "*" not in name:
        return own
    found = [measure for measure in known if measure.matches(name)]
    if not found:
        return None
    return max(found, key=lambda m: ("*" not in m.name, len(m.name))).of(name)
