"""A polite request to end (SIGTERM) unwinds the program like Ctrl-C does."""

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

from fireassay.core.watchdog import AskedToEnd
from fireassay.engine.local import ExecutionError

ASKED_TO_END = 128 + signal.SIGTERM


@contextlib.contextmanager
def orderly_termination() -> Iterator[None]:
    """While inside, SIGTERM raises `AskedToEnd` (exit 143): files are closed, workers ended."""
    # A program that handles SIGTERM itself keeps its own way, and threads are left alone.
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
    ):
        yield
        return
    signal.signal(signal.SIGTERM, _leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


@contextlib.contextmanager
def no_other_exit(who: str) -> Iterator[None]:
    """While inside, a ``SystemExit`` that nobody asked for by SIGTERM is an error of ``who``."""
    try:
        yield
    except AskedToEnd:
        raise
    except SystemExit as error:
        raise ExecutionError(
            "A run must come to its end.",
            got=f"{who} ended the program (SystemExit: {error.code})",
            do="Take sys.exit() out of its code: raise an error, or return an answer.",
        ) from error


def _leave(_number: int, _frame: FrameType | None) -> None:
    raise AskedToEnd(ASKED_TO_END)
