"""The one way in which all supervisors work: fit, score, threshold."""

import dataclasses
import inspect
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import AnyArray, FloatArray, IntArray
from fireassay.core.errors import DataError, NotEnoughEvidenceError, ParameterError
from fireassay.core.lazy import special
from fireassay.core.validation import check_class_indices, check_finite, check_labels, check_real
from fireassay.engine import Executor
from fireassay.statistics.groups.group_bound import group_mean
from fireassay.supervision.reading import FIELDS, ModelReader, NotAvailableError, Reading
from fireassay.supervision.row_blocks import BLOCK_ROWS, checked_inputs

if TYPE_CHECKING:
    from fireassay.supervision.onnx_graph import GraphBuilder


@dataclass(frozen=True)
class AlarmRule:
    """Alarm if ``score > threshold``.

    Attributes:
        false_alarm, confidence: With this confidence at most this share of nominal inputs raises an
            alarm.
        n_nominal: Nominal rows the threshold was taken from.
        n_above: How many of them lie above it.
        n_groups: Groups of these rows that the promise counts, or None where rows are independent.
    """

    threshold: float
    false_alarm: float
    confidence: float
    n_nominal: int
    n_above: int
    n_groups: int | None = None


def alarm_rule(
    nominal_scores: ArrayLike,
    false_alarm: float = 0.05,
    confidence: float = 0.95,
    groups: ArrayLike | None = None,
) -> AlarmRule:
    """A threshold whose true false-alarm rate is at most ``false_alarm``, with ``confidence``.

    Args:
        nominal_scores: Of nominal rows, used neither for fitting nor for choosing the supervisor.
        false_alarm, confidence: In (0, 1).
        groups: For each row the patient or device it belongs to: the promise is then about rows of
            groups drawn like these (`statistics.group_mean`).

    Raises:
        NotEnoughEvidenceError: If even the largest of so few scores cannot make the promise.

    The threshold is the order statistic s_(n−k) with the largest k for which
    P(Bin(n, false_alarm) <= k) <= 1 − confidence. This holds for every distribution of scores, with
    ties as well. The threshold lies a billionth above s_(n−k): the last bits of a score depend on
    how many rows were scored with it.

    >>> round(alarm_rule(range(59)).threshold, 6)
    58.0
    """
    check_real(false_alarm, "false_alarm", low=0, high=1)
    check_real(confidence, "confidence", low=0, high=1)
    scores = np.asarray(nominal_scores, dtype=np.float64)
    if scores.ndim != 1:
        raise DataError("Nominal scores must have shape (n,).", got=f"{scores.shape}")
    check_finite(scores, name="nominal scores")
    n, n_groups = len(scores), None
    needed = rows_needed(false_alarm, confidence)
    if groups is not None:
        level, n_groups = _grouped_level(scores, groups, false_alarm, confidence)
    elif n < needed:
        raise NotEnoughEvidenceError(
            f"A false-alarm rate of {false_alarm:g} with confidence {confidence:g} needs at least "
            f"{needed} nominal rows.",
            got=f"{n}",
            do="Collect more nominal rows, or ask for less.",
        )
    else:
        tail = special.bdtr(np.arange(n), n, false_alarm)
        level = np.sort(scores)[n - int(np.flatnonzero(tail <= 1.0 - confidence)[-1]) - 1]
    threshold = float(level + 1e-9 * abs(level) + 1e-12)
    above = int((scores > threshold).sum())
    return AlarmRule(threshold, float(false_alarm), float(confidence), n, above, n_groups)


def _grouped_level(
    scores: FloatArray, groups: ArrayLike, false_alarm: float, confidence: float
) -> tuple[float, int]:
    """The lowest score at which the bound on the share above keeps the promise; groups counted."""
    # The bound falls as the threshold rises. A threshold below the true quantile means that the
    # bound at that quantile was too low: the promise fails no more often than the bound.
    labels = check_labels(groups, name="groups", n=len(scores))
    n_groups = len(np.unique(labels))
    levels = np.unique(scores)[::-1]

    def kept(k: int) -> bool:
        return group_mean(scores > levels[k], labels, confidence, "upper").high <= false_alarm

    if not kept(0):
        raise NotEnoughEvidenceError(
            f"A false-alarm rate of {false_alarm:g} with confidence {confidence:g} needs nominal "
            "rows of more groups.",
            got=f"{len(scores)} rows of {n_groups} groups",
            do="Collect nominal rows of more patients or devices, or ask for less.",
        )
    good, bad = 0, len(levels)
    while bad - good > 1:
        middle = (good + bad) // 2
        good, bad = (middle, bad) if kept(middle) else (good, middle)
    return float(levels[good]), n_groups


