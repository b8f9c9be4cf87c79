"""Rows of any kind as a search for confident errors takes them, when it is asked alone."""

from dataclasses import dataclass

from fireassay.assessment.attack_space import attack_space
from fireassay.assessment.coded_context import coded, has_codes, why_no_distances
from fireassay.assessment.context import Context
from fireassay.classifiers import Classifier
from fireassay.core.arrays import AnyArray, FloatArray
from fireassay.data import DataSet
from fireassay.discovery import calibrate
from fireassay.discovery.space import principal_components


@dataclass(frozen=True)
class SearchedRows:
    """What `Search` is given.

    Attributes
    ----------
    model, X
        The model as attacks see it, with honest confidences, and its rows.
    features
        Where distances between rows are measured; None: in the rows themselves.
    no_distances
        Why no attack can measure distances to the boundary; None: one can.
    """

    model: Classifier
    X: AnyArray
    features: FloatArray | None
    no_distances: str | None


def searched_rows(
    model: Classifier, rows: DataSet, held_out: DataSet | None = None
) -> SearchedRows:
    """Rows to search, and the model calibrated on others, if there are any.

    Rows of numbers are taken as they are. Of tables with names, dates or holes the model gets each
    row as it is; attacks move the numbers, and distances are measured in a view of our own.
    """
    if rows.rows.is_plain and (held_out is None or held_out.rows.is_plain):
        if held_out is not None:
            model = calibrate(model, held_out.X, held_out.labels)
        return SearchedRows(model, rows.X, None, None)
    context = coded(Context(model, rows, held_out))
    attacked, space = attack_space(context)
    if context.train is not None:
        attacked = calibrate(attacked, space.inside(context.train.X), context.train.labels)
    features = principal_components(context.test.view()) if has_codes(context) else None
    return SearchedRows(attacked, space.inside(context.test.X), features, why_no_distances(context))
