"""Foreign code that is read or asked: it may raise anything, exit, or never come back."""

import contextlib
import signal
import threading
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from fireassay.classifiers.blocks import Call
from fireassay.core.arrays import AnyArray
from fireassay.core.errors import FireassayError, ModelError
from fireassay.core.mapped import stay_bytes
from fireassay.core.watchdog import AskedToEnd, HangsError, Watch, watched

HANG_S: Final = 1800.0
_READING = threading.local()
_WHERE = "[run] hang_minutes, or --hang-minutes"
_WAITS = "See what it waits for: a lock, a server, input()."


def asked(
    call: Call, blocks: Sequence[AnyArray], start: int, stop: int, hang_s: float
) -> tuple[AnyArray, ...]:
    """What the model answers for one block, which holds rows ``start`` to ``stop`` - 1."""
    watch: Watch | None = None
    try:
        with watched(hang_s, "The model") as watch:
            return call(*blocks)
    except (FireassayError, AskedToEnd):
        raise
    except (Exception, SystemExit, KeyboardInterrupt, HangsError) as failure:
        if watch is not None and watch.hangs:
            raise ModelError(
                f"The model must answer for a block of {len(blocks[0])} rows within "
                f"{hang_s / 60:.3g} minutes.",
                got="no answer",
                do=f"{_WAITS} If it is only slow, allow more minutes ({_WHERE}), or smaller blocks "
                "([model] batch_size).",
            ) from None
        if watch is None or watch.interrupted or _may_be_the_user(failure):
            raise
        sent = f" of shape {blocks[0].shape} ({blocks[0].dtype})" if blocks[0].ndim > 1 else ""
        raise ModelError(
            f"The model must answer for every row; it failed on rows {start} to {stop - 1}, "
            f"sent in a block{sent}.",
            got=f"{type(failure).__name__}: {failure}"[:500],
            do="Rows are sent as they are: check the shape and type that the model takes.",
        ) from failure


@contextlib.contextmanager
def read_in_time(hang_s: float) -> Iterator[None]:
    """While a model is read: what its code must not do is an error of the model."""
    # Reading may read another one (a name leads to a file): the outermost counts.
    if getattr(_READING, "is_under_way", False):
        yield
        return
    _READING.is_under_way = True
    watch: Watch | None = None
    try:
        with watched(hang_s, "Reading the model") as watch:
            yield
    except AskedToEnd:
        raise
    except (SystemExit, KeyboardInterrupt, HangsError) as failure:
        if watch is not None and watch.hangs:
            raise ModelError(
                f"A model must be read within {hang_s / 60:.3g} minutes.",
                got="code that has not come back",
                do=f"{_WAITS} If it is only slow, allow more minutes ({_WHERE}).",
            ) from None
        if watch is None or watch.interrupted or _may_be_the_user(failure):
            raise
        raise ModelError(
            "A model must be there when its code was read.",
            got=f"code that ends the program ({type(failure).__name__}: {failure})",
            do="Take sys.exit() out of it.",
        ) from failure
    finally:
        _READING.is_under_way = False


def fresh_block(array: AnyArray, start: int, stop: int, padding: int) -> AnyArray:
    """A fresh block: a model that writes into its input never changes the caller's data."""
    rows: Any = array[start:stop]
    if stay_bytes(rows):  # so large that they stay bytes even here
        rows = rows.floats()
    if not padding:
        return np.array(rows, order="C", copy=None if stay_bytes(array) else True)
    block = np.empty((len(rows) + padding, *rows.shape[1:]), dtype=rows.dtype)
    block[: len(rows)] = rows
    block[len(rows) :] = rows[-1]
    return block


class Answers:
    """The answers of several blocks in their places, each number copied once."""

    def __init__(self, n: int) -> None:
        self._n = n
        self._parts: list[AnyArray] = []

    def put(self, start: int, stop: int, answered: Sequence[AnyArray]) -> None:
        """Copy what came for rows ``start`` to ``stop`` - 1: it may be the model's own memory."""
        if stop - start == self._n:
            self._parts = [np.array(part) for part in answered]
            return
        if not self._parts:
            self._parts = [np.empty((self._n, *a.shape[1:]), dtype=a.dtype) for a in answered]
        for place, (whole, part) in enumerate(zip(self._parts, answered, strict=True)):
            if part.shape[1:] != whole.shape[1:]:
                raise ModelError(
                    f"A model must answer every block in one form, {whole.shape[1:]} for a row.",
                    got=f"{part.shape[1:]} from row {start} on",
                )
            if part.dtype != whole.dtype:
                whole = whole.astype(np.result_type(whole, part), copy=False)
                self._parts[place] = whole
            whole[start:stop] = part

    def whole(self) -> list[AnyArray]:
        """All answers, in the rows' order."""
        return self._parts


def _may_be_the_user(failure: BaseException) -> bool:
    """Ctrl-C in a program that handles interrupts in its own way cannot be told apart."""
    own = (signal.default_int_handler, signal.SIG_IGN, signal.SIG_DFL)
    return (
        isinstance(failure, KeyboardInterrupt)
        and threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) not in own
    )
