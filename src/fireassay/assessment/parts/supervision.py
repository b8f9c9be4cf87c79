"""Supervision: which run-time monitor catches which trouble, at what threshold."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from fireassay import supervision
from fireassay.assessment.coded_rows import (
    can_perturb,
    changed_rows,
    has_codes,
    why_not_attacked,
    with_meaning,
)
from fireassay.assessment.context import HARD_LABELS, Context, Cost
from fireassay.assessment.parts import ambiguity, survival
from fireassay.assessment.parts.accuracy import calibrated
from fireassay.assessment.parts.part import Part, PartAnswer, RowOutcomes, with_range, with_uses
from fireassay.assessment.parts.slices import LARGE_ENOUGH, with_worst_slice
from fireassay.assessment.samples.gallery import MOST, Gallery
from fireassay.assessment.sections import Section
from fireassay.classifiers import ActivationClassifier
from fireassay.classifiers.base import innermost
from fireassay.core import (
    Evidence,
    NotEnoughEvidenceError,
    Sample,
    Table,
    generator,
    sha256,
)
from fireassay.data.rows import taken
from fireassay.statistics import SliceRates, slice_members, slice_rates
from fireassay.supervision.measures import MEASURES

NOMINAL, CALIBRATION, CURATED, FIELD = "nominal", "calibration", "curated", "control field"
ERRORS = "errors"
FIELD_ROWS, NOMINAL_ROWS = 2000, 40_000
_DROPOUT = "mc-dropout"
_CAUGHT = "the alarm rang, and it was wrong"
_IN_VAIN = "the alarm rang, though it was right"


class Settings(Section):
    """``[supervision]`` in the configuration."""

    supervisors: tuple[str, ...] = Field(
        default=(),
        description="Names of supervisors; none: all of max-softmax, pcs, softmax-entropy, "
        "deep-gini, mc-dropout-variation-ratio, mc-dropout-mean-softmax, "
        "mc-dropout-mutual-information, mc-dropout-predictive-entropy, dissector, dsa, lsa, mdsa, "
        "autoencoder, energy, max-logit, gen, knn, mahalanobis, relative-mahalanobis, vim, react, "
        "ash, scale, gradnorm, gmm-density.",
    )
    samples: int = Field(default=300, ge=59, description="Rows of each kind of trouble.")
    train_rows: int = Field(default=3000, ge=100, description="Training rows used for fitting.")
    severity: int = Field(default=3, ge=1, le=5, description="Severity of the corruptions.")
    false_alarm: float = Field(
        default=0.05, gt=0, lt=1, description="Promised share of false alarms."
    )


def missing(context: Context) -> str | None:
    """Why no supervisor can be compared, or None."""
    if context.train is None or context.train.y is None:
        return "there are no labelled training rows (data.train)"
    if not context.has_confidences:
        return HARD_LABELS.format("a monitor of its confidences")
    if len(context.test) < 120:
        return "a threshold needs at least 120 test rows"
    return None


def cost(context: Context, settings: Settings) -> Cost:
    """One pass over what is scored, of a network over the training rows, too; more with dropout."""
    # Without survival it attacks by itself, with survival's usual settings.
    passes = _passes_to_read_layers(context)
    known = min(NOMINAL_ROWS, len(context.test)) + min(FIELD_ROWS, len(context.operational or ()))
    fitted = min(settings.train_rows, len(context.train or ()))
    scored = known + _made(context, settings)
    megabytes = 1e-6 * (scored + fitted) * context.test.X[0].nbytes
    thinned = _dropout_passes(context, settings) if passes else 0
    return Cost(
        queries=(max(1, passes) + thinned) * scored + passes * fitted,
        data_rows=0 if passes else known,  # layers are read anew
        own_seconds=0.4 + (6e-4 if passes else 2e-5) * (scored + fitted),
        memory_mb=150 + 6 * megabytes,
        disk_mb=0.5 + 2e-4 * (scored + fitted),
        without={"survival": survival.cost(context, survival.Settings())}
        if _attacked(context)
        else {},
    )


def _attacked(context: Context) -> bool:
    return context.test.y is not None and why_not_attacked(context) is None


def _made(context: Context, settings: Settings) -> int:
    """Rows of trouble: corrupted, scrambled, curated, between two classes, under attack."""
    drawn = min(settings.samples, len(context.test))
    between = ambiguity.Settings().samples if ambiguity.missing(context) is None else 0
    fell = min(survival.Settings().samples, len(context.test)) if _attacked(context) else 0
    return drawn * (2 if context.votes is None else 3) + between + fell


def _passes_to_read_layers(context: Context) -> int:
    """How often a row is asked about where layers are read; 0 where they cannot be."""
    adapter: Any = innermost(context.model)
    if isinstance(context.model, ActivationClassifier):
        return 1 if hasattr(adapter, "module") else 2  # a graph tells layers and answers apart
    if not hasattr(adapter, "estimator"):
        return 0
    from fireassay.supervision.hidden import is_network

    return int(is_network(adapter.estimator))


def _dropout_passes(context: Context, settings: Settings) -> int:
    """How often each row is asked about to see what dropout changes."""
    wanted = not settings.supervisors or any(n.startswith(_DROPOUT) for n in settings.supervisors)
    if not wanted:
        return 0
    from fireassay.supervision.reading import ModelReader

    reader = ModelReader(context.model)
    return reader.n_samples if reader.missing("dropout") is None else 0


def _usable(context: Context) -> tuple[str, ...]:
    """Supervisors without a training recipe; with codes only those that do not measure inputs."""
    from fireassay.supervision.registry import without_inputs

    able = without_inputs() if has_codes(context) else tuple(supervision.SUPERVISORS)
    rows = supervision.SUPERVISORS.items()
    return tuple(name for name, row in rows if name in able and "ensemble" not in row.needs)


def evidence(answer: PartAnswer) -> Evidence:
    """The comparison's evidence, and the curated datasets one by one."""
    comparison = _comparison(answer)
    found = comparison.evidence()
    kinds = comparison.kind_frame()
    if len(kinds):
        best = kinds[kinds["supervisor"] == comparison.recommended]
        table = Table.from_frame(
            best, "The recommended supervisor, by attack, corruption, dataset", index=False
        )
        found = replace(found, tables={**found.tables, "kinds": table})
    if answer.kept.get("texts") is not None and found.provenance is not None:
        own = replace(found.provenance, model_sha256=answer.kept["texts"])
        found = with_meaning(replace(found, provenance=own))
    checked = answer.kept["calibrated"]
    if checked is not None:
        found = replace(found, assumptions=(*found.assumptions, checked))
    if answer.kept["slices"] is not None:
        slices = answer.kept["slices"]
        found = with_worst_slice(found, slices, "worst_slice_false_alarm", "False alarms")
    return with_uses(with_range(found, answer.kept.get("range")), answer.kept["uses"])


