"""Discovery: a small label budget spent where the model may be confidently wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import Field

from fireassay import discovery
from fireassay.assessment.coded_rows import has_codes, why_no_distances
from fireassay.assessment.context import HARD_LABELS, Context, Cost
from fireassay.assessment.parts.accuracy import calibrated
from fireassay.assessment.parts.accuracy_checks import CALIBRATED
from fireassay.assessment.parts.part import Part, PartAnswer, with_uses
from fireassay.assessment.plan.machine import share_sure
from fireassay.assessment.samples.gallery import MOST, Gallery
from fireassay.assessment.sections import Section
from fireassay.classifiers import calibrate
from fireassay.classifiers.base import BLOCK_ROWS
from fireassay.classifiers.coded import CodedClassifier
from fireassay.core import Assumption, Claim, Evidence, Sample, Table, generator
from fireassay.core.arrays import AnyArray, IntArray
from fireassay.data.splits import whole_groups
from fireassay.discovery.measures import MEASURES
from fireassay.engine.labels.book import STATE_FILE

if TYPE_CHECKING:
    from fireassay.assessment.parts.field_draws import FieldDraws

# With fewer rows a temperature would be noise; the model's own confidences are used then.
_LEAST_FOR_CALIBRATION = 50
_MOST_SEARCHED = _MOST_CALIBRATED = 10_000


class Settings(Section):
    """``[discovery]`` in the configuration."""

    search: str = Field(
        default="twin-trees",
        description="One of twin-trees, second-opinion, knn-disagreement, error-model, "
        "adversarial-distance, random, low-confidence, bansal-weld, lakkaraju, "
        "lakkaraju-published, facility-location, hybrid, weighted.",
    )
    budget: int = Field(default=50, ge=1, description="Labels to spend.")
    threshold: float = Field(
        default=0.65, ge=0, lt=1, description="Only predictions more confident than this."
    )
    audit_share: float | None = Field(
        default=None,
        ge=0,
        le=0.5,
        description="Share of the budget drawn by lot at the end: how many errors are left. "
        "0.2 for a search by a second model, else 0.",
    )
    matched_share: float = Field(
        default=0.0, ge=0, le=0.5, description="Share of the budget for random rows, to compare."
    )
    calibration_share: float = Field(
        default=0.25, ge=0, le=0.5, description="Share of the labels known first, to 10,000 rows."
    )
    drawn: int = Field(
        default=50,
        ge=0,
        description="Labels drawn by lot: the error rate of all. From 50 expected errors on, by "
        "the supervisor's suspicion.",
    )
    pool: int = Field(default=400, ge=10, description="The most rows that are attacked.")
    max_queries: int = Field(default=250, ge=1, description="Queries per attacked row.")


def missing(context: Context) -> str | None:
    """Why nothing can be searched, or None."""
    if context.test.y is None:
        return "the test rows have no labels; spend some with: fireassay discovery, fireassay label"
    if not context.has_confidences:
        return HARD_LABELS.format("where it is confidently wrong")
    return None


def cost(context: Context, settings: Settings) -> Cost:
    """Rows of the pool of which the model is sure are attacked, if the search needs distances."""
    calibrated = calibration_rows(context, settings)
    attacked = _attacked(search_name(context, settings))
    most_rows = settings.pool if attacked else _MOST_SEARCHED
    rows = min(most_rows, len(context.test) - calibrated)
    most = rows * settings.max_queries if attacked else 0
    sure = share_sure(context, settings.threshold, calibrated=calibrated > 0)
    field_rows = rows if context.operational is None else min(2000, len(context.operational))
    started = min(2000, len(context.train or ())) if attacked else 0
    if settings.drawn > 50:
        field_rows = 2 * field_rows + min(500, len(context.test))
    row_mb = 1e-6 * context.test.X[0].nbytes
    queries = most + rows + calibrated + field_rows + started
    return Cost(
        queries=queries,
        labels=settings.budget + settings.drawn,
        spared=(1.0 - sure) * most / queries,
        calls=settings.max_queries // 4 if attacked else 0,  # many rows go together
        own_seconds=0.1 + sure * most * (6e-6 + 2.5e-8 * context.test.X[0].size),
        # Measured with 40 to 400 rows of 32 × 32 to 224 × 224: small ones all go on at once.
        memory_mb=min(100 * rows * row_mb, 400 + (5 * rows + 4 * BLOCK_ROWS) * row_mb),
        disk_mb=0.4,
    )


def calibration_rows(context: Context, settings: Settings) -> int:
    """Labelled rows that a temperature is fitted on, before the others are searched."""
    wanted = min(int(settings.calibration_share * len(context.test)), _MOST_CALIBRATED)
    return wanted if wanted >= _LEAST_FOR_CALIBRATION else 0


def search_name(context: Context, settings: Settings) -> str:
    """The search that was asked for, or one without attacks where none is possible."""
    attacks = _attacked(settings.search)
    return "twin-trees" if attacks and why_no_distances(context) else settings.search


def _attacked(name: str) -> bool:
    return discovery.SEARCHES[name].needs == "distances"


def state(context: Context) -> Any:
    """What the answer depends on besides its inputs: labels that people have given since."""
    store = context.executor.store
    if context.operational is None or store is None or not (store.path / STATE_FILE).is_file():
        return ()
    from fireassay.assessment.parts.field_draws import answers_so_far

    return answers_so_far(context)


def run(context: Context, settings: Settings) -> PartAnswer:
    """Spend the budget on rows whose labels are known, as if a person gave them."""
    from fireassay.assessment.parts.attack_space import attack_space
    from fireassay.assessment.parts.field_draws import draw_labels

    known, pool = _divided(context, settings)
    starts = _pool_of_starts(context) if _attacked(search_name(context, settings)) else None
    inputs = (settings.model_dump(exclude={"drawn"}), context.digest(context.test), starts)
    search = context.once("search", inputs, lambda: _search(context, settings, known, pool))
    drawn = None
    if settings.drawn:
        model, space = attack_space(context)
        if settings.drawn > 50 and len(known):  # honest confidences say where to draw more
            own = context.test.subset(known)
            model = calibrate(model, space.inside(own.X), own.labels)
        drawn = draw_labels(context, space, model, pool, settings.drawn)
    kept = {
        "drawn": drawn,
        "calibration_rows": len(known),
        "calibrated": calibrated(context, "an excess of errors is news."),
        "instead": None
        if search.state.name == settings.search
        else why_no_distances(context) or "it overturned fewer than three predictions",
    }
    return PartAnswer(search, kept)


def evidence(answer: PartAnswer) -> Evidence:
    """The search's evidence, and what the draws say."""
    found = answer.result.evidence()
    assumptions = _calibration_checked(
        found.assumptions, answer.kept["calibration_rows"], answer.kept["calibrated"]
    )
    found = replace(found, assumptions=assumptions)
    if answer.kept["instead"] is not None:
        text = f"No attack measures distances here ({answer.kept['instead']}): twin-trees "
        found = replace(found, claims=(*found.claims, Claim(f"{text}searched instead.")))
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
    assert isinstance(found, discovery.SearchResult)
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
    from fireassay.discovery.result import KNOWN_CHANCES

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
        f"The model's own confidences were taken; {rows} other labelled rows mend them beside."
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
    context: Context, settings: Settings, known: IntArray, pool: IntArray
) -> discovery.SearchResult:
    """The search that was asked for; twin trees where no distances can be compared."""
    from fireassay.discovery.adversarial_distance import FewDistancesError

    name = search_name(context, settings)
    if not _attacked(name):
        return _spent(name, context, settings, known, pool)
    try:
        return _spent(name, context, settings, known, pool[: settings.pool])
    except FewDistancesError:
        return _spent("twin-trees", context, settings, known, pool)


