"""Run the parts of an assessment; what is done is kept, what fails is recorded."""

import time
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from fireassay.assessment.coded_rows import coded, with_own_hash
from fireassay.assessment.context import Context
from fireassay.assessment.parts.table import PARTS, in_running_order
from fireassay.assessment.plan.costs import (
    Budget,
    OutOfTimeError,
    Spent,
    all_else,
    cost_record,
    folder_mb,
    queries_of,
)
from fireassay.assessment.plan.machine import forget_most, most_held_mb
from fireassay.assessment.plan.plan import Plan, PlanRow, price_parts
from fireassay.assessment.run import asked_once
from fireassay.assessment.run.asked_once import meter_of
from fireassay.assessment.run.first_look import FirstLook, first_look, looked
from fireassay.assessment.run.folder import EarlierParts, read_about, write_run
from fireassay.assessment.run.judging import Judge, Judged
from fireassay.assessment.run.preflight import resting_on
from fireassay.assessment.run.progress import RunProgress
from fireassay.assessment.run.reproducibility import with_reproducibility
from fireassay.assessment.run.stale import MadeFrom, made_from_objects, part_key, write_made
from fireassay.core import Answer, BudgetExceededError, Evidence, NotEnoughEvidenceError, Result
from fireassay.core.clock import WorkClock
from fireassay.engine import RunStore
from fireassay.report import About, Report
from fireassay.report.first_screen import changed_since

Say = Callable[[str], None]
Costs = dict[str, dict[str, Any]]
_COSTS_KEPT = "costs by part key"
LOOK = "first look"  # beside the parts, in the costs


def silent(line: str) -> None:
    """Print nothing."""
    del line


