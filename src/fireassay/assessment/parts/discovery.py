"""Discovery: a small label budget spent where the model may be confidently wrong."""

from dataclasses import replace
from typing import Any

import numpy as np

from fireassay.assessment.attack_space import attack_space
from fireassay.assessment.calibration_check import CALIBRATED
from fireassay.assessment.coded_context import has_codes, why_no_distances
from fireassay.assessment.context import Context
from fireassay.assessment.field_draws import FieldDraws, answers_so_far, draw_labels
from fireassay.assessment.halves import whole_groups
from fireassay.assessment.part_answer import PartAnswer
from fireassay.assessment.parts.accuracy import calibrated
from fireassay.assessment.shown_rows import MOST, Gallery
from fireassay.assessment.terms.discovery import (
    USES,
    Settings,
    calibration_rows,
    cost,
    missing,
    search_name,
)
from fireassay.assessment.uses import with_uses
from fireassay.attacks import AttackSpace
from fireassay.classifiers import Classifier, calibrate
from fireassay.core import Assumption, Claim, Evidence, Sample, Table, generator
from fireassay.core.arrays import AnyArray, IntArray
from fireassay.discovery import SEARCHES, Search, SearchResult, principal_components
from fireassay.discovery.adversarial_distance import FewDistancesError
from fireassay.discovery.result import KNOWN_CHANCES

__all__ = ["USES", "Settings", "cost", "evidence", "missing", "run", "samples", "state"]


def state(context: Context) -> Any:
    """What the answer depends on besides its inputs: labels that people have given since."""
    return answers_so_far(context)


def run(context: Context, settings: Settings) -> PartAnswer:
    """Spend the budget on rows whose labels are known, as if a person gave them."""
    attacked, space = attack_space(context)
    model, pool = _calibrated(context, attacked, space, settings)
    inputs = (settings.model_dump(exclude={"drawn"}), context.test.sha256, _pool_of_starts(context))
    search = context.once("search", inputs, lambda: _search(context, settings, space, model, pool))
    drawn = draw_labels(context, space, model, pool, settings.drawn) if settings.drawn else None
    rows = calibration_rows(context, settings)
    kept = {
        "drawn": drawn,
        "calibration_rows": rows,
        "calibrated": calibrated(context, "an excess of errors is news.", mended=rows > 0),
        "instead": None
        if search.state.name == settings.search
        else why_no_distances(context) or "it overturned fewer than three predictions",
    }
    return PartAnswer("discovery", search, kept)


def evidence(answer: PartAnswer) -> Evidence:
    """The search's evidence, and what the draws say."""
    found = answer.result.evidence()
    assumptions = _calibration_checked(
        found.assumptions, answer.kept["calibration_rows"], answer.kept["calibrated"]
    )
    found = replace(found, assumptions=assumptions)
    if answer.kept["instead"] is not None:
        text = f"No attack measures distances here ({answer.kept['instead']}): the least sure of "
        found = replace(found, claims=(*found.claims, Claim(f"{text}the sure come first.")))
    drawn: FieldDraws | None = answer.kept["drawn"]
    if drawn is None:
        return found
    if drawn.waiting:
        text = (
            f"{drawn.waiting} of {drawn.state.budget} field rows wait for a label: fireassay "
            "label next, or fireassay serve; then run again"
        )
        return replace(found, claims=(*found.claims, Claim(f"{text}.")))
    return _with_draws(found, drawn)


def samples(context: Context, answer: PartAnswer) -> tuple[Sample, ...]:
    """Confidently wrong rows that the search found, the most confident first."""
    found = answer.result
    assert isinstance(found, SearchResult)
    assert found.state.ids is not None  # given by _search
    wrong = np.flatnonzero(found.wrong)
    wrong = wrong[np.argsort(-found.confidence[wrong], kind="stable")][:MOST]
    place = {str(name): i for i, name in enumerate(np.asarray(context.test.ids).tolist())}
    gallery = Gallery(context, context.test)
    return tuple(
        gallery.at(
            place[str(found.state.ids[found.queried[i]])],
            "confidently wrong, found by the search",
            said=str(found.predicted[i]),
            confidence=float(found.confidence[i]),
        )
        for i in wrong.tolist()
    )


