"""Watch a model in operation: rows and labels as they come, a state that survives a kill."""

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from fireassay.assessment.watch.lines import Cursor, Line, Lines, as_text
from fireassay.core import DataError, StoreError, json_files, sha256
from fireassay.core.files import write_text
from fireassay.core.json_files import read_kept
from fireassay.core.words import percent
from fireassay.reliability import Monitor, MonitorState
from fireassay.version import __version__

STATE = "state.json"
REMEMBERED = 100_000
_SCHEMA = 3
_POINTS = 200
_REFUSED_SHARE = 0.01


@dataclass
class Counts:
    """What became of the lines."""

    refused: int = 0
    last_refusal: str = ""
    unmatched: int = 0
    forgotten: int = 0
    answered: int = 0


class Thinned:
    """A history of bounded length: when it is full every second point goes."""

    def __init__(self, points: Iterable[list[float]] = (), stride: int = 10) -> None:
        self.points, self.stride = list(points), stride

    def due(self, count: int) -> bool:
        """Whether a point belongs here; points stand at multiples of the stride."""
        if len(self.points) >= _POINTS:
            self.stride *= 2
            self.points = [point for point in self.points if point[0] % self.stride == 0]
        return count % self.stride == 0


class ReadsLines(Protocol):
    """Reads one line of a stream."""

    def read(self, text: str, header: str) -> Line:
        """One line; ``header`` is the first line of its table, or '' for JSON."""


