"""Supervision: which run-time monitor catches which trouble, at what threshold."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from fireassay.assessment.context import Context, Cost
from fireassay.assessment.curated_rows import curated_rows
from fireassay.assessment.parts.ambiguity import AmbiguityAnswer
from fireassay.assessment.parts.survival import adversarial_inputs
from fireassay.assessment.uses import with_uses
from fireassay.attacks import ATTACKS
from fireassay.classifiers import ActivationClassifier
from fireassay.core import Evidence, NotEnoughEvidenceError, Table, generator
from fireassay.core.result import Answer
from fireassay.data import corrupt, corruption_kinds
from fireassay.supervision import Comparison, compare, names

if TYPE_CHECKING:
    from matplotlib.figure import Figure

USES = ("ambiguity", "curation", "survival")
# An ensemble needs a training recipe, which neither a file nor a server has.
_ENSEMBLES = "ensemble-"
NOMINAL, CALIBRATION, CURATED, FIELD = "nominal", "calibration", "curated", "control field"
_FIELD_ROWS = 2000


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


@dataclass(frozen=True, eq=False)
class SupervisionAnswer(Answer):
    """The comparison, and which rows its scores belong to, for other parts to use.

    Attributes
    ----------
    rows
        Positions of the rows of a set in the test set, or (for "control field") in the
        operational set; sets that were made have none.
    """

    comparison: Comparison
    rows: dict[str, NDArray[np.int64]]
    uses: tuple[str, ...]

    def frame(self) -> pd.DataFrame:
        """One row per supervisor and set."""
        return self.comparison.frame()

    def figures(self) -> "dict[str, Figure]":
        """The heat map of AUROCs."""
        return self.comparison.figures()

    def evidence(self) -> Evidence:
        """The comparison's evidence, and the curated datasets one by one."""
        found = self.comparison.evidence()
        groups = self.comparison.group_frame()
        if len(groups):
            best = groups[groups["supervisor"] == self.comparison.recommended]
            table = Table.from_frame(
                best, "The recommended supervisor, by attack, corruption, dataset", index=False
            )
            found = replace(found, tables={**found.tables, "groups": table})
        return with_uses(found, self.uses)

    def suspicion(self, source: str, n: int) -> NDArray[np.float64] | None:
        """Scores of the recommended supervisor for the n rows of a set; NaN where not scored.

        ``source`` is ``"test"`` or ``"operational"``.
        """
        name = self.comparison.recommended
        wanted = (FIELD,) if source == "operational" else (NOMINAL, CALIBRATION, CURATED)
        sets = [s for s in wanted if s in self.rows]
        if name is None or not sets:
            return None
        scores = np.full(n, np.nan)
        for s in sets:
            scores[self.rows[s]] = self.comparison.scores[s][name]
        return scores


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
    field_rows = min(_FIELD_ROWS, len(context.operational or ()))
    rows = fitted + len(context.test) + 5 * settings.samples + field_rows
    megabytes = 1e-6 * rows * context.test.X[0].nbytes
    return Cost(
        queries=2 * rows if isinstance(context.model, ActivationClassifier) else rows,
        own_seconds=4.0 + 2e-3 * rows,
        memory_mb=150 + 6 * megabytes,
        disk_mb=0.5 + 2e-4 * rows,
    )


def run(context: Context, settings: Settings) -> SupervisionAnswer:
    """Compare supervisors on what can be made of these rows: each set is one kind of trouble."""
    if context.train is None:
        raise NotEnoughEvidenceError("Supervision needs training rows.", got="none")
    rng = generator(context.seed, "supervision part")
    sampled = context.test.subset(rng.permutation(len(context.test))[: settings.samples])
    troubles = _Troubles()
    _add_made(troubles, context, sampled, settings)
    rows = _add_real(troubles, context, settings, rng)
    train = context.train.subset(np.arange(min(settings.train_rows, len(context.train))))
    chosen = settings.supervisors or tuple(n for n in names() if not n.startswith(_ENSEMBLES))
    comparison = compare(
        context.model,
        train.X,
        train.labels,
        nominal=context.test.X[rows[NOMINAL]],
        calibration=context.test.X[rows[CALIBRATION]],
        sets=troubles.sets,
        supervisors=chosen,
        groups=troubles.groups,
        false_alarm=settings.false_alarm,
        seed=context.seed,
        workers=context.executor.workers,
        cluster=context.executor.cluster,
    )
    return SupervisionAnswer(comparison, rows, tuple(troubles.uses))


