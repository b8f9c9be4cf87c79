"""Time limit for user code, and telling its KeyboardInterrupt from the user's Ctrl-C."""

import contextlib
import ctypes
import faulthandler
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

STUCK_EXIT = 3
_POLL_S = 1.0
_GRACE_S = 60.0
_LOCKED_S = 60.0  # more than that, where no thread of Python's can even look


class AskedToEnd(SystemExit):
    """Somebody asked this process to end (SIGTERM); no foreign code's ``sys.exit``."""


class HangsError(BaseException):
    """Injected into a thread that exceeded its time limit."""


@dataclass(eq=False)
class Watch:
    """One call of foreign code, watched."""

    limit_s: float
    what: str
    thread: int = field(default_factory=threading.get_ident)
    began: float = field(default_factory=time.monotonic)
    by_signal: bool = False
    hangs: bool = False
    interrupted: bool = False

    def on_interrupt(self, _number: int, _frame: Any) -> None:
        """Instead of Python's own handler of SIGINT."""
        if not self.hangs:
            self.interrupted = True
        raise KeyboardInterrupt


class _Watchdog:
    """One thread that looks at all calls under way."""

    def __init__(self) -> None:
        self.forget()
        self.exits = False

    def forget(self) -> None:
        """Nothing is watched: at first, and in a process that was forked off."""
        self.lock = threading.Lock()
        self.calls: dict[int, Watch] = {}
        self.short = threading.Event()
        self.running: threading.Thread | None = None
        self.ends_at = 0.0

    def begin(self, watch: Watch) -> None:
        with self.lock:
            self.calls[id(watch)] = watch
            if self.running is None:
                self.running = threading.Thread(
                    target=self._look, daemon=True, name="fireassay-watchdog"
                )
                self.running.start()
            if self.exits and self.ends_at < time.monotonic() + watch.limit_s + _LOCKED_S:
                self._arm(2 * watch.limit_s + _LOCKED_S)
        if watch.limit_s < 4 * _POLL_S:
            self.short.set()

    def end(self, watch: Watch) -> None:
        with self.lock:
            self.calls.pop(id(watch), None)
            if watch.hangs and not watch.by_signal:  # it came back by itself: nothing to raise
                _raise_in(watch.thread, None)

    def _arm(self, seconds: float) -> None:
        """End the process at that time unless armed anew; this clock needs no GIL."""
        self.ends_at = time.monotonic() + seconds
        with contextlib.suppress(OSError, ValueError, AttributeError):  # no standard error
            faulthandler.dump_traceback_later(seconds, exit=True, file=sys.__stderr__ or 2)

    def _disarm(self) -> None:
        if self.ends_at:
            self.ends_at = 0.0
            faulthandler.cancel_dump_traceback_later()

    def _look(self) -> None:
        while True:
            with self.lock:
                calls = list(self.calls.values())
                for watch in calls:
                    late = time.monotonic() - watch.began - watch.limit_s
                    if late > 0 and not watch.hangs:
                        _interrupt(watch)
                    elif late > min(watch.limit_s, _GRACE_S) and self.exits:
                        _leave(watch)
                if not calls:
                    self._disarm()
                elif self.ends_at:
                    self._arm(2 * max(watch.limit_s for watch in calls) + _LOCKED_S)
            shortest = min((watch.limit_s for watch in calls), default=4 * _POLL_S)
            self.short.wait(min(_POLL_S, shortest / 4))
            self.short.clear()


_watchdog = _Watchdog()
os.register_at_fork(after_in_child=_watchdog.forget)


def exit_if_stuck() -> None:
    """End this process where code hangs and cannot be interrupted: for programs, not notebooks."""
    _watchdog.exits = True


@contextlib.contextmanager
def watched(limit_s: float, what: str) -> Iterator[Watch]:
    """Interrupt the body after ``limit_s`` s: `KeyboardInterrupt` in the main thread."""
    # ``hangs`` is set, elsewhere the error is `HangsError`. Compiled code that never looks at
    # signals cannot be interrupted: that is said on standard error, and after `exit_if_stuck` the
    # process ends with `STUCK_EXIT` (or 1, with a traceback, if the code holds Python's lock).
    watch = Watch(limit_s, what)
    main = threading.current_thread() is threading.main_thread()
    watch.by_signal = main and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if watch.by_signal:
        signal.signal(signal.SIGINT, watch.on_interrupt)
    try:
        _watchdog.begin(watch)
        yield watch
    finally:
        try:
            _watchdog.end(watch)
        finally:
            if watch.by_signal:
                _restore()


def _restore() -> None:
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    except KeyboardInterrupt:  # one that arrived at this very moment is handled first
        signal.signal(signal.SIGINT, signal.default_int_handler)
        raise


def _interrupt(watch: Watch) -> None:
    watch.hangs = True
    if watch.by_signal:
        signal.pthread_kill(watch.thread, signal.SIGINT)
    else:
        _raise_in(watch.thread, HangsError)


def _raise_in(thread: int, kind: type[BaseException] | None) -> None:
    wanted = None if kind is None else ctypes.py_object(kind)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), wanted)


def _leave(watch: Watch) -> None:
    sys.stderr.write(
        f"Error: {watch.what} has not come back for {time.monotonic() - watch.began:.0f} s, and "
        "cannot be interrupted. This process ends; what is done is kept.\n"
    )
    sys.stderr.flush()
    os._exit(STUCK_EXIT)
