"""Columns of numbers with some text among them: one typo would make every number a category."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fireassay.core.arrays import AnyArray
from fireassay.core.errors import DataError
from fireassay.core.lazy import pd

_MOSTLY, _MOST_NAMED = 0.5, 5


def refuse_mixed(values: pd.Series[Any], line_of: Callable[[int], int] | None = None) -> None:
    """Refuse a column that is mostly numbers but not only, and one with decimal commas."""
    if isinstance(values.dtype, pd.CategoricalDtype) or values.dtype.kind not in "OUT":
        return
    # By distinct texts: a long one that is repeated a million times is looked at once.
    codes, distinct = pd.factorize(values)
    unique = pd.Series([str(text) for text in distinct], dtype=object)
    places, inverse = np.flatnonzero(codes >= 0), codes[codes >= 0]
    numbers = pd.to_numeric(unique, errors="coerce").notna().to_numpy()
    points = unique.str.replace(",", ".", regex=False)
    commas = ~numbers & pd.to_numeric(points, errors="coerce").notna().to_numpy()
    is_number, with_comma = numbers[inverse], commas[inverse]
    text = unique.to_numpy()[inverse]
    if with_comma.any() and (is_number | with_comma).mean() > _MOSTLY:
        raise DataError(
            f"Column {values.name!r} must have decimal points.",
            got=_named(text, with_comma, places, line_of),
            do=f"Write 1.5 for 1,5; if these are names, pass --categorical {values.name}.",
        )
    if len(text) and _MOSTLY < is_number.mean() < 1:
        odd = repr(text[~is_number][0])
        raise DataError(
            f"Column {values.name!r} must be all numbers, or names.",
            got=_named(text, ~is_number, places, line_of) + " among numbers",
            do=f"Where {odd} stands for a missing value, pass --na {odd}; if all are names, "
            f"--categorical {values.name}. Else mend those cells.",
        )


def _named(text: AnyArray, chosen: Any, places: Any, line_of: Callable[[int], int] | None) -> str:
    found = np.flatnonzero(chosen)
    cells = []
    for i in found[:_MOST_NAMED]:
        row = int(places[i])
        where = f"row {row}" if line_of is None else f"line {line_of(row)}"
        cells.append(f"{text[i][:40]!r} in {where}")
    more = f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
    return ", ".join(cells) + more
