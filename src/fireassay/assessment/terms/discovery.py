"""What discovery needs and costs, and its settings."""

from pydantic import BaseModel, ConfigDict, Field

from fireassay import discovery
from fireassay.assessment.coded_context import why_no_distances
from fireassay.assessment.context import HARD_LABELS, Context, Cost
from fireassay.assessment.first_answers import share_sure
from fireassay.classifiers.base import BLOCK_ROWS

USES = ("supervision", "accuracy")
# With fewer rows a temperature would be noise; the model's own confidences are used then.
_LEAST_FOR_CALIBRATION = 50


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
    """Rows of the pool of which the model is sure are attacked, if the search needs distances.

    All of them, at the most; how many it is sure of is known from the rows that a plan has sent.
    """
    calibrated = calibration_rows(context, settings)
    rows = min(settings.pool, len(context.test) - calibrated)
    attacked = discovery.SEARCHES[search_name(context, settings)].needs == "distances"
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
        memory_mb=_memory_mb(rows, row_mb),
        disk_mb=0.4,
    )


def _memory_mb(rows: int, row_mb: float) -> float:
    """Measured with 40 to 400 rows of 32 × 32 to 224 × 224: small ones all go on at once."""
    return min(100 * rows * row_mb, 400 + (5 * rows + 4 * BLOCK_ROWS) * row_mb)


def calibration_rows(context: Context, settings: Settings) -> int:
    """Labelled rows that a temperature is fitted on, before the others are searched."""
    wanted = int(settings.calibration_share * len(context.test))
    return wanted if wanted >= _LEAST_FOR_CALIBRATION else 0


def search_name(context: Context, settings: Settings) -> str:
    """The search that was asked for, or one without attacks where none is possible."""
    attacks = discovery.SEARCHES[settings.search].needs == "distances"
    return "low-confidence" if attacks and why_no_distances(context) else settings.search
