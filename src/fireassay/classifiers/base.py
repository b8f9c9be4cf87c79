"""What every adapter shares: checks, fixed-size blocks, counting, budgets, probabilities."""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.classifiers import answers
from fireassay.core.arrays import FloatArray
from fireassay.core.errors import (
    BudgetExceededError,
    DataError,
    FireassayError,
    ModelError,
    ParameterError,
)
from fireassay.core.hashing import sha256
from fireassay.core.validation import check_choice, check_features, check_integer, check_real

Output = Literal["probabilities", "logits", "labels"]
OUTPUTS: Final = ("probabilities", "logits", "labels")
BLOCK_ROWS: Final = 256
_ROUNDING: Final = 1e-6  # of the declared range: what float32 conversions may add

SUPPORTED: Final = (
    "fireassay tests classifiers of numeric features or images: one row in, one probability per "
    "class out."
)


class BaseClassifier:
    """A model behind one door: what comes in and out is checked and counted here.

    Rows are sent in blocks of ``batch_size`` rows, the last one filled up by repeating its last
    row, so that an answer does not depend on how a caller cut the rows into calls.

    Parameters
    ----------
    classes
        Class labels in column order; None takes 0 … k-1 from the first answer.
    bounds
        Smallest and largest allowed input value; inputs outside are refused.
    output
        What the model returns: "probabilities", "logits" or "labels".
    batch_size
        Rows per block; None sends each call as it is.
    max_queries
        Hard budget of rows, probes included; the call that would pass it sends nothing.
    """

    pads_blocks: bool = True
    has_fixed_batch: bool = False

    def __init__(
        self,
        *,
        classes: Sequence[Any] | None = None,
        bounds: tuple[float, float] | None = None,
        output: str = "probabilities",
        batch_size: int | None = BLOCK_ROWS,
        max_queries: int | None = None,
    ) -> None:
        self.output = check_choice(output, "output", OUTPUTS)
        self._classes = None if classes is None else _checked_classes(classes)
        self._declared_classes = self._classes
        self._bounds = None if bounds is None else _checked_bounds(bounds)
        self.batch_size = (
            None if batch_size is None else check_integer(batch_size, "batch_size", low=1)
        )
        self.max_queries = (
            None if max_queries is None else check_integer(max_queries, "max_queries", low=0)
        )
        self._counts = {"queries": 0, "probe_queries": 0, "gradient_queries": 0}
        self._lock = threading.Lock()
        self._local = threading.local()

    # What an adapter says -------------------------------------------------------------------

    def _raw(self, block: NDArray[Any]) -> Any:
        """What the model itself answers for one block."""
        raise NotImplementedError

    def _content_hash(self) -> str:
        """SHA-256 of the model's content."""
        raise NotImplementedError

    def _features(self, X: ArrayLike) -> NDArray[Any]:
        """The caller's X as a checked array."""
        _refuse_text(X)
        return check_features(X)

    # What a caller sees ---------------------------------------------------------------------

    @property
    def classes(self) -> tuple[Any, ...]:
        """Class labels in the order of the probability columns."""
        if self._classes is None:
            raise ModelError(
                "The classes of this model are not known before its first answer.",
                do="Pass classes=[…] to as_classifier, or call predict_proba once.",
            )
        return self._classes

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The smallest and largest allowed input value, or None if not declared."""
        return self._bounds

    @property
    def queries(self) -> int:
        """Rows that callers have sent so far (padding and probes are not counted)."""
        return self._counts["queries"]

    @property
    def probe_queries(self) -> int:
        """Rows that `probe` has sent so far."""
        return self._counts["probe_queries"]

    @property
    def sha256(self) -> str:
        """Identifies the model and the options that change its answers or its inputs."""
        content = self._content_hash()
        if (self.output, self._declared_classes, self._bounds) == ("probabilities", None, None):
            return content
        names = (
            None if self._declared_classes is None else [repr(c) for c in self._declared_classes]
        )
        return sha256("classifier", content, self.output, names, self._bounds)

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Probabilities, float64 of shape ``(n, k)``, rows summing to one."""
        return self._in_blocks(self._probabilities_of_block, self._checked_input(X))[0]

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The most probable class label of each row (the first one on ties)."""
        return answers.labels_of(self.predict_proba(X), self.classes)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self._described()}, output={self.output!r}, "
            f"queries={self.queries})"
        )

    def _described(self) -> str:
        return "model"

    # How rows are sent ----------------------------------------------------------------------

    def _checked_input(self, X: ArrayLike) -> NDArray[Any]:
        array = self._features(X)
        if self._bounds is not None:
            _check_within(array, self._bounds)
        return array

    def _probabilities_of_block(self, block: NDArray[Any]) -> tuple[FloatArray]:
        n_classes = None if self._classes is None else len(self._classes)
        probabilities = answers.probabilities(
            self._raw(block),
            output=self.output,
            n=len(block),
            classes=self._classes,
            first_row=getattr(self._local, "first_row", 0),
        )
        if n_classes is None:
            self._settle_classes(probabilities.shape[1])
        return (probabilities,)

    def _settle_classes(self, n_classes: int) -> None:
        with self._lock:
            if self._classes is None:
                self._classes = tuple(range(n_classes))

    def _in_blocks(
        self,
        call: Callable[..., tuple[NDArray[Any], ...]],
        *arrays: NDArray[Any],
        gradients_per_row: int = 0,
        size: int | Literal["own"] | None = "own",
    ) -> list[NDArray[Any]]:
        """Send arrays of equal length block by block, and join what comes back."""
        n = len(arrays[0])
        batch_size = self.batch_size if size == "own" else size
        rows = n if batch_size is None else batch_size
        self._reserve(n, gradients_per_row)
        answered: list[tuple[NDArray[Any], ...]] = []
        sent = 0
        try:
            for start in range(0, n, rows):
                stop = min(start + rows, n)
                padding = rows - (stop - start) if self.pads_blocks else 0
                blocks = [_block(array, start, stop, padding) for array in arrays]
                sent = stop
                parts = self._ask(call, blocks, start, stop)
                answered.append(tuple(part[: stop - start] for part in parts))
        finally:
            self._refund(n - sent, gradients_per_row)
        if len(answered) == 1:
            return list(answered[0])
        return [np.concatenate(parts) for parts in zip(*answered, strict=True)]

    def _ask(
        self,
        call: Callable[..., tuple[NDArray[Any], ...]],
        blocks: list[NDArray[Any]],
        start: int,
        stop: int,
    ) -> tuple[NDArray[Any], ...]:
        self._local.first_row = start
        try:
            return call(*blocks)
        except FireassayError:
            raise
        except Exception as failure:
            raise ModelError(
                f"The model must answer for every row; it failed on rows {start} to {stop - 1}, "
                f"sent in a block of shape {blocks[0].shape} ({blocks[0].dtype}).",
                got=f"{type(failure).__name__}: {failure}"[:500],
                do="Rows are sent as they are: check the shape and type that the model takes.",
            ) from failure

    # Counting -------------------------------------------------------------------------------

    def _reserve(self, n: int, gradients_per_row: int) -> None:
        probing = getattr(self._local, "probing", False)
        with self._lock:
            spent = self._counts["queries"] + self._counts["probe_queries"]
            if self.max_queries is not None and spent + n > self.max_queries:
                raise BudgetExceededError(
                    f"The budget is {self.max_queries} queries, of which "
                    f"{self.max_queries - spent} are left.",
                    got=f"a call with {n} rows; none was sent",
                    do="Send fewer rows, or raise max_queries.",
                )
            self._count({"probe_queries" if probing else "queries": n})
            self._count({"gradient_queries": n * gradients_per_row})

    def _refund(self, n: int, gradients_per_row: int) -> None:
        if n:
            probing = getattr(self._local, "probing", False)
            with self._lock:
                self._count({"probe_queries" if probing else "queries": -n})
                self._count({"gradient_queries": -n * gradients_per_row})

    def _count(self, asked: Mapping[str, int]) -> None:
        here = vars(self._local).setdefault("asked", dict.fromkeys(self._counts, 0))
        for kind, n in asked.items():
            self._counts[kind] += n
            here[kind] += n

    def asked_here(self) -> Mapping[str, int]:
        """What this thread has asked so far: queries, probe queries, gradient queries."""
        return dict(getattr(self._local, "asked", dict.fromkeys(self._counts, 0)))

    def count_elsewhere(self, asked: Mapping[str, int]) -> None:
        """Add what a copy of this model was asked in another process."""
        with self._lock:
            self._count(asked)

    @contextmanager
    def _probing(self) -> Iterator[None]:
        """Rows that this thread sends meanwhile are counted as probe queries."""
        self._local.probing = True
        try:
            yield
        finally:
            self._local.probing = False

    # Travelling to worker processes ---------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        del state["_lock"], state["_local"]
        with self._lock:
            state["_counts"] = dict(self._counts)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()
        self._local = threading.local()


def _block(array: NDArray[Any], start: int, stop: int, padding: int) -> NDArray[Any]:
    """A fresh block: a model that writes into its input never changes the caller's data."""
    if not padding:
        return np.array(array[start:stop], order="C")
    block = np.empty((stop - start + padding, *array.shape[1:]), dtype=array.dtype)
    block[: stop - start] = array[start:stop]
    block[stop - start :] = array[stop - 1]
    return block


