"""What a user says about one column under attack: whether, how and how far it may change."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from fireassay.core.errors import ParameterError
from fireassay.core.validation import check_choice, check_real

CHANGES = ("free", "fixed", "increase only")
KINDS = ("real", "integer", "category")


@dataclass(frozen=True)
class ColumnRule:
    """One column of an `AttackSpace`; what is left out follows from the rows.

    Attributes
    ----------
    change
        ``"free"``, ``"fixed"`` (age, sex) or ``"increase only"``.
    kind
        ``"real"``, ``"integer"`` (counts, codes) or ``"category"``.
    low, high
        Smallest and largest allowed value.
    values
        Allowed values of a category.
    eps
        The largest change of this column, in its own unit.

    >>> ColumnRule.read("visits", "integer")
    ColumnRule(change='free', kind='integer', low=None, high=None, values=None, eps=None)
    >>> ColumnRule.read("age", {"change": "fixed"}).change
    'fixed'
    """

    change: str = "free"
    kind: str | None = None
    low: float | None = None
    high: float | None = None
    values: tuple[float, ...] | None = None
    eps: float | None = None

    def __post_init__(self) -> None:
        check_choice(self.change, "change", CHANGES)
        if self.kind is not None:
            check_choice(self.kind, "kind", KINDS)
        if self.eps is not None:
            check_real(self.eps, "eps", low=0.0)
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ParameterError(
                "The range of a column must not be empty.", got=f"{self.low:g} to {self.high:g}"
            )

    @classmethod
    def read(cls, name: str, given: Any) -> "ColumnRule":
        """A rule as people write it: one word, or a table of the attributes above.

        Raises
        ------
        ParameterError
            Naming the column.
        """
        if isinstance(given, cls):
            return given
        known = {field.name for field in fields(cls)}
        try:
            if given in CHANGES:
                return cls(given)
            if given in KINDS:
                return cls(kind=given)
            if not isinstance(given, Mapping) or not set(given) <= known:
                raise ParameterError(
                    f"A rule is one of {', '.join((*CHANGES, *KINDS))}, or a table of "
                    f"{', '.join(sorted(known))}.",
                    got=repr(given),
                )
            values = given.get("values")
            rule = {**given, "values": None if values is None else tuple(values)}
            if values is not None and "kind" not in rule:
                rule["kind"] = "category"
            return cls(**rule)
        except ParameterError as error:
            raise ParameterError(f"Column {name!r}: {error}") from error
