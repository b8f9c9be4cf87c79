"""What supervision needs and costs, and its settings."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from fireassay.assessment.coded_context import why_not_attacked
from fireassay.assessment.context import HARD_LABELS, Context, Cost
from fireassay.assessment.terms import ambiguity, survival
from fireassay.classifiers import ActivationClassifier
from fireassay.classifiers.base import innermost

USES = ("ambiguity", "curation", "survival", "accuracy")
FIELD_ROWS, NOMINAL_ROWS = 2000, 40_000
_DROPOUT = "mc-dropout"


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
    """One pass over what is scored, of a network over the training rows, too; more with dropout.

    Without survival it attacks by itself, with survival's usual settings.
    """
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
    from fireassay.supervision.sklearn_hidden import is_network

    return int(is_network(adapter.estimator))


def _dropout_passes(context: Context, settings: Settings) -> int:
    """How often each row is asked about to see what dropout changes."""
    wanted = not settings.supervisors or any(n.startswith(_DROPOUT) for n in settings.supervisors)
    if not wanted:
        return 0
    from fireassay.supervision.model_reader import ModelReader

    reader = ModelReader(context.model)
    return reader.n_samples if reader.missing("dropout") is None else 0