def _spent(
    name: str, context: Context, settings: Settings, known: IntArray, pool: IntArray
) -> discovery.SearchResult:
    """Only an attack needs codes of the rows; every other search takes them as the model does."""
    rows, first = context.test.subset(pool), context.test.subset(known) if len(known) else None
    own: dict[str, Any] = {}
    if _attacked(name):
        from fireassay.assessment.parts.attack_space import attack_space

        model, space = attack_space(context)
        starts = _pool_of_starts(context)
        own["attack_parameters"] = {} if starts is None or space.scaled else {"pool": starts}
        X = space.inside(rows.X)
        calibration = None if first is None else (space.inside(first.X), first.labels)
        if has_codes(context):
            own["features"] = discovery.principal_components(rows.view())
    else:
        model = context.model.model if isinstance(context.model, CodedClassifier) else context.model
        X = rows.rows.values
        calibration = None if first is None else (first.rows.values, first.labels)
    search = discovery.Search(
        name,
        model=model,
        X=X,
        threshold=settings.threshold,
        budget=settings.budget,
        matched_share=settings.matched_share,
        audit_share=settings.audit_share,
        max_queries=settings.max_queries,
        calibration=calibration,
        split=context.test.groups is None,  # lots divided the rows above, not whole groups
        ids=rows.ids,
        groups=rows.groups,
        seed=context.seed,
        **own,
    )
    search.run(lambda row: rows.labels[row])
    found = search.judged(rows.labels)
    return replace(found, state=replace(found.state, known=None))


def _pool_of_starts(context: Context) -> AnyArray | None:
    return None if context.train is None else context.train.X[:2000]


def _divided(context: Context, settings: Settings) -> tuple[IntArray, IntArray]:
    """Test rows whose labels are known first, and those to search in; lots divide them."""
    order = generator(context.seed, "discovery part").permutation(len(context.test))
    count = calibration_rows(context, settings)
    if count:
        order, count = whole_groups(order, context.test.groups, count)
    return order[:count], order[count : count + _MOST_SEARCHED]


PART = Part(
    "discovery",
    Settings,
    missing,
    cost,
    run,
    uses=("supervision", "accuracy"),
    evidence=evidence,
    samples=samples,
    state=state,
    measures=MEASURES,
)
