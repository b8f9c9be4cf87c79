"""The way in which a model takes rows, found by trying: a few rows in each way, in fixed order."""

from collections.abc import Callable
from typing import Any

import numpy as np

from fireassay.assessment.inspection import TRIED
from fireassay.classifiers import Classifier, as_classifier
from fireassay.classifiers.base import BaseClassifier, allow_missing, hand_rows_as, innermost
from fireassay.classifiers.first_use import different, is_miscounted
from fireassay.classifiers.probe import answers_again
from fireassay.core import DataError, FireassayError, ModelError, ParameterError, ProbabilityError
from fireassay.data import DataSet
from fireassay.data.handed import Handed, others

_TRIED_AGAIN = 2  # rows of each other way: with the first at most 16 in all
_OPTIONS = (("rows", "--rows"), ("layout", "--layout"), ("pixels", "--pixels"))


def another_way(
    refused: FireassayError, data: DataSet, made: Callable[[int | None], Any]
) -> tuple[Handed, str]:
    """The only other way to hand rows that gets valid answers, and what was tried."""
    # ``made`` makes the classifier, for a batch size. Where rows as they are get an answer, or no
    # other way does, the first refusal is raised again.
    model = made(None)
    if isinstance(innermost(model), BaseClassifier) and not _is_remote(model):
        tried = []
        if _tried(model, data, Handed(), TRIED) is not None:
            raise refused
        for group in others(data):
            asked = made(1) if group[0].batch_size == 1 else model
            found = {way: _tried(asked, data, way, _TRIED_AGAIN) for way in group}
            answers = {way: p for way, p in found.items() if p is not None}
            # Equal answers tell containers alike; the same labels tell nothing of a layout.
            fitting = different(answers) if all(way.rows for way in answers) else list(answers)
            tried += [str(way) for way in group]
            if len(fitting) == 1:
                return fitting[0], f"as they are, {'; '.join(tried)}: taken {fitting[0]}"
            if fitting:
                raise ParameterError(
                    "Rows must be handed to the model in one way.",
                    got=f"valid answers in {len(fitting)}: {'; '.join(map(str, fitting))}",
                    do=f"Say which: {' or '.join(map(_typed, fitting))}.",
                ) from refused
        raise type(refused)(
            f"{refused} Also tried in vain: {'; '.join(tried)}. {_remedy(data)}"
        ) from refused
    raise refused


def _remedy(data: DataSet) -> str:
    """What to type for a model that takes rows in no way that was tried."""
    kinds = dict(zip(data.rows.names, data.kinds or (), strict=False))
    left = [name for name, kind in kinds.items() if kind != "text"]
    if data.rows.is_frame and left and len(left) == len(kinds) - 1:
        typed = " ".join(f"--ignore {name}" for name in left[:8])
        return f"A model that takes the text alone needs: {typed}."
    return "Say how it takes rows (--rows, --layout, --pixels), or wrap it in a function that does."


def _is_remote(model: Any) -> bool:
    return hasattr(innermost(model), "concurrency")  # an address


def _typed(way: Handed) -> str:
    return " ".join(f'{option} "{v}"' for key, option in _OPTIONS if (v := getattr(way, key)))


def _tried(model: Any, data: DataSet, way: Handed, rows: int) -> Any:
    """What a few rows handed in a way are answered with; None where they are refused."""
    # One answer for each column must not pass for one for each row.
    rows += data.rows.is_frame and rows == len(data.rows.names)
    some = way.applied(data.subset(np.arange(min(rows, len(data)))))
    innermost(model).rows_as = ""
    hand_rows_as(model, way.rows)
    if some.missing:
        allow_missing(model)
    try:
        return answers_again(model, some.X)
    except ProbabilityError as refusal:  # an answer of another kind is one
        return None if is_miscounted(refusal) else np.full(1, np.nan)
    except (ModelError, DataError):
        return None


def maker(model: Any, **options: Any) -> Callable[[int | None], Any]:
    """What makes the classifier of a model, for a batch size or the adapter's own."""

    def made(batch_size: int | None) -> Any:
        if batch_size is None or isinstance(model, Classifier):
            return as_classifier(model, **options)
        return as_classifier(model, **options, batch_size=batch_size)

    return made
