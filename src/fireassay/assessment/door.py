"""Looked at before anything runs: order of classes, hard labels, copies of rows and labels."""

from dataclasses import asdict, replace
from typing import Any

import numpy as np

from fireassay.assessment.coded_context import coded
from fireassay.assessment.context import Context
from fireassay.assessment.copied_rows import unseen_rows
from fireassay.assessment.label_among_columns import label_among_columns
from fireassay.assessment.memory_use import ROWS_HELD, held_mb
from fireassay.assessment.named_labels import named_by_index
from fireassay.classifiers.base import BLOCK_ROWS
from fireassay.classifiers.probe import answers_again
from fireassay.core import ModelError, ParameterError, ProbabilityError, generator
from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.percent import percent
from fireassay.core.validation import check_class_indices
from fireassay.statistics.class_order import ClassOrder, class_order

_LEAST_ROWS, _MOST_ROWS, _ROWS_PER_CLASS = 400, 6000, 6
_SHOWN, _FEW_ROWS = 12, 100
ACCEPT = "accept_below_baseline=True (--accept-below-baseline)"


def at_the_door(
    context: Context, *, accept_below_baseline: bool = False, go_on: bool = False
) -> Context:
    """The context with what a look at model and data has shown; stops where that is an error.

    Parameters
    ----------
    context
        Of the run.
    accept_below_baseline
        Go on, and say so in the report, where the model agrees with the labels less than chance.
    go_on
        Also where the model fails: its parts will record that.

    Raises
    ------
    ModelError
        If the model's columns seem to be in another order than the labels', or if it is right
        less often than chance.
    ProbabilityError
        If what it answers is no classification; the message says what to pass.
    """
    context = coded(context)
    _check_normalisation(context)
    try:
        context, found = _looked_at(context)
    except ProbabilityError:
        raise
    except ModelError as failure:
        if not go_on:
            raise
        return replace(context, notes=(*context.notes, f"The model failed at the door: {failure}"))
    order = _order(found)
    if order is not None:
        trouble = what_is_wrong(order, context.model.classes)
        if trouble is not None and not accept_below_baseline:
            raise ModelError(trouble, do=f"If that is meant, pass {ACCEPT}.")
        if trouble is not None:
            context = replace(context, notes=(*context.notes, f"{trouble} It was accepted."))
    doubts = (*unseen_rows(context), *label_among_columns(context))
    return replace(context, hard_labels=bool(found["hard_labels"]), doubts=doubts)


def _check_normalisation(context: Context) -> None:
    """Refuse mean and std that do not fit the rows, here and not once per part."""
    if context.normalisation is not None and context.natural_range is None:
        raise ParameterError(
            "mean and std are of images: rows of numbers with three or more axes.",
            got=f"rows of {', '.join(sorted(set(context.test.kinds or ())))}",
            do="Leave them out.",
        )


def verified_order(context: Context) -> ClassOrder | None:
    """What the labelled rows say about the order of the model's columns; None without labels."""
    return _order(_looked_at(context)[1])


def _order(found: dict[str, Any]) -> ClassOrder | None:
    noted = found["order"]
    return None if noted is None else ClassOrder(**{**noted, "order": tuple(noted["order"])})


def what_is_wrong(order: ClassOrder, classes: tuple[Any, ...]) -> str | None:
    """One sentence, and what to say, if the classes are in another order; None if all is well."""
    agrees = f"The model agrees with the labels on {percent(order.agreement, 1)} of {order.n} rows"
    if order.is_wrong:
        better = percent(order.agreement_in_order, 1)
        names = [classes[column] for column in order.order]
        listed = ", ".join(repr(name) for name in names[:_SHOWN])
        typed = ",".join(str(name) for name in names[:_SHOWN])
        more = ", …" if len(names) > _SHOWN else ""
        return (
            f"{agrees}; with its columns in the order {listed}{more} it would be {better}. "
            f"Say classes=[{listed}{more}] (init: --classes {typed}{more})."
        )
    if order.is_below_chance:
        mean, chance = (f"{100 * v:.1f} %" for v in (order.balanced, order.by_chance))
        return (
            f"{agrees}; it finds a class {mean} of the time in the mean, less than the same "
            f"answers dealt at random ({chance}). Labels or classes may be in another order, or "
            "the rows not those that the model takes. Say classes= in the order of its columns."
        )
    return None


def _looked_at(context: Context) -> tuple[Context, dict[str, Any]]:
    rows = _rows(context)
    try:
        _ = context.model.classes
    except ModelError:  # known from the first answer on
        answers_again(context.model, context.test.subset(rows[:1]).X)
    named = named_by_index(context)
    found: dict[str, Any] = named.once(
        "the door", (named.test.sha256, len(rows)), lambda: _look(named, rows)
    )
    return named, found


def _look(context: Context, rows: IntArray) -> dict[str, Any]:
    pieces = np.array_split(rows, -(-len(rows) // BLOCK_ROWS))
    before = held_mb()
    answers = np.concatenate(
        [answers_again(context.model, context.test.subset(some).X) for some in pieces]
    )
    context.known[ROWS_HELD] = len(pieces[0]), max(0.0, held_mb() - before)
    hard = is_hard(answers)
    if hard and len(rows) < _FEW_ROWS:  # on few rows a forest may be of one mind everywhere
        hard = all(
            is_hard(answers_again(context.model, other.subset(np.arange(min(64, len(other)))).X))
            for other in (context.train, context.operational)
            if other is not None
        )
    found: dict[str, Any] = {"hard_labels": hard, "order": None}
    if context.test.y is not None:
        y = check_class_indices(context.test.y, context.model.classes)[rows]
        groups = None if context.test.groups is None else context.test.groups[rows]
        said = answers.argmax(axis=1)
        order = class_order(y, said, answers.shape[1], groups=groups, seed=context.seed)
        found["order"] = {**asdict(order), "order": list(order.order)}
    return found


def is_hard(answers: FloatArray) -> bool:
    """Whether every answer is certain: then it is a label, not a probability.

    >>> is_hard(np.eye(3)), is_hard(np.array([[0.9, 0.1]]))
    (True, False)
    """
    return bool(len(answers) and (answers.max(axis=1) == 1.0).all())


def _rows(context: Context) -> IntArray:
    """Rows to ask about, drawn at random: more where there are many classes."""
    classes = 0 if context.test.y is None else len(np.unique(context.test.y))
    wanted = min(_MOST_ROWS, max(_LEAST_ROWS, _ROWS_PER_CLASS * classes))
    if context.door_rows is not None:
        wanted = min(wanted, context.door_rows)
    order = generator(context.seed, "the door").permutation(len(context.test))
    return np.sort(order[:wanted])
