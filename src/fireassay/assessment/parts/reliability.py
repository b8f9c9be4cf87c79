"""Reliability: how often will it be wrong in the field, with a bound that holds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np
from pydantic import Field, field_validator

from fireassay import reliability
from fireassay.assessment.context import Context, Cost
from fireassay.assessment.parts.accuracy import calibrated
from fireassay.assessment.parts.accuracy_result import AccuracyResult
from fireassay.assessment.parts.part import Part, PartAnswer, with_uses
from fireassay.assessment.parts.slices import LARGE_ENOUGH, with_worst_slice
from fireassay.assessment.run.preflight import copies_of_test_rows
from fireassay.assessment.samples.gallery import MOST, Gallery
from fireassay.assessment.sections import Section
from fireassay.core import Assumption, Claim, Estimate, Evidence, NotEnoughEvidenceError, Sample
from fireassay.engine.labels.book import twice_labelled
from fireassay.reliability.measures import MEASURES, SENTENCES
from fireassay.statistics import SliceRates, slice_members, slice_rates

_MOST_COPIED = 2**28
_OVERRULED = ("pmi", "pmi_upper", "pmi_lower")
_TEST_LIKE_FIELD = "test-rows-like-the-field"


class Settings(Section):
    """``[reliability]`` in the configuration."""

    method: str = Field(
        default="rectified",
        description="rectified, exact, groups-max, worst-case, conservative-bayes, ram.",
    )
    confidence: float = Field(
        default=0.975, gt=0.5, lt=1, description="Confidence of the bound, one-sided."
    )
    second_labels: Literal["independent", "truth"] | None = Field(
        default=None,
        description="Rows that two people labelled in this run's label book say how often labels "
        "are wrong: independent (both err alike) or truth (the second is right).",
    )

    @field_validator("method")
    @classmethod
    def _known(cls, name: str) -> str:
        return str(reliability.METHODS[name].name)


def missing(context: Context) -> str | None:
    """Why no bound can be given, or None."""
    return None if context.test.y is not None else "the test rows have no labels"


def cost(context: Context, settings: Settings) -> Cost:
    """One query per labelled and per operational row."""
    del settings
    rows, field_rows = len(context.test), len(context.operational or ())
    megabytes = 1e-6 * min((rows + field_rows) * context.test.X[0].nbytes, _MOST_COPIED)
    columns, classes = context.test.X[0].size, len(context.test.classes)
    from fireassay.reliability.separation import rows_for_separation

    among = min(rows, rows_for_separation(columns))  # rows that are compared with each other
    compared = columns * among * (3.5e-10 * among + 1.2e-9 * classes)
    return Cost(
        queries=rows + field_rows,
        data_rows=rows + field_rows,
        labels=rows,
        own_seconds=0.03 + 1e-5 * rows + 1e-9 * rows * columns + compared,
        memory_mb=4 * megabytes,
        disk_mb=0.2,
    )


def run(context: Context, settings: Settings) -> PartAnswer:
    """Bound the probability of a misclassification, and look at labels bought in the field."""
    recorded, weighted = context.recorded, context.test.weights is not None
    if recorded and weighted and context.test.groups is not None:
        raise NotEnoughEvidenceError(
            "No bound counts groups and weighs rows.",
            got="groups and importance weights",
            do="Type --group none or --weights design.",
        )
    result = reliability.assess(
        context.model,
        context.test.X,
        context.test.labels,
        operational=None if context.operational is None else context.operational.X,
        method=settings.method,
        groups=context.test.groups,
        weights=context.test.weights,
        label_noise=_label_noise(context, settings),
        copies=None if recorded else copies_of_test_rows(context),
        confidence=settings.confidence,
        seed=context.seed,
        workers=max(1, context.executor.workers),
        cluster=context.executor.cluster,
    )
    why = "the surrogate foretells errors well. The bound holds in any case, it is then narrower."
    kept = {
        "calibrated": None if recorded else calibrated(context, why),
        "slices": _slices(context, settings),
        **_from_the_field(context, settings),
    }
    return PartAnswer(result, kept)


def samples(context: Context, answer: PartAnswer) -> tuple[Sample, ...]:
    """Errors behind the bound: one of each kind of mistake, the commonest kinds first."""
    del answer
    known = context.results.get("accuracy")
    if not isinstance(known, AccuracyResult):
        return ()
    wrong = np.flatnonzero(~known.correct)
    kinds = known.rows.labels[wrong] * len(known.classes) + known.rows.predicted[wrong]
    found, first, counts = np.unique(kinds, return_index=True, return_counts=True)
    order = np.lexsort([found, -counts])[:MOST]
    gallery = Gallery(context, context.test)
    return tuple(
        gallery.at(
            int(row := wrong[first[i]]),
            "errors behind the bound, the commonest kinds first",
            said=str(known.classes[known.rows.predicted[row]]),
            confidence=None if known.sure is None else float(known.sure[row]),
            scores={"of this kind": float(counts[i])},
        )
        for i in order
    )


def state(context: Context) -> Any:
    """What the answer depends on besides its inputs: rows that two people have labelled since."""
    store = context.executor.store
    found = (0, 0) if store is None else twice_labelled(store.path)
    return found if found[1] else None


def _label_noise(context: Context, settings: Settings) -> reliability.LabelNoise | None:
    if settings.second_labels is None:
        return None
    found = state(context)
    if found is None:
        raise NotEnoughEvidenceError(
            "second_labels needs rows that two people have labelled.",
            got="none in this run's label book",
            do="Label some rows again with: fireassay label serve",
        )
    differ, n = found
    return reliability.LabelNoise(differ, n, settings.second_labels)


def _slices(context: Context, settings: Settings) -> SliceRates | None:
    """The error rate of every slice that the data names, at the confidence of the bound."""
    data, known = context.test, context.results.get("accuracy")
    if data.slices is None:
        return None
    correct = (
        known.correct
        if isinstance(known, AccuracyResult)
        else context.model.predict(data.X) == data.labels
    )
    ledger = "independent-rows" if data.groups is None else "independent-groups"
    return slice_rates(
        ~correct,
        slice_members(data.slices),
        2.0 * settings.confidence - 1.0,
        groups=data.groups,
        rests_on=(ledger, LARGE_ENOUGH),
    )


def _from_the_field(context: Context, settings: Settings) -> dict[str, Any]:
    """The error rate by labels bought in the field, if there are any."""
    searched = context.results.get("discovery")
    drawn = searched.kept.get("drawn") if isinstance(searched, PartAnswer) else None
    if drawn is None or drawn.source != "operational":
        return {}  # rows drawn among the test rows are labels that the bound has counted already
    upper = drawn.upper_bound(confidence=settings.confidence)
    if upper is None:
        return {}
    n, pool = len(drawn.result.wrong), len(drawn.state.rows)
    uses = (f"the {n} labels that discovery drew by lot among {pool} field rows",)
    return {"field_rate": drawn.error_rate, "field_upper": upper, "uses": uses}


def evidence(answer: PartAnswer) -> Evidence:
    """The bound's evidence, and whether labels from the field agree with it."""
    found = answer.result.evidence()
    checked = answer.kept["calibrated"]
    if checked is not None:
        found = replace(found, assumptions=(*found.assumptions, checked))
    if answer.kept["slices"] is not None:
        found = with_worst_slice(found, answer.kept["slices"], "worst_slice", "Errors")
    if "field_upper" not in answer.kept:
        return found
    rate, upper = answer.kept["field_rate"], answer.kept["field_upper"]
    numbers = {**found.estimates, "field_error_rate": rate, "field_pmi_upper": upper}
    bound = found.estimates.get("pmi_upper")
    if bound is not None and rate.low > bound.value:
        found = _overruled(replace(found, estimates=numbers), bound, rate, upper)
        return with_uses(found, answer.kept["uses"])
    told = found.measure("field_pmi_upper").told(upper)
    claim = Claim(
        f"Labels bought in the field agree with the bound: at most {told} of the field rows are "
        "wrong, from these alone.",
        None if bound is None else True,
    )
    found = replace(found, claims=(*found.claims, claim), estimates=numbers)
    return with_uses(found, answer.kept["uses"])


