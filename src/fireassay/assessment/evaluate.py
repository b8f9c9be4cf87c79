"""A whole assessment in one line of Python."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fireassay.assessment.context import Context, handed_to
from fireassay.assessment.inspection import another_way, maker
from fireassay.assessment.parts.operating_point import Decision
from fireassay.assessment.parts.table import PARTS, settings_models
from fireassay.assessment.run.loop import Run
from fireassay.assessment.run.preflight import check_before_run
from fireassay.assessment.run.start import about_arrays, begun, model_name
from fireassay.classifiers import as_classifier
from fireassay.classifiers.base import identify
from fireassay.core import DataError, FireassayError, FireassayWarning, ModelError, ParameterError
from fireassay.core.mapped import ByteImages
from fireassay.core.seeds import check_seed
from fireassay.data import DataSet, from_frame
from fireassay.data.pixel_range import as_normalisation
from fireassay.engine import Executor
from fireassay.report import Report
from fireassay.statistics import slice_columns


def evaluate(
    model: Any,
    X: Any,
    y: ArrayLike | None = None,
    parts: str | Sequence[str] = "all",
    seed: int = 0,
    *,
    train: tuple[Any, ArrayLike] | None = None,
    operational: Any = None,
    votes: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    slices: Any = None,
    mean: Sequence[float] | None = None,
    std: Sequence[float] | None = None,
    perturb: Callable[[str, np.random.Generator], Sequence[str]] | None = None,
    costs: Mapping[str, float] | None = None,
    threshold: str | Mapping[Any, float] = "argmax",
    positive: Any | None = None,
    prevalence: Mapping[Any, float] | None = None,
    ordered: Sequence[Any] = (),
    workers: int = 1,
    title: str = "Fire assay",
    settings: dict[str, dict[str, Any]] | None = None,
    accept_below_baseline: bool = False,
) -> Report:
    """Answer whatever can be answered with this model and these rows.

    Args:
        model: A `Classifier`, or anything that `as_classifier` takes.
        X, y: Test rows (an array, a data frame, or texts) and their labels; without labels fewer
            questions can be answered.
        parts: ``"all"``, or names of parts.
        train, operational, votes: Training rows ``(X, y)``, unlabelled field rows, votes of
            labelling functions: each opens further questions.
        groups: For each test row the patient, device or document it belongs to: intervals then
            count groups, not rows.
        slices: Columns by name (a mapping or a frame), one value per test row: rates, gaps and
            bounds for every value, all at once. Columns of True and False are memberships.
        mean, std: Of images that were normalised: what was taken away from each channel, and what
            it was divided by. Attacks and corruptions then work on natural images, from 0 to 1 (or
            to 255, where a mean is above 1); without, in the range of each channel of the test
            rows.
        perturb: For texts: ``perturb(text, rng)`` gives changed texts that mean the same. Survival
            tries them one after the other; for supervision they are corrupted inputs.
        costs: What each kind of mistake costs, by ``"truth -> answer"``; ``*`` is any class. Then
            the expected cost of a decision is bounded, and the cheapest threshold looked for.
        threshold: From which probability on a class is answered, by class, or ``"argmax"``. All
            parts judge this decision.
        positive, prevalence, ordered: The class that ``sensitivity`` and other short names are
            about; how frequent classes are elsewhere, for PPV and NPV there; all classes in an
            order that means something.
        settings: Settings of a part by name, e.g. ``{"accuracy": {"confidence": 0.99}}``.
        accept_below_baseline: Go on where the model agrees with the labels less than chance does,
            or where its columns seem to be in another order than the labels' (it is then said in
            the report).
        seed, workers, title: Of whatever is drawn; processes on this machine; on top of the report.

    Returns:
        Report: What could not be asked stands in it as *not available*, what broke as *failed*,
            with a warning.

    Raises:
        ModelError: If the model cannot be asked at all, if every part of it failed, or if its
            classes seem to be in another order than those of the labels.

    >>> half = as_classifier(lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]), classes=[0, 1])
    >>> X = (np.arange(100)[:, None] + 0.5) / 100
    >>> report = evaluate(half, X, (X[:, 0] > 0.4).astype(int), parts="accuracy")
    >>> report["accuracy"].estimates["accuracy"].value  # wrong from 0.4 to 0.5
    0.9
    >>> careful = evaluate(half, X, (X[:, 0] > 0.4).astype(int), "accuracy", threshold={1: 0.4})
    >>> careful["accuracy"].estimates["recall[1]"].value
    1.0
    """
    chosen = tuple(PARTS) if parts == "all" else tuple([parts] if isinstance(parts, str) else parts)
    unknown = [name for name in (*chosen, *(settings or {})) if name not in PARTS]
    if unknown:
        raise ParameterError(f"Known parts: {', '.join(PARTS)}.", got=repr(unknown[0]))
    decision = Decision.of(costs, threshold, positive, prevalence, ordered)
    classifier = as_classifier(model)
    identify(classifier)
    context = Context(
        model=decision.applied(classifier),
        test=_data_set(classifier, X, y, groups, slices),
        train=None if train is None else _data_set(classifier, *train),
        operational=None if operational is None else _data_set(classifier, operational),
        votes=votes,
        decision=decision,
        normalisation=as_normalisation(mean, std, classifier.bounds),
        perturb=perturb,
        seed=check_seed(seed),
        executor=Executor(workers=workers),
    )
    given = settings or {}
    validated = {
        name: of.model_validate(given.get(name, {})) for name, of in settings_models().items()
    }
    wanted = [PARTS[name] for name in chosen]
    accept = accept_below_baseline
    try:
        context = check_before_run(context, wanted, validated, accept_below_baseline=accept)
    except (ModelError, DataError) as refused:
        context = _handed_otherwise(refused, context, maker(model))
        context = check_before_run(context, wanted, validated, accept_below_baseline=accept)
    name = model_name(model) if isinstance(model, str) else type(model).__name__
    about = begun(about_arrays(context, name))
    report = Run(context, chosen, validated, title=title, about=about).go()
    _say_failures(report)
    return report


def _handed_otherwise(
    refused: FireassayError, context: Context, made: Callable[[int | None], Any]
) -> Context:
    """The context with rows as the model takes them, where another way is found."""
    handed, tried = another_way(refused, context.test, made)
    warnings.warn(f"Rows were handed {tried}.", FireassayWarning, stacklevel=3)
    sets = context.sets
    classifier = made(handed.batch_size)
    given: dict[str, Any] = handed_to(classifier, sets, handed)
    identify(classifier)
    # What was known is of rows that were handed otherwise.
    return replace(context, model=context.decision.applied(classifier), known={}, **given)


def _say_failures(report: Report) -> None:
    """A part that broke is a warning; if none is left, it is an error."""
    failed = [part for part in report.parts if part.status == "failed"]
    if failed and not any(part.status == "done" for part in report.parts):
        raise ModelError(
            "At least one part must work with this model and these rows.",
            got="; ".join(f"{part.question}: {part.reason}" for part in failed)[:800],
        )
    for part in failed:
        warnings.warn(f"{part.question} failed: {part.reason}", FireassayWarning, stacklevel=3)


def _data_set(
    model: Any,
    X: Any,
    y: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    slices: Any = None,
) -> DataSet:
    y, groups = (None if given is None else np.asanyarray(given) for given in (y, groups))
    members = None if slices is None else slice_columns(slices)
    if hasattr(X, "iloc") and hasattr(X, "columns"):
        columns = getattr(model, "feature_names", None) or [str(name) for name in X.columns]
        table = from_frame(X, label=False, columns=columns)
        return replace(table, y=y, groups=groups, slices=members)
    rows = X if isinstance(X, ByteImages) else np.asanyarray(X)
    return DataSet(rows, y, groups=groups, slices=members)
