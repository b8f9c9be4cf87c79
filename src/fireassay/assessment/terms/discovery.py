"""What discovery needs and costs, and its settings."""

from pydantic import BaseModel, ConfigDict, Field

from fireassay import discovery
from fireassay.assessment.coded_context import why_no_distances
from fireassay.assessment.context import HARD_LABELS, Context, Cost

USES = ("supervision", "accuracy")


class Settings(BaseModel):
    """``[discovery]`` in the configuration."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    search: str = Field(
        default="adversarial-distance",
        description="One of adversarial-distance, random, low-confidence, bansal-weld, lakkaraju, "
        "lakkaraju-published, facility-location, hybrid, weighted.",
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
    """Every row of the pool is attacked, unless the search needs no distances."""
    rows = min(settings.pool, len(context.test))
    attacked = discovery.SEARCHES[search_name(context, settings)].needs == "distances"
    sent = rows * (1 + (settings.max_queries if attacked else 0))
    calibrated = int(settings.calibration_share * len(context.test))
    field_rows = rows if context.operational is None else min(2000, len(context.operational))
    started = min(2000, len(context.train or ())) if attacked else 0
    if settings.drawn > 50:
        field_rows = 2 * field_rows + min(500, len(context.test))
    row_mb = 1e-6 * context.test.X[0].nbytes
    return Cost(
        queries=sent + calibrated + field_rows + started,
        labels=settings.budget + settings.drawn,
        spared=0.45 if attacked else 0.0,
        calls=settings.max_queries // 4 if attacked else 0,  # many rows go together
        own_seconds=0.4 + 3e-9 * sent * context.test.X[0].size,
        memory_mb=100 * rows * row_mb,
        disk_mb=0.4,
    )


def search_name(context: Context, settings: Settings) -> str:
    """The search that was asked for, or one without attacks where none is possible."""
    attacks = discovery.SEARCHES[settings.search].needs == "distances"
    return "low-confidence" if attacks and why_no_distances(context) else settings.search
