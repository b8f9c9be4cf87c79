"""Run the parts of an assessment; what is done is kept, what fails is recorded."""

import time
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from fireassay.assessment import block_sizes
from fireassay.assessment.coded_context import coded, with_own_hash
from fireassay.assessment.context import Context
from fireassay.assessment.copied_rows import resting_on
from fireassay.assessment.earlier_parts import EarlierParts
from fireassay.assessment.kept_answers import RunAnswers
from fireassay.assessment.memory_use import forget_most, most_held_mb
from fireassay.assessment.part_key import Facts, part_facts, part_key
from fireassay.assessment.parts import PARTS, in_running_order, part_module
from fireassay.assessment.planning import Plan, PlanRow, price
from fireassay.assessment.progress import RunProgress
from fireassay.assessment.reproducibility import Reproducibility, with_reproducibility
from fireassay.assessment.run_folder import (
    PART_FACTS,
    PART_KEYS,
    PART_SOURCES,
    write_run,
)
from fireassay.assessment.run_outcome import Costs
from fireassay.assessment.spending import (
    Budget,
    OutOfTimeError,
    Spent,
    cost_record,
    folder_mb,
    queries_of,
)
from fireassay.assessment.work_clock import WorkClock
from fireassay.core import (
    Answer,
    BudgetExceededError,
    Evidence,
    NotEnoughEvidenceError,
    Result,
    Sample,
)
from fireassay.engine import RunStore
from fireassay.report import About, Report

Say = Callable[[str], None]
_COSTS_KEPT = "costs by part key"


def silent(line: str) -> None:
    """Print nothing."""
    del line


