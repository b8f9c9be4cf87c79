"""What each part will cost, from the measured cost of a few queries to this very model."""

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import partial, reduce
from typing import Any, Final

import numpy as np

from fireassay.assessment.coded_rows import coded
from fireassay.assessment.config import Config
from fireassay.assessment.context import Context, Cost, load_context
from fireassay.assessment.parts.part import Part
from fireassay.assessment.parts.table import PARTS, in_running_order
from fireassay.assessment.plan.machine import held_mb, keep_first_answers, slowness
from fireassay.assessment.run.first_look import FEW_ROWS, first_look
from fireassay.assessment.run.preflight import hopeless
from fireassay.classifiers import GradientClassifier, blocks
from fireassay.classifiers.base import BLOCK_ROWS, BaseClassifier, innermost
from fireassay.core.arrays import IntArray
from fireassay.core.clock import quiet_seconds
from fireassay.report.gates import parse_gates

# A block that takes longer is measured by a smaller one: a slow model's rows cost the same in both.
_MOST_S: Final = 2.0
_SLOW_ROWS: Final = 32
_GOLDEN: Final = 0.618033988749895  # its multiples lie evenly in [0, 1), however many are taken


@dataclass(frozen=True)
class Speed:
    """Measured seconds: of one row among many, of a call besides its rows, of one gradient."""

    per_query: float
    per_call: float
    per_gradient: float
    probed: int
    block: int = 1
    choosing: float = 0.0
    slowness: float = 1.0
    unseen_mb: float = 0.0

    def seconds(self, cost: Cost, known: int = 0) -> float:
        """How long a part of this cost will take, if ``known`` rows were asked before."""
        fresh = max(0, cost.data_rows - known)
        sent = float(self.block * -(-fresh // self.block))
        sent += (1.0 - cost.spared) * (cost.queries - cost.data_rows)
        slopes = (1.0 - cost.spared) * cost.gradient_queries
        model = self.per_query * sent + self.per_gradient * slopes
        return model + self.per_call * cost.calls + self.slowness * cost.own_seconds


def measure_speed(context: Context, gradients: bool = False) -> Speed:
    """What the first look's calls took; of a model that nobody has asked yet, a few rows now."""
    # A function or a server gets 32 rows; a model on this machine a whole block, if that is quick.
    model, look, before = context.model, first_look(context), slowness()
    block, choosing = _blocks(model)
    if look.small_s is None and not look.timed:
        look.repeats = min(look.repeats, FEW_ROWS)
        look.ask(np.sort(spread_rows(len(context.test), _SLOW_ROWS - FEW_ROWS)))
        quick = look.per_query * BLOCK_ROWS <= _MOST_S
        # A call of trees, say, is sent as it is, however many rows it has.
        whole = isinstance(look.adapter, BaseClassifier) and look.adapter.batch_size is None
        if quick and (block > 1 or whole):
            look.ask(np.sort(spread_rows(len(context.test), BLOCK_ROWS)))
        keep_first_answers(context, look.sample, look.own(look.sample))
    per_gradient = 0.0
    if gradients and isinstance(model, GradientClassifier):
        some = context.test.X[spread_rows(len(context.test), _SLOW_ROWS)]
        ask, start = _gradients(model, some), quiet_seconds()
        ask()
        per_gradient = (quiet_seconds() - start) / len(some)
    seen, held = look.held
    return Speed(
        look.per_query,
        look.per_call,
        per_gradient,
        getattr(look.adapter, "rows_delivered", 0),
        block,
        choosing * look.per_query,
        min(before, slowness()),  # others may be at work at one of the two moments
        held / max(1, seen) * max(0, (getattr(look.adapter, "batch_size", 0) or 0) - seen),
    )


def spread_rows(n: int, most: int) -> IntArray:
    """At most so many of n rows: every k-th, the first ones of any length from all over the set."""
    rows = np.arange(min(n, most)) * n // min(n, most)
    return rows[np.argsort(np.arange(len(rows)) * _GOLDEN % 1.0, kind="stable")]


def _gradients(model: Any, rows: Any) -> Callable[[], Any]:
    """Gradients of these rows, not filled up to a block where the adapter lets us."""
    adapter = innermost(model)
    if isinstance(adapter, BaseClassifier):
        for kind, call, arrays in adapter._questions(adapter._checked_input(rows), True):
            if kind == "loss gradient":
                return partial(adapter._sent, call, arrays, None)
    return partial(model.loss_gradient, rows, np.zeros(len(rows), dtype=np.int64))


def _blocks(model: Any) -> tuple[int, int]:
    """Rows of a block that is filled up, and rows that the choice of smaller ones costs."""
    adapter = innermost(model)
    if not isinstance(adapter, BaseClassifier) or adapter.batch_size is None:
        return 1, 0
    if not adapter.pads_blocks:
        return 1, 0
    # Gradients are other questions, of which a part asks some: each has its own decision.
    decisions = 2 if isinstance(model, GradientClassifier) else 1
    price = decisions * blocks.price(adapter.batch_size)
    return adapter.batch_size, price * adapter.may_choose


# Seconds and megabytes that reading a library takes.
_LIBRARIES: Final = {"pandas": (0.3, 75.0), "scipy.stats": (0.4, 60.0), "sklearn": (0.2, 30.0)}
_DRAWING_MB: Final = 85.0  # of what draws the charts of the report, written after each part


@dataclass(frozen=True)
class PlanRow:
    """One part: its expected cost, or the reason why it cannot run."""

    part: str
    reason: str | None = None
    queries: int = 0
    labels: int = 0
    seconds: float = 0.0
    memory_mb: float = 0.0  # of the whole process while the part runs
    disk_mb: float = 0.0  # that it adds to the run folder
    to_send: int = 0  # queries without rows whose answers are known by then
    in_store: bool = False  # what it makes of the data alone was made by another run

    def with_work_of(self, more: "PlanRow") -> "PlanRow":
        """Cost of this part when it must also do the work of a part that did not run."""
        return replace(
            self,
            queries=self.queries + more.queries,
            labels=max(self.labels, more.labels),
            seconds=self.seconds + more.seconds,
            memory_mb=max(self.memory_mb, more.memory_mb),
            disk_mb=self.disk_mb + more.disk_mb,
            to_send=self.to_send + more.to_send,
        )

    def __str__(self) -> str:
        if self.reason:
            return f"{self.part:<13}not available: {self.reason}"
        return (
            f"{self.part:<13}{self.queries:>12,}{self.labels:>9,}{self.seconds / 60:>9.2f}"
            f"{self.memory_mb:>11,.0f}{self.disk_mb:>9.1f}{'  in store' * self.in_store}"
        )


@dataclass(frozen=True)
class Plan:
    """The expected cost of an assessment."""

    rows: tuple[PlanRow, ...]
    seconds_per_query: float
    probed: int
    like: str | None = None
    price: float | None = None  # of a row, in money
    without: Mapping[tuple[str, str], PlanRow] = field(default_factory=dict)
    hopeless: tuple[str, ...] = ()

    def __str__(self) -> str:
        head = (
            f"{'part':<13}{'queries':>12}{'labels':>9}{'minutes':>9}{'memory MB':>11}{'disk MB':>9}"
        )
        note = (
            f"One query takes {1e6 * self.seconds_per_query:.0f} µs ({self.probed} rows were "
            "sent to measure this). "
        )
        note += (
            "Attack queries are an upper limit: an attack stops as soon as it succeeds."
            if self.like is None
            else f"Corrected by what the run in {self.like} took."
        )
        if self.money is not None:
            rows = self._all.to_send
            note += f" {rows:,} rows at {self.price:g} cost {self.money:,.2f} at most."
        return "\n".join([head, *map(str, self.rows), str(self._all), note, *self.hopeless])

    @property
    def _all(self) -> PlanRow:
        """All parts one after the other: of labels and memory the largest counts."""
        return reduce(PlanRow.with_work_of, self.rows, PlanRow("all"))

    @property
    def money(self) -> float | None:
        """What the rows cost that will be sent, at the price of a row; None without a price."""
        return None if self.price is None else self.price * self._all.to_send

    @property
    def queries(self) -> int:
        """Rows sent to the model in all."""
        return self._all.queries

    @property
    def labels(self) -> int:
        """Labels used in all (parts share labels: the largest counts)."""
        return self._all.labels

    @property
    def seconds(self) -> float:
        """Expected wall-clock time on one core."""
        return self._all.seconds

    @property
    def memory_mb(self) -> float:
        """Memory of the process at its most (parts run one after the other)."""
        return self._all.memory_mb

    @property
    def disk_mb(self) -> float:
        """What the run folder will hold."""
        return self._all.disk_mb

    def row(self, part: str, without: Iterable[str] = ()) -> PlanRow | None:
        """The row of a part, if it is in the plan.

        With what it has to do itself where parts that were planned, ``without``, gave nothing.
        """
        found = next((row for row in self.rows if row.part == part), None)
        for lacking in without:
            if found is not None and (part, lacking) in self.without:
                found = found.with_work_of(self.without[part, lacking])
        return found

    def to_dict(self) -> dict[str, Any]:
        """Plain types for JSON."""
        whole = ("queries", "labels", "seconds", "memory_mb", "disk_mb")
        return {
            "parts": {row.part: asdict(row) for row in self.rows},
            "seconds_per_query": self.seconds_per_query,
            **{name: getattr(self, name) for name in whole},
            "no_result_can_pass": list(self.hopeless),
            "rows_sent_to_measure": self.probed,
            **({} if self.money is None else {"money": self.money}),
        }


def make_plan(
    config: Config, *, seed: int | None = None, trust: bool = False, price: float | None = None
) -> Plan:
    """Measure the model on a few rows and price every part of the configuration.

    Args:
        config: What `read_config` gives.
        seed: Instead of the configuration's.
        trust: Allow a model file that can run code when read.
        price: Of a row, in money, instead of the configuration's.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from fireassay.assessment import read_config
    >>> with tempfile.TemporaryDirectory() as name:
    ...     file = Path(name) / "fireassay.toml"
    ...     _ = file.with_name("test.csv").write_text("x,y\\n.1,0\\n.2,0\\n.3,1\\n.8,1\\n")
    ...     _ = file.with_name("priced.py").write_text(
    ...         "import numpy as np\\ndef model(X): return np.hstack([1 - X, X])\\n")
    ...     _ = file.write_text('[model]\\npath="priced:model"\\n[data]\\ntest="test.csv"\\n')
    ...     plan = make_plan(read_config(file), trust=True)
    >>> plan.row("accuracy").queries
    4
    """
    context = load_context(config, seed=seed, trust=trust)
    planned = price_parts(context, config.run.parts, config.settings)
    gates = parse_gates({"max": config.gates.max, "min": config.gates.min})
    own = config.model.price if price is None else price
    return replace(planned, price=own, hopeless=hopeless(context.test, gates))


def price_parts(
    context: Context,
    parts: Iterable[str],
    settings: Mapping[str, Any],
    instead: Mapping[str, Context] | None = None,
    given: Iterable[str] = (),
) -> Plan:
    """Price some parts; ``instead`` gives parts a context of their own, ``given`` have a result."""
    context = coded(context)
    instead = {name: coded(own) for name, own in (instead or {}).items()}
    asked: dict[int, _Asked] = {}
    planned: list[PlanRow] = []
    results, without = set(given), dict[tuple[str, str], PlanRow]()
    loading, libraries = _not_loaded_yet()
    arrays, drawing = 0.0, 0.0 if "vl_convert" in sys.modules else _DRAWING_MB
    for name in in_running_order(parts):
        own = instead.get(name, context)
        reason = PARTS[name].why_not(own)
        if reason is not None:
            planned.append(PlanRow(name, reason))
            continue
        if id(own) not in asked:
            known = len(first_look(own).rows)
            wanted = [PARTS[n] for n in parts if instead.get(n, context) is own]
            asked[id(own)] = _Asked(
                measure_speed(own, _with_gradients(own, wanted, settings)), known
            )
        cost = PARTS[name].cost(own, settings[name])
        usable = results if name not in instead else set[str]()
        # What one part took is seldom given back to the system before the next one.
        libraries += cost.library_mb
        work = [cost, *(more for lacking, more in cost.without.items() if lacking not in usable)]
        for lacking in usable & cost.without.keys():
            more = cost.without[lacking]
            held = asked[id(own)].held_mb + libraries + max(arrays, more.memory_mb)
            without[name, lacking] = asked[id(own)].row(name, more, held)
        found = PlanRow(name, seconds=loading, in_store=cost.in_store)
        for each in work:
            arrays = max(arrays, each.memory_mb)
            held = asked[id(own)].held_mb + libraries + arrays
            found = found.with_work_of(asked[id(own)].row(name, each, held))
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

    def row(self, part: str, cost: Cost, held: float) -> PlanRow:
        """The next part, or work that it does besides."""
        seconds = self.speed.seconds(cost, self.known)
        to_send = cost.queries - min(cost.data_rows, self.known)
        self.known = max(self.known, cost.data_rows)
        if cost.calls and not self.chose:
            self.chose = True
            seconds += self.speed.choosing
        return PlanRow(part, None, cost.queries, cost.labels, seconds, held, cost.disk_mb, to_send)


def _with_gradients(context: Context, parts: Iterable[Part], settings: Mapping[str, Any]) -> bool:
    """Whether one of these parts asks for gradients."""
    can = [part for part in parts if part.why_not(context) is None]
    return any(part.cost(context, settings[part.name]).gradient_queries for part in can)


def _not_loaded_yet() -> tuple[float, float]:
    """Seconds and megabytes of the libraries that parts load and a plan does not need."""
    missing = [cost for name, cost in _LIBRARIES.items() if name not in sys.modules]
    return sum(seconds for seconds, _ in missing), sum(megabytes for _, megabytes in missing)
