"""`compare`: every supervisor on every set, fairly."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import AnyArray, BoolArray, IntArray
from fireassay.core.errors import (
    AssumptionWarning,
    DataError,
    NotEnoughEvidenceError,
    ParameterError,
)
from fireassay.core.hashing import sha256
from fireassay.core.seeds import check_seed, generator
from fireassay.core.validation import check_class_indices, check_features, check_real
from fireassay.data import DataSet, copied_rows
from fireassay.engine import Executor
from fireassay.supervision import detection_table as tables
from fireassay.supervision.candidates import (
    CALIBRATION,
    NOMINAL,
    Scores,
    candidates_of,
    fit_candidates,
    score_sets,
)
from fireassay.supervision.reading import ModelReader
from fireassay.supervision.registry import saved
from fireassay.supervision.softmax_scores import Recipe, train_members
from fireassay.supervision.supervisor import AlarmRule, Supervisor, alarm_rule
from fireassay.supervision.supervisor_comparison import SupervisorComparison, assumptions


def compare(
    model: Any,
    X_train: ArrayLike,
    y_train: ArrayLike | None,
    nominal: ArrayLike,
    sets: Mapping[str, ArrayLike],
    supervisors: str | Sequence[str | Supervisor] = "all",
    seed: int = 0,
    *,
    calibration: ArrayLike | None = None,
    labels: Mapping[str, ArrayLike] | None = None,
    kinds: Mapping[str, ArrayLike] | None = None,
    groups: Mapping[str, ArrayLike] | None = None,
    confirm: float | None = None,
    members: Sequence[Any] | None = None,
    train: Recipe | None = None,
    n_members: int = 20,
    n_samples: int = 100,
    layer: str | None = None,
    false_alarm: float = 0.05,
    confidence: float = 0.95,
    workers: int = 1,
    cluster: Any = None,
    kept: Any = None,
) -> SupervisorComparison:
    """How well each supervisor tells each kind of trouble from nominal inputs.

    Args:
        model: A `Classifier`, or anything `as_classifier` takes.
        X_train, y_train: The rows the model was trained on; supervisors are fitted to them.
        nominal: Rows like those the model will mostly meet, not among the training rows.
        sets: Rows of each kind of trouble by name, e.g. ``{"ambiguous": A, "invalid": B}``. A set
            whose name starts with "control" takes no part in recommendations: it holds harmless
            rows of the same making, and a supervisor that flags it reacts to the making.
        supervisors: ``"all"``, or names and `Supervisor` objects.
        calibration: Nominal rows for the thresholds. Default: half of ``nominal``, which then is
            used for nothing else.
        labels: True labels by set name (and ``"nominal"``), where known: adds AURC.
        kinds: Per set one name per row (a pair of classes, a corruption): adds AUROCs per kind.
        groups: Which rows belong together (a patient, a video), by set name, ``"nominal"`` and
            ``"calibration"``; one label means one group in all sets. Intervals and thresholds then
            count groups, and no split cuts a group. Rows of other sets stand for themselves.
        confirm: Share of the rows, in (0, 1), on which to report; the supervisor is then chosen on
            the others. By default all rows serve for both, and the intervals of what was chosen
            hold for all supervisors and sets at once.
        members, train, n_members: An ensemble, or a recipe ``(X, y, seed) -> model`` to train one.
        n_samples, layer: Dropout samples; the layer as in `Supervisor`.
        false_alarm, confidence: The promise of each threshold; all intervals have this confidence.
        workers, cluster: As in `Executor`; the numbers do not depend on them.
        kept: A `ContentStore` that has what supervisors of the rows alone learnt and scored.
        seed: Of whatever is drawn: the split of ``nominal``, subsamples, training, bootstrap.

    Returns:
        SupervisorComparison: ``frame()`` has a row per supervisor and set. What a model cannot
            supply, or what breaks, is in there too, with its reason.

    >>> def model(X):
    ...     return np.column_stack([1 - X[:, 0], X[:, 0]])
    >>> sure = np.linspace(0, 0.2, 400)[:, None]
    >>> sets = {"unclear": np.linspace(0.4, 0.6, 60)[:, None]}
    >>> found = compare(model, sure[::2], None, sure[1::2], sets, ["softmax-entropy"])
    >>> found.frame()[["auroc", "caught"]].iloc[0].tolist()
    [1.0, 1.0]
    """
    check_seed(seed)
    check_real(confidence, "confidence", low=0, high=1)
    executor = Executor(workers=workers, cluster=cluster)
    keeping = Executor(workers=workers, cluster=cluster, kept=kept)
    X = check_features(X_train, name="X_train")
    if confirm is not None:
        check_real(confirm, "confirm", low=0, high=1)
    rows, evaluated, numbers = _checked_sets(nominal, sets, calibration, X.shape[1:], seed, groups)
    if members is None and train is not None:
        members = train_members(train, X, y_train, n_members, seed, executor)
    reader = ModelReader(model, layer=layer, members=members, n_samples=n_samples, seed=seed)
    classes = reader.classes(X)
    targets = None if y_train is None else check_class_indices(y_train, classes, n=len(X))
    queries_before = reader.queries
    candidates = candidates_of(supervisors, reader, seed)
    labelled = {name: part for name, part in rows.items() if name in (labels or {})}
    predictions = {s: reader.read(X, ("probabilities",)).predictions for s, X in labelled.items()}
    fit_candidates(candidates, X, targets, executor, keeping)
    here = reader.queries - queries_before
    scores, sent = score_sets(candidates, rows, executor, keeping)
    rules, rule_reason = _rules(scores, false_alarm, confidence, numbers)
    wrong = _wrong(labels, predictions, classes, evaluated)
    reported, reported_groups, chosen_on = scores, numbers, None
    if confirm is not None and scores.get(NOMINAL):
        choosing = tables.split_for_choice(scores, confirm, numbers, seed)
        others = {name: ~part for name, part in choosing.items()}
        chosen_on = tables.auroc_points(tables.part_of(scores, choosing))
        reported = tables.part_of(scores, others)
        wrong = {name: marks[others[name]] for name, marks in wrong.items()}
        reported_groups = numbers and {name: numbers[name][part] for name, part in others.items()}
    table = tables.detection_table(
        candidates, reported, wrong, rules, groups=reported_groups,
        confidence=confidence, executor=executor,
    )  # fmt: skip
    recommended, pair, best = tables.recommendation(table, chosen_on)
    fitted = next((c.supervisor for c in candidates if c.name == recommended), None)
    if fitted is not None:
        fitted.rule_ = rules.get(fitted.name)
    comparison = SupervisorComparison(
        table=table,
        scores=scores,
        rules=rules,
        kind_table=tables.kind_table(scores, kinds or {}, confidence, numbers),
        recommended=recommended,
        pair=pair,
        best=best,
        reported=reported,
        groups=reported_groups,
        confirmed=confirm is not None,
        assumptions=assumptions(
            table, copied_rows(DataSet(X), DataSet(rows[NOMINAL])), rule_reason
        ),
        confidence=confidence,
        seed=seed,
        queries=here + sent,
        model_sha256=reader.model.sha256,
        data_sha256=sha256(X, *rows.values()),
        rule_reason=rule_reason,
        monitor=None if fitted is None else saved(fitted),
    )
    for assumption in comparison.assumptions:
        if assumption.status == "contradicted":
            text = f"{assumption.statement} {assumption.check}"
            warnings.warn(text, AssumptionWarning, stacklevel=2)
    return comparison


def _checked_sets(
    nominal: ArrayLike,
    sets: Mapping[str, ArrayLike],
    calibration: ArrayLike | None,
    shape: tuple[int, ...],
    seed: int,
    groups: Mapping[str, ArrayLike] | None,
) -> tuple[dict[str, AnyArray], IntArray | None, dict[str, IntArray] | None]:
    """Rows by set; where nominal rows were split, which are left as nominal; groups by set."""
    if not sets:
        raise ParameterError("The 'sets' must name at least one kind of trouble.", got="none")
    reserved = {NOMINAL, CALIBRATION} & set(sets)
    if reserved:
        raise ParameterError("These names are taken.", got=", ".join(sorted(reserved)))
    rows = {NOMINAL: check_features(nominal, name="nominal")}
    evaluated = None
    if calibration is not None:
        rows[CALIBRATION] = check_features(calibration, name="calibration")
    rows |= {name: check_features(X, name=f"sets[{name!r}]") for name, X in sets.items()}
    for name, X in rows.items():
        if X.shape[1:] != shape:
            raise DataError(
                f"Rows of {name!r} must have the shape {shape} of the training rows.",
                got=f"{X.shape[1:]}",
            )
    numbers = tables.numbered_groups(groups, {name: len(X) for name, X in rows.items()})
    if calibration is None and len(rows[NOMINAL]) > 1:
        first = _calibration_rows(len(rows[NOMINAL]), numbers, seed)
        evaluated = np.flatnonzero(~first)
        whole = rows.pop(NOMINAL)
        rows = {NOMINAL: whole[~first], CALIBRATION: whole[first], **rows}
        if numbers is not None:
            own = numbers[NOMINAL]
            numbers |= {NOMINAL: own[~first], CALIBRATION: own[first]}
    return rows, evaluated, numbers


def _calibration_rows(n: int, numbers: Mapping[str, IntArray] | None, seed: int) -> BoolArray:
    """Half of the nominal rows; whole groups where there are groups."""
    if numbers is not None:
        return tables.group_halves(numbers[NOMINAL], 0.5, seed, "calibration")
    first = np.zeros(n, dtype=np.bool_)
    first[generator(seed, "supervision", "calibration").permutation(n)[: n // 2]] = True
    return first


def _rules(
    scores: Scores, false_alarm: float, confidence: float, numbers: Mapping[str, IntArray] | None
) -> tuple[dict[str, AlarmRule], str]:
    own, known = None if numbers is None else numbers.get(CALIBRATION), scores.get(CALIBRATION, {})
    try:
        found = {s: alarm_rule(v, false_alarm, confidence, own) for s, v in known.items()}
    except NotEnoughEvidenceError as failure:
        return {}, str(failure)
    return found, "" if found else "one nominal row cannot be split"


def _wrong(
    labels: Mapping[str, ArrayLike] | None,
    predictions: Mapping[str, IntArray],
    classes: Sequence[Any],
    evaluated: IntArray | None,
) -> dict[str, BoolArray]:
    """Whether the model is wrong, for the sets whose labels are known."""
    known = {}
    for name, y in (labels or {}).items():
        if name not in predictions:
            raise ParameterError("The 'labels' must name sets.", got=repr(name))
        indices = check_class_indices(y, classes, name=f"labels[{name!r}]")
        if name == NOMINAL and evaluated is not None and len(indices) > evaluated.max():
            indices = indices[evaluated]
        if len(indices) != len(predictions[name]):
            raise DataError(
                f"labels[{name!r}] must have {len(predictions[name])} entries.",
                got=f"{len(indices)}",
            )
        known[name] = predictions[name] != indices
    return known