def scored_sets(answer: PartAnswer, source: str) -> list[str]:
    """The sets of scored rows that are rows of the field ("operational"), or test rows."""
    wanted = (FIELD,) if source == "operational" else (NOMINAL, CALIBRATION, CURATED, ERRORS)
    scores = _comparison(answer).scores
    return [name for name in wanted if name in answer.kept["rows"] and name in scores]


def suspicion(
    answer: PartAnswer, source: str, n: int
) -> tuple[NDArray[np.float64] | None, str | None]:
    """Scores for the n rows of a set, NaN where not scored, and their supervisor; or None, None."""
    comparison, rows = _comparison(answer), answer.kept["rows"]
    name, sets = comparison.recommended, scored_sets(answer, source)
    if name is None or not sets:
        return None, None
    scores = np.full(n, np.nan)
    for s in sets:
        scores[rows[s]] = comparison.scores[s][name]
    return scores, name


def samples(context: Context, answer: PartAnswer) -> tuple[Sample, ...]:
    """Test rows that raise the recommended supervisor's alarm: wrong answers first."""
    comparison = _comparison(answer)
    scores, name = suspicion(answer, "test", len(context.test))
    rule = comparison.rules.get(str(name))
    if scores is None or rule is None:
        return ()
    flagged = np.flatnonzero(np.nan_to_num(scores, nan=-np.inf) > rule.threshold)
    flagged = flagged[np.argsort(-scores[flagged], kind="stable")][:MOST]
    if not len(flagged):
        return ()
    gallery = Gallery(context, context.test)
    said, sure = gallery.answers(taken(context.test.X, flagged))
    shown = [
        gallery.at(
            int(row),
            "the alarm rang",
            said=said[i],
            confidence=sure[i],
            scores={"score": float(scores[row]), "threshold": float(rule.threshold)},
        )
        for i, row in enumerate(flagged)
    ]
    if context.test.y is None:
        return tuple(shown)
    told = [replace(s, why=_IN_VAIN if s.truth == s.said else _CAUGHT) for s in shown]
    return tuple(sorted(told, key=lambda sample: sample.why == _IN_VAIN))


