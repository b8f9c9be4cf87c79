"""Discovery: a small label budget spent where the model may be confidently wrong."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from fireassay.assessment.attack_space import AttackSpace, attack_space
from fireassay.assessment.context import Context, Cost
from fireassay.classifiers import Classifier, calibrate
from fireassay.core import generator
from fireassay.data import DataSet
from fireassay.discovery import Search, SearchResult

USES: tuple[str, ...] = ()
# With fewer rows a temperature would be noise; the model's own confidences are used then.
_LEAST_FOR_CALIBRATION = 50


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
    pool: int = Field(default=400, ge=10, description="The most rows that are attacked.")
    max_queries: int = Field(default=300, ge=1, description="Queries per attacked row.")


def missing(context: Context) -> str | None:
    """Why nothing can be searched, or None."""
    if context.test.y is None:
        return "the test rows have no labels; spend some with: fireassay discover, fireassay label"
    return None


def cost(context: Context, settings: Settings) -> Cost:
    """Every row of the pool is attacked, unless the search needs no distances."""
    rows = min(settings.pool, len(context.test))
    attacked = settings.search in ("adversarial-distance", "hybrid")
    queries = len(context.test) + rows * (settings.max_queries if attacked else 1)
    return Cost(queries=queries, labels=settings.budget, extra_seconds=2.0)


def run(context: Context, settings: Settings) -> SearchResult:
    """Spend the budget on rows whose labels are known, as if a person gave them."""
    space = attack_space(context)
    model, pool = _calibrated(context, space, settings)
    attack: dict[str, Any] = {} if space.mask is None else {"mask": space.mask}
    if context.train is not None and space.bounds == context.model.bounds:
        attack["pool"] = context.train.X[:2000]
    search = Search(
        settings.search,
        model=model,
        X=space.inside(pool.X),
        threshold=settings.threshold,
        budget=settings.budget,
        matched_share=settings.matched_share,
        max_queries=settings.max_queries,
        attack_parameters=attack,
        ids=pool.ids,
        seed=context.seed,
    )
    return search.run(lambda row: pool.labels[row])


def _calibrated(
    context: Context, space: AttackSpace, settings: Settings
) -> tuple[Classifier, DataSet]:
    """The model with honest confidences, and other rows to search in."""
    order = generator(context.seed, "discovery part").permutation(len(context.test))
    n_calibration = int(settings.calibration_share * len(order))
    if n_calibration < _LEAST_FOR_CALIBRATION:
        return space.model, context.test.subset(order[: settings.pool])
    rows = context.test.subset(order[:n_calibration])
    rest = order[n_calibration : n_calibration + settings.pool]
    return calibrate(space.model, space.inside(rows.X), rows.labels), context.test.subset(rest)
