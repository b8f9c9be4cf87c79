"""Supervision: which run-time monitor catches which trouble, at what threshold."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fireassay.assessment.coded_context import has_codes
from fireassay.assessment.context import Context
from fireassay.assessment.part_answer import PartAnswer
from fireassay.assessment.parts.accuracy import calibrated
from fireassay.assessment.perturbed_texts import can_perturb, changed_rows, with_meaning
from fireassay.assessment.row_outcomes import RowOutcomes
from fireassay.assessment.shown_rows import MOST, Gallery
from fireassay.assessment.slice_report import LARGE_ENOUGH, with_worst_slice
from fireassay.assessment.terms.supervision import USES, Settings, cost, missing
from fireassay.assessment.troubles import (
    CALIBRATION,
    CURATED,
    ERRORS,
    FIELD,
    NOMINAL,
    Troubles,
    add_made,
    add_real,
    groups_of,
)
from fireassay.assessment.uses import with_range, with_uses
from fireassay.core import (
    Evidence,
    NotEnoughEvidenceError,
    ParameterError,
    Sample,
    Table,
    generator,
    sha256,
)
from fireassay.data.rows import taken
from fireassay.statistics import SliceRates, slice_members, slice_rates
from fireassay.supervision import SUPERVISORS, SupervisorComparison, compare
from fireassay.supervision.registry import without_inputs

__all__ = [
    "USES",
    "Settings",
    "cost",
    "evidence",
    "missing",
    "outcomes",
    "run",
    "samples",
    "suspicion",
]

_CAUGHT = "the alarm rang, and it was wrong"
_IN_VAIN = "the alarm rang, though it was right"


def _without_recipe() -> tuple[str, ...]:
    """An ensemble needs a training recipe, which neither a file nor a server has."""
    return tuple(name for name, row in SUPERVISORS.items() if "ensemble" not in row.needs)


def _usable(context: Context) -> tuple[str, ...]:
    """Supervisors that look at codes as if they were measurements are left out."""
    able = without_inputs() if has_codes(context) else tuple(SUPERVISORS)
    return tuple(name for name in _without_recipe() if name in able)


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


def suspicion(
    answer: PartAnswer, source: str, n: int
) -> tuple[NDArray[np.float64] | None, str | None]:
    """Scores for the n rows of a set, NaN where not scored, and the supervisor they come from.

    ``source`` is ``"test"`` or ``"operational"``. Both are None where nothing was scored.
    """
    comparison, rows = _comparison(answer), answer.kept["rows"]
    name = comparison.recommended
    wanted = (FIELD,) if source == "operational" else (NOMINAL, CALIBRATION, CURATED, ERRORS)
    sets = [s for s in wanted if s in rows]
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
    in_vain = [sample.truth == sample.said for sample in shown]
    caught = [replace(s, why=_CAUGHT) for s, vain in zip(shown, in_vain, strict=True) if not vain]
    vain = [replace(s, why=_IN_VAIN) for s, vain in zip(shown, in_vain, strict=True) if vain]
    return (*caught, *vain)


def _comparison(answer: PartAnswer) -> SupervisorComparison:
    if not isinstance(answer.result, SupervisorComparison):
        raise ParameterError(
            "The answer must be that of supervision.", got=type(answer.result).__name__
        )
    return answer.result


def run(context: Context, settings: Settings) -> PartAnswer:
    """Compare supervisors on what can be made of these rows: each set is one kind of trouble."""
    if context.train is None:
        raise NotEnoughEvidenceError("Supervision needs training rows.", got="none")
    rng = generator(context.seed, "supervision part")
    drawn = rng.permutation(len(context.test))[: settings.samples]
    troubles = Troubles(context.test.groups)
    model_sha256 = context.model.sha256
    if can_perturb(context):
        changed = changed_rows(context, drawn, most=1)
        context = changed.context  # its codes know the changed texts
        troubles.add("corrupted", np.concatenate(changed.choices), rows=changed.rows)
    add_made(troubles, context, drawn, settings.severity)
    rows = add_real(troubles, context, settings.samples, rng)
    assert context.train is not None
    train = context.train.subset(np.arange(min(settings.train_rows, len(context.train))))
    chosen = settings.supervisors or _usable(context)
    comparison = compare(
        context.model,
        train.X,
        train.labels,
        nominal=context.test.X[rows[NOMINAL]],
        calibration=context.test.X[rows[CALIBRATION]],
        sets=troubles.sets,
        supervisors=chosen,
        kinds=troubles.kinds,
        groups=groups_of(troubles, context, rows),
        false_alarm=settings.false_alarm,
        seed=context.seed,
        workers=context.executor.workers,
        cluster=context.executor.cluster,
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
    return PartAnswer("supervision", comparison, kept)


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
    context: Context, comparison: SupervisorComparison, nominal: NDArray[np.int64]
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
