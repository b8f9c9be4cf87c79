"""Rows of any kind as a search for confident errors takes them."""

from dataclasses import dataclass
from typing import Any

from fireassay.assessment.coded_rows import coded, has_codes, why_no_distances
from fireassay.assessment.context import Context
from fireassay.assessment.parts.attack_space import attack_space
from fireassay.classifiers import Classifier
from fireassay.core.arrays import AnyArray, FloatArray
from fireassay.data import DataSet
from fireassay.discovery.space import principal_components


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
    """Rows to search and calibration rows, if there are any, as the model takes them.

    An attack gets numbers: of tables with names, dates or holes it moves the numbers alone, and
    distances are measured in a view of our own.
    """
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
