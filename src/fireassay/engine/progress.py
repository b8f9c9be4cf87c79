"""A progress bar that appears on a terminal only, and only when work takes over a second."""

import sys
import time
from collections.abc import Iterable, Iterator, Sized
from types import TracebackType
from typing import Any, Self, TypeVar

Item = TypeVar("Item")
_PATIENCE_S = 1.0


def track(iterable: Iterable[Item], description: str, total: int | None = None) -> Iterator[Item]:
    """Yield the items of an iterable, with a progress bar if a person is there to see it.

    The bar appears on standard error, only if that is a terminal and only after one second, and
    is gone when the work is done. Files, pipes and logs stay clean.

    Parameters
    ----------
    iterable
        What to go through.
    description
        What the bar says.
    total
        The number of items, where ``len(iterable)`` is not available.

    >>> sum(track(range(4), "adding"))
    6
    """
    if total is None and isinstance(iterable, Sized):
        total = len(iterable)
    with ProgressBar(description, total) as bar:
        for item in iterable:
            yield item
            bar.advance()


class ProgressBar:
    """A bar to advance by hand; silent unless standard error is a terminal."""

    def __init__(
        self, description: str, total: int | None, *, done: int = 0, shown: bool | None = None
    ) -> None:
        self._description = description
        self._total = total
        self._shown = sys.stderr.isatty() if shown is None else shown
        self._started = time.monotonic()
        self._done = done
        self._bar: Any = None
        self._line: Any = None

    def advance(self) -> None:
        """Count one more finished item."""
        self._done += 1
        if self._bar is not None:
            self._bar.update(self._line, completed=self._done)
        elif self._shown and time.monotonic() - self._started > _PATIENCE_S:
            self._open()

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
        from rich.progress import TimeRemainingColumn as Remaining

        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            Remaining(),
            console=Console(stderr=True),
            transient=True,
        )
        self._line = self._bar.add_task(self._description, total=self._total, completed=self._done)
        self._bar.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
