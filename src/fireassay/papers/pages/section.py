"""Rows and claims of one paper, and how they are written down."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mode
from typing import Any

from fireassay.papers.verdicts import NOT_RUN, Finding, PaperVerdict

_DITTO = "″"
DETAILS = "papers/tables.md"
"""The page, beside docs/papers.md, with every row of the tables that are one row there."""


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
    price: str = ""


@dataclass(frozen=True)
class Claim:
    """What a paper says, in our words; where it says so; the finding; and what to believe.

    ``also`` is what came out in a setting of ours, where the finding is about theirs.
    """

    text: str
    where: str
    verdict: PaperVerdict
    believe: Mapping[Finding, str]
    price: str = ""
    also: PaperVerdict | None = None

    @property
    def belief(self) -> str:
        """What a reader should now believe."""
        usual: dict[Finding, str] = {
            "agrees": "As they say.",
            "differs": "Not as they say.",
            "open": "Nobody knows yet.",
        }
        if self.verdict.setting == "ours":
            usual = {
                "agrees": "It holds in our setting too; theirs was not repeated.",
                "differs": "Not in our setting; theirs was not repeated.",
                "open": "Open: ours is another setting, theirs was not repeated.",
            }
        told = self.believe.get(self.verdict.finding, usual[self.verdict.finding])
        return told if self.also is None else f"{told} In our setting: {self.also}."


@dataclass(frozen=True)
class Ladder:
    """A correction in steps: as printed, as published and rerun, each fault removed, our advice."""

    title: str
    steps: Sequence[str]

    def __str__(self) -> str:
        return f"- **{self.title}**: {' → '.join(self.steps)}."


@dataclass(frozen=True)
class Section:
    """One paper: its tables and figures, its claims, and what its stored results took.

    ``clock_seconds`` are those of tasks whose CPU time nobody counted: a busy machine adds to them.
    ``settings`` are differences from the paper that many rows share: told once, named in the rows.
    ``price`` is what a row in our setting would take in theirs, if the row does not say it.
    ``details`` are rows of tables that are one row of the page, for a page of their own.
    """

    title: str
    rows: Sequence[Row]
    claims: Sequence[Claim]
    cpu_seconds: float = 0.0
    clock_seconds: float = 0.0
    settings: Sequence[str] = ()
    ladders: Sequence[Ladder] = ()
    price: str = ""
    details: Sequence[Row] = ()

    @property
    def verdicts(self) -> list[PaperVerdict]:
        """Of all rows and claims."""
        return [*(row.verdict for row in self.rows), *(claim.verdict for claim in self.claims)]

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
        if self.ladders:
            lines += ["", "Corrections, step by step:", "", *map(str, self.ladders)]
        if self.claims:
            lines += _head("they say", "where", "setting", "finding", "what to believe now")
        lines += [
            f"| {c.text} | {c.where} | {self._setting(c)} | {c.verdict} | {c.belief} |"
            for c in self.claims
        ]
        return lines + self._table(self.rows, usual, docs)

    def detailed(self, docs: Path) -> list[str]:
        """Lines of the page with the rows of its tables, one by one."""
        return [f"## {self.title}", *self._table(self.details, self.details[0].command, docs)]

    def _table(self, rows: Sequence[Row], usual: str, docs: Path) -> list[str]:
        lines = _head("table or figure", "shows", "theirs", "ours", "setting", "finding")
        for before, row in zip((None, *rows), rows, strict=False):
            item = row.item if row.command in ("", usual) else f"{row.item}, `{row.command}`"
            if row.figure and (docs / row.figure).is_file():
                item += f" [figure]({row.figure})"
            shows = _DITTO if before and before.shows == row.shows else row.shows
            lines.append(
                f"| {item} | {shows} | {row.theirs} | {row.ours} | {self._setting(row)} "
                f"| {row.verdict} |"
            )
        return lines

    @property
    def _marked(self) -> dict[str, str]:
        return dict(zip("ABC", filter(None, self.settings), strict=False))

    def _setting(self, judged: Row | Claim) -> str:
        differs = judged.verdict.differs
        for mark, shared in self._marked.items():
            differs = differs.replace(shared, f"setting {mark}")
        if not differs:
            return judged.verdict.setting
        return f"ours: {differs} (theirs: {judged.price or self.price or 'no price known'})"


def _head(*columns: str) -> list[str]:
    return ["", f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]


def in_words(seconds: float) -> str:
    """Hours, or seconds where they are few.

    >>> in_words(7200.0), in_words(9.4)
    ('2.00 hours', '9 seconds')
    """
    hours = seconds / 3600
    return f"{hours:.2f} hours" if hours >= 0.01 else f"{seconds:.0f} seconds"


def as_printed(verdict: PaperVerdict) -> PaperVerdict:
    """A sentence beside the numbers that they print."""
    return replace(verdict, printed=True, differs="")


def grouped(item: str, rows: Sequence[Row], price: str = "") -> Row:
    """A printed table in a setting of ours: one row of the page, its own rows on another."""
    findings = Counter(row.verdict.finding for row in rows)
    order: tuple[Finding, ...] = ("differs", "open", "agrees")
    worst = next(finding for finding in order if findings[finding])
    told = ", ".join(f"{findings[name]} {name}" for name in reversed(order) if findings[name])
    one = next(row for row in rows if row.verdict.finding == worst)
    differs = one.verdict.differs
    verdict = PaperVerdict(worst, f"{one.item.split(': ')[-1]}: {one.verdict.because}", differs)
    return Row(
        f"{item} [row by row]({DETAILS})", rows[0].shows, rows[0].command,
        f"{len(rows)} printed rows", told, verdict, price=price,
    )  # fmt: skip


def not_run(item: str, shows: str, command: str, theirs: str) -> Row:
    """A row whose result is not there."""
    return Row(item, shows, command, theirs, "–", NOT_RUN)
