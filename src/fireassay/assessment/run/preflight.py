"""Checks before a run: class order, hard labels, test rows seen in training, label columns."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.assessment.coded_rows import coded
from fireassay.assessment.context import Context
from fireassay.assessment.parts.part import Part
from fireassay.assessment.plan.machine import keep_first_answers
from fireassay.assessment.run.first_look import FirstLook, checked_rows, first_look, rows_needed
from fireassay.classifiers.probe import answers_again
from fireassay.core import (
    Assumption,
    DataError,
    Evidence,
    ModelError,
    ParameterError,
    ProbabilityError,
    generator,
)
from fireassay.core.arrays import FloatArray, is_frame
from fireassay.core.evidence import AssumptionStatus
from fireassay.core.groups import largest_group
from fireassay.core.mapped import stay_bytes
from fireassay.core.validation import check_class_indices
from fireassay.core.words import percent
from fireassay.data import DataSet
from fireassay.data.splits import CopiedRows, copied_rows
from fireassay.report.gates import Gate
from fireassay.statistics.groups.group_bound import group_upper, too_few_groups
from fireassay.statistics.label_checks import ClassOrder, class_order, label_columns
from fireassay.statistics.shared_units import ExactCopies, exact_copies


def named_by_index(context: Context) -> Context:
    """The context with integer labels named by the model's classes, where these are names."""
    classes = tuple(context.model.classes)
    if not all(isinstance(name, str) for name in classes):
        return context
    renamed = {name: _renamed(data, classes) for name, data in context.sets.items()}
    changed: dict[str, Any] = {name: data for name, data in renamed.items() if data is not None}
    if not changed:
        return context
    shown = ", ".join(f"{i} = {name!r}" for i, name in enumerate(classes[:4]))
    more = ", …" if len(classes) > 4 else ""
    note = f"Integer labels ({', '.join(changed)} rows) name the model's classes: {shown}{more}."
    return replace(context, **changed, notes=(*context.notes, note))


def _renamed(data: DataSet, classes: tuple[str, ...]) -> DataSet | None:
    """The rows with names for labels; None where there is nothing to rename."""
    if data.y is None or data.y.dtype.kind not in "iu":
        return None
    own = data.class_names  # count instead of the position, if the model knows them all
    names: tuple[Any, ...] = own if own is not None and set(own) <= set(classes) else classes
    y: NDArray[np.int64] = data.y
    if y.min() < 0 or y.max() >= len(names):
        return None  # labels that the model does not know: said where they are compared
    return replace(data, y=np.asarray(names)[y], class_names=None if own is None else names)


NO_LABEL = "label-not-a-column"
_MOST_CELLS, _LEAST_TABLE_ROWS, _MOST_TABLE_ROWS = 2_000_000, 1000, 20_000