class Run:
    """Parts one after the other; each sees the results of the parts it uses.

    If the context's executor has a store, finished parts are read back instead of run again, and
    ``result.json`` and ``report.html`` are there after every part, whenever it is killed. Parts
    outside ``only`` are not run, but stay in the report, marked stale if their inputs have changed.
    ``instead`` gives parts a context of their own, whose results no other part takes.
    """

    def __init__(
        self,
        context: Context,
        parts: Iterable[str],
        settings: Mapping[str, Any],
        *,
        only: Sequence[str] | None = None,
        instead: Mapping[str, Context] | None = None,
        title: str = "Fire assay",
        gates: dict[str, dict[str, float]] | None = None,
        accepted: Mapping[str, str] | None = None,
        sources: Mapping[str, Facts] | None = None,
        left: Callable[[Sequence[Evidence]], Mapping[str, float]] | None = None,
        about: About | None = None,
        budget: Budget | None = None,
        samples: bool = True,
        say: Say = silent,
        progress: bool | None = False,
    ) -> None:
        context = coded(context)
        self.context, self.settings, self.only = context, settings, only
        self.names = in_running_order(parts)
        self.instead = {name: coded(own) for name, own in (instead or {}).items()}
        self.title, self.gates = title, gates or {"max": {}, "min": {}}
        self.accepted = dict(accepted or {})
        self.about, self.left, self.samples = about, left, samples
        self.budget, self.say, self.progress = budget or Budget(), say, progress
        self.store: RunStore | None = context.executor.store
        self.costs: Costs = {}
        self._kept_costs: Costs = self.store.meta(_COSTS_KEPT, {}) if self.store else {}
        self._done: dict[str, Evidence] = {}
        self._keys: dict[str, str] = {}
        self._facts: dict[str, Facts] = {}
        self._sources = sources or {}
        self._results: dict[str, Result] = {}
        self._earlier = EarlierParts(self.store)
        self._same = Reproducibility(self.store)
        self._answers = RunAnswers(self.store)
        for own in (context, *self.instead.values()):
            block_sizes.recall(self.store, own.model)

    def go(self) -> Report:
        """Do what is not done yet."""
        try:
            return self._go()
        finally:
            self._answers.end()

    def _go(self) -> Report:
        watched: RunProgress | None = None
        plan: Plan | None = None
        for name in dict.fromkeys([*self.names, *(set(self._earlier.parts) & set(PARTS))]):
            own = self.instead.get(name, self.context)
            self._facts[name] = part_facts(name, own, self.settings[name])
            self._earlier.compare(name, self._facts[name])
            if name not in self.names:
                self._earlier.restore(name)
        self._write()
        for position, name in enumerate(self.names):
            module = part_module(name)
            own = self.instead.get(name, self.context)
            used = {u: self._results[u] for u in module.USES if u in self._usable(name)}
            within = replace(own, results=used)
            self._keys[name] = part_key(name, self._facts[name], {u: self._keys[u] for u in used})
            kept = self._read_back(name)
            if kept is None:
                self._earlier.compare_key(name, self._keys[name])
            if kept is None and self.only is not None and name not in self.only:
                self._earlier.restore(name)
                continue
            if kept is None and watched is None:
                rest = [n for n in self.names[position:] if self.only is None or n in self.only]
                if self.store is not None:
                    plan = price(self.context, rest, self.settings, self.instead, self._results)
                folder = None if self.store is None else self.store.path
                watched = RunProgress(plan, rest, shown=self.progress, folder=folder)
            if kept is None and watched is not None:
                with watched:
                    watched.begin(name)
                    self._same.look(own)
                    self._answers.begin(own)
                    lacking = [u for u in module.USES if u not in used]
                    planned = None if plan is None else plan.row(name, lacking)
                    kept = self._run_part(name, within, planned)
                    watched.end(kept[0].seconds)
            if kept is not None:
                if kept[0].status == "done":
                    self._same.look(own, after=self._keys[name])
                self._add(name, *kept)
        self._write()
        self._write_samples()
        if watched is not None:
            watched.over()
        return self._report()

    def _write_samples(self) -> None:
        """Put down what is known of each row; parts on other data have rows of their own."""
        if self.store is None:
            return
        from fireassay.assessment.sample_table import write_samples

        own = {name: r for name, r in self._results.items() if name not in self.instead}
        keys = {name: self._keys[name] for name in own}
        write_samples(self.store.path, self.context, own, keys, content=self.samples)

    def _usable(self, name: str) -> set[str]:
        """Parts whose results this one may take: those on the same model and data."""
        return set() if name in self.instead else set(self._results) - set(self.instead)

    def _add(self, name: str, evidence: Evidence, result: Result | None) -> None:
        if result is not None:
            self._results[name] = result
        if self._keys[name] in self._kept_costs:
            self.costs[name] = self._kept_costs[self._keys[name]]
        self._done[name] = evidence
        self.say(f"{name:<13}{self._judged(name).headline}")
        self._write()

    def _write(self) -> None:
        """Put down what there is so far; what an earlier run found stays until it is replaced."""
        if self.store is None or not (self._done or self._earlier.parts):
            return
        for meta, before, now in (
            (PART_KEYS, self._earlier.keys, self._keys),
            (PART_FACTS, self._earlier.facts, self._facts),
        ):
            self.store.set_meta(meta, {**before, **{name: now[name] for name in self._done}})
        unchanged = {name for name, part in self._earlier.parts.items() if not part.stale}
        self._earlier.sources |= {
            name: self._sources[name]
            for name in (unchanged | self._done.keys()) & self._sources.keys()
        }
        self.store.set_meta(PART_SOURCES, self._earlier.sources)
        earlier = {
            name: self._kept_costs[key]
            for name, key in self._earlier.keys.items()
            if key in self._kept_costs and name not in self._done
        }
        write_run(self.store.path, self._report(), self.gates, {**earlier, **self.costs})

    def _report(self) -> Report:
        found = {**self._earlier.parts, **{name: self._judged(name) for name in self._done}}
        names = [*PARTS, *(name for name in found if name not in PARTS)]
        parts = [found[name] for name in names if name in found]
        fractions = {} if self.left is None else self.left(parts)
        report = Report(parts, self.title, self.accepted, self.about, fractions)
        return report if self.samples else report.without_samples()

    def _judged(self, name: str) -> Evidence:
        """What a part found, with what is known by now about the model's answers."""
        own = self.instead.get(name, self.context)
        return with_reproducibility(self._done[name], self._same.assumption(own))

    def _run_part(
        self, name: str, context: Context, planned: PlanRow | None
    ) -> tuple[Evidence, Result | None]:
        module = part_module(name)
        seconds, queries = self._spent_so_far()
        reason = module.missing(context) or self.budget.refusal(planned, seconds, queries)
        if reason is not None:
            return Evidence.not_available(name, reason), None
        key = self._keys[name]
        if self.store is not None:
            self.store.expect([key], name=f"part {name}", function=PARTS[name])
        before, sent_before = context.model.queries, _rows_sent(context.model)
        disk = 0.0 if self.store is None else folder_mb(self.store.path)
        forget_most()
        start, work = time.perf_counter(), WorkClock()
        try:
            block_sizes.decide_before(context, module.cost(context, self.settings[name]))
            with self.budget.enforced(context.model, seconds, queries):
                result: Answer = module.run(context, self.settings[name])
                evidence = with_own_hash(result.evidence(), context.model)
                evidence = resting_on(evidence, context.doubts)
                evidence = replace(evidence, samples=_samples(name, context, result))
        except OutOfTimeError:
            return self._cut_short(
                name, f"stopped after {self.budget.max_minutes:g} minutes", start
            )
        except BudgetExceededError as error:
            return self._cut_short(name, f"stopped: {error}", start)
        except NotEnoughEvidenceError as error:  # nothing broke: these rows cannot answer it
            evidence, _ = self._failed(name, str(error), start)
            return replace(Evidence.not_available(name, str(error)), seconds=evidence.seconds), None
        # One part that breaks, in whatever way, must not take the others with it; it is recorded
        # as failed with its error, and `check` then exits with 3.
        except Exception as error:  # noqa: BLE001
            return self._failed(name, f"{type(error).__name__}: {error}", start)
        taken, quiet = time.perf_counter() - start, work.seconds
        block_sizes.keep(self.store, context.model)
        if self.store is not None:
            self.store.record(key, {"evidence": evidence, "result": result}, taken)
            disk = folder_mb(self.store.path) - disk
        spent = Spent(
            queries=queries_of(evidence, context.model.queries - before),
            rows_sent=_rows_sent(context.model) - sent_before,
            labels=0 if evidence.provenance is None else evidence.provenance.labels,
            seconds=taken,
            memory_mb=most_held_mb(),
            disk_mb=max(0.0, disk),
            quiet_seconds=quiet,
        )
        self._kept_costs[key] = cost_record(planned, spent)
        if self.store is not None:
            self.store.set_meta(_COSTS_KEPT, self._kept_costs)
        return replace(evidence, seconds=taken), result

    def _cut_short(self, name: str, reason: str, start: float) -> tuple[Evidence, None]:
        evidence, _ = self._failed(name, reason, start)
        return replace(evidence, partial=reason), None

    def _failed(self, name: str, reason: str, start: float) -> tuple[Evidence, None]:
        taken = time.perf_counter() - start
        if self.store is not None:
            self.store.record_failure(self._keys[name], traceback.format_exc(), taken)
        return replace(Evidence.failed(name, reason), seconds=taken), None

    def _spent_so_far(self) -> tuple[float, int]:
        """Seconds and queries of the parts in the report; those that failed cost time, too."""
        failed = sum(
            part.seconds or 0.0 for name, part in self._done.items() if name not in self.costs
        )
        actual = [cost["actual"] for cost in self.costs.values()]
        seconds = sum(cost["seconds"] for cost in actual) + failed
        return seconds, sum(cost["queries"] for cost in actual)

    def _read_back(self, name: str) -> tuple[Evidence, Result | None] | None:
        key = self._keys[name]
        kept = {} if self.store is None else self.store.finished([key])
        if self.store is None or key not in kept:
            return None
        seconds = self.store.timings().get(key)
        return replace(kept[key]["evidence"], seconds=seconds), kept[key]["result"]


def _rows_sent(model: Any) -> int:
    """Rows that the model got, padding included, without those of probes."""
    return int(getattr(model, "rows_sent", model.queries))


def _samples(name: str, context: Context, result: Answer) -> tuple[Sample, ...]:
    """The inputs that prove what a part says, if it can name any."""
    own = getattr(part_module(name), "samples", None)
    return () if own is None else tuple(own(context, result))
