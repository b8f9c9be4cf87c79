"""A polite request to end (SIGTERM) unwinds the program like Ctrl-C does."""

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType


@contextlib.contextmanager
def orderly_termination() -> Iterator[None]:
    """While inside, SIGTERM raises ``SystemExit(143)``: files are closed and workers ended.

    A program that handles SIGTERM itself keeps its own way, and threads are left alone.
    """
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


def _leave(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)
