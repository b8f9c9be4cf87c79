"""What a number is: one definition for report, app, console, comparison, gates and docs."""

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from fireassay.core.errors import ParameterError

Unit = Literal["share", "bits", "queries", "seconds", "count", "ratio", "auc"]
Better = Literal["low", "high", "neither"]


@dataclass(frozen=True, slots=True)
class Measure:
    """One number of a part, declared once in the package that computes it.

    Attributes
    ----------
    name
        What gates and ``result.json`` use; stable. A name such as ``"auroc_*"`` stands for a
        family, one number per set, class or attack; ``{}`` in the label is then what stands there.
    label
        What people read.
    unit
        A ``"share"`` is shown in per cent, a ``"count"`` without decimals.
    better
        Which way is better for the user of the model.
    meaning
        One sentence, no jargon.

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
        return dataclasses.replace(self, name=name, label=self.label.replace("{}", member, 1))


def find_measure(name: str, measures: Iterable[Measure]) -> Measure | None:
    """The measure of a number: its own before that of a family, a longer family name first."""
    found = [measure for measure in measures if measure.matches(name)]
    if not found:
        return None
    return max(found, key=lambda m: ("*" not in m.name, len(m.name))).of(name)