def _with_draws(found: Evidence, drawn: FieldDraws) -> Evidence:
    where = {"test": "test", "operational": "field"}[drawn.source]
    n, result = len(drawn.result.wrong), drawn.result
    estimates, assumptions = dict(found.estimates), found.assumptions
    rate = drawn.error_rate
    if rate is not None:
        estimates["drawn_error_rate"] = rate
        if KNOWN_CHANCES not in assumptions:
            assumptions = (*assumptions, KNOWN_CHANCES)
    claim = Claim(
        f"Drawn by lot, {result.errors} of {n} {where} rows are wrong; "
        + ("" if drawn.guide is None else "weighted by their chances, ")
        + "the error rate of what they were drawn from is "
        + ("not known." if rate is None else f"{rate.percent()}.")
    )
    table = Table.from_frame(result.frame(), "Rows drawn by lot", index=False)
    provenance = found.provenance
    if provenance is not None:
        provenance = replace(
            provenance,
            labels=provenance.labels + n,
            queries=provenance.queries + drawn.state.queries,
        )
    found = replace(
        found,
        claims=(*found.claims, claim),
        estimates=estimates,
        assumptions=assumptions,
        tables={**found.tables, "drawn": table},
        provenance=provenance,
    )
    if drawn.guide in (None, "confidence"):
        return found
    return with_uses(found, (f"the scores of {drawn.guide}, which supervision recommends",))


def _calibration_checked(
    assumptions: tuple[Assumption, ...], rows: int, checked: Assumption | None
) -> tuple[Assumption, ...]:
    check = (
        f"A temperature was fitted on {rows} other labelled rows first."
        if rows
        else "Too few labelled rows to calibrate on: the model's own confidences were taken."
    )
    if checked is not None:
        checked = replace(checked, check=f"{check} {checked.check}")
    return tuple(
        (checked or replace(assumption, check=check)) if assumption.id == CALIBRATED else assumption
        for assumption in assumptions
    )


def _search(
    context: Context,
    settings: Settings,
    space: AttackSpace,
    model: Classifier,
    pool: IntArray,
) -> SearchResult:
    """The search that was asked for; the least sure first where no distances can be compared."""
    name = search_name(context, settings)
    try:
        return _spent(name, context, settings, space, model, pool)
    except FewDistancesError:
        return _spent("low-confidence", context, settings, space, model, pool)


def _spent(
    name: str,
    context: Context,
    settings: Settings,
    space: AttackSpace,
    model: Classifier,
    pool: IntArray,
) -> SearchResult:
    rows = context.test.subset(pool)
    attack: dict[str, Any] = {}
    starts = _pool_of_starts(context)
    if starts is not None and not space.scaled:
        attack["pool"] = starts
    search = Search(
        name,
        model=model,
        X=space.inside(rows.X),
        threshold=settings.threshold,
        budget=settings.budget,
        matched_share=settings.matched_share,
        max_queries=settings.max_queries,
        attack_parameters=attack if SEARCHES[name].needs == "distances" else {},
        features=principal_components(rows.view()) if has_codes(context) else None,
        ids=rows.ids,
        groups=rows.groups,
        seed=context.seed,
    )
    return search.run(lambda row: rows.labels[row])


def _pool_of_starts(context: Context) -> AnyArray | None:
    return None if context.train is None else context.train.X[:2000]


def _calibrated(
    context: Context, attacked: Classifier, space: AttackSpace, settings: Settings
) -> tuple[Classifier, IntArray]:
    """The model with honest confidences, and the other test rows, to search in."""
    order = generator(context.seed, "discovery part").permutation(len(context.test))
    n_calibration = calibration_rows(context, settings)
    if not n_calibration:
        return attacked, order[: settings.pool]
    order, n_calibration = whole_groups(order, context.test.groups, n_calibration)
    rows = context.test.subset(order[:n_calibration])
    rest = order[n_calibration : n_calibration + settings.pool]
    return calibrate(attacked, space.inside(rows.X), rows.labels), rest