class Watch:
    """A `Monitor` fed line by line, with labels matched to rows that came before."""

    def __init__(
        self,
        monitor: Monitor,
        reader: ReadsLines,
        folder: Path,
        about: str,
        remember: int = REMEMBERED,
    ) -> None:
        self.monitor, self.reader, self.folder = monitor, reader, folder
        self.about, self.remember = sha256(about, remember, __version__), remember
        self.cursor, self.counts = Cursor(), Counts()
        # A plain dict looks for its oldest key past all that were deleted.
        self.answers: OrderedDict[str, tuple[str, str]] = OrderedDict()
        self.errors, self.drift = Thinned(), Thinned()
        self._classes = [str(as_text(c)) for c in self.monitor.model.classes]
        if (folder / STATE).is_file():
            read_kept(folder / STATE, self._restore)

    @property
    def state(self) -> MonitorState:
        """Where things stand."""
        return self.monitor.state()

    @property
    def alarm(self) -> bool:
        """Whether errors or inputs have raised an alarm."""
        state = self.state
        return state.alarm or state.drifted

    @property
    def exit_code(self) -> int:
        """1: an alarm; 3: nothing that an alarm could come from was judged; 0: quiet."""
        if self.alarm:
            return 1
        return 3 if self.unjudged else 0

    @property
    def unjudged(self) -> str:
        """Why silence means nothing, in words; '' if it means something."""
        state = self.state
        if self.monitor.limit is None:
            return "errors raise no alarm without a limit or reference labels"
        if not state.n_labels:
            return "no label has come yet"
        if self.counts.refused > _REFUSED_SHARE * self.cursor.lines:
            return f"{self.counts.refused} of {self.cursor.lines} lines could not be understood"
        return ""

    @property
    def headline(self) -> str:
        """Where things stand, in a sentence."""
        state, found = self.state, []
        if state.alarm and self.monitor.limit is not None:
            found.append(f"the error rate has risen above {percent(self.monitor.limit, 2)}")
        if state.drifted:
            found.append("the inputs have changed")
        if found:
            return f"Alarm: {' and '.join(found)}."
        if self.unjudged:
            return f"Not enough evidence: {self.unjudged}."
        return (
            f"Quiet: {percent(state.pmi, 2)} of the last {state.n_recent} labels wrong, at most "
            f"{percent(state.pmi_upper, 2)} ({percent(self.monitor.confidence, 1)} confidence)."
        )

    def take(self, some: Lines) -> None:
        """Take in lines, in their order. How they were cut into pieces makes no difference."""
        lines = [line for line in (self._read(t, some.header) for t in some.lines) if line]
        answers = iter(self._answers([line for line in lines if line.row is not None]))
        marks: list[float] = []
        names: list[str] = []
        due = self._labels_due()
        for line in lines:
            answer, name = line.answer, ""
            if line.row is not None:
                said = next(answers)
                answer = said if answer is None else answer
            if answer is not None:
                name = line.group or str(self.counts.answered)
                self.counts.answered += 1
                marks.append(np.nan)
                names.append(name)
            judged = self._judged(line, answer, name)
            if judged is None:
                continue
            marks.append(judged[0])
            names.append(judged[1])
            due -= 1
            if due == 0:
                self.monitor.follow(marks, np.array(names))
                marks, names = [], []
                if self.errors.due(self.monitor.n_labels):
                    now = self.state
                    self.errors.points.append([now.n_labels, now.pmi, now.pmi_upper])
                due = self._labels_due()
        self.monitor.follow(marks, np.array(names, dtype=str))
        self.cursor = some.cursor

    def _labels_due(self) -> int:
        """How many labels there are until the next point of the history."""
        return self.errors.stride - self.monitor.n_labels % self.errors.stride

    def _read(self, text: str, header: str) -> Line | None:
        if not text.strip():
            return None
        try:
            line = self.reader.read(text, header)
            for name in (line.label, line.answer):
                if name is not None and name not in self._classes:
                    raise DataError("A class must be one of the model's.", got=repr(name))
        except DataError as error:
            self.counts.refused += 1
            self.counts.last_refusal = str(error)
            return None
        return line

    def _answers(self, lines: list[Line]) -> list[str]:
        """What the model says to rows, which are looked at for drift on the way."""
        found: list[str] = []
        while lines:
            seen = self.monitor.n_rows
            now = min(len(lines), self.drift.stride - seen % self.drift.stride)
            some, lines = lines[:now], lines[now:]
            X = np.concatenate([line.row for line in some])
            found += [self._classes[i] for i in self.monitor.see(X, expected=False).tolist()]
            if self.drift.due(self.monitor.n_rows):
                self.drift.points.append([self.monitor.n_rows, self.state.drift_p])
        return found

    def _judged(self, line: Line, answer: str | None, name: str) -> tuple[bool, str] | None:
        """Whether the answer was wrong, and whose it was; None: no label, or no answer for it."""
        if line.label is None:
            if line.id is not None and answer is not None:
                self.answers[line.id] = answer, name
                if len(self.answers) > self.remember:
                    self.answers.popitem(last=False)
                    self.counts.forgotten += 1
            return None
        if answer is None and line.id is not None:
            answer, name = self.answers.pop(line.id, (None, ""))
        if answer is None:
            self.counts.unmatched += 1
            return None
        return answer != line.label, name

    def save(self) -> None:
        """Put the state down, whole or not at all; equal lines give equal bytes."""
        content = {
            "schema": _SCHEMA,
            "about": self.about,
            "headline": self.headline,
            "exit_code": self.exit_code,
            "now": asdict(self.state),
            "cursor": asdict(self.cursor),
            "counts": asdict(self.counts),
            "errors": {"points": self.errors.points, "stride": self.errors.stride},
            "drift": {"points": self.drift.points, "stride": self.drift.stride},
            "waiting": [[key, *kept] for key, kept in self.answers.items()],
            "monitor": self.monitor.snapshot(),
        }
        write_text(self.folder / STATE, json_files.dumps(content) + "\n")

    def _restore(self, kept: Any) -> None:
        path = self.folder / STATE
        if not isinstance(kept, dict) or kept.get("schema") != _SCHEMA:
            raise StoreError(f"{path} must be a state of fireassay watch.", got="another file")
        if kept["about"] != self.about:
            raise StoreError(
                f"{path} belongs to another model, reference, version or setting.",
                got="a state that cannot be gone on from",
                do="Begin a new one: --output OTHER-FOLDER",
            )
        self.cursor, self.counts = Cursor(**kept["cursor"]), Counts(**kept["counts"])
        self.errors, self.drift = Thinned(**kept["errors"]), Thinned(**kept["drift"])
        self.answers = OrderedDict((key, (said, name)) for key, said, name in kept["waiting"])
        self.monitor.restore(kept["monitor"])