def _comparison(answer: PartAnswer) -> supervision.SupervisorComparison:
    assert isinstance(answer.result, supervision.SupervisorComparison)
    return answer.result


def run(context: Context, settings: Settings) -> PartAnswer:
    """Compare supervisors on what can be made of these rows: each set is one kind of trouble."""
    if context.train is None:
        raise NotEnoughEvidenceError("Supervision needs training rows.", got="none")
    rng = generator(context.seed, "supervision part")
    drawn = rng.permutation(len(context.test))[: settings.samples]
    from fireassay.assessment.parts import troubles as made

    troubles = made.Troubles(context.test.groups)
    model_sha256 = context.model.sha256
    if can_perturb(context):
        changed = changed_rows(context, drawn, most=1)
        context = changed.context  # its codes know the changed texts
        troubles.add("corrupted", np.concatenate(changed.choices), rows=changed.rows)
    made.add_made(troubles, context, drawn, settings.severity)
    rows = made.add_real(troubles, context, settings.samples, rng)
    assert context.train is not None
    train = context.train.subset(np.arange(min(settings.train_rows, len(context.train))))
    chosen = settings.supervisors or _usable(context)
    comparison = supervision.compare(
        context.model,
        train.X,
        train.labels,
        nominal=context.test.X[rows[NOMINAL]],
        calibration=context.test.X[rows[CALIBRATION]],
        sets=troubles.sets,
        supervisors=chosen,
        kinds=troubles.kinds,
        groups=made.groups_of(troubles, context, rows),
        false_alarm=settings.false_alarm,
        seed=context.seed,
        workers=context.executor.workers,
        cluster=context.executor.cluster,
        kept=context.kept,
    )
    nominal = context.test.X[rows[NOMINAL]]
    why = "scores made of them mean the same everywhere. What was caught is counted in any case."
    kept = {
        "rows": rows,
        "uses": tuple(troubles.uses),
        "texts": model_sha256 if can_perturb(context) else None,
        "range": context.natural_range and context.natural_range.found,
        "calibrated": calibrated(context, why),
        "sets": {name: sha256(nominal, X) for name, X in troubles.sets.items()},
        "slices": _false_alarms_in_slices(context, comparison, rows[NOMINAL]),
    }
    return PartAnswer(comparison, kept)


def outcomes(answer: PartAnswer) -> dict[str, RowOutcomes]:
    """Score by score of the recommended supervisor: nominal rows and those of each trouble."""
    comparison = _comparison(answer)
    name = comparison.recommended
    if name is None or comparison.groups is not None or comparison.confirmed:
        return {}
    found = {}
    nominal = comparison.scores[NOMINAL][name]
    for trouble, about in answer.kept["sets"].items():
        if name in comparison.scores.get(trouble, {}):
            scores = np.concatenate([nominal, comparison.scores[trouble][name]])
            rows = np.arange(len(scores))
            found[f"auroc_{trouble}"] = RowOutcomes(
                "auc", rows, scores, positive=rows >= len(nominal), about=about
            )
    return found


def _false_alarms_in_slices(
    context: Context, comparison: supervision.SupervisorComparison, nominal: NDArray[np.int64]
) -> SliceRates | None:
    """How often normal rows of each slice raise the alarm of the recommended supervisor."""
    rule = comparison.rules.get(str(comparison.recommended))
    if context.test.slices is None or rule is None:
        return None
    rows = context.test.subset(nominal)
    alarm = comparison.scores[NOMINAL][str(comparison.recommended)] > rule.threshold
    return slice_rates(
        alarm, slice_members(rows.slices or {}), groups=rows.groups, rests_on=(LARGE_ENOUGH,)
    )


def files(folder: Path, context: Context, answer: Any) -> None:
    """Write the recommended monitor for a service; without an answer take it away."""
    from fireassay.assessment.watch.monitor import take_away, write_monitor

    if answer is None or _comparison(answer).monitor is None:
        take_away(folder)
    else:
        write_monitor(folder, context, _comparison(answer))


PART = Part(
    "supervision",
    Settings,
    missing,
    cost,
    run,
    uses=("ambiguity", "curation", "survival", "accuracy"),
    evidence=evidence,
    samples=samples,
    outcomes=outcomes,
    files=files,
    measures=MEASURES,
)
