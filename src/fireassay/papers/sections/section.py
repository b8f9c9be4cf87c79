"""Rows and claims of one paper, and how they are written down."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mode
from typing import Any

from fireassay.papers.verdicts import NOT_RUN, PaperVerdict, Word

_DITTO = "″"


class Results:
    """Stored results by name, from the folders of the studies and the benchmarks."""

    def __init__(self, *folders: Path) -> None:
        self.folders = folders

    def __call__(self, name: str) -> Any:
        """The content of ``name.json``, or an empty dictionary."""
        for folder in self.folders:
            path = folder / f"{name}.json"
            if path.is_file():
                return json.loads(path.read_text())
        return {}


@dataclass(frozen=True)
class Row:
    """One table or figure: where it is made, their number, ours, and the verdict."""

    item: str
    shows: str
    command: str
    theirs: str
    ours: str
    verdict: PaperVerdict
    figure: str = ""


@dataclass(frozen=True)
class Claim:
    """A headline claim, its verdict, and what to believe by the word of the verdict."""

    text: str
    verdict: PaperVerdict
    believe: Mapping[Word, str]

    @property
    def belief(self) -> str:
        """What a reader should now believe."""
        usual = {
            "reproduced": "As they say.",
            "refuted": "Not as they say.",
            "other setting": self._elsewhere,
            "not decided": "Nobody knows yet.",
            "no public data": "Nobody can tell.",
        }
        return self.believe.get(self.verdict.word, usual[self.verdict.word])

    @property
    def _elsewhere(self) -> str:
        """What was found in another setting, and that it says nothing on theirs."""
        because = self.verdict.because
        if because.startswith("holds"):
            return "It holds in our setting too; theirs was not repeated."
        if because.startswith("does not hold"):
            return "Not in our setting; theirs was not repeated."
        if ", printed " in because:
            return "Another number in our setting; theirs was not repeated."
        return "Open: ours is another setting, theirs was not repeated."


@dataclass(frozen=True)
class Section:
    """One paper: its tables and figures, its claims, and what its stored results took.

    ``clock_seconds`` are those of tasks whose CPU time nobody counted: a busy machine adds to them.
    ``settings`` are differences from the paper that many rows share: told once, named in the rows.
    """

    title: str
    rows: Sequence[Row]
    claims: Sequence[Claim]
    cpu_seconds: float = 0.0
    clock_seconds: float = 0.0
    settings: Sequence[str] = ()

    @property
    def _spent(self) -> str:
        spent = [in_words(self.cpu_seconds)] if self.cpu_seconds else []
        if self.clock_seconds:
            spent.append(f"{in_words(self.clock_seconds)} of tasks by the clock")
        return " and ".join(spent) or "not recorded"

    def markdown(self, docs: Path) -> list[str]:
        """Lines of the page; figures are linked where they are drawn."""
        usual = mode(row.command for row in self.rows)
        lines = [
            f"## {self.title}",
            "",
            f"CPU time of the stored results: {self._spent}. By `{usual}` if no other is named.",
            *(f"\n*Setting {mark}*: {told}." for mark, told in self._marked.items()),
        ]
        if self.claims:
            lines += _head("they claim", "verdict", "what to believe now")
        lines += [f"| {c.text} | {self._short(c.verdict)} | {c.belief} |" for c in self.claims]
        lines += _head("table or figure", "shows", "theirs", "ours", "verdict")
        for before, row in zip((None, *self.rows), self.rows, strict=False):
            item = row.item if row.command in ("", usual) else f"{row.item}, `{row.command}`"
            if row.figure and (docs / row.figure).is_file():
                item += f" [figure]({row.figure})"
            shows = _DITTO if before and before.shows == row.shows else row.shows
            lines.append(
                f"| {item} | {shows} | {row.theirs} | {row.ours} | {self._short(row.verdict)} |"
            )
        return lines

    @property
    def _marked(self) -> dict[str, str]:
        return dict(zip("ABC", filter(None, self.settings), strict=False))

    def _short(self, verdict: PaperVerdict) -> str:
        told = str(verdict)
        for mark, setting in self._marked.items():
            told = told.replace(setting, f"setting {mark}")
        return told


def _head(*columns: str) -> list[str]:
    return ["", f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]


def in_words(seconds: float) -> str:
    """Hours, or seconds where they are few.

    >>> in_words(7200.0), in_words(9.4)
    ('2.00 hours', '9 seconds')
    """
    hours = seconds / 3600
    return f"{hours:.2f} hours" if hours >= 0.01 else f"{seconds:.0f} seconds"


def not_run(item: str, shows: str, command: str, theirs: str) -> Row:
    """A row whose result is not there."""
    return Row(item, shows, command, theirs, "–", NOT_RUN)