class _Troubles:
    """Sets of trouble by name, the kinds within each, and where they come from."""

    def __init__(self) -> None:
        self.sets: dict[str, NDArray[Any]] = {}
        self.groups: dict[str, NDArray[Any]] = {}
        self.uses: list[str] = []

    def add(self, name: str, X: NDArray[Any], kinds: NDArray[Any] | None = None) -> None:
        self.sets[name] = X
        if kinds is not None:
            self.groups[name] = kinds


def _add_made(troubles: _Troubles, context: Context, rows: Any, settings: Settings) -> None:
    """Ambiguous, adversarial, corrupted and invalid inputs."""
    made = context.results.get("ambiguity")
    if isinstance(made, AmbiguityAnswer):
        troubles.add("ambiguous", made.ambiguous.X)
        troubles.uses.append(f"the {len(made.ambiguous.X)} ambiguous inputs of ambiguity")
    if context.test.y is not None:
        _add_adversarial(troubles, context)
    corrupted = _corrupted(context, rows.X, settings)
    if corrupted is not None:
        troubles.add("corrupted", *corrupted)
    troubles.add("scrambled", _scrambled(rows.X, context.seed))


def _add_adversarial(troubles: _Troubles, context: Context) -> None:
    """The inputs that fooled the model under attack: small changes apart from strong ones."""
    X, made_by = adversarial_inputs(context)
    # Attacks of a fixed size go far over the boundary, which softmax scores do not see.
    strong = np.array([ATTACKS[name].fixed_size for name in made_by], dtype=np.bool_)
    for name, chosen in (("adversarial", ~strong), ("strong adversarial", strong)):
        if chosen.sum() > 1:
            troubles.add(name, X[chosen], made_by[chosen])
            troubles.uses.append(f"{chosen.sum()} {name} inputs from the attacks of survival")


def _add_real(
    troubles: _Troubles, context: Context, settings: Settings, rng: np.random.Generator
) -> dict[str, NDArray[np.int64]]:
    """Curated and field rows; returns the positions of all rows that were not made."""
    rows: dict[str, NDArray[np.int64]] = {}
    nominal = np.arange(len(context.test))
    curated = curated_rows(context)
    if curated is not None:
        hard, dataset = curated.hardest(settings.samples)
        left = np.setdiff1d(nominal, hard) if curated.source == "test" else nominal
        if len(left) >= 120:
            troubles.add(
                CURATED, curated.data.X[hard], np.char.add("dataset ", dataset.astype(str))
            )
            troubles.uses.append(f"the hardest of {curated.in_words}")
            nominal = left
            if curated.source == "test":
                rows[CURATED] = hard
    if context.operational is not None:
        rows[FIELD] = rng.permutation(len(context.operational))[:_FIELD_ROWS]
        troubles.add(FIELD, context.operational.X[rows[FIELD]])
    order = rng.permutation(nominal)
    rows[CALIBRATION] = np.sort(order[: len(order) // 2])
    rows[NOMINAL] = np.sort(order[len(order) // 2 :])
    return rows


def _corrupted(
    context: Context, X: NDArray[Any], settings: Settings
) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """Every kind in turn over the rows; None for images whose scale is not [0, 1]."""
    images = X.ndim > 2
    if X.ndim == 4 and X.shape[1] <= 3 < X.shape[3]:
        channels_last = _corrupted(context, np.moveaxis(X, 1, -1), settings)
        return channels_last and (np.moveaxis(channels_last[0], -1, 1), channels_last[1])
    if images and (context.model.bounds != (0.0, 1.0) or min(X.shape[1:3]) < 8):
        return None
    kinds = np.array(corruption_kinds("images" if images else "tables"))
    kind_of = kinds[np.arange(len(X)) % len(kinds)]
    changed = X.copy()
    for kind in kinds:
        these = kind_of == kind
        if these.any():
            changed[these] = corrupt(X[these], str(kind), settings.severity, context.seed)
    if context.model.bounds is not None:
        changed = changed.clip(*context.model.bounds)
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
