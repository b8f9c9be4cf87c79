"""What supervision needs and costs, and its settings."""

from pydantic import BaseModel, ConfigDict, Field

from fireassay.assessment.context import HARD_LABELS, Context, Cost
from fireassay.classifiers import ActivationClassifier

USES = ("ambiguity", "curation", "survival", "accuracy")
FIELD_ROWS, NOMINAL_ROWS = 2000, 40_000


class Settings(BaseModel):
    """``[supervision]`` in the configuration."""

    model_config = ConfigDict(extra="forbid", frozen=True)

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
    """Several passes over the sets, more where dropout is sampled."""
    fitted = min(settings.train_rows, len(context.train or ()))
    field_rows = min(FIELD_ROWS, len(context.operational or ()))
    tested = min(NOMINAL_ROWS, len(context.test))
    rows = fitted + tested + 5 * settings.samples + field_rows
    megabytes = 1e-6 * rows * context.test.X[0].nbytes
    inside = isinstance(context.model, ActivationClassifier)
    return Cost(
        queries=2 * rows if inside else rows,
        own_seconds=0.4 + (6e-4 if inside else 2e-5) * rows,
        memory_mb=150 + 6 * megabytes,
        disk_mb=0.5 + 2e-4 * rows,
    )
