"""Judge recorded predictions: no model is asked, and none is needed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fireassay.assessment.config import Config
from fireassay.assessment.context import Context
from fireassay.assessment.parts.operating_point import Decision
from fireassay.assessment.parts.part import marks_of
from fireassay.assessment.parts.table import PARTS
from fireassay.assessment.run.challenge import OF_A_FILE, RECORDED
from fireassay.assessment.run.folder import TEST_ROWS, note, under_way
from fireassay.assessment.run.judging import Judge, RowSketch
from fireassay.assessment.run.loop import Run
from fireassay.assessment.run.start import about_arrays, begun
from fireassay.classifiers.recorded import RecordedAnswers
from fireassay.core import Assumption, DataError, Estimate, Measure, ParameterError
from fireassay.core.arrays import is_frame
from fireassay.core.groups import Groups
from fireassay.core.lazy import stats
from fireassay.core.seeds import check_seed
from fireassay.data import DataSet
from fireassay.data.predictions import Predictions, per_group, predictions_of, read_predictions
from fireassay.engine import Executor, RunStore
from fireassay.engine.run_lock import refuse_foreign
from fireassay.report import Report
from fireassay.report.document import RECORDED as MODEL_OF_A_FILE
from fireassay.report.gates import Gates, parse_gates
from fireassay.statistics.numbers.number_registry import parse_number, standard_name

MISSING = "missing-truths"
_BEYOND_CHANCE = 0.01


@dataclass(frozen=True)
class Terms:
    """How predictions are judged: slices, units, the decision, and the confidence."""

    slices: tuple[str, ...] | None = None
    decision: Decision = field(default_factory=Decision)
    exposure: str | None = None
    largest_group: float | None = None
    confidence: float = 0.95
    seed: int = 0
    pictures: bool = True
    weights: str = "design"  # or importance: then reliability weighs errors for the field


def judge(
    y: Any,
    proba: ArrayLike | None = None,
    answers: ArrayLike | None = None,
    *,
    classes: Sequence[Any] | None = None,
    groups: Any = None,
    slices: Any = None,
    ids: Any = None,
    weights: Any = None,
    time: Any = None,
    costs: Mapping[str, float] | None = None,
    threshold: float | None = None,
    positive: Any | None = None,
    indeterminate: Any | None = None,
    unlabelled: Any | None = None,
    prevalence: Mapping[Any, float] | None = None,
    ordered: Sequence[Any] = (),
    gates: Gates = (),
    seed: int = 0,
) -> Report:
    """Judge predictions: all standard numbers with intervals, for limits and for reading.

    Args:
        y: Truths; or a file or a frame of predictions, whose columns are found by their names.
        proba, answers: Probabilities, (n, k) or (n,) of the positive class, and answers; one of
            them is enough.
        classes: All classes in the order of the probabilities.
        groups, ids, weights, time: One value per row; of a file or a frame the name of the column.
        slices: Columns by name (a mapping or a frame); of a file or a frame names of columns.
        costs, threshold: What each kind of mistake costs; from which probability on the positive
            class is answered.
        positive, indeterminate, unlabelled: The positive class of two; the answer that stands for
            "cannot tell"; the truth that stands for "not known".
        prevalence, ordered: How frequent classes are elsewhere; all classes in an order that means
            something.
        gates: Limits, as for `Report.verdict`: their numbers are in the report.
        seed: Of whatever is drawn.

    Returns:
        Report: Parts that must ask the model are *not available* in it.

    >>> report = judge([0, 0, 1, 1] * 25, [0.1, 0.6, 0.7, 0.9] * 25)
    >>> print(report["accuracy"].estimates["sensitivity[1]"])
    1.000 [0.929, 1.000] n=50
    >>> report.verdict({"min": {"sensitivity": 0.9, "auroc": 0.9}}).status
    'pass'
    """
    options: dict[str, Any] = {
        "classes": classes, "positive": positive, "indeterminate": indeterminate,
        "threshold": threshold, "unlabelled": unlabelled,
    }  # fmt: skip
    if isinstance(y, str | Path) or is_frame(y):
        if proba is not None or answers is not None:
            raise ParameterError("A file of predictions has its answers in it.", got="both")
        found = read_predictions(
            y, id_column=ids, group=groups, time=time, weight=weights, **options
        )
        chosen = None if slices is None else tuple([slices] if isinstance(slices, str) else slices)
    else:
        columns = None if slices is None else {str(name): slices[name] for name in slices}
        found = predictions_of(
            y, proba, answers, ids=ids, groups=groups, time=time, weights=weights, slices=columns,
            **options,
        )  # fmt: skip
        chosen = tuple(columns or ())
    decision = Decision.of(costs, None, found.positive, prevalence, ordered)
    return judged_report(found, Terms(chosen, decision, seed=seed), gates)


def judged_report(
    found: Predictions, terms: Terms, gates: Gates = (), folder: Path | None = None
) -> Report:
    """The report on predictions; with a folder it becomes a run folder as any other."""
    limits = parse_gates(gates)
    settings = {name: part.settings() for name, part in PARTS.items()}
    named = tuple(dict.fromkeys(
        short for gate in limits
        if standard_name(short := gate.number.removeprefix("accuracy.")) is not None
        and "{" not in short
    ))  # fmt: skip
    settings["accuracy"] = PARTS["accuracy"].settings(
        confidence=terms.confidence, slice_numbers=named
    )
    if folder is None:
        plain = all(standard_name(g.number.removeprefix("accuracy.")) for g in limits)
        # Without field data its bound is the interval of the error, and a look must be quick.
        parts = tuple(n for n in PARTS if n != "reliability" or terms.pictures or not plain)
        return _run(recorded_context(found, terms), settings, Judge(limits), parts=parts)
    refuse_foreign(folder)
    with RunStore(folder) as store, under_way(store):
        context = recorded_context(found, terms, Executor(store=store, progress=False))
        sketch = RowSketch.of(marks_of(context, context.test.labels))
        note(store, {TEST_ROWS: asdict(sketch), RECORDED: True})
        judge = Judge(limits, folder.resolve().parent, sketch, model=OF_A_FILE)
        return _run(context, settings, judge, folder)


def _run(
    context: Context,
    settings: Any,
    judge: Judge,
    folder: Path | None = None,
    parts: tuple[str, ...] = tuple(PARTS),
) -> Report:
    about = begun(about_arrays(context, MODEL_OF_A_FILE), folder)
    title = "Predictions judged"
    return Run(context, parts, settings, title=title, judge=judge, about=about).go()


def recorded_context(found: Predictions, terms: Terms, executor: Executor | None = None) -> Context:
    """Recorded answers as a context: rows are their positions, those without truth are left out."""
    labelled = np.flatnonzero(found.truth >= 0)
    if not len(labelled):
        raise DataError("Some row must have a truth.", got=f"none of {len(found):,}")
    missing = len(found) - len(labelled)
    names = np.empty(len(found.classes), dtype=object)
    names[:] = found.classes
    wanted = found.offered if terms.slices is None else terms.slices
    groups = None if found.groups is None else Groups(found.groups[labelled], terms.largest_group)
    test = DataSet(
        labelled[:, None].astype(np.float64),
        np.array(names[found.truth[labelled]].tolist()),
        ids=None if found.ids is None else found.ids[labelled],
        groups=groups,
        slices={c: found.slice_values(c)[labelled].astype(str) for c in wanted} or None,
        weights=_importance(found, terms, labelled),
        name=found.name,
        form="recorded",
        left_out=(("without a truth", missing),) if missing else (),
    )
    decision = terms.decision
    if found.positive is not None and decision.positive is None:
        decision = replace(decision, positive=str(found.positive))
    if found.threshold:
        decision = replace(decision, threshold=found.threshold)
    unseen = Assumption(
        "The model was not trained on the test rows.",
        "untestable",
        "Predictions do not show on which rows the model was trained.",
        "unseen-rows",
    )
    column = terms.exposure
    exposure = None if column is None else (column, _exposure(found, column)[labelled])
    return Context(
        model=RecordedAnswers(found.probabilities, found.answers, classes=found.classes),
        test=test,
        decision=decision,
        seed=check_seed(terms.seed),
        executor=executor or Executor(),
        notes=found.asks,
        doubts=(unseen, *missing_truths(found), *_unweighted(found, terms)),
        hard_labels=found.probabilities is None,
        exposure=exposure,
        pictures=terms.pictures,
    )


def configured_context(config: Config, seed: int, executor: Executor | None) -> Context:
    """The recorded answers that ``[predictions]`` names."""
    section = config.predictions
    assert section is not None
    roles = section.model_dump(exclude={"file", "id", "slices", "per", "exposure", "largest_group"})
    decision = config.decision.decision()
    found = read_predictions(
        config.folder / section.file, id_column=section.id, positive=decision.positive, **roles
    )
    found = found if section.per is None else per_group(found, section.per)
    terms = Terms(
        section.slices, decision, section.exposure, section.largest_group, seed=seed
    )  # fmt: skip
    return recorded_context(found, terms, executor)


def predictions_config(found: Predictions, file: str) -> str:
    """A configuration for predictions, with the columns that were found."""
    roles = found.roles
    lines = ["[predictions]", f"file = {json.dumps(file)}"]
    lines += [f"{role} = {json.dumps(roles[role])}"
              for role in ("truth", "answer", "id", "group", "time", "weight")
              if role in roles]  # fmt: skip
    if found.offered:
        lines.append(f"slices = {json.dumps(list(found.offered))}")
    if found.positive is not None:
        lines += ["", "[decision]", f"positive = {json.dumps(str(found.positive))}"]
    rest = '\n[run]\nparts = ["accuracy", "reliability"]\n\n[gates.max]\n# error = 0.05\n'
    return "\n".join([*lines, rest])


def _exposure(found: Predictions, column: str) -> Any:
    if column not in found.others:
        raise DataError(f"There must be a column {column!r} (--exposure).", got="none")
    values = found.others[column].to_numpy(dtype=np.float64)
    if not (np.isfinite(values).all() and values.min() >= 0 and values.any()):
        raise DataError("Exposure must be at least 0.", got=f"others in {column}")
    return values


def _importance(found: Predictions, terms: Terms, labelled: Any) -> Any:
    """Weights that carry errors over to the field; design weights say nothing about it."""
    if found.weights is None or terms.weights != "importance":
        return None
    weights = found.weights[labelled]
    if abs(weights.mean() - 1) > 0.05 + 4 * weights.std() / np.sqrt(len(weights)):
        raise DataError(
            "Importance weights have mean 1: how often the field has a row, over how often here.",
            got=f"mean {weights.mean():.3g}",
            do="Divide them by their mean if they are known up to a factor.",
        )
    return weights


def _unweighted(found: Predictions, terms: Terms) -> tuple[Assumption, ...]:
    """Standard numbers count rows: that these stand for equally many must be assumed, and said."""
    if found.weights is None:
        return ()
    told = "Weights were given; standard numbers count rows without them."
    if terms.weights == "importance":
        told += " Reliability weighs errors with them."
    stated = "Every row stands for as many as any other."
    return (Assumption(stated, "untestable", told, "equal-weights"),)


def missing_truths(found: Predictions) -> tuple[Assumption, ...]:
    """Whether rows without a truth have other answers than those with one."""
    absent = found.truth < 0
    if not absent.any():
        return ()
    check = f"{int(absent.sum()):,} of {len(found):,} rows have no truth and are left out."
    table = np.array([np.bincount(found.answers[part] + 1, minlength=len(found.classes) + 1)
                      for part in (absent, ~absent)])  # fmt: skip
    table = table[:, table.sum(axis=0) > 0]
    differs = table.shape[1] > 1 and stats.chi2_contingency(table).pvalue < _BEYOND_CHANCE
    if differs:
        shares = table[0] / table.sum(axis=0)
        check += (
            f" Verification bias possible: truths are missing for {100 * shares.min():.0f} to "
            f"{100 * shares.max():.0f} % of the rows, by answer, which is beyond chance."
        )
    return (Assumption("Rows without a truth are like the others.", "untestable", check, MISSING),)


def paired_changes(
    before: Predictions, after: Predictions, terms: Terms, numbers: Sequence[str]
) -> list[tuple[str, Estimate | None, Measure]]:
    """How numbers changed between two files with the same ids, row by row; None: not comparable."""
    from fireassay.assessment.parts.accuracy_result import AccuracyResult, outcomes
    from fireassay.assessment.parts.part import paired_change

    part, old_new = PARTS["accuracy"], []
    for found in (before, after):
        plain = replace(terms, slices=(), exposure=None, pictures=False)
        result = part.run(
            recorded_context(found, plain), part.settings(confidence=terms.confidence)
        )
        assert isinstance(result, AccuracyResult)
        old_new.append(result)
    rows = [outcomes(result) for result in old_new]
    changes = []
    for number in numbers:
        asked = parse_number(number.removeprefix("accuracy."), after.classes, after.positive)
        sides = [side.get(asked.name) for side in rows]
        change = None
        if sides[0] is not None and sides[1] is not None:
            change = paired_change(sides[0], sides[1], terms.confidence)
        changes.append((f"accuracy.{asked.name}", change, asked.measure))
    return changes