def label_among_columns(context: Context) -> tuple[Assumption, ...]:
    """An objection where a column of the table alone gives the label; else nothing."""
    data, values = context.test, context.test.rows.values
    if data.y is None or np.ndim(values) != 2:
        return ()
    names, n = data.feature_names or data.rows.names, len(data)
    most = min(_MOST_TABLE_ROWS, max(_LEAST_TABLE_ROWS, _MOST_CELLS // max(1, len(names))))
    chosen = np.sort(generator(context.seed, "label among columns").permutation(n)[:most])
    columns = [_column(values, i)[chosen] for i in range(len(names))]
    found = label_columns(columns, data.labels[chosen], context.seed)
    if not found.found:
        return ()
    told = f"{percent(found.share, 1)} of {len(chosen)} rows"
    if len(found.columns) == 1:
        which = f"Column '{names[found.columns[0]]}' alone gives the label of {told}"
    else:
        listed = ", ".join(f"'{names[i]}'" for i in found.columns)
        which = f"Columns {listed} give the label of {told}, a class each"
    check = (
        f"{which}. If it was left among the features, take it out and train again; if it is known "
        f'before the label is, say so: [gates.accept] "{NO_LABEL}" = "why".'
    )
    statement = "No column that the model takes is the label, or a recoding of it."
    return (Assumption(statement, "contradicted", check, NO_LABEL),)


def _column(values: Any, place: int) -> Any:
    return values.iloc[:, place].to_numpy() if is_frame(values) else values[:, place]


UNSEEN = "unseen-rows"
# Parts whose numbers are about rows that the model has not seen.
_ABOUT_TEST_ROWS = ("accuracy", "supervision", "discovery", "reliability", "survival")
_LEFT_OUT = 0.1  # of the test rows: with more, others may be copies that nobody recognises
_STATEMENT = "The model was not trained on the test rows."
_NOT_LOOKED_AT = (
    "Whether test rows are training rows, too, was not checked: no training rows were named "
    "([data] train, init --train)."
)


def unseen_rows(context: Context) -> tuple[Context, Assumption]:
    """What training rows say about test rows, and the context without the few that are copies."""
    train, test = context.train, context.test

    def said(status: AssumptionStatus, check: str) -> tuple[Context, Assumption]:
        return context, Assumption(_STATEMENT, status, check, UNSEEN)

    if train is None:
        return said("untestable", _NOT_LOOKED_AT)
    try:
        found: CopiedRows = context.of_data(
            "copied rows",
            (context.digest(train), context.digest(test)),
            lambda: copied_rows(train, test),
        )
    except DataError as different:
        return said("untestable", f"Not compared: {different}")
    copies, how = len(found.rows), " but for rounding or a little noise" if found.rounded else ""
    check = f"{copies} of {found.n} test rows are training rows, too{how}"
    if not copies:
        return said("supported", f"{check}; copies were looked for.")
    if not found.many:
        return said("untestable", f"{check}, as chance may make them.")
    if found.n == len(test) and copies <= _LEFT_OUT * len(test) and context.votes is None:
        note = f"{copies} rows left out: also in the training data{how}."
        kept = np.setdiff1d(np.arange(len(test)), found.rows)
        left = (*test.left_out, ("also in the training data", copies))
        test = replace(test.subset(kept), left_out=left)
        context = replace(context, test=test, notes=(*context.notes, note))
        return said("supported", f"{note} No others are.")
    chance = found.by_chance * found.n
    return said("contradicted", f"{check}; coarse columns would make about {chance:.0f}.")


def resting_on(evidence: Evidence, doubts: Sequence[Assumption]) -> Evidence:
    """The evidence with assumptions that each of its numbers rests on, where it is about them."""
    if not doubts or evidence.question not in _ABOUT_TEST_ROWS:
        return evidence
    ids = tuple(doubt.id for doubt in doubts)
    return replace(
        evidence,
        assumptions=(*evidence.assumptions, *doubts),
        estimates={
            name: replace(number, rests_on=(*number.rests_on, *ids))
            for name, number in evidence.estimates.items()
        },
    )


def copies_of_test_rows(context: Context) -> ExactCopies | None:
    """Test rows that are the same in every column; None where groups are named."""
    data = context.test
    if data.groups is not None:
        return None

    def look() -> ExactCopies:
        rows: Any = data.X if data.rows.is_plain else data.view()  # a view of all copies all
        return exact_copies(rows.stored if stay_bytes(rows) else rows)

    found: ExactCopies = context.of_data("exact copies", context.digest(data), look)
    return found


def asked(test: DataSet) -> tuple[str, ...]:
    """What to answer where a column says whose row it is, and rows share its values."""
    if not test.shared or test.groups is not None:
        return ()
    name = test.shared[0]
    return (f"rows share {name!r}: give --group {name}, or --independent",)


def independent_draws(context: Context) -> Assumption:
    """Many copies contradict; that there are none shows nothing about how rows came."""
    recorded = context.recorded  # rows whose contents nobody knows
    copies = None if recorded else copies_of_test_rows(context)
    groups = context.test.groups
    single = groups is not None and len(np.unique(groups)) == len(context.test)
    what = "rows" if groups is None or single else "groups"
    many = copies is not None and copies.object_to(len(context.test))
    said = [] if copies is None or not copies.rows else [str(copies)]
    said += ["Every group has one row: they may be numbers of rows."] * single
    said += ["Rows cannot be compared: predictions do not show their contents."] * recorded
    asks = context.notes if recorded else asked(context.test)
    said += [f"{ask[0].upper()}{ask[1:]}." for ask in asks]
    said += [] if many else ["How they were drawn is not in the data."]
    return Assumption(
        f"The labelled {what} are independent draws of what the model meets.",
        "contradicted" if many else "untestable",
        " ".join(said),
        f"independent-{what}",
    )


def classes_met(context: Context, labels: Any, answers: Any) -> tuple[Assumption, ...]:
    """Classes that no test row has, and those that the model never finds, with their shares."""
    names = [str(name) for name in context.model.classes]
    rows, found = (
        np.bincount(r, minlength=len(names)) for r in (labels, labels[labels == answers])
    )
    train = None if context.train is None else context.train.y
    known = None
    if train is not None:
        known = np.bincount(check_class_indices(train, context.model.classes), minlength=len(names))
    told = []
    for which, is_so, statement in (
        ("absent-classes", rows == 0, "Every class of the model is among the test rows."),
        ("missed-classes", (rows > 0) & (found == 0), "Every class of the test rows is found."),
    ):
        places = np.flatnonzero(is_so).tolist()
        counts, of = (rows, "test") if known is None else (known, "training")
        shares = [f"{names[c]!r} ({percent(counts[c] / counts.sum(), 1)} of the {of} rows)"
                  for c in places[:_SHOWN]]  # fmt: skip
        more = f" and {len(places) - _SHOWN} more" if len(places) > _SHOWN else ""
        if places:
            check = f"Not so: {', '.join(shares)}{more}."
            told.append(Assumption(statement, "untestable", check, which))
    return tuple(told)


_SHOWN, _FEW_ROWS = 12, 100
_ORDER = "class order"
ACCEPT = "accept_below_baseline=True (--accept-below-baseline)"


def check_before_run(
    context: Context,
    parts: Iterable[Part] = (),
    settings: Mapping[str, Any] | None = None,
    *,
    most: int | None = None,
    until: float | None = None,
    accept_below_baseline: bool = False,
    go_on: bool = False,
    shown: bool | None = False,
) -> Context:
    """The context with what a look at model and data has shown; stops where that is an error."""
    # The rows that ``parts`` need are asked, or ``most`` of them, ``until`` a moment of the clock.
    if context.recorded:  # nothing may be asked
        return context
    context = coded(context)
    if context.normalisation is not None and context.natural_range is None:
        raise ParameterError(  # here, and not once per part
            "mean and std are of images: rows of numbers with three or more axes.",
            got=f"rows of {', '.join(sorted(set(context.test.kinds or ())))}",
            do="Leave them out.",
        )
    look = first_look(context)
    try:
        rows = (
            rows_needed(context, parts, settings or {}, look)
            if most is None
            else checked_rows(context.test, context.seed, most)
        )
        look.ask(rows, until=until, shown=shown)
    except ProbabilityError:
        raise
    except ModelError as failure:
        if not go_on:
            raise
        return replace(context, notes=(*context.notes, f"The model failed at the door: {failure}"))
    if until is not None:
        context = look.cut_to(context)
    if len(look.rows):
        context = _seen(named_by_index(context), look)
    order = verified_order(context)
    if order is not None:
        trouble = what_is_wrong(order, context.model.classes)
        if trouble is not None and not accept_below_baseline:
            raise ModelError(trouble, do=f"If that is meant, pass {ACCEPT}.")
        if trouble is not None:
            context = replace(context, notes=(*context.notes, f"{trouble} It was accepted."))
    context, unseen = unseen_rows(context)
    return replace(context, doubts=(unseen, *label_among_columns(context)))


def verified_order(context: Context) -> ClassOrder | None:
    """What the labelled rows say about the order of the model's columns; None without labels."""
    order: ClassOrder | None = context.known.get(_ORDER)
    return order


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


def _seen(context: Context, look: FirstLook) -> Context:
    """The context with what the first answers show: hard labels, and the order of the classes."""
    rows = look.sample
    answers = look.own(rows)
    _refuse_own_input(context.test.subset(rows).X, answers)
    keep_first_answers(context, rows, answers)
    hard = is_hard(answers)
    if hard and len(rows) < _FEW_ROWS:  # on few rows a forest may be of one mind everywhere
        hard = len(rows) == len(context.test) and all(
            is_hard(answers_again(context.model, other.subset(np.arange(min(16, len(other)))).X))
            for other in (context.train, context.operational)
            if other is not None
        )
    if context.test.y is not None:
        y = check_class_indices(context.test.y, context.model.classes)[rows]
        groups = None if context.test.groups is None else context.test.groups[rows]
        said = answers.argmax(axis=1)
        context.known[_ORDER] = class_order(
            y, said, answers.shape[1], groups=groups, seed=context.seed
        )
    return replace(context, hard_labels=hard)


def _refuse_own_input(X: Any, answers: FloatArray) -> None:
    """Refuse a function that hands back columns of its input: those are recorded answers."""
    if np.ndim(X) != 2 or len(answers) < 2:
        return
    columns = [np.asarray(_column(X, i)) for i in range(X.shape[1])]
    numbers = [c.astype(float) for c in columns if c.dtype.kind in "fiub"]
    if all(any(np.allclose(answer, c, atol=1e-7) for c in numbers) for answer in answers.T):
        raise ModelError(
            "this function returns its own input; use `fireassay judge`",
            got="probabilities that are columns of the rows",
        )


def is_hard(answers: FloatArray) -> bool:
    """Whether every answer is certain: then it is a label, not a probability."""
    return bool(len(answers) and (answers.max(axis=1) == 1.0).all())


# Numbers that are shares of all rows, and whether it is the right ones.
_SHARES = {"error": False, "pmi": False, "pmi_upper": False, "accuracy": True}
_ALPHA = 0.025


def strictest(test: DataSet) -> tuple[str, ...]:
    """The lowest error rate that these groups could show, in a sentence."""
    if test.groups is None:
        return ()
    sizes = np.unique(test.groups, return_counts=True)[1]
    best = group_upper(np.zeros(len(sizes)), sizes, _ALPHA, largest_group(test.groups))
    said = f"{len(sizes):,} groups: no result can pass a limit below {percent(best, 1)} wrong"
    return (f"{said}, not even one without an error",)


def hopeless(test: DataSet, gates: Iterable[Gate]) -> tuple[str, ...]:
    """A sentence for each limit that no result on these groups can keep."""
    if test.groups is None:
        return ()
    sizes = np.unique(test.groups, return_counts=True)[1]
    said = []
    for gate in gates:
        right = _SHARES.get(gate.number.rpartition(".")[2])
        if right is not None:
            limit = 1.0 - gate.limit if right else gate.limit
            why = too_few_groups(sizes, limit, _ALPHA, largest_group(test.groups))
            said += [] if why is None else [f"{gate.number}: {why}"]
    return tuple(said)