def rows_needed(false_alarm: float, confidence: float) -> int:
    """The smallest n for which the largest score makes the promise: (1 − α)^n <= 1 − confidence."""
    n = max(1, int(np.floor(np.log1p(-confidence) / np.log1p(-false_alarm))))
    while special.bdtr(0, n, false_alarm) > 1.0 - confidence:
        n += 1
    return n


@dataclass(kw_only=True, eq=False)
class Supervisor(ABC):
    """A score for each input; higher is more suspicious.

    A supervisor names what it needs of a model in ``needs`` (fields of `Reading`); ``fit_needs`` is
    what it needs of the training rows (empty: nothing is fitted). A subclass gives `_score` (arrays
    to scores), `_fit` (arrays to fitted arrays) if it learns, and `_graph` (its score as ONNX
    nodes) or, in ``no_graph``, why not. Its ``summary`` is the first line of its docstring.
    ``SUPERVISORS.register`` makes its name known everywhere.

    Args:
        layer: Name of the layer to read where activations are needed; default: the input of the
            last linear layer. ``"inputs"``: the flattened inputs, which any model has.
        seed: Of whatever is drawn: subsamples, dropout masks, training.
    """

    name: ClassVar[str] = ""
    summary: ClassVar[str] = ""
    no_graph: ClassVar[str] = "its class has no method _graph"
    needs: ClassVar[tuple[str, ...]] = ()
    fit_needs: ClassVar[tuple[str, ...]] = ()
    needs_labels: ClassVar[bool] = False

    layer: str | None = None
    seed: int = 0

    feature_names_ = None  # type: tuple[str, ...] | None  # columns of training, where known

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "summary" not in vars(cls):
            cls.summary = (inspect.cleandoc(cls.__doc__ or "").split("\n")[0]).rstrip(".")

    # What a subclass gives ------------------------------------------------------------------

    def _fit(self, reading: Reading, labels: IntArray | None) -> dict[str, Any]:
        """The fitted state: arrays and plain values, so that it can be saved."""
        del reading, labels
        return {}

    @abstractmethod
    def _score(self, reading: Reading) -> FloatArray:
        """One score per row."""

    def _graph(self, g: "GraphBuilder") -> str:
        """The score as nodes of an ONNX graph; returns the name of the result."""
        del g
        raise NotAvailableError(
            f"There is no ONNX graph of {self.name}.",
            got=f"a request for one: {self.no_graph}",
            do="Use save(path) and supervision.load(path, model).",
        )

    @classmethod
    def has_graph(cls) -> bool:
        """Whether `to_onnx` can write it; else ``no_graph`` says why not."""
        return cls._graph is not Supervisor._graph

    # With a model ---------------------------------------------------------------------------

    def fit(self, model: Any, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Fit to a model and its training rows.

        Args:
            model: A `Classifier`, or anything `as_classifier` takes.
            X, y: Training rows and labels; ``y`` matters only to supervisors that train on it.

        Raises:
            NotAvailableError: If the model cannot supply what this supervisor needs; says what and
                why.
        """
        rows = checked_inputs(X, name="X_train")
        reader = self._reader(model, rows, y)
        self._check_model(reader, (*self.needs, *self.fit_needs))
        reading = reader.read(rows, self.fit_needs) if self.fit_needs else Reading()
        labels = None
        if y is not None and self.fit_needs:
            labels = check_class_indices(y, reader.classes(rows), n=len(rows))
        self.fit_reading(reading, labels)
        self.reader_ = reader
        return self

    def score(self, X: ArrayLike, *, workers: int = 1, cluster: Any = None) -> FloatArray:
        """One score per row; higher is more suspicious. Rows do not influence each other.

        Rows go through the model in blocks of a fixed size, so that an array on disk
        (`numpy.memmap`) need not fit into memory and the scores do not depend on the number of
        ``workers``.
        """
        if not hasattr(self, "reader_"):
            raise ParameterError(
                f"{self.name} must be fitted to a model before it scores rows.",
                got="no model",
                do="Call fit(model, X_train, y_train), or attach(model) after loading it.",
            )
        rows = checked_inputs(X)
        if len(rows) <= BLOCK_ROWS:
            return _score_block(0, self, rows)
        executor = Executor(workers=workers, cluster=cluster)
        starts = range(0, len(rows), BLOCK_ROWS)
        shared = {"supervisor": self, "X": rows}
        return np.concatenate(executor.map(_score_block, starts, shared, name=self.name))

    def threshold(
        self,
        X_nominal: ArrayLike,
        false_alarm: float = 0.05,
        confidence: float = 0.95,
        groups: ArrayLike | None = None,
    ) -> float:
        """The score above which to raise an alarm, so that false alarms stay rare for sure.

        With the given confidence, at most a share ``false_alarm`` of all nominal inputs scores
        above it (see `alarm_rule`). The rule is kept in ``rule_``.

        Raises:
            NotEnoughEvidenceError: For too few rows; at 5 % and 95 % at least 59 are needed.
        """
        scores = self.score(X_nominal)
        self.rule_: AlarmRule | None = alarm_rule(scores, false_alarm, confidence, groups)
        return self.rule_.threshold

    def attach(self, model: Any) -> Self:
        """Connect a loaded supervisor with its model."""
        reader = self._reader(model, None, None)
        self._check_model(reader, self.needs)
        self.reader_ = reader
        return self

    def _check_model(self, reader: ModelReader, needed: tuple[str, ...]) -> None:
        for name in needed:
            reason = reader.missing(name)
            if reason is not None:
                raise NotAvailableError(f"{self.name} needs {FIELDS[name]}.", got=f"none: {reason}")

    def _reader(self, model: Any, X: Any, y: Any) -> ModelReader:
        del X, y
        return ModelReader(model, layer=self.layer, seed=self.seed)

    # With arrays ----------------------------------------------------------------------------

    def fit_reading(self, reading: Reading, labels: ArrayLike | None = None) -> Self:
        """Fit to arrays; ``labels`` are column indices."""
        self._check(reading, self.fit_needs)
        if self.needs_labels and labels is None:
            raise DataError(
                f"{self.name} trains on labels.", got="no y_train", do="Pass y_train to fit."
            )
        indices = None if labels is None else np.asarray(labels, dtype=np.int64)
        self.state_ = self._fit(reading, indices)
        self.rule_ = None
        return self

    def score_reading(self, reading: Reading) -> FloatArray:
        """Score arrays."""
        if not hasattr(self, "state_"):
            if self.fit_needs:
                expected = f"{self.name} must be fitted before it scores."
                raise ParameterError(expected, got="no fitted state")
            self.state_ = {}
        self._check(reading, self.needs)
        starts = range(0, max(1, len(reading)), BLOCK_ROWS)
        blocks = (reading.rows(slice(start, start + BLOCK_ROWS)) for start in starts)
        scores = np.concatenate([np.asarray(self._score(b), dtype=np.float64) for b in blocks])
        if not np.isfinite(scores).all():
            row = int((~np.isfinite(scores)).argmax())
            raise DataError(
                f"{self.name} must give a finite score.",
                got=f"{scores[row]} in row {row}",
                do="Look at this row's activations: they are far outside those of training.",
            )
        return scores

    def _check(self, reading: Reading, needed: tuple[str, ...]) -> None:
        for name in needed:
            if not reading.has(name):
                raise NotAvailableError(f"{self.name} needs {FIELDS[name]}.", got="none")

    # As estimators do -----------------------------------------------------------------------

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters given at construction."""
        del deep
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    def set_params(self, **parameters: Any) -> Self:
        """Change parameters."""
        known = self.get_params()
        for name, value in parameters.items():
            if name not in known:
                raise ParameterError(
                    f"The parameters of {self.name} are {', '.join(known)}.", got=repr(name)
                )
            setattr(self, name, value)
        return self

    def save(self, path: str | Path) -> Path:
        """Write the fitted supervisor to one file without pickles; see `supervision.load`."""
        from fireassay.supervision.registry import save

        return save(self, path)


def _score_block(start: int, supervisor: Supervisor, X: AnyArray) -> FloatArray:
    block = X[start : start + BLOCK_ROWS]
    return supervisor.score_reading(supervisor.reader_.read(block, supervisor.needs))
