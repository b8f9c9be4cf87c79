"""Columns that an attack may change, how far, and what a change of one means."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import AnyArray, BoolArray, FloatArray
from fireassay.core.errors import DataError, ParameterError
from fireassay.core.hashing import sha256
from fireassay.core.validation import check_choice, check_real

CHANGES = ("free", "fixed", "increase only")
KINDS = ("real", "integer", "category")


@dataclass(frozen=True)
class ColumnRule:
    """One column of an `AttackSpace`; what is left out follows from the rows.

    Attributes:
        change: ``"free"``, ``"fixed"`` (age, sex) or ``"increase only"``.
        kind: ``"real"``, ``"integer"`` (counts, codes) or ``"category"``.
        low, high: Smallest and largest allowed value.
        values: Allowed values of a category.
        eps: The largest change of this column, in its own unit.

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

        Raises:
            ParameterError: Naming the column.
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


Vector = FloatArray
Flags = BoolArray
_HOLE = -(2.0 + 2.0**-19)  # where a row has no value, on the attack's scale: exact in float32
_QUANTILES = (0.05, 0.95)
_CATEGORY_SHARE = 0.1
_EVERY_COLUMN = "*"


@dataclass(frozen=True, eq=False)
class AttackSpace:
    """Columns with their kind, range and unit; rows on the attack's scale and back.

    On the attack's scale a change of one is ``unit`` in every column, so that one ``eps`` means the
    same everywhere. Real-valued attacks move the real columns alone; `discrete` moves integers and
    categories, too. Every adversarial row is a valid row: fixed columns and holes stay, integers
    are whole, categories are allowed values.

    Attributes:
        shape, dtype: Of a row as the model takes it.
        low, high: Smallest and largest allowed value of each feature.
        origin, unit: Where the attack's scale is zero, and how long a step of one is.
        moving, increasing, integer, category: Flags: may change at all, may only grow, whole
            numbers, codes.
        values: Allowed values of each category that may change, by its position.
        most_categories: How many categories of one row may change: a tenth of them, at least one.
        scaled: Whether ``eps`` is in units of the columns (True) or in the model's own numbers.

    >>> X = np.array([[0.5, 3, 1], [1.5, 9, 2], [1.0, 4, 1]])
    >>> space = AttackSpace.of(X, {"visits": "integer", "ward": "category"},
    ...     names=["dose", "visits", "ward"])
    >>> space.reals.tolist(), space.discrete.tolist(), space.values[2].tolist()
    ([True, False, False], [False, True, True], [1.0, 2.0])
    >>> bool((space.outside(space.inside(X)) == X).all())
    True
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    low: Vector
    high: Vector
    origin: Vector
    unit: Vector
    moving: Flags
    increasing: Flags
    integer: Flags
    category: Flags
    values: Mapping[int, Vector] = field(default_factory=dict)
    most_categories: int = 1
    names: tuple[str, ...] = ()
    scaled: bool = True

    @classmethod
    def of(
        cls,
        X: ArrayLike,
        columns: Mapping[str, Any] | None = None,
        *,
        names: Sequence[str] | None = None,
        kinds: Sequence[str] | None = None,
        bounds: tuple[float, float] | None = None,
        moving: ArrayLike | None = None,
        eps: float = 0.1,
    ) -> "AttackSpace":
        """The space of these rows.

        Args:
            X: Rows as the model takes them, ``(n, …)``; NaN is a hole, which stays one.
            columns: Rules by name (``"*"``: every column without one), each a word or a table: see
                `ColumnRule`. Categories take the values that their column shows in X; with ``"*"``
                and no names (tokens) those that any column shows.
            names: Of the columns; by default their positions.
            kinds: ``"real"``, ``"integer"`` or ``"category"`` for each column; by default integers
                where X has an integer type, reals otherwise.
            bounds: The model's. With them ``eps`` is in the model's own numbers; without, a change
                of one is what lies between the 5 % and the 95 % quantile of a column (its range
                where that is zero), and of images the range of all pixels.
            moving: Flags of the columns that may change at all; by default all but constant ones.
            eps: The size that the attack will have; a column's own ``eps`` is turned into its unit.

        Raises:
            ParameterError: For a rule of a column that is not there.
        """
        array = np.asarray(X)
        rows = array.reshape(len(array), -1).astype(np.float64)
        count = rows.shape[1]
        listed = tuple(map(str, range(count))) if names is None else tuple(map(str, names))
        usual = "integer" if array.dtype.kind in "iu" else "real"
        kind = np.array([usual] * count if kinds is None else list(kinds), dtype="<U8")
        low, high = _range(rows, together=array.ndim > 2)
        unit = _unit(rows, low, high, together=array.ndim > 2)
        free = np.ones(count, dtype=np.bool_) if moving is None else np.array(moving, dtype=bool)
        if bounds is not None:
            low, high = np.full(count, float(bounds[0])), np.full(count, float(bounds[1]))
            unit = np.ones(count)
        elif array.ndim == 2:
            free &= high > low
        increasing = np.zeros(count, dtype=np.bool_)
        values: dict[int, Vector] = {}
        for at, rule in _rules(columns, listed):
            free[at] = rule.change != "fixed" and (free[at] or moving is None)
            increasing[at] = rule.change == "increase only"
            kind[at] = rule.kind or kind[at]
            low[at], high[at] = _first(rule.low, low[at]), _first(rule.high, high[at])
            unit[at] = unit[at] if rule.eps is None else rule.eps / eps
            if rule.values is not None:
                values[at] = np.unique(np.array(rule.values, dtype=np.float64))
        tokens = names is None and _EVERY_COLUMN in (columns or {})
        for at in np.flatnonzero(free & (kind == "category")).tolist():
            seen = rows if tokens else rows[:, at]
            values.setdefault(at, np.unique(seen[~np.isnan(seen)]))
            low[at], high[at], unit[at] = values[at].min(), values[at].max(), 1.0
            free[at] = len(values[at]) > 1
        # A step of an integer that is exactly eps must not be refused for its last bit.
        unit[kind == "integer"] *= 1.0 + 1e-6 if bounds is None else 1.0
        origin = np.zeros(count) if bounds is not None else np.where(kind == "category", 0, low)
        categories = kind == "category"
        most = max(1, int(_CATEGORY_SHARE * (categories & free).sum()))
        return cls(
            array.shape[1:], array.dtype, low, high, origin, unit, free, increasing,
            kind == "integer", categories, values, most, listed, bounds is None,
        )  # fmt: skip

    @property
    def reals(self) -> Flags:
        """Features that real-valued attacks may move."""
        return self.moving & ~self.integer & ~self.category

    @property
    def discrete(self) -> Flags:
        """Integers and categories that may change."""
        return self.moving & (self.integer | self.category)

    @property
    def plain(self) -> bool:
        """Whether rows go to the model as they are and every feature is free within its bounds."""
        shifted = self.origin.any() or (self.unit != 1).any()
        kinds = (self.integer | self.category | self.increasing | ~self.moving).any()
        return not (self.scaled or shifted or kinds)

    @property
    def sha256(self) -> str:
        """Identifies every rule."""
        arrays = [self.low, self.high, self.origin, self.unit, self.moving, self.increasing]
        return sha256(
            "attack space", *arrays, self.integer, self.category, str(self.dtype),
            self.most_categories, *(item for pair in sorted(self.values.items()) for item in pair),
        )  # fmt: skip

    def inside(self, X: ArrayLike) -> AnyArray:
        """Rows of the model on the attack's scale."""
        array = np.asarray(X)
        if self.plain:
            return array
        rows = array.reshape(len(array), len(self.unit))
        # Steps of integers must not be lost in the rounding of float32.
        coarse = rows.dtype.kind == "f" and not self.discrete.any()
        kept = rows.dtype if coarse else np.dtype(np.float64)
        scaled = ((rows - self.origin) / self.unit).astype(kept)
        scaled[np.isnan(scaled)] = _HOLE
        return scaled.reshape(array.shape)

    def outside(self, X: ArrayLike) -> AnyArray:
        """Rows on the attack's scale as the model takes them."""
        array = np.asarray(X)
        if self.plain:
            return array
        rows = array.reshape(len(array), len(self.unit))
        found: AnyArray = self.origin + rows.astype(np.float64) * self.unit
        exact = self.integer | self.category
        found[:, exact] = np.rint(found[:, exact] * 2**20) / 2**20  # what scaling has rounded
        found[:, self.integer] = np.rint(found[:, self.integer])
        found[self.holes(rows)] = np.nan
        whole = self.dtype.kind in "iu"
        return (np.rint(found) if whole else found).astype(self.dtype).reshape(array.shape)

    def holes(self, rows: AnyArray) -> Flags:
        """Which entries of flat rows on the attack's scale stand for no value."""
        if self.dtype.kind in "iu":
            return np.zeros(rows.shape, dtype=np.bool_)
        return np.asarray(rows == _HOLE)

    def scaled_range(self) -> tuple[Vector, Vector]:
        """Smallest and largest value of each feature on the attack's scale."""
        return (self.low - self.origin) / self.unit, (self.high - self.origin) / self.unit

    def valid(self, points: AnyArray, original: AnyArray) -> Flags:
        """Which flat points on the attack's scale are rows that this space allows."""
        low, high = self.scaled_range()
        slack = 1e-6 * np.maximum(1.0, np.abs(high))
        least, most = np.minimum(low, original) - slack, np.maximum(high, original) + slack
        same = points == original
        fine = same | ((points >= least) & (points <= most) & self.moving)
        fine &= ~(self.increasing & (points < original - slack))
        fine &= same | ~self.holes(original)
        if self.integer.any():
            values = self.origin + points.astype(np.float64) * self.unit
            whole = np.abs(values - np.rint(values)) <= 1e-4
            fine &= same | ~self.integer | whole
        for at, values in self.values.items():
            fine[:, at] &= same[:, at] | np.isin(points[:, at].astype(np.float64), values)
        changed = (~same[:, self.category]).sum(axis=1)
        return np.asarray(fine.all(axis=1) & (changed <= self.most_categories))

    def rules(self, eps: float = np.inf) -> dict[str, str]:
        """What each column may do, in words; with ``eps`` how far, in the column's own numbers."""
        return {name: _words(self, at, eps) for at, name in enumerate(self.names)}

    @property
    def eps_words(self) -> str:
        """What ``eps`` is a share of; nothing where it is in the model's own numbers."""
        if not self.scaled:
            return ""
        if len(self.shape) > 1:
            return " of the range"
        low, high = (f"{100 * share:.0f} %" for share in _QUANTILES)
        return f" of each column's {low} to {high} range"

    def moved(self, before: ArrayLike, after: ArrayLike) -> dict[str, int]:
        """How many of these rows changed in each column that changed in any."""
        first = np.asarray(before, dtype=np.float64).reshape(-1, len(self.unit))
        second = np.asarray(after, dtype=np.float64).reshape(first.shape)
        counts = ((first != second) & ~(np.isnan(first) & np.isnan(second))).sum(axis=0)
        return {self.names[at]: int(counts[at]) for at in np.flatnonzero(counts)}


