"""Discovery: a small label budget spent where the model may be confidently wrong."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from fireassay.assessment.attack_space import AttackSpace, attack_space
from fireassay.assessment.context import Context, Cost
from fireassay.assessment.field_draws import FieldDraws, answers_so_far, draw_labels
from fireassay.assessment.uses import with_uses
from fireassay.classifiers import Classifier, calibrate
from fireassay.core import Assumption, Claim, Evidence, Table, generator
from fireassay.core.result import Answer
from fireassay.discovery import Search, SearchResult

if TYPE_CHECKING:
    from matplotlib.figure import Figure

USES = ("supervision",)
# With fewer rows a temperature would be noise; the model's own confidences are used then.
_LEAST_FOR_CALIBRATION = 50
_CAPTIONS = {
    "sdr": "Errors found over errors that the confidences announce, label by label; above the "
    "dotted line the model is more sure than it should be.",
    "adversarial distance": "Confidence against the change that an attack needs. Rows left of the "
    "line fall sooner than others of their confidence: these are looked at first.",
}


class Settings(BaseModel):
    """``[discovery]`` in the configuration."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    search: str = Field(
        default="adversarial-distance",
        description="adversarial-distance, hybrid, random, low-confidence, bansal-weld, lakkaraju, "
        "lakkaraju-published or facility-location.",
    )
    budget: int = Field(default=50, ge=1, description="Labels to spend.")
    threshold: float = Field(
        default=0.65, ge=0, lt=1, description="Only predictions more confident than this."
    )
    matched_share: float = Field(
        default=0.2, ge=0, le=0.5, description="Share of the budget for random rows, to compare."
    )
    calibration_share: float = Field(
        default=0.25, ge=0, le=0.5, description="Share of the labelled rows for the temperature."
    )
    drawn: int = Field(
        default=50,
        ge=0,
        description="Labels drawn by lot, by the supervisor's suspicion: the error rate of all.",
    )
    pool: int = Field(default=400, ge=10, description="The most rows that are attacked.")
    max_queries: int = Field(default=300, ge=1, description="Queries per attacked row.")


@dataclass(frozen=True, eq=False)
class DiscoveryAnswer(Answer):
    """The search for confident errors, and the labels drawn by lot beside it."""

    search: SearchResult
    drawn: FieldDraws | None
    calibration_rows: int

    @property
    def kept(self) -> dict[str, Any]:
        """What other parts take."""
        return {"drawn": self.drawn}

    def frame(self) -> pd.DataFrame:
        """One row per label of the search."""
        return self.search.frame()

    def figures(self) -> "dict[str, Figure]":
        """Figures of the search."""
        return self.search.figures()

    def evidence(self) -> Evidence:
        """The search's evidence, and what the draws say."""
        found = self.search.evidence()
        pictures = {
            name: replace(shown, caption=_CAPTIONS.get(name, shown.caption))
            for name, shown in found.figures.items()
        }
        found = replace(found, figures=pictures, assumptions=self._assumptions(found))
        if self.drawn is None:
            return found
        drawn = self.drawn
        where = {"test": "test", "operational": "field"}[drawn.source]
        n, pool = len(drawn.result.wrong), len(drawn.state.rows)
        if drawn.waiting:
            text = (
                f"{drawn.waiting} of {drawn.result.budget} field rows wait for a label: fireassay "
                "label next, or fireassay serve; then run again"
            )
            return replace(found, claims=(*found.claims, Claim(f"{text}.")))
        estimates = dict(found.estimates)
        if drawn.result.error_rate is not None:
            estimates["drawn_error_rate"] = drawn.result.error_rate
        claim = Claim(
            f"Drawn by lot, {drawn.result.errors} of {n} {where} rows are wrong; weighted by their "
            f"chances, the error rate of all {pool} is {drawn.result.error_rate}."
        )
        table = Table.from_frame(drawn.result.frame(), "Rows drawn by lot", index=False)
        provenance = found.provenance
        if provenance is not None:
            provenance = replace(
                provenance,
                labels=provenance.labels + n,
                queries=provenance.queries + drawn.result.queries,
            )
        found = replace(
            found,
            claims=(*found.claims, claim),
            estimates=estimates,
            tables={**found.tables, "drawn": table},
            provenance=provenance,
        )
        if drawn.guide == "confidence":
            return found
        return with_uses(found, (f"the scores of {drawn.guide}, which supervision recommends",))

    def _assumptions(self, found: Evidence) -> tuple[Assumption, ...]:
        check = (
            f"A temperature was fitted on {self.calibration_rows} other labelled rows first."
            if self.calibration_rows
            else "Too few labelled rows to calibrate on: the model's own confidences were taken."
        )
        return tuple(
            replace(assumption, check=check) if "calibrated" in assumption.statement else assumption
            for assumption in found.assumptions
        )