class Run:
    """Parts one after the other; each sees the results of the parts it uses."""

    # If the context's executor has a store, finished parts are read back instead of run again, and
    # ``result.json`` and ``report.html`` are there after every part, whenever it is killed. Parts
    # outside ``only`` are not run, but stay in the report, marked stale if their inputs have
    # changed. ``instead`` gives parts a context of their own, whose results no other part takes.

    def __init__(
        self,
        context: Context,
        parts: Iterable[str],
        settings: Mapping[str, Any],
        *,
        only: Sequence[str] | None = None,
        instead: Mapping[str, Context] | None = None,
        title: str = "Fire assay",
        judge: Judge | None = None,
        accepted: Mapping[str, str] | None = None,
        files: Mapping[str, MadeFrom] | None = None,
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
        self.title, self.judge = title, judge or Judge()
        self.accepted = dict(accepted or {})
        self.about, self.samples = about, samples
        self.judged: Judged | None = None
        self.budget, self.say, self.progress = budget or Budget(), say, progress
        self.store: RunStore | None = context.executor.store
        self.costs: Costs = {}
        self._kept_costs: Costs = self.store.meta(_COSTS_KEPT, {}) if self.store else {}
        earlier = self._kept_costs.get(LOOK, {"actual": {"seconds": 0.0}})
        self._look_s: float = earlier["actual"]["seconds"]  # of first looks by earlier starts
        self._done: dict[str, Evidence] = {}
        self._keys: dict[str, str] = {}
        self._objects: dict[str, MadeFrom] = {}
        self._files = files or {}
        self._results: dict[str, Result] = {}
        self._earlier = EarlierParts(self.store)
        known = None if self.store is None else read_about(self.store.path)
        again = known is None or about is None or known.began == about.began
        self._before = () if again else tuple(self._earlier.parts.values())
        self._meter = meter_of(context)
        self._meter.watch(context.model, self.budget.max_queries)
        self._looks: dict[int, FirstLook] = {}  # at the models that a part has asked
        self._earlier_s = 0.0  # of parts that earlier starts have done
        for own in (context, *self.instead.values()):
            asked_once.recall(self.store, own.model)

    def go(self) -> Report:
        """Do what is not done yet."""
        try:
            return self._go()
        finally:
            for look in self._looks.values():
                look.end()

    def _go(self) -> Report:
        self._compare_earlier()
        watched: RunProgress | None = None
        plan: Plan | None = None
        for position, name in enumerate(self.names):
            part = PARTS[name]
            own = self.instead.get(name, self.context)
            # Results of other parts on the same model and data.
            usable = set() if name in self.instead else self._results.keys() - self.instead.keys()
            used = {u: self._results[u] for u in part.uses if u in usable}
            self._keys[name] = part_key(name, self._objects[name], {u: self._keys[u] for u in used})
            kept = self._read_back(name)
            if kept is not None:
                self._add(name, *kept)
                continue
            self._earlier.compare_key(name, self._keys[name])
            if not self._wanted(name):
                self._earlier.restore(name)
                if name in self._earlier.parts:
                    self.judged = None
                continue
            if watched is None:
                plan, watched = self._begin(
                    own, [n for n in self.names[position:] if self._wanted(n)]
                )
            with watched:
                watched.begin(name)
                self._look(own, [name])
                lacking = [u for u in part.uses if u not in used]
                planned = None if plan is None else plan.row(name, lacking)
                evidence, result = self._run_part(name, replace(own, results=used), planned)
                watched.end(evidence.seconds)
            self._add(name, evidence, result)
            if evidence.status != "not available":
                self._write()  # the others are written with the next, or at the end
        asked = [look.at_the_end() for look in self._looks.values()]
        if self.judged is None or any(asked):
            self._write()
        self._write_samples()
        if watched is not None:
            watched.over()
        return self._report() if self.judged is None else self.judged.report

    def _wanted(self, name: str) -> bool:
        return self.only is None or name in self.only

    def _compare_earlier(self) -> None:
        """Mark the parts in the folder that were made from something else than there is now."""
        for name in dict.fromkeys([*self.names, *(set(self._earlier.parts) & set(PARTS))]):
            own = self.instead.get(name, self.context)
            self._objects[name] = made_from_objects(name, own, self.settings[name])
            self._earlier.compare(name, self._objects[name])
            if name not in self.names:
                self._earlier.restore(name)
        if any(part.stale for part in self._earlier.parts.values()):
            self._write()  # whoever kills this run must not find them as they were

    def _begin(self, own: Context, rest: Sequence[str]) -> tuple[Plan | None, RunProgress]:
        """The first look for the parts that are to run, what they will cost, and their display."""
        self._look(own, rest)
        plan = None
        if self.store is not None and not self.context.recorded:
            plan = price_parts(self.context, rest, self.settings, self.instead, self._results)
        folder = None if self.store is None else self.store.path
        return plan, RunProgress(plan, rest, shown=self.progress, folder=folder)

    def _look(self, own: Context, names: Sequence[str]) -> None:
        if id(own) not in self._looks and not own.recorded:
            self._looks[id(own)] = looked(own, [PARTS[name] for name in names], self.settings)

    def _write_samples(self) -> None:
        """Put down what is known of each row; parts on other data have rows of their own."""
        if self.store is None:
            return
        from fireassay.assessment.samples.table import write_samples

        own = {name: r for name, r in self._results.items() if name not in self.instead}
        keys = {name: self._keys[name] for name in own}
        write_samples(self.store.path, self.context, own, keys, content=self.samples)

    def _add(self, name: str, evidence: Evidence, result: Result | None) -> None:
        if result is not None:
            self._results[name] = result
        if self.store is not None:
            own = self.instead.get(name, self.context)
            PARTS[name].files(self.store.path, own, result)
        if self._keys[name] in self._kept_costs:
            self.costs[name] = self._kept_costs[self._keys[name]]
        self._done[name] = evidence
        self.judged = None
        self.say(f"{name:<13}{self._evidence(name).headline}")

    def _write(self) -> None:
        """Put down what there is so far; what an earlier run found stays until it is replaced."""
        if self.store is None or not (self._done or self._earlier.parts):
            return
        made, earlier_parts = self._earlier.made, self._earlier.parts
        for name in self._done:
            files = self._files.get(name, made[name]["files"] if name in made else None)
            made[name] = {"key": self._keys[name], "objects": self._objects[name], "files": files}
        for name, part in earlier_parts.items():
            if name in made and name in self._files and not part.stale:
                made[name]["files"] = self._files[name]
        write_made(self.store, made)
        earlier = {
            name: self._kept_costs[one["key"]]
            for name, one in made.items()
            if one["key"] in self._kept_costs and name not in self._done
        }
        report = self._report()
        self.judge.note_first(self.store, report)
        self.judged = self.judge.judge(report)
        if self.about is not None and self._before:
            told = changed_since(self._before, self.judged.verdict, self.judged.report.parts)
            self.about = self.judged.report.about = replace(self.about, change=told)
        costs = {name: cost for name, cost in {**earlier, **self.costs}.items() if name != LOOK}
        seconds = self._look_s + sum(look.seconds for look in self._looks.values())
        self.costs[LOOK] = self._kept_costs[LOOK] = all_else(costs, self._meter.rows, seconds)
        self.store.set_meta(_COSTS_KEPT, self._kept_costs)
        costs = dict(sorted({LOOK: self.costs[LOOK], **costs}.items()))  # as they are read
        write_run(self.store.path, self.judged.report, self.judged.verdict, costs)

    def _report(self) -> Report:
        found = {**self._earlier.parts, **{name: self._evidence(name) for name in self._done}}
        names = [*PARTS, *(name for name in found if name not in PARTS)]
        parts = [found[name] for name in names if name in found]
        asked = getattr(self._results.get("accuracy"), "number", None)
        report = Report(parts, self.title, self.accepted, self.about, asked=asked)
        return report if self.samples else report.without_samples()

    def _evidence(self, name: str) -> Evidence:
        """What a part found, with what is known by now about the model's answers."""
        own = self.instead.get(name, self.context)
        if own.recorded:  # nothing that was recorded can change
            return self._done[name]
        return with_reproducibility(self._done[name], first_look(own).assumption())

    def _run_part(
        self, name: str, context: Context, planned: PlanRow | None
    ) -> tuple[Evidence, Result | None]:
        part = PARTS[name]
        delivered = self._meter.rows
        reason = part.why_not(context)
        if reason is None:
            cost = part.cost(context, self.settings[name])
            known = 0 if context.recorded else first_look(context).known
            most = sum(
                each.queries - min(each.data_rows, known) for each in (cost, *context.lacking(cost))
            )
            reason = self.budget.refusal(planned, self._earlier_s, most, delivered)
        if reason is not None:
            return Evidence.not_available(name, reason), None
        key = self._keys[name]
        if self.store is not None:
            self.store.expect([key], name=f"part {name}", function=part.run.__module__)
        before = context.model.queries
        disk = 0.0 if self.store is None else folder_mb(self.store.path)
        forget_most()
        start, work = time.perf_counter(), WorkClock()
        try:
            asked_once.decide_before(context, cost)
            with self.budget.enforced(self._earlier_s):
                result: Answer = part.run(context, self.settings[name])
                evidence = with_own_hash(part.evidence(result), context.model)
                evidence = resting_on(evidence, context.doubts)
                evidence = replace(
                    evidence,
                    samples=tuple(part.samples(context, result)),
                    partial=f"{context.partial}: {self.budget.stopped}" if context.partial else "",
                )
        except OutOfTimeError:
            return self._cut_short(name, self.budget.stopped, start)
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
        asked_once.keep(self.store, context.model)
        if self.store is not None:
            self.store.record(key, {"evidence": evidence, "result": result}, taken)
            disk = folder_mb(self.store.path) - disk
        spent = Spent(
            queries=queries_of(evidence, context.model.queries - before),
            delivered=self._meter.rows - delivered,
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

    def _read_back(self, name: str) -> tuple[Evidence, Result | None] | None:
        key = self._keys[name]
        kept = {} if self.store is None else self.store.finished([key])
        if self.store is None or key not in kept:
            return None
        seconds = self.store.timings().get(key)
        self._earlier_s += seconds or 0.0
        return replace(kept[key]["evidence"], seconds=seconds), kept[key]["result"]
