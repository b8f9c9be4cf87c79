"""What each part will cost, from the measured cost of a few queries to this very model."""

import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

from fireassay.assessment.coded_context import coded
from fireassay.assessment.config import Config
from fireassay.assessment.context import Context, Cost
from fireassay.assessment.inputs import load_context
from fireassay.assessment.memory_use import held_mb
from fireassay.assessment.model_speed import Speed, measure_speed
from fireassay.assessment.parts import in_running_order, part_terms

# Seconds and megabytes that reading a library takes.
_LIBRARIES: Final = {"pandas": (0.3, 75.0), "scipy.stats": (0.4, 60.0), "sklearn": (0.2, 30.0)}
_DRAWING_MB: Final = 85.0  # of what draws the charts of the report, written after each part


@dataclass(frozen=True)
class PlanRow:
    """One part: its expected cost, or the reason why it cannot run.

    ``memory_mb`` is that of the whole process while the part runs, ``disk_mb`` what it adds to the
    run folder.
    """

    part: str
    reason: str | None = None
    queries: int = 0
    labels: int = 0
    seconds: float = 0.0
    memory_mb: float = 0.0
    disk_mb: float = 0.0

    def and_also(self, more: "PlanRow") -> "PlanRow":
        """This part, if it does that work as well."""
        return replace(
            self,
            queries=self.queries + more.queries,
            labels=max(self.labels, more.labels),
            seconds=self.seconds + more.seconds,
            memory_mb=max(self.memory_mb, more.memory_mb),
            disk_mb=self.disk_mb + more.disk_mb,
        )

    def __str__(self) -> str:
        if self.reason:
            return f"{self.part:<13}not available: {self.reason}"
        return (
            f"{self.part:<13}{self.queries:>12,}{self.labels:>9,}{self.seconds / 60:>9.2f}"
            f"{self.memory_mb:>11,.0f}{self.disk_mb:>9.1f}"
        )


@dataclass(frozen=True)
class Plan:
    """The expected cost of an assessment."""

    rows: tuple[PlanRow, ...]
    seconds_per_query: float
    probed: int
    like: str | None = None
    without: Mapping[tuple[str, str], PlanRow] = field(default_factory=dict)

    def __str__(self) -> str:
        head = (
            f"{'part':<13}{'queries':>12}{'labels':>9}{'minutes':>9}{'memory MB':>11}{'disk MB':>9}"
        )
        total = PlanRow(
            "all", None, self.queries, self.labels, self.seconds, self.memory_mb, self.disk_mb
        )
        note = (
            f"One query takes {1e6 * self.seconds_per_query:.0f} µs ({self.probed} rows were "
            "sent to measure this). "
        )
        note += (
            "Attacks end where the model falls: their queries are the most."
            if self.like is None
            else f"Corrected by what the run in {self.like} took."
        )
        return "\n".join([head, *map(str, self.rows), str(total), note])

    @property
    def queries(self) -> int:
        """Rows sent to the model in all."""
        return sum(row.queries for row in self.rows)

    @property
    def labels(self) -> int:
        """Labels used in all (parts share labels: the largest counts)."""
        return max((row.labels for row in self.rows), default=0)

    @property
    def seconds(self) -> float:
        """Expected wall-clock time on one core."""
        return sum(row.seconds for row in self.rows)

    @property
    def memory_mb(self) -> float:
        """Memory of the process at its most (parts run one after the other)."""
        return max((row.memory_mb for row in self.rows), default=0.0)

    @property
    def disk_mb(self) -> float:
        """What the run folder will hold."""
        return sum(row.disk_mb for row in self.rows)

    def row(self, part: str, without: Iterable[str] = ()) -> PlanRow | None:
        """The row of a part, if it is in the plan.

        With what it has to do itself where parts that were planned, ``without``, gave nothing.
        """
        found = next((row for row in self.rows if row.part == part), None)
        for lacking in without:
            if found is not None and (part, lacking) in self.without:
                found = found.and_also(self.without[part, lacking])
        return found

    def to_dict(self) -> dict[str, Any]:
        """Plain types for JSON."""
        return {
            "parts": {row.part: asdict(row) for row in self.rows},
            "seconds_per_query": self.seconds_per_query,
            "queries": self.queries,
            "labels": self.labels,
            "seconds": self.seconds,
            "memory_mb": self.memory_mb,
            "disk_mb": self.disk_mb,
        }


