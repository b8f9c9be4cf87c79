"""Supervision: which run-time monitor catches which trouble, at what threshold."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from fireassay.assessment.context import Context, Cost
from fireassay.assessment.parts.ambiguity import AmbiguityAnswer
from fireassay.classifiers import GradientClassifier
from fireassay.core import NotEnoughEvidenceError, generator
from fireassay.data import corrupt, corruption_kinds
from fireassay.supervision import Comparison, adversarial_set, compare, names

USES = ("ambiguity",)
# An ensemble needs a training recipe, which neither a file nor a server has.
_ENSEMBLES = "ensemble-"


class Settings(BaseModel):
    """``[supervision]`` in the configuration."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    supervisors: tuple[str, ...] = Field(
        default=(), description="Names of supervisors; none: all that need no training recipe."
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
    if len(context.test) < 120:
        return "a threshold needs at least 120 test rows"
    return None


def cost(context: Context, settings: Settings) -> Cost:
    """Several passes over the sets, more where dropout is sampled."""
    fitted = min(settings.train_rows, len(context.train or ()))
    kinds = 4
    rows = fitted + len(context.test) + kinds * settings.samples
    return Cost(queries=3 * rows + 100 * settings.samples, extra_seconds=10.0)


def run(context: Context, settings: Settings) -> Comparison:
    """Compare supervisors on what can be made of these rows: each set is one kind of trouble."""
    if context.train is None:
        raise NotEnoughEvidenceError("Supervision needs training rows.", got="none")
    order = generator(context.seed, "supervision part").permutation(len(context.test))
    rows = context.test.subset(order[: settings.samples])
    sets, groups = _sets(context, rows, settings)
    train = context.train.subset(np.arange(min(settings.train_rows, len(context.train))))
    chosen = settings.supervisors or tuple(n for n in names() if not n.startswith(_ENSEMBLES))
    return compare(
        context.model,
        train.X,
        train.labels,
        nominal=context.test.X,
        sets=sets,
        supervisors=chosen,
        groups=groups,
        false_alarm=settings.false_alarm,
        seed=context.seed,
    )


def _sets(
    context: Context, rows: Any, settings: Settings
) -> tuple[dict[str, NDArray[Any]], dict[str, NDArray[Any]]]:
    sets: dict[str, NDArray[Any]] = {}
    groups: dict[str, NDArray[Any]] = {}
    made = context.results.get("ambiguity")
    if isinstance(made, AmbiguityAnswer):
        sets["ambiguous"] = made.ambiguous.X
    if context.model.bounds is not None and isinstance(context.model, GradientClassifier):
        span = context.model.bounds[1] - context.model.bounds[0]
        attacked = adversarial_set(
            context.model, rows.X, rows.labels, max_epsilon=0.5 * span, seed=context.seed
        )
        sets["adversarial"], groups["adversarial"] = attacked.X, attacked.attack
    corrupted = _corrupted(context, rows.X, settings)
    if corrupted is not None:
        sets["corrupted"], groups["corrupted"] = corrupted
    sets["scrambled"] = _scrambled(rows.X, context.seed)
    return sets, groups


def _corrupted(
    context: Context, X: NDArray[Any], settings: Settings
) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """Every kind in turn over the rows; None for images whose scale is not [0, 1]."""
    images = X.ndim > 2
    if images and (context.model.bounds != (0.0, 1.0) or min(X.shape[1:3]) < 8):
        return None
    kinds = np.array(corruption_kinds("images" if images else "tables"))
    kind_of = kinds[np.arange(len(X)) % len(kinds)]
    changed = X.copy()
    for kind in kinds:
        these = kind_of == kind
        if these.any():
            changed[these] = corrupt(X[these], str(kind), settings.severity, context.seed)
    return changed, kind_of


def _scrambled(X: NDArray[Any], seed: int) -> NDArray[Any]:
    """Invalid inputs with the right marginals: the features of each row in another order.

    Table columns have units, so their values are shuffled within columns instead.
    """
    rng = generator(seed, "scrambled")
    flat = X.reshape(len(X), -1)
    if X.ndim > 2:
        return flat[:, rng.permutation(flat.shape[1])].reshape(X.shape)
    return rng.permuted(flat, axis=0)
