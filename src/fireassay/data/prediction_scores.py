"""Which columns of a file of predictions are probabilities, and of what."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from fireassay.core.arrays import AnyArray, FloatArray, IntArray
from fireassay.core.errors import DataError
from fireassay.core.lazy import pd
from fireassay.data.prediction_column import (
    NO,
    PROBABILITY_NAMES,
    Scores,
    inside,
    of_confidence,
    of_one,
    of_single_column,
    plain_name,
    slack,
)

_TABLES: Final = ("probabilitie", "score", "prediction", "predictionscore", *PROBABILITY_NAMES)
_PREFIXES: Final = (
    "", "p_", "prob_", "proba_", "probability_", "probabilities_", ".pred_", "pred_", "y_prob_",
    "y_proba_", "y_pred_proba_", "y_score_", "prediction_", "prediction_score_",
    "prediction_scores_", "score_", "p",
)  # fmt: skip
_ORDER: Final = ("classes", "class_names")
_FEW_CLASSES: Final = 100


def found_scores(
    frame: pd.DataFrame,
    tables: Mapping[str, AnyArray],
    told: Sequence[str],
    told_confidence: str | None,
    answers: IntArray | None,
    names: Sequence[Any],
    positive: Any | None,
    taken: set[str],
    in_order: bool,
) -> Scores:
    """The probabilities of a file: as told, by names of classes, as a table, or one column."""
    if list(told) == ["none"]:
        return Scores(lines=("probabilities: none (as told)",))
    free = [
        str(c) for c in frame if c not in taken and pd.api.types.is_numeric_dtype(frame[c].dtype)
    ]
    for name in told:
        if name not in free and name not in tables:
            raise DataError(f"{name!r} must be a column of numbers (--probability).", got="none")
    if told_confidence is not None:
        return of_confidence(frame, told_confidence, answers, names, " (as told)")
    if len(told) > 1:
        if len(told) != len(names):
            need = f"There must be a probability for each of {len(names)} classes."
            raise DataError(need, got=", ".join(told), do="Name all classes: --classes.")
        return _whole(frame[list(told)].to_numpy(np.float64), tuple(told), " (as told)")
    if not told:
        family = _family(frame, free, names)
        if family is not None:
            return family
    chosen = {k: v for k, v in tables.items() if not told or k in (*told, *_ORDER)}
    table = _table(chosen, answers, names, in_order)
    if table is not None:
        return table
    return of_single_column(frame, free, list(told), answers, names, positive)


def cut_of_answers(
    answers: IntArray, p: FloatArray, positive: int | None
) -> dict[int, tuple[float, float, float]] | None:
    """The rule behind the answers: {} for the most probable class, one cut, or None."""
    # A cut is {class: (value, above this, up to this)}: the roundest number that fits. Answers on a
    # tie, as rounding makes them, agree with either.
    rows = np.flatnonzero(answers >= 0)
    said, stated = answers[rows], p[rows]
    own = stated[np.arange(len(rows)), said]
    if (own >= stated.max(axis=1) - 1e-9).all():
        return {}
    order = [*range(p.shape[1])][:: -1 if p.shape[1] == 2 else 1]
    order = order if positive is None else [positive, *order]
    for c in order:
        yes = said == c
        low = float(stated[~yes, c].max()) if (~yes).any() else 0.0
        high = float(stated[yes, c].min()) if yes.any() else 1.0
        rest = np.delete(stated, c, axis=1).max(axis=1)
        if low <= high and (own >= rest - 1e-9)[~yes].all():
            for digits in range(1, 13):
                value = np.floor(high * 10**digits + 1e-9) / 10**digits
                if value > low or digits == 12:
                    return {c: (float(value if value > low else high), low, high)}
    return None


def _whole(p: FloatArray, columns: tuple[str, ...], how: str, more: tuple[str, ...] = ()) -> Scores:
    """Probabilities of all classes, checked, rows divided by their sums where rounded."""
    shown = f"{', '.join(columns[:6])}{' …' if len(columns) > 6 else ''}"
    known = p[~np.isnan(p).any(axis=1)]
    sums = known.sum(axis=1)
    off = float(np.abs(sums - 1).max(initial=0.0))
    if not inside(p) or off > slack(known):
        raise DataError(
            f"Probabilities must lie in [0, 1], and those of a row must sum to one ({shown}).",
            got=f"values from {np.nanmin(p):.4g}, sums from {sums.min():.4g} to {sums.max():.4g}",
            do="Take the softmax of logits, name other columns (--probability), or type "
            f"{NO} to judge the answers alone.",
        )
    line = f"probabilities: {shown}{how}"
    if off > 1e-6:
        line += f"; rounded (sums off by up to {off:.2g}), divided by their sums"
    p = np.clip(p, 0.0, 1.0)
    return Scores(p / p.sum(axis=1, keepdims=True), None, columns, (line,), more)


def _of_class(columns: Sequence[str], prefix: str, name: Any) -> list[str]:
    """Columns that a prefix and a class name; exactly, else without case and punctuation."""
    texts = {str(name), str(name).lower(), *([f"{name}.0"] if isinstance(name, int) else [])}
    if prefix == "p" and isinstance(name, str):
        return []
    exact = [c for c in columns if c.strip() in {prefix + text for text in texts}]
    wanted = re.sub(r"[^0-9a-z]+", "", (prefix + str(name)).lower())
    if exact or not re.sub(r"[^0-9a-z]+", "", str(name).lower()):
        return exact
    if re.search(r"[^0-9A-Za-z _-]", str(name)) or (isinstance(name, int) and name < 0):
        return []
    return [c for c in columns if re.sub(r"[^0-9a-z]+", "", c.lower()) == wanted]


def _named_columns(
    frame: pd.DataFrame, free: list[str], names: Sequence[Any]
) -> tuple[dict[tuple[str, ...], str], dict[str, int]]:
    """Columns with a name for every class, by prefix; of two classes those of one class alone."""
    whole: dict[tuple[str, ...], str] = {}
    single: dict[str, int] = {}
    for prefix in _PREFIXES:
        found = [_of_class(free, prefix, name) for name in names]
        for name, columns in zip(names, found, strict=True):
            if len(columns) > 1:
                raise DataError(
                    f"One column must hold the probability of {name!r}.",
                    got=", ".join(columns),
                    do="Type --probability with one column per class, in the order of the classes.",
                )
        counted = [_of_class(free, prefix, i) for i in range(len(names))]
        pairs = [(a[0], b[0]) for a, b in zip(found, counted, strict=True) if a and b]
        if isinstance(names[0], int) and all(counted) and any(a != b for a, b in pairs):
            raise DataError(
                f"The columns may count the classes from 0, and the classes begin at {names[0]}.",
                got=", ".join(columns[0] for columns in counted),
                do=f"Type --probability {','.join(columns[0] for columns in counted)} if so; "
                f"else rename them.",
            )
        if all(found):
            whole.setdefault(tuple(columns[0] for columns in found), prefix)
        elif len(names) == 2 and any(found):
            at = 0 if found[0] else 1
            if inside(frame[found[at][0]].to_numpy(np.float64)):
                single.setdefault(found[at][0], at)
    fits = {c: p for c, p in whole.items() if all(inside(frame[i].to_numpy(float)) for i in c)}
    if whole and not fits and not single:
        first = next(iter(whole))
        table = frame[list(first)].to_numpy(np.float64)
        ends = f"from {np.nanmin(table):.4g} to {np.nanmax(table):.4g}"
        raise DataError(
            "Columns named as the classes must hold probabilities.",
            got=f"{', '.join(first[:6])} {ends}",
            do=f"Name other columns (--probability), or type {NO} to judge the answers alone.",
        )
    return fits, single


def _around_classes(
    frame: pd.DataFrame, free: list[str], names: Sequence[Any]
) -> dict[tuple[str, ...], str]:
    """Columns alike but for the name of the class, such as "P (churn=yes)", whose sums are one."""
    alike: dict[tuple[str, str], dict[str, str]] = {}
    for column in free if len(names) <= _FEW_CLASSES else ():
        for name in map(str, names):
            for at in re.finditer(re.escape(name), column):
                rest = column[: at.start()], column[at.end() :]
                alike.setdefault(rest, {})[name] = column
    found = {}
    for rest, columns in alike.items():
        chosen = tuple(columns.get(str(name), "") for name in names)
        if 1 < len({*chosen} - {""}) == len(names):
            p = frame[list(chosen)].to_numpy(np.float64)
            p = p[~np.isnan(p).any(axis=1)]
            if inside(p) and np.abs(p.sum(axis=1) - 1).max() <= slack(p):
                found[chosen] = rest[0]
    return found


def _family(frame: pd.DataFrame, free: list[str], names: Sequence[Any]) -> Scores | None:
    """Columns named as the classes, with one of the usual prefixes or none."""
    whole, single = _named_columns(frame, free, names)
    whole = whole or _around_classes(frame, free, names)
    if len(whole) > 1:
        raise DataError(
            "One set of columns must hold the probabilities.",
            got=" and ".join(", ".join(columns[:4]) for columns in whole),
            do=f"Type --probability {','.join(next(iter(whole)))}.",
        )
    for chosen, prefix in whole.items():
        p = frame[list(chosen)].to_numpy(np.float64)
        more = [c for c in free if c not in chosen and len(prefix) > 1 and c.startswith(prefix)]
        if more and np.nanmax(np.abs(p.sum(axis=1) - 1)) > slack(p[~np.isnan(p).any(axis=1)]):
            extra = tuple(c[len(prefix) :] for c in more)
            together = (*chosen, *more)
            return _whole(frame[list(together)].to_numpy(np.float64), together, "", extra)
        return _whole(p, chosen, "")
    if len(single) > 1:
        got, do = ", ".join(single), f"Type --probability {next(iter(single))}."
        raise DataError("One column must hold the probability.", got=got, do=do)
    for column, at in single.items():
        return of_one(frame[column].to_numpy(np.float64), column, at, names, "")
    return None


def _table(
    tables: Mapping[str, AnyArray], answers: IntArray | None, names: Sequence[Any], in_order: bool
) -> Scores | None:
    """An array (n, k): its columns need an order, which whole numbers from 0 on have."""
    found = _arrays(tables)
    if not found:
        return None
    p = np.asarray(tables[found[0]], dtype=np.float64)
    texts = [str(name) for name in names]
    labels = next(([str(v) for v in tables[k].tolist()] for k in _ORDER if k in tables), [])
    if labels and {*texts} <= {*labels}:
        more = tuple(v for v in labels if v not in texts)
        columns = [labels.index(v) for v in (*texts, *more)]
        return _whole(p[:, columns], (found[0],), " (an array)", more)
    counted = texts == [str(i) for i in range(len(names))]
    if p.shape[1] != len(names):
        if counted and p.shape[1] > len(names):
            more = tuple(str(i) for i in range(len(names), p.shape[1]))
            return _whole(p, (found[0],), " (an array)", more)
        raise DataError(
            f"{found[0]!r} must have a column for each of {len(names)} classes.",
            got=f"{p.shape[1]} columns",
            do="Name all classes in their order: --classes.",
        )
    certain = in_order or counted or names == [False, True]
    if not certain and not _follow(answers, p):
        raise DataError(
            f"The order of the columns of {found[0]!r} must be known.",
            got=f"the classes {', '.join(texts[:6])}",
            do=f"Name all classes in their order: --classes {','.join(texts)}.",
        )
    return _whole(p, (found[0],), " (an array)")


def _arrays(tables: Mapping[str, AnyArray]) -> list[str]:
    """The name of the array (n, k) that is named as probabilities are; two are refused."""
    named = [k for k in tables if plain_name(k) in _TABLES or plain_name(k).endswith(_TABLES[0])]
    found = [k for k in named if tables[k].ndim == 2]
    if len(found) > 1:
        got, do = ", ".join(found), f"Type --probability {found[0]}."
        raise DataError("One array must hold the probabilities.", got=got, do=do)
    return found


def _follow(answers: IntArray | None, p: FloatArray) -> bool:
    """Whether every answer is the most probable column, which shows the order of the columns."""
    if answers is None:
        return False
    rows = answers >= 0
    return bool(rows.any() and (p.argmax(axis=1) == answers)[rows].all())
