"""The classes of a file of predictions: their values, one name for each, and the positive one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from fireassay.core.arrays import IntArray
from fireassay.core.errors import DataError
from fireassay.core.lazy import pd

_POSITIVE: Final = ("true", "yes", "positive")
# Values that usually stand for no class at all.
_NO_CLASS: Final = (
    "?", ".", "-", "-1", "-9", "-99", "-999", "unknown", "missing", "pending", "unlabelled",
    "unlabeled", "unsure", "indeterminate", "inconclusive", "undetermined", "uncertain", "deferred",
    "equivocal", "abstain", "abstained", "rejected", "none", "na", "n/a", "null", "cannot tell",
    "not available", "no answer",
)  # fmt: skip
_MOST_CLASSES: Final = 1000
_FEW_CLASSES, ENOUGH_ROWS = 20, 20


def named_alike(
    own: list[Any], said: list[Any], classes: Sequence[Any] | None
) -> tuple[list[Any], list[Any], list[Any]]:
    """Classes of truth and of answer under common names, and these names in order."""
    kinds = {type(v) for v in (*own, *said)}
    if kinds == {bool, int} and {*own, *said} <= {0, 1}:
        own, said = ([int(v) for v in part] for part in (own, said))
    names = in_order({*own, *said})
    if classes is not None:
        names, texts = list(classes), {str(name): name for name in classes}
        own, said = ([texts.get(str(v), v) for v in part] for part in (own, said))
    known = {folded(v) for v in own}
    alike = any(v not in own and folded(v) in known for v in said)
    if (own and said and not {*own} & {*said}) or alike or {*own, *said} - {*names}:
        raise DataError(
            "Truth and answer must name the same classes alike.",
            got=f"truth {shown(own)} and answer {shown(said)}",
            do="Write them alike, name the columns (--truth, --answer), or the value that is no "
            "class (--unlabelled of the truth, --indeterminate of the answer).",
        )
    return own, said, _completed(names)


def in_order(values: set[Any]) -> list[Any]:
    """Numbers by size, then texts by the alphabet."""
    return sorted(values, key=lambda v: (isinstance(v, str), v))


def _completed(names: list[Any]) -> list[Any]:
    """The classes; where rows show 0 or 1 alone, both of them."""
    if len(names) == 1 and names[0] in (0, 1):
        names = [False, True] if isinstance(names[0], bool) else [0, 1]
    if not 1 <= len(names) <= _MOST_CLASSES:
        raise DataError("Truths must be classes.", got=f"{len(names):,} different values")
    return names


def refuse_no_classes(
    own: list[Any], said: list[Any], truth: str, columns: Sequence[str], n: int
) -> None:
    """Refuse values of one side alone that may be no class: "unsure", -1, a shifted count."""
    if truth in own:
        raise DataError("The header must stand once in a file.", got=f"{truth!r} as a class")
    names = in_order({*own, *said})
    unknown = [v for v in names if not any(column.endswith(str(v)) for column in columns)]
    extra = [v for v in said if v not in own and v in unknown]
    never = [v for v in own if v not in said and v in unknown]
    known = f"--classes {','.join(map(str, names))} if all are classes"
    doubted = [v for v in extra if folded(v) in _NO_CLASS or (len(own) == 2 and n >= ENOUGH_ROWS)]
    if doubted:
        raise DataError(
            "An answer that is never true may be no class.",
            got=repr(doubted[0]),
            do=f"Type --indeterminate {doubted[0]}, or {known}.",
        )
    told = any(isinstance(v, str) and v not in unknown for v in names)
    doubted = [v for v in never if folded(v) in _NO_CLASS and len(own) > 2]
    for v in never if said and len(own) > 2 and n >= ENOUGH_ROWS else ():
        apart = told if isinstance(v, str) else v == names[-1] and v - 1 not in names
        doubted += [v] if apart or len(said) == 2 else []
    if doubted:
        raise DataError(
            "A truth that is never answered may be no class.",
            got=repr(doubted[0]),
            do=f"Type --unlabelled {doubted[0]}, or {known}.",
        )
    if extra and never and len(names) <= _FEW_CLASSES and n >= ENOUGH_ROWS:
        raise DataError(
            "Truth and answer must name the same classes alike.",
            got=f"{shown(never)} in the truth alone and {shown(extra)} in the answer alone",
            do=f"Write them alike (one may count from 0), or type {known}.",
        )


def levels(
    column: pd.Series[Any] | None, role: str, blank: Any | None = None
) -> tuple[IntArray, list[Any]]:
    """Codes (-1: missing) and plain values of a column of classes."""
    if column is None:
        return np.zeros(0, dtype=np.int64), []
    codes, values = pd.factorize(column, use_na_sentinel=True)
    plain = [plain_class(value) for value in values.tolist()]
    said = None if blank is None else str(blank)
    plain = _numbers_read([None if v is None or str(v) == said else v for v in plain])
    plain = [None if v == "" else v for v in plain]
    found = list(dict.fromkeys(v for v in plain if v is not None))
    kinds = {str if isinstance(v, str) else type(v) for v in found}
    if float in kinds or (str in kinds and len(kinds) > 1):
        raise DataError(
            f"The {role} column {column.name!r} must hold classes.",
            got=shown(found),
            do=f"Name another column: --{role} COLUMN.",
        )
    place = {v: i for i, v in enumerate(found)} | {None: -1}
    return np.append([place[v] for v in plain], -1).astype(np.int64)[codes], found


def _numbers_read(plain: list[Any]) -> list[Any]:
    """Texts as whole numbers, and "None" as missing, where every text is a whole number."""
    texts = {v for v in plain if isinstance(v, str)} - {"", "None"}
    if not texts or not all(re.fullmatch(r"(LABEL_|-)?(0|[1-9]\d*)(\.0+)?", v) for v in texts):
        return plain
    read = {v: int(float(v.removeprefix("LABEL_"))) for v in texts} | {"None": None}
    return [read.get(v, v) for v in plain]


def plain_class(value: Any) -> Any:
    """A class as a bool, an int or a text; a fraction stays one."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | float | np.number):
        return int(value) if float(value).is_integer() else float(value)
    return str(value).strip()


def folded(value: Any) -> str:
    """A value as people read it: without case and blanks around it."""
    return str(value).strip().casefold()


def shown(values: Sequence[Any], most: int = 6) -> str:
    """The first values, and how many there are."""
    more = f" … ({len(values)})" if len(values) > most else ""
    return ", ".join(map(str, values[:most])) + more


def positive_class(names: Sequence[Any], told: Any | None = None) -> Any | None:
    """The positive class: as told; of two, 1 against 0 or -1, or the one that says so."""
    if told is not None:
        return next((name for name in names if str(name) == str(told)), None)
    if len(names) != 2:
        return None
    if {*map(str, names)} in ({"0", "1"}, {"-1", "1"}):
        return next(name for name in names if str(name) == "1")
    said = [name for name in names if folded(name) in _POSITIVE]
    return said[0] if len(said) == 1 else None