def _words(space: AttackSpace, at: int, eps: float) -> str:
    if not space.moving[at]:
        return "fixed"
    if space.category[at]:
        return "category"
    kind = "integer" if space.integer[at] else "real"
    only = ", increase only" if space.increasing[at] else ""
    far = f", by at most {eps * space.unit[at]:.3g}" if np.isfinite(eps) else ""
    return f"{kind}{only}{far}"


def _rules(
    columns: Mapping[str, Any] | None, names: tuple[str, ...]
) -> list[tuple[int, ColumnRule]]:
    given = {name: ColumnRule.read(name, rule) for name, rule in (columns or {}).items()}
    unknown = set(given) - set(names) - {_EVERY_COLUMN}
    if unknown:
        raise ParameterError(
            "Rules must be for columns of the rows.",
            got=", ".join(sorted(unknown)),
            do=f"Columns are {', '.join(names[:8])}{', …' if len(names) > 8 else ''}.",
        )
    rest = given.get(_EVERY_COLUMN)
    found = [(at, given.get(name, rest)) for at, name in enumerate(names)]
    return [(at, rule) for at, rule in found if rule is not None]


def _range(rows: Vector, *, together: bool) -> tuple[Vector, Vector]:
    if np.isnan(rows).all(axis=0).any():
        raise DataError("Every column must have a value in some row.", got="an empty column")
    if together:
        return np.full(rows.shape[1], np.nanmin(rows)), np.full(rows.shape[1], np.nanmax(rows))
    return np.nanmin(rows, axis=0), np.nanmax(rows, axis=0)


def _unit(rows: Vector, low: Vector, high: Vector, *, together: bool) -> Vector:
    whole = np.where(high > low, high - low, 1.0)
    if together:
        return whole
    first, last = np.nanquantile(rows, _QUANTILES, axis=0)
    return np.where(last > first, last - first, whole)


def _first(given: float | None, usual: float) -> float:
    return usual if given is None else given
