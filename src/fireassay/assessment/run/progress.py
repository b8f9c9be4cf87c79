"""How far a run is, and how long it will still take: one line on a terminal."""

import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Self

from fireassay.assessment.plan.plan import Plan
from fireassay.core import json_files
from fireassay.core.files import write_text
from fireassay.core.words import visible
from fireassay.engine.progress import DISPLAY

LIVE = "live.json"
EVERY_S = 10.0


class RunProgress:
    """A line of the display on standard error; where that is no terminal, a line every 10 s."""

    # The time left is the plan's, scaled by how long the finished parts took against their plan. In
    # a run folder ``live.json`` says the same to the app; it is gone when the run is over.

    def __init__(
        self,
        plan: Plan | None,
        names: Iterable[str],
        *,
        shown: bool | None = None,
        folder: Path | None = None,
    ):
        self._file = None if folder is None else folder / LIVE
        self.planned = {row.part: row.seconds for row in (plan.rows if plan else ())}
        self.waiting = list(names)
        self.total = len(self.waiting)
        self.seen_planned = self.seen_actual = 0.0
        self._shown = sys.stderr.isatty() if shown is None else shown
        self._spoken = shown is None and not self._shown
        self._over = threading.Event()
        self._part, self._started = "", time.monotonic()
        self._line: Any = None

    def begin(self, part: str) -> None:
        """A part starts."""
        self._part, self._started = part, time.monotonic()
        if self._shown:
            self._line = DISPLAY.add(self.line, self.total, self.total - len(self.waiting))
        if self._spoken:
            self._over = threading.Event()
            threading.Thread(target=self._speak, args=(self._over,), daemon=True).start()
        if self._file is not None:
            now = {
                "part": part,
                "number": self.total - len(self.waiting) + 1,
                "total": self.total,
                "began": round(time.time(), 1),
                "left_s": round(self.seconds_left(), 1),
            }
            write_text(self._file, json_files.dumps(now))

    def _speak(self, over: threading.Event) -> None:
        while not over.wait(EVERY_S):
            sys.stderr.write(visible(self.line()) + "\n")
            sys.stderr.flush()

    def over(self) -> None:
        """The run has come to its end."""
        if self._file is not None:
            self._file.unlink(missing_ok=True)

    def end(self, seconds: float | None) -> None:
        """The part is over; ``seconds`` None: it did not run, so it says nothing about speed."""
        self._over.set()
        if self._line is not None:
            DISPLAY.remove(self._line)
            self._line = None
        if self._part in self.waiting:
            self.waiting.remove(self._part)
        if seconds is not None and self._part in self.planned:
            self.seen_planned += self.planned[self._part]
            self.seen_actual += seconds

    def seconds_left(self) -> float:
        """Expected time until the last part is done."""
        # One unseen second on both sides keeps the first parts, which are short, from deciding.
        scale = (1.0 + self.seen_actual) / (1.0 + self.seen_planned)
        running = self._part in self.waiting
        spent = time.monotonic() - self._started if running else 0.0
        here = max(0.0, scale * self.planned.get(self._part, 0.0) - spent) if running else 0.0
        rest = [name for name in self.waiting if name != self._part]
        return here + scale * sum(self.planned.get(name, 0.0) for name in rest)

    def line(self) -> str:
        """What is going on."""
        number = self.total - len(self.waiting) + 1
        spent = time.monotonic() - self._started
        left = self.seconds_left()
        return f"[{number}/{self.total}] {self._part} {_clock(spent)}, about {_clock(left)} left"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end(None)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
