"""Labelling functions: rules of thumb as plain Python functions, and their votes on samples."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from fireassay.core.arrays import AnyArray, is_frame
from fireassay.core.errors import DataError, ParameterError
from fireassay.core.hashing import sha256
from fireassay.core.validation import check_choice, check_integer
from fireassay.curation.votes import ABSTAIN, MOST_CLASSES
from fireassay.data.dataset import DataSet
from fireassay.engine import Executor, track


@dataclass(frozen=True, eq=False)
class LabellingFunction:
    """A rule of thumb: given a sample it votes for a class, or abstains with -1.

    Attributes:
        function: What decides; it can also be called directly through this object.
        name, meaning: What tables and reports call it, and what it says in plain words.
        batch: Whether it sees a block of samples at once and returns one vote for each.
    """

    function: Callable[[Any], Any]
    name: str
    meaning: str
    batch: bool = False

    def __call__(self, sample: Any) -> Any:
        """The vote for one sample, or the votes for a block."""
        return self.function(sample)

    @property
    def sha256(self) -> str:
        """A hash of the source text, which tells two versions of a rule apart."""
        try:
            text = inspect.getsource(self.function)
        except (OSError, TypeError):
            text = repr(getattr(self.function, "__code__", self.function))
        return sha256(self.name, text, self.batch)


@overload
def labelling_function(function: Callable[[Any], Any]) -> LabellingFunction: ...
@overload
def labelling_function(
    *, name: str | None = None, meaning: str | None = None, batch: bool = False
) -> Callable[[Callable[[Any], Any]], LabellingFunction]: ...
def labelling_function(
    function: Callable[[Any], Any] | None = None,
    *,
    name: str | None = None,
    meaning: str | None = None,
    batch: bool = False,
) -> LabellingFunction | Callable[[Callable[[Any], Any]], LabellingFunction]:
    """Make a labelling function of a plain function, with or without arguments.

    Args:
        function: Takes a sample (a row of an array or a data frame, a time-series window, a text …)
            and returns a class 0, 1, … or -1 to abstain.
        name: The function's own name by default.
        meaning: The first line of the function's docstring by default.
        batch: The function takes a block of samples and returns as many votes. Each sample must be
            judged on its own: how samples are put into blocks is not defined.

    >>> @labelling_function(meaning="a heart rate over 120 is not normal")
    ... def fast(row):
    ...     return 1 if row["heart_rate"] > 120 else -1
    >>> fast.name, fast({"heart_rate": 140})
    ('fast', 1)
    """

    def wrap(plain: Callable[[Any], Any]) -> LabellingFunction:
        if not callable(plain):
            raise ParameterError("A labelling function must be callable.", got=type(plain).__name__)
        chosen = name or getattr(plain, "__name__", type(plain).__name__)
        first_line = (inspect.getdoc(plain) or "").split("\n")[0]
        described = first_line if meaning is None else meaning
        return LabellingFunction(plain, str(chosen), described, batch)

    return wrap if function is None else wrap(function)


_BLOCK_ROWS = 1024
_MOST_LISTED = 8


@dataclass(frozen=True)
class VoteFailure:
    """A labelling function that failed: its name, the first sample it failed on, the error."""

    name: str
    row: int
    error: str

    def __str__(self) -> str:
        return f"'{self.name}' on row {self.row}: {self.error}"


class LabellingError(DataError):
    """Some labelling functions failed; all others were tried on all samples first."""

    def __init__(
        self, expected: str, *, failures: Sequence[VoteFailure] = (), **parts: str | None
    ) -> None:
        super().__init__(expected, **parts)
        self.failures = tuple(failures)


def apply(
    lfs: Sequence[Any],
    X: Any,
    n_classes: int | None = None,
    *,
    workers: int = 1,
    backend: str = "processes",
    cluster: Any = None,
    progress: Callable[[int, int], None] | bool | None = None,
) -> AnyArray:
    """The votes of labelling functions on samples, shape (n, m); -1 abstains.

    Args:
        lfs: Labelling functions, or plain functions.
        X: An array (each function sees ``X[i]``), a data frame (a row as a Series), a `DataSet`,
            `Windows` of time series, or any sequence of samples.
        n_classes: If given, votes above ``n_classes - 1`` are an error.
        workers: Processes or threads to use.
        backend: ``"processes"`` or ``"threads"``.
        cluster: Address of a Dask scheduler, or a client; instead of ``workers``.
        progress: None: a bar on a terminal; False: none; a function gets ``(done, total)`` blocks.

    Returns:
        ndarray: int8 (int16 with more than 127 classes).

    Raises:
        LabellingError: When a labelling function raises, or returns something that is not a vote:
            named with the first sample it failed on. A failure is never taken for an abstention.

    >>> apply([lambda row: 1 if row[0] > 2 else -1], np.array([[1.0], [3.0]])).tolist()
    [[-1], [1]]
    """
    check_integer(workers, "workers", low=1)
    check_choice(backend, "backend", ("processes", "threads"))
    functions = [lf if isinstance(lf, LabellingFunction) else labelling_function(lf) for lf in lfs]
    if not functions:
        raise ParameterError("apply needs at least one labelling function.", got="none")
    names = [function.name for function in functions]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ParameterError("Labelling functions must have different names.", got=repr(twice))
    if isinstance(X, DataSet):
        X = X.X
    n = len(X)
    if n == 0:
        raise DataError("X must have at least 1 row.", got="0 rows")
    most = MOST_CLASSES if n_classes is None else check_integer(n_classes, "n_classes", low=2)
    blocks = [(start, min(start + _BLOCK_ROWS, n)) for start in range(0, n, _BLOCK_ROWS)]
    shared = {"functions": functions, "X": X, "most": most}
    if backend == "threads":
        found = _in_threads(blocks, shared, workers)
    else:
        executor = Executor(workers=workers, cluster=cluster, progress=progress)
        found = executor.map(vote_block, blocks, shared, name="labelling")
    _raise_failures([failure for _, failures in found for failure in failures])
    votes = np.concatenate([block for block, _ in found])
    return votes if votes.max() > 127 else votes.astype(np.int8)


def vote_block(
    rows: Sequence[int], functions: list[LabellingFunction], X: Any, most: int
) -> tuple[NDArray[np.int16], list[VoteFailure]]:
    """Votes of all functions on one block of samples, and what failed."""
    start, stop = rows
    block, samples = _samples(X, start, stop)
    votes = np.full((stop - start, len(functions)), ABSTAIN, dtype=np.int16)
    failures = []
    for column, function in enumerate(functions):
        row = start
        try:
            if function.batch:
                answers = np.asarray(function(block))
                if answers.shape != (stop - start,):
                    raise ValueError(
                        f"expected {stop - start} votes, got an array of shape {answers.shape}"
                    )
                for offset, answer in enumerate(answers.tolist()):
                    row = start + offset
                    votes[offset, column] = _vote(answer, most)
            else:
                for offset, sample in enumerate(samples):
                    row = start + offset
                    votes[offset, column] = _vote(function(sample), most)
        except Exception as error:  # noqa: BLE001 - named with its row, and raised at the end
            failures.append(VoteFailure(function.name, row, f"{type(error).__name__}: {error}"))
    return votes, failures


def _vote(answer: Any, most: int) -> int:
    if isinstance(answer, bool | np.bool_) or not isinstance(answer, int | np.integer):
        raise TypeError(f"expected a class number or -1 to abstain, got {answer!r}")
    if not ABSTAIN <= int(answer) < most:
        raise ValueError(f"expected -1 to abstain or a class 0..{most - 1}, got {int(answer)}")
    return int(answer)


def _samples(X: Any, start: int, stop: int) -> tuple[Any, list[Any]]:
    """A block as the batch functions see it, and its samples one by one."""
    if is_frame(X):
        block = X.iloc[start:stop]
        return block, [row for _, row in block.iterrows()]
    if isinstance(X, np.ndarray):
        return X[start:stop], list(X[start:stop])
    return X[start:stop], [X[i] for i in range(start, stop)]


def _in_threads(
    blocks: list[tuple[int, int]], shared: dict[str, Any], workers: int
) -> list[tuple[NDArray[np.int16], list[VoteFailure]]]:
    with ThreadPoolExecutor(workers) as pool:
        done = pool.map(lambda block: vote_block(block, **shared), blocks)
        return list(track(done, "labelling", total=len(blocks)))


def _raise_failures(failures: list[VoteFailure]) -> None:
    first: dict[str, VoteFailure] = {}
    for failure in failures:
        first.setdefault(failure.name, failure)
    if first:
        shown = "; ".join(str(failure) for failure in list(first.values())[:_MOST_LISTED])
        more = f"; and {len(first) - _MOST_LISTED} more" if len(first) > _MOST_LISTED else ""
        raise LabellingError(
            "Every labelling function must return a vote for every sample.",
            got=f"{len(first)} that failed: {shown}{more}",
            do="Correct them, or leave them out; abstain with -1 where a rule does not apply.",
            failures=list(first.values()),
        )
