"""What an assessment is about, checked once at the border."""

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fireassay.classifiers import Classifier, RecordedAnswers, as_classifier
from fireassay.classifiers.wrapped import flat_rows, has_view
from fireassay.core import DataError, ParameterError, Provenance, sha256
from fireassay.core.arrays import AnyArray, FloatArray, IntArray
from fireassay.core.lazy import stats
from fireassay.core.validation import (
    check_class_indices,
    check_features,
    check_labels,
    check_lengths,
    check_real,
)
from fireassay.core.words import percent
from fireassay.data import load
from fireassay.reliability.inputs import DiskInputs, Inputs, Known, rows_on_disk, scan
from fireassay.reliability.plan import Workers
from fireassay.reliability.profile import KdeProfile, Profile
from fireassay.statistics.shared_units import ExactCopies

_DRAWS_PER_LABEL = 20
_SAMPLE = 20_000


@dataclass(frozen=True)
class Problem:
    """A classifier, labelled rows, operational rows and the asked confidence."""

    model: Classifier
    labelled: Inputs
    y: IntArray
    operational: Inputs | None
    profile: Profile | None
    row_shape: tuple[int, ...]
    confidence: float
    seed: int
    data_sha256: str
    queries_before: int
    shared_rows: int
    workers: Workers
    weights: Any = None
    groups: AnyArray | None = None
    on_disk: DiskInputs | None = None
    held_out: tuple[Inputs, IntArray] | None = None
    copies: ExactCopies | None = None

    @property
    def alpha(self) -> float:
        """One-sided error probability."""
        return 1 - self.confidence

    @property
    def judged(self) -> tuple[Inputs, IntArray]:
        """The labels that errors are counted on: those held out, if there are any."""
        return (self.labelled, self.y) if self.held_out is None else self.held_out

    @property
    def errors(self) -> int:
        """How many of the judged rows the model gets wrong."""
        inputs, y = self.judged
        return int((inputs.predicted != y).sum())

    @property
    def recorded(self) -> bool:
        """Whether rows are positions of recorded answers: they have no distances and no copies."""
        return isinstance(self.model, RecordedAnswers)

    @property
    def wrong(self) -> FloatArray:
        """1 where the model contradicts the label."""
        return np.asarray(self.labelled.predicted != self.y, dtype=np.float64)

    @property
    def n_classes(self) -> int:
        """Columns of the model's probabilities."""
        return int(self.labelled.probabilities.shape[1])

    @property
    def field(self) -> Inputs | DiskInputs | None:
        """All operational rows: where they are on disk, ``operational`` is only a sample."""
        return self.operational if self.on_disk is None else self.on_disk

    @property
    def n_operational(self) -> int:
        """How many operational rows there are."""
        return 0 if self.field is None else len(self.field)

    @property
    def classes(self) -> list[Any]:
        """Class labels as plain values."""
        return [c.item() if isinstance(c, np.generic) else c for c in self.model.classes]

    def predict(self, X: FloatArray) -> IntArray:
        """Class indices of flat rows."""
        if has_view(self.model):
            raise DataError(
                "This method needs rows of numbers, between which there are others.",
                got="a table with names, dates or holes, texts or integers",
                do="Use method 'rectified' or 'exact'.",
            )
        rows = X.reshape(len(X), *self.row_shape)
        return np.asarray(self.model.predict_proba(rows).argmax(axis=1), dtype=np.int64)

    def without_rows(self) -> "Problem":
        """What a task needs to ask the model, light enough to travel."""
        light = self.labelled.take(slice(0, 1))
        return replace(
            self, labelled=light, operational=None, weights=None, held_out=None, on_disk=None
        )

    def judged_on(self, held_out: Any) -> "Problem":
        """The same problem with errors counted on other labelled rows, a pair (X, y)."""
        if not isinstance(held_out, tuple | list) or len(held_out) != 2:
            raise ParameterError("held_out must be a pair (X, y).", got=type(held_out).__name__)
        rows = _same_shape(held_out[0], self.row_shape, "held_out X")
        y = check_class_indices(held_out[1], self.model.classes, name="held_out y", n=len(rows))
        return replace(self, held_out=(Inputs.ask(self.model, rows), y))

    def contradiction(self, bound: float) -> float:
        """The probability of at least the errors seen, if the pmi were ``bound``."""
        n = len(self.judged[1])
        return float(stats.binom.sf(self.errors - 1, n, min(1.0, max(0.0, bound))))

    def provenance(self) -> Provenance:
        """Seed, hashes, queries and labels."""
        return Provenance(
            seed=self.seed,
            model_sha256=self.model.sha256,
            data_sha256=self.data_sha256,
            queries=self.model.queries - self.queries_before,
            labels=len(self.y),
        )