def _refuse_text(X: ArrayLike) -> None:
    kind = getattr(getattr(X, "dtype", None), "kind", None)
    first: Any = X
    if isinstance(X, list | tuple) or (kind == "O" and getattr(X, "ndim", 0) == 1):
        first = next(iter(X), None)  # type: ignore[arg-type]
    if isinstance(first, str) or kind in ("U", "S"):
        raise DataError(
            SUPPORTED,
            got="text",
            do="Turn text into numbers (for example embeddings) first, and wrap the part of the "
            "model that takes those numbers.",
        )


def _checked_classes(classes: Sequence[Any]) -> tuple[Any, ...]:
    if isinstance(classes, str | bytes) or not hasattr(classes, "__iter__"):
        raise ParameterError(
            "The 'classes' parameter must be a sequence of class labels in column order.",
            got=repr(classes),
            do="For ten numbered classes pass classes=range(10).",
        )
    labels = tuple(c.item() if isinstance(c, np.generic) else c for c in classes)
    if len(labels) < 2 or len(set(labels)) != len(labels):
        raise ParameterError(
            "The 'classes' parameter must have at least two labels, each of them once.",
            got=repr(labels)[:200],
        )
    return labels


def _checked_bounds(bounds: tuple[float, float]) -> tuple[float, float]:
    try:
        low, high = bounds
    except (TypeError, ValueError) as failure:
        raise ParameterError(
            "The 'bounds' parameter must be two numbers (low, high).", got=repr(bounds)
        ) from failure
    low, high = check_real(low, "bounds[0]"), check_real(high, "bounds[1]")
    if low >= high:
        raise ParameterError("The 'bounds' parameter must have low < high.", got=f"{low}, {high}")
    return low, high


def _check_within(array: NDArray[Any], bounds: tuple[float, float]) -> None:
    low, high = bounds
    slack = _ROUNDING * (high - low)
    smallest, largest = float(array.min()), float(array.max())
    if smallest < low - slack or largest > high + slack:
        raise DataError(
            f"Inputs must lie within the declared bounds [{low:g}, {high:g}].",
            got=f"values from {smallest:g} to {largest:g}",
            do="Rescale X (0–255 images: X / 255), or declare other bounds in as_classifier.",
        )
