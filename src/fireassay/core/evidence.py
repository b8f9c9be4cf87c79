"""Evidence: what a part of an assessment found, in the form the report understands."""

import contextlib
import dataclasses
import functools
import importlib.metadata
import os
import platform
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict

from fireassay.core.chart import Chart
from fireassay.core.errors import ParameterError
from fireassay.core.estimate import Estimate
from fireassay.core.measure import Measure, find_measure
from fireassay.core.sample import Sample
from fireassay.version import __version__

AssumptionStatus = Literal["supported", "contradicted", "untestable"]
EvidenceStatus = Literal["done", "failed", "not available"]
_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
CELL_ROWS = "rows of each cell"  # a table of row ids: left out with the samples
_LIBRARIES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "pandas",
    "torch",
    "onnxruntime",
    "vl-convert-python",
)


@dataclass(frozen=True)
class Assumption:
    """Something a number depends on, and what the data says about it.

    Attributes:
        statement: The assumption in one plain sentence.
        status: ``"supported"``, ``"contradicted"`` or ``"untestable"`` on the user's data.
        check: How it was checked, with the check's figure, or why it cannot be.
        id: A short stable name, e.g. ``"independent-rows"``, for `Estimate.rests_on` and gates.

    >>> Assumption("Rows are independent.", "untestable", "", id="independent-rows").status
    'untestable'
    """

    statement: str
    status: AssumptionStatus
    check: str
    id: str = ""

    def __post_init__(self) -> None:
        if self.id and not _ID.fullmatch(self.id):
            raise ParameterError(
                "An assumption's id is lower-case words joined by hyphens.", got=repr(self.id)
            )
        if self.status not in ("supported", "contradicted", "untestable"):
            raise ParameterError(
                "An assumption's status must be 'supported', 'contradicted' or 'untestable'.",
                got=repr(self.status),
            )


@dataclass(frozen=True)
class Claim:
    """One sentence a reader may take away, and whether the data supports it (None: no verdict).

    Attributes:
        text: The sentence.
        holds: Whether the data supports it.

    >>> Claim("At most one input in a hundred is misread.", holds=True).holds
    True
    """

    text: str
    holds: bool | None = None


