"""Progress on a terminal: one display for all who report, only when work takes over a second."""

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from typing import Any, Self, TypeVar

from fireassay.core.words import visible

Item = TypeVar("Item")
_PATIENCE_S = 1.0


class Display:
    """All progress lines in one `rich` display on standard error, because two would collide."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._shown: Any = None
        self._lines = 0

    def add(self, text: Callable[[], str], total: int | None, done: int = 0) -> Any:
        """A line whose text is asked for whenever it is drawn; returns its key."""
        with self._lock:
            if self._shown is None:
                self._shown = _open()
            self._lines += 1
            return self._shown.add_task("", total=total, completed=done, text=text)

    def update(self, key: Any, done: int) -> None:
        """How many are done."""
        self._shown.update(key, completed=done)

    def remove(self, key: Any) -> None:
        """A line is gone; with the last one the display is."""
        with self._lock:
            self._shown.remove_task(key)
            self._lines -= 1
            if not self._lines:
                self._shown.stop()
                self._shown = None


def _open() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task
    from rich.text import Text

    class Line(ProgressColumn):
        """The line's text as it is now; names in it are no markup."""

        max_refresh = 0.5

        def render(self, task: Task) -> Text:
            return Text(visible(str(task.fields["text"]())))

    class Done(MofNCompleteColumn):
        """How many of how many; nothing where nobody knows."""

        def render(self, task: Task) -> Text:
            return Text() if task.total is None else super().render(task)

    shown = Progress(
        Line(),
        BarColumn(bar_width=20),
        Done(),
        console=Console(stderr=True),
        transient=True,
        # What goes into a file or a pipe must stay there.
        redirect_stdout=sys.stdout.isatty(),
    )
    shown.start()
    return shown


DISPLAY = Display()


def track(iterable: Iterable[Item], description: str, total: int | None = None) -> Iterator[Item]:
    """Yield the items of an iterable, with a progress bar if a person is there to see it.

    The bar appears on standard error, only if that is a terminal and only after one second, and
    is gone when the work is done. Files, pipes and logs stay clean.

    Args:
        iterable: What to go through.
        description: What the bar says.
        total: The number of items, where ``len(iterable)`` is not available.

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
        self._line: Any = None

    def advance(self, items: int = 1) -> None:
        """Count finished items."""
        self._done += items
        if self._line is not None:
            DISPLAY.update(self._line, self._done)
        elif self._shown and time.monotonic() - self._started > _PATIENCE_S:
            self._line = DISPLAY.add(lambda: self._description, self._total, self._done)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._line is not None:
            DISPLAY.remove(self._line)
            self._line = None