def make_plan(config: Config, *, seed: int | None = None, trust: bool = False) -> Plan:
    """Measure the model on a few rows and price every part of the configuration.

    Parameters
    ----------
    config
        What `read_config` gives.
    seed
        Instead of the configuration's.
    trust
        Allow a model file that can run code when read.

    >>> import tempfile
    >>> import numpy as np
    >>> from pathlib import Path
    >>> from fireassay.assessment import initialise, read_config
    >>> from fireassay.data import two_moons
    >>> moons = two_moons(40)
    >>> with tempfile.TemporaryDirectory() as name:
    ...     folder = Path(name)
    ...     np.savez(folder / "test.npz", X=moons.X, y=moons.y)
    ...     _ = (folder / "half.py").write_text(
    ...         "import numpy as np\\ndef model(X): return np.full((len(X), 2), 0.5)\\n"
    ...     )
    ...     started = initialise("half:model", {"test": "test.npz"}, folder=folder, trust=True)
    ...     _ = (folder / "fireassay.toml").write_text(started.text)
    ...     plan = make_plan(read_config(folder / "fireassay.toml"), trust=True)
    >>> plan.rows[0].part, plan.queries > 40
    ('accuracy', True)
    """
    return price(load_context(config, seed=seed, trust=trust), config.run.parts, config.settings)


def price(
    context: Context,
    parts: Iterable[str],
    settings: Mapping[str, Any],
    instead: Mapping[str, Context] | None = None,
    given: Iterable[str] = (),
) -> Plan:
    """Price some parts; ``instead`` gives parts a context of their own.

    Parts that are ``given`` have a result already, which later ones take.
    """
    context = coded(context)
    instead = {name: coded(own) for name, own in (instead or {}).items()}
    asked: dict[int, _Asked] = {}
    planned: list[PlanRow] = []
    results, without = set(given), dict[tuple[str, str], PlanRow]()
    loading, libraries = _not_loaded_yet()
    arrays, drawing = 0.0, 0.0 if "vl_convert" in sys.modules else _DRAWING_MB
    for name in in_running_order(parts):
        terms = part_terms(name)
        own = instead.get(name, context)
        reason = terms.missing(own)
        if reason is not None:
            planned.append(PlanRow(name, reason))
            continue
        if id(own) not in asked:
            asked[id(own)] = _Asked(measure_speed(own))
        cost: Cost = terms.cost(own, settings[name])
        usable = results if name not in instead else set[str]()
        # What one part took is seldom given back to the system before the next one.
        libraries += cost.library_mb
        work = [cost, *(more for lacking, more in cost.without.items() if lacking not in usable)]
        for lacking in usable & cost.without.keys():
            more = cost.without[lacking]
            held = asked[id(own)].held_mb + libraries + max(arrays, more.memory_mb)
            without[name, lacking] = _row(name, more, asked[id(own)].seconds(more), held)
        found = PlanRow(name, seconds=loading)
        for each in work:
            arrays = max(arrays, each.memory_mb)
            seconds = asked[id(own)].seconds(each)
            held = asked[id(own)].held_mb + libraries + arrays
            found = found.and_also(_row(name, each, seconds, held))
        planned.append(found)
        loading, libraries, drawing = 0.0, libraries + drawing, 0.0
        results |= {name} - instead.keys()
    speed = asked[id(context)].speed if id(context) in asked else Speed(0.0, 0.0, 0.0, 0)
    return Plan(tuple(planned), speed.per_query, speed.probed, without=without)


@dataclass
class _Asked:
    """What a model's answers cost, and what was asked of it by the parts so far."""

    speed: Speed
    known: int = 0
    chose: bool = False

    @property
    def held_mb(self) -> float:
        """What the process holds with the model at work."""
        return held_mb() + self.speed.unseen_mb

    def seconds(self, cost: Cost) -> float:
        """Of the next part."""
        seconds = self.speed.seconds(cost, self.known)
        self.known = max(self.known, cost.data_rows)
        if cost.calls and not self.chose:
            self.chose = True
            seconds += self.speed.choosing
        return seconds


def _row(part: str, cost: Cost, seconds: float, held: float) -> PlanRow:
    return PlanRow(part, None, cost.queries, cost.labels, seconds, held, cost.disk_mb)


def _not_loaded_yet() -> tuple[float, float]:
    """Seconds and megabytes of the libraries that parts load and a plan does not need."""
    missing = [cost for name, cost in _LIBRARIES.items() if name not in sys.modules]
    return sum(seconds for seconds, _ in missing), sum(megabytes for _, megabytes in missing)
