"""What a report is about: the model, the data, the day and the seed, on one line."""

from dataclasses import asdict, dataclass
from datetime import date, datetime
from typing import Any


@dataclass(frozen=True)
class DataFacts:
    """One set of rows that a report rests on.

    Attributes
    ----------
    name
        Of the file, without its folder.
    rows
        How many.
    labelled
        Whether they have labels.
    groups
        How many groups (patients, devices) they come from; None where nobody said.
    role
        What they are for, where that is not testing: ``"for training"``, ``"from the field"``.

    >>> print(DataFacts("test.npz", 719, labelled=True, groups=312))
    test.npz, 719 labelled rows of 312 groups
    """

    name: str
    rows: int
    labelled: bool = False
    groups: int | None = None
    role: str = ""

    def __str__(self) -> str:
        kind = f"{'labelled ' if self.labelled else ''}row{'' if self.rows == 1 else 's'}"
        of = "" if self.groups is None else f" of {self.groups:,} groups"
        purpose = f" {self.role}" if self.role else ""
        return f"{self.name}, {self.rows:,} {kind}{of}{purpose}"


@dataclass(frozen=True)
class About:
    """What was assessed, with what, and when. Kept beside the timings, out of ``result.json``.

    Attributes
    ----------
    model
        The name of the model's file, its address or import name.
    data
        Every set of rows.
    seed
        Same seed, same result.
    began
        When the run began, in ISO form; fixed then, so that tomorrow's page is today's.
    inputs
        Identifies model, data and seed: a run on others begins anew.

    >>> print(About("net.onnx", (DataFacts("test.npz", 719, labelled=True),), 0, "2026-11-16"))
    net.onnx · test.npz, 719 labelled rows · 16 November 2026 · seed 0
    """

    model: str
    data: tuple[DataFacts, ...]
    seed: int
    began: str = ""
    inputs: str = ""

    @property
    def day(self) -> str:
        """The day in words; empty where it is not known."""
        if not self.began:
            return ""
        day: date = datetime.fromisoformat(self.began).date()
        return f"{day.day} {day:%B %Y}"

    @property
    def facts(self) -> tuple[str, ...]:
        """Model, data, day and seed."""
        known = (self.model, *map(str, self.data), self.day, f"seed {self.seed}")
        return tuple(fact for fact in known if fact)

    def __str__(self) -> str:
        return " · ".join(self.facts)

    def to_dict(self) -> dict[str, Any]:
        """Plain types, for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> "About":
        """The inverse of `to_dict`."""
        data = tuple(DataFacts(**item) for item in fields["data"])
        return cls(**{**fields, "data": data})