def _overruled(found: Evidence, bound: Estimate, rate: Estimate, upper: Estimate) -> Evidence:
    """The field's own labels take the place of the bound that they contradict."""
    told = found.measure("pmi_upper").told
    text = (
        f"Labels from the field and the test rows do not agree: the test rows allow at most "
        f"{told(bound)} wrong, the labels drawn in the field show at least "
        f"{found.measure('field_error_rate').shown_value(rate.low, 1)}. The field's labels count."
    )
    own = {f"test_{name}": found.estimates[name] for name in _OVERRULED if name in found.estimates}
    lower = Estimate.bound(
        rate.low, (1 + rate.confidence) / 2, rate.n, rate.method, rests_on=rate.rests_on
    )
    field = {"pmi": rate, "pmi_upper": upper, "pmi_lower": lower}
    rest = {name: e for name, e in found.estimates.items() if name not in _OVERRULED}
    contradiction = Assumption(
        "The labelled test rows are drawn like the inputs in the field.",
        "contradicted",
        f"Labels drawn by lot in the field: at least {100 * rate.low:.1f} % wrong.",
        _TEST_LIKE_FIELD,
    )
    own = {name: replace(e, rests_on=(*e.rests_on, _TEST_LIKE_FIELD)) for name, e in own.items()}
    return replace(
        found,
        headline=f"At most {told(upper)} of inputs are misclassified "
        f"({100 * upper.confidence:g} % confidence, {upper.n} labels from the field). {text}",
        claims=(Claim(text, False), *found.claims[1:]),
        estimates={**field, **own, **rest},
        assumptions=(contradiction, *found.assumptions),
        answer="pmi_upper",
        sentence=SENTENCES["contradicted"].format(told(upper)),
    )


PART = Part(
    "reliability",
    Settings,
    missing,
    cost,
    run,
    uses=("discovery", "accuracy"),
    evidence=evidence,
    samples=samples,
    state=state,
    measures=MEASURES,
    asks=False,
)