def missing(context: Context) -> str | None:
    """Why nothing can be searched, or None."""
    if context.test.y is None:
        return "the test rows have no labels; spend some with: fireassay discovery, fireassay label"
    return None


def state(context: Context) -> Any:
    """What the answer depends on besides its inputs: labels that people have given since."""
    return answers_so_far(context)


def cost(context: Context, settings: Settings) -> Cost:
    """Every row of the pool is attacked, unless the search needs no distances."""
    rows = min(settings.pool, len(context.test))
    attacked = settings.search in ("adversarial-distance", "hybrid")
    sent = rows * (1 + (settings.max_queries if attacked else 0))
    calibrated = int(settings.calibration_share * len(context.test))
    field_rows = rows if context.operational is None else min(2000, len(context.operational))
    started = min(2000, len(context.train or ())) if attacked else 0
    row_mb = 1e-6 * context.test.X[0].nbytes
    return Cost(
        queries=sent + calibrated + field_rows + started,
        labels=settings.budget + settings.drawn,
        calls=settings.max_queries if attacked else 0,
        own_seconds=2.0 + 3e-9 * sent * context.test.X[0].size,
        memory_mb=100 * rows * row_mb,
        disk_mb=0.4,
    )


def run(context: Context, settings: Settings) -> DiscoveryAnswer:
    """Spend the budget on rows whose labels are known, as if a person gave them."""
    space = attack_space(context)
    model, pool = _calibrated(context, space, settings)
    inputs = (settings.model_dump(exclude={"drawn"}), context.test.sha256, _pool_of_starts(context))
    search = context.once("search", inputs, lambda: _search(context, settings, space, model, pool))
    drawn = draw_labels(context, space, model, pool, settings.drawn) if settings.drawn else None
    return DiscoveryAnswer(search, drawn, _calibration_rows(context, settings))


def _search(
    context: Context,
    settings: Settings,
    space: AttackSpace,
    model: Classifier,
    pool: NDArray[np.int64],
) -> SearchResult:
    rows = context.test.subset(pool)
    attack: dict[str, Any] = {} if space.mask is None else {"mask": space.mask}
    starts = _pool_of_starts(context)
    if starts is not None and space.bounds == context.model.bounds:
        attack["pool"] = starts
    search = Search(
        settings.search,
        model=model,
        X=space.inside(rows.X),
        threshold=settings.threshold,
        budget=settings.budget,
        matched_share=settings.matched_share,
        max_queries=settings.max_queries,
        attack_parameters=attack,
        ids=rows.ids,
        seed=context.seed,
    )
    return search.run(lambda row: rows.labels[row])


def _pool_of_starts(context: Context) -> NDArray[Any] | None:
    return None if context.train is None else context.train.X[:2000]


def _calibrated(
    context: Context, space: AttackSpace, settings: Settings
) -> tuple[Classifier, NDArray[np.int64]]:
    """The model with honest confidences, and the other test rows, to search in."""
    order = generator(context.seed, "discovery part").permutation(len(context.test))
    n_calibration = _calibration_rows(context, settings)
    if not n_calibration:
        return space.model, order[: settings.pool]
    rows = context.test.subset(order[:n_calibration])
    rest = order[n_calibration : n_calibration + settings.pool]
    return calibrate(space.model, space.inside(rows.X), rows.labels), rest


def _calibration_rows(context: Context, settings: Settings) -> int:
    wanted = int(settings.calibration_share * len(context.test))
    return wanted if wanted >= _LEAST_FOR_CALIBRATION else 0