def _drawn_like(profile: Any, n: int, seed: int, shape: tuple[int, ...]) -> Any:
    """Rows drawn from a profile, in the shape of a row of X."""
    if isinstance(profile, KdeProfile) and profile.weights_ is None:
        # The rows a kernel density was fitted on are themselves draws; smoothed ones are not.
        drawn = profile.points_
    else:
        drawn = np.asarray(profile.sample(n, seed), dtype=np.float64)
    if drawn.shape[1] != math.prod(shape):
        raise DataError(
            f"The profile must be of rows like X, {math.prod(shape)} features.",
            got=f"{drawn.shape[1]}",
        )
    return drawn.reshape(len(drawn), *shape)


def check_problem(
    model: Any,
    X: ArrayLike,
    y: ArrayLike,
    operational: Any = None,
    *,
    confidence: float = 0.975,
    groups: ArrayLike | None = None,
    seed: int = 0,
    workers: int = 1,
    cluster: Any = None,
) -> Problem:
    """Check everything once, and ask the model about all rows once."""
    check_real(confidence, "confidence", low=0, high=1)
    classifier = model if isinstance(model, Classifier) else as_classifier(model)
    before = classifier.queries
    rows = check_features(X, name="X")
    shape, coded, field_rows = rows.shape[1:], has_view(classifier), None
    check_lengths(X=len(rows), y=len(np.asarray(y)))
    labelled = Inputs.ask(classifier, rows)
    indices = check_class_indices(y, classifier.classes, name="y", n=len(rows))
    together = None if groups is None else check_labels(groups, name="groups", n=len(rows))
    profile: Profile | None = None
    field: Inputs | None = None
    known = Known(labelled.X[:0] if operational is None else labelled.X)
    on_disk, content, disk = None, None, rows_on_disk(operational)
    if disk is not None:
        _check_shape(disk.shape, shape, "operational")
        fresh_rows, content = scan(disk, known)
        on_disk = DiskInputs(disk, classifier, known, fresh_rows) if fresh_rows else None
        field = Inputs.ask(classifier, disk.sample(_SAMPLE, seed))
    elif hasattr(operational, "cell_mass"):
        profile = operational
        drawn = _drawn_like(operational, _DRAWS_PER_LABEL * len(rows), seed, shape)
        field = Inputs.ask(classifier, drawn)
    elif operational is not None:
        if isinstance(operational, str | Path):
            operational = load(operational, label=False).X
        field_rows = _same_shape(operational, shape, "operational")
        field = Inputs.ask(classifier, field_rows)
    shared = 0
    if field is not None:
        fresh = ~known.among(field.X)
        shared = int((~fresh).sum()) if disk is None else len(disk) - fresh_rows
        field = field.take(fresh) if fresh.any() else None
    return Problem(
        model=classifier,
        labelled=labelled,
        y=indices,
        operational=field,
        profile=profile,
        row_shape=shape,
        confidence=confidence,
        seed=seed,
        data_sha256=sha256(
            flat_rows(rows),
            indices,
            content or (None if field is None else field_rows if coded else field.X),
            *(() if together is None else (together,)),
        ),
        queries_before=before,
        shared_rows=shared,
        workers=Workers(classifier, workers, cluster),
        groups=together,
        on_disk=on_disk,
    )


def _same_shape(X: ArrayLike, shape: tuple[int, ...], name: str) -> AnyArray:
    rows = check_features(X, name=name)
    _check_shape(rows.shape[1:], shape, name)
    return rows


def _check_shape(got: tuple[int, ...], shape: tuple[int, ...], name: str) -> None:
    if got != shape:
        raise DataError(f"{name} must have rows of the shape of X, {shape}.", got=f"{got}")


def too_few_labels(n: int, confidence: float) -> tuple[str, ...]:
    """A note where even zero errors could not support a small bound."""
    best = 1 - (1 - confidence) ** (1 / n)
    if best < 0.1:
        return ()
    note = (
        f"{n} labels are few: even without any error the bound at {percent(confidence, 1)} "
        f"confidence could not be below {best:.2g}. See reliability.plan for how many are needed."
    )
    return (note,)