@dataclass(frozen=True)
class Table:
    """A table for the report: text and numbers, row by row.

    Attributes:
        columns, rows, caption: As a reader sees them.

    >>> import pandas as pd
    >>> Table.from_frame(pd.DataFrame({"n": [3]}, index=["a"]), "Rows per class").caption
    'Rows per class'
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    caption: str = ""

    @classmethod
    def from_frame(cls, frame: Any, caption: str = "", *, index: bool = True) -> "Table":
        """A table from a pandas frame; the index becomes the first column(s)."""
        shown = frame.reset_index() if index else frame
        columns = tuple(str(name) for name in shown.columns)
        rows = tuple(tuple(row) for row in shown.astype(object).to_numpy().tolist())
        return cls(columns, rows, caption)


@dataclass(frozen=True)
class Provenance:
    """Where a number comes from. Seconds are kept apart: equal results must be equal bytes.

    Attributes:
        seed: Same seed, same result.
        model_sha256, data_sha256: What model and data were.
        queries, labels: Rows sent to the model, and labels used.
        versions, host: Of the libraries; size of the machine.

    >>> Provenance(seed=7, queries=400).queries
    400
    """

    seed: int
    model_sha256: str | None = None
    data_sha256: str | None = None
    queries: int = 0
    labels: int = 0
    versions: dict[str, str] = field(default_factory=lambda: library_versions())
    host: dict[str, Any] = field(default_factory=lambda: host_size())


class LeadingNumber(TypedDict, total=False):
    """The number that answers a question, by name, and the one sentence that says it."""

    answer: str
    sentence: str


@dataclass(frozen=True)
class Evidence:
    """What one question's answer rests on.

    Attributes:
        question: The package's name, e.g. ``"reliability"``.
        headline: The answer in one line for a manager.
        status: ``"done"``, or ``"failed"`` or ``"not available"`` with a ``reason``: never a pass.
        estimates: Every number by name, each with its interval. Gates refer to these names.
        measures: What the numbers are: label, unit and meaning, by name (see `Measure`).
        limits: What the numbers do not say, in plain words.
        partial: What cut the part short, e.g. a budget; gates on its numbers are then undecided.
        stale: What has changed since the part ran, if anything; no gate relies on it then.
        answer: The name of the number that answers the question: the one in ``sentence``.
        sentence: The answer in at most 20 words with this one number.
        seconds: Wall-clock time, kept out of `to_dict` so that equal results are equal bytes.
        claims: Sentences that a reader may take away.
        assumptions: What the numbers rest on, and whether the data speaks against it.
        tables: For the report, by name.
        charts: For the report, by name; the first is the part's own picture.
        samples: Inputs that prove the headline, most telling first.
        withheld: How many samples were left out on request (``--no-samples``).
        provenance: Where the numbers come from.

    >>> share = Estimate(0.9, 0.8, 0.95, confidence=0.95, n=50, method="Clopper-Pearson")
    >>> found = Evidence("accuracy", "Right on nine of ten rows.", estimates={"accuracy": share})
    >>> found.to_dict()["estimates"]["accuracy"]["low"]
    0.8
    """

    question: str
    headline: str
    status: EvidenceStatus = "done"
    reason: str = ""
    claims: tuple[Claim, ...] = ()
    estimates: Mapping[str, Estimate] = field(default_factory=dict)
    assumptions: tuple[Assumption, ...] = ()
    tables: Mapping[str, Table] = field(default_factory=dict)
    measures: tuple[Measure, ...] = ()
    limits: tuple[str, ...] = ()
    provenance: Provenance | None = None
    seconds: float | None = None
    partial: str = ""
    stale: str = ""
    charts: Mapping[str, Chart] = field(default_factory=dict)
    samples: tuple[Sample, ...] = ()
    withheld: int = 0
    answer: str = ""
    sentence: str = ""

    def __post_init__(self) -> None:
        if self.status not in ("done", "failed", "not available"):
            raise ParameterError(
                "An evidence status must be 'done', 'failed' or 'not available'.",
                got=repr(self.status),
            )
        if self.answer and self.answer not in self.estimates:
            raise ParameterError(
                f"The answer of '{self.question}' must be one of its numbers.", got=self.answer
            )
        if self.status != "done" and not self.reason:
            raise ParameterError(f"Evidence that is {self.status} needs a reason.", got="none")
        for name, estimate in self.estimates.items():
            if not isinstance(estimate, Estimate):
                raise ParameterError(
                    f"Every number in evidence must be an Estimate, also '{name}'.",
                    got=type(estimate).__name__,
                )

    @classmethod
    def failed(cls, question: str, reason: str) -> "Evidence":
        """A part that was tried and broke."""
        return cls(question, headline=f"Failed: {reason}", status="failed", reason=reason)

    @classmethod
    def not_available(cls, question: str, reason: str) -> "Evidence":
        """A part that could not be tried with what is there."""
        headline = f"Not available: {reason}"
        return cls(question, headline=headline, status="not available", reason=reason)

    def without_samples(self) -> "Evidence":
        """The same without any row of the data; how many were left out is kept."""
        tables = {name: t for name, t in self.tables.items() if name != CELL_ROWS}
        left = self.withheld + len(self.samples)
        return dataclasses.replace(self, samples=(), withheld=left, tables=tables)

    def measure(self, name: str) -> Measure:
        """What one of the numbers is; a number nobody described is shown by its own name."""
        return find_measure(name, self.measures) or Measure.undescribed(name)

    def _described(self) -> list[Measure]:
        """The measures of the numbers at hand, then those of numbers that it might have had."""
        found = [find_measure(name, self.measures) for name in self.estimates]
        used = [measure for measure in found if measure is not None]
        names = {measure.name for measure in used}
        return used + [measure for measure in self.measures if measure.name not in names]

    def contradicted(self, name: str) -> tuple[Assumption, ...]:
        """The assumptions behind one of the numbers that the data contradicts.

        An assumption without an id may be behind any number of the part, so it counts for all.
        """
        needed = self.estimates[name].rests_on
        against = (a for a in self.assumptions if a.status == "contradicted")
        return tuple(a for a in against if not a.id or a.id in needed)

    def _repr_html_(self) -> str:
        """Shown in notebooks."""
        from fireassay.core.notebook import evidence_html

        return evidence_html(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain types for ``result.json``, without charts, pictures and seconds."""
        said = ("question", "headline", "answer", "sentence", "status", "reason")
        return {
            **{name: getattr(self, name) for name in said},
            "claims": [dataclasses.asdict(claim) for claim in self.claims],
            "estimates": {name: e.to_dict() for name, e in self.estimates.items()},
            "assumptions": [dataclasses.asdict(assumption) for assumption in self.assumptions],
            "tables": {name: dataclasses.asdict(table) for name, table in self.tables.items()},
            "measures": [dataclasses.asdict(m) for m in self._described()],
            "limits": list(self.limits),
            "partial": self.partial,
            "stale": self.stale,
            "samples": [sample.to_dict() for sample in self.samples],
            "withheld": self.withheld,
            "provenance": dataclasses.asdict(self.provenance) if self.provenance else None,
        }


def library_versions() -> dict[str, str]:
    """Versions of Python, fireassay and the libraries that can change a number."""
    return dict(_installed_versions())


@functools.cache
def _installed_versions() -> tuple[tuple[str, str], ...]:
    # Looked up once: reading package metadata takes tens of milliseconds.
    versions = [("fireassay", __version__), ("python", platform.python_version())]
    for name in _LIBRARIES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions.append((name, importlib.metadata.version(name)))
    return tuple(versions)


def host_size() -> dict[str, Any]:
    """The size of the machine (never its name): cores, memory, processor family."""
    size: dict[str, Any] = {"cores": os.cpu_count(), "machine": platform.machine()}
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        gigabytes = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
        size["memory_gib"] = round(gigabytes, 1)
    return size
