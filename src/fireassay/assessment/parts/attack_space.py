"""Where attacks move: the declared bounds, or each column on the scale of its own spread."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.assessment.coded_rows import (
    attack_kinds,
    changeable,
    coded,
    has_codes,
    why_no_distances,
)
from fireassay.assessment.context import Context
from fireassay.attacks import AttackSpace, SpacedClassifier
from fireassay.attacks.inputs import check_clip_range
from fireassay.classifiers import Classifier, CodedClassifier
from fireassay.core.arrays import AnyArray, FloatArray
from fireassay.core.errors import ParameterError
from fireassay.data import DataSet
from fireassay.discovery.space import principal_components


@dataclass(frozen=True, eq=False)
class CodedSpace(AttackSpace):
    """The space of coded rows: what codes a hole stays one, whatever else its column may do."""

    hole_codes: NDArray[np.float64] | None = None

    def inside(self, X: ArrayLike) -> NDArray[Any]:
        """Rows of codes on the attack's scale."""
        return super().inside(_with_holes(np.asarray(X, dtype=np.float64), self.hole_codes))

    def outside(self, X: ArrayLike) -> NDArray[Any]:
        """Rows on the attack's scale as codes."""
        found = super().outside(X)
        return (
            found if self.hole_codes is None else np.where(np.isnan(found), self.hole_codes, found)
        )


def attack_space(
    context: Context, columns: Mapping[str, Any] | None = None, eps: float | None = None
) -> tuple[Classifier, AttackSpace]:
    """The model as attacks see it, and the space of its rows under the rules for columns."""
    # With declared bounds nothing is scaled. Without, tables get the spread of each column, images
    # and series their natural range; integers may move by one at least; columns without a range,
    # texts, dates and one-hot codes stay as they are.
    X, bounds = context.test.X, context.model.bounds
    if bounds is not None:
        check_clip_range(X, bounds)
    holes = _hole_codes(context)
    kind = AttackSpace if holes is None else CodedSpace
    space = kind.of(
        _with_holes(X, holes),
        _rules_in_codes(context, columns),
        names=context.test.feature_names,
        kinds=attack_kinds(context),
        bounds=bounds,
        moving=_numbers(context),
        eps=eps or 0.1,
    )
    if isinstance(space, CodedSpace):
        space = replace(space, hole_codes=holes)
    if bounds is None:
        space = _in_natural_range(_with_a_step(space, eps or 0.1), context)
    return (context.model if space.plain else SpacedClassifier(context.model, space)), space


def _with_a_step(space: AttackSpace, eps: float) -> AttackSpace:
    """Integers may always move by one: what cannot move at all would seem to stand."""
    step = np.where(space.integer, (1.0 + 1e-6) / eps, 0.0)
    return replace(space, unit=np.maximum(space.unit, step))


def _in_natural_range(space: AttackSpace, context: Context) -> AttackSpace:
    """Pixels and signals move in the range that they naturally have, channel by channel."""
    natural = context.natural_range
    if natural is None:
        return space
    low, high = natural.ends(context.test.X.shape[1:])
    unit = np.where(high > low, high - low, 1.0)
    moving = space.moving & (high > low)
    return replace(space, low=low, high=high, origin=low, unit=unit, moving=moving)


def _hole_codes(context: Context) -> NDArray[np.float64] | None:
    model = context.model
    if not isinstance(model, CodedClassifier):
        return None
    codes: NDArray[np.float64] = model.book.hole_codes
    return codes if not np.isnan(codes).all() else None


def _with_holes(X: NDArray[Any], holes: NDArray[np.float64] | None) -> NDArray[Any]:
    return X if holes is None else np.where(holes == X, np.nan, X)


def _rules_in_codes(
    context: Context, columns: Mapping[str, Any] | None
) -> Mapping[str, Any] | None:
    """Rules that name values of a column name their codes instead."""
    if not columns or not isinstance(context.model, CodedClassifier):
        return columns
    levels = {
        c.name: [str(v) for v in c.levels]
        for c in context.model.book.columns
        if c.levels is not None
    }
    found = dict(columns)
    for name, rule in columns.items():
        if name in levels and isinstance(rule, Mapping) and rule.get("values") is not None:
            unknown = [v for v in rule["values"] if str(v) not in levels[name]]
            if unknown:
                raise ParameterError(
                    f"Column {name!r} has the values {', '.join(levels[name][:8])}.",
                    got=repr(unknown[0]),
                )
            codes = [float(levels[name].index(str(value))) for value in rule["values"]]
            found[name] = {**rule, "values": codes}
    return found


def _numbers(context: Context) -> NDArray[np.bool_] | None:
    """Columns that may change: not one-hot codes, texts and dates; None if all may."""
    encoder = context.test.encoder
    if encoder is None or all(categories is None for categories in encoder.categories):
        return changeable(context)
    flags: list[bool] = []
    for categories in encoder.categories:
        flags += [True] if categories is None else [False] * len(categories)
    return np.array(flags)


@dataclass(frozen=True)
class SearchedRows:
    """What `Search` is given."""

    model: Classifier
    X: Any
    features: FloatArray | None
    calibration: tuple[Any, AnyArray] | None
    no_distances: str | None


def searched_rows(
    model: Classifier, rows: DataSet, held_out: DataSet | None = None, *, attacked: bool = False
) -> SearchedRows:
    """Rows to search and calibration rows, if there are any, as the model takes them."""
    # An attack gets numbers: of tables with names, dates or holes it moves the numbers alone, and
    # distances are measured in a view of our own.
    plain = rows.rows.is_plain and (held_out is None or held_out.rows.is_plain)
    if plain or not attacked:
        known = None if held_out is None else (held_out.rows.values, held_out.labels)
        return SearchedRows(model, rows.rows.values, None, known, None)
    context = coded(Context(model, rows, held_out))
    target, space = attack_space(context)
    train = context.train
    known = None if train is None else (space.inside(train.X), train.labels)
    features = principal_components(context.test.view()) if has_codes(context) else None
    X = space.inside(context.test.X)
    return SearchedRows(target, X, features, known, why_no_distances(context))
