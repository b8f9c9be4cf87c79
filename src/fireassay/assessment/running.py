"""Run the parts of an assessment; what is done is kept, what fails is recorded."""

import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fireassay.assessment.config import Config
from fireassay.assessment.context import Context
from fireassay.assessment.inputs import load_context
from fireassay.assessment.parts import PARTS, part_module
from fireassay.assessment.run_folder import GATES, PAGE, PART_KEYS, RESULT, TIMINGS
from fireassay.core import Evidence, ParameterError, Result, sha256, strict_json
from fireassay.engine import Executor, RunStore
from fireassay.report import Report
from fireassay.version import __version__

Say = Callable[[str], None]


def silent(line: str) -> None:
    """Print nothing."""
    del line


@dataclass(frozen=True)
class Outcome:
    """A run: its folder and its report."""

    folder: Path
    report: Report


def run_assessment(
    config: Config,
    *,
    only: Sequence[str] | None = None,
    seed: int | None = None,
    workers: int | None = None,
    cluster: str | None = None,
    say: Say = silent,
) -> Outcome:
    """Run what a configuration asks for, in its run folder."""
    unknown = [name for name in only or () if name not in PARTS]
    if unknown:
        raise ParameterError(f"Known parts: {', '.join(PARTS)}.", got=unknown[0])
    folder = config.folder / config.run.folder
    with RunStore(folder) as store:
        executor = Executor(workers=workers or config.run.workers, cluster=cluster, store=store)
        context = load_context(config, seed=seed, executor=executor)
        report = run_parts(
            context,
            config.run.parts if only is None else tuple({*config.run.parts, *only}),
            config.settings,
            only=only,
            title=config.run.title,
            gates={"max": config.gates.max, "min": config.gates.min},
            say=say,
        )
    return Outcome(folder, report)


def run_parts(
    context: Context,
    parts: Sequence[str],
    settings: dict[str, Any],
    *,
    only: Sequence[str] | None = None,
    instead: Mapping[str, Context] | None = None,
    title: str = "Fire assay",
    gates: dict[str, dict[str, float]] | None = None,
    say: Say = silent,
) -> Report:
    """Run parts in order; each sees the results of the parts it uses.

    If the context's executor has a store, finished parts are read back instead of run again, and
    ``result.json`` and ``report.html`` are there after every part, whenever it is killed. Parts
    outside ``only`` are not run, but stay in the report if they are done. ``instead`` gives parts
    a context of their own.
    """
    store: RunStore | None = context.executor.store
    done: list[Evidence] = []
    keys: dict[str, str] = {}
    results: dict[str, Result] = {}
    report = Report([], title)
    for name in [name for name in PARTS if name in parts]:
        uses = part_module(name).USES
        own = context if instead is None else instead.get(name, context)
        within = replace(own, results={u: results[u] for u in uses if u in results})
        keys[name] = _part_key(name, within, settings[name], {u: keys.get(u) for u in uses})
        kept = _read_back(store, keys[name])
        if kept is None and only is not None and name not in only:
            continue
        evidence, result = kept or _run_part(name, within, settings[name], keys[name])
        if result is not None:
            results[name] = result
        done.append(evidence)
        say(f"{name:<13}{evidence.headline}")
        report = Report(done, title)
        if store is not None:
            store.set_meta(PART_KEYS, keys)
            _write(store.path, report, gates or {"max": {}, "min": {}})
    return report


def _run_part(
    name: str, context: Context, settings: Any, key: str
) -> tuple[Evidence, Result | None]:
    module = part_module(name)
    reason = module.missing(context)
    if reason is not None:
        return Evidence.not_available(name, reason), None
    store: RunStore | None = context.executor.store
    if store is not None:
        store.expect([key], name=f"part {name}", function=PARTS[name])
    start = time.perf_counter()
    try:
        result: Result = module.run(context, settings)
        evidence = result.evidence()
    # One part that breaks, in whatever way, must not take the others with it; it is recorded
    # as failed with its error, and `check` then exits with 3.
    except Exception as error:  # noqa: BLE001
        if store is not None:
            store.record_failure(key, traceback.format_exc(), time.perf_counter() - start)
        return Evidence.failed(name, f"{type(error).__name__}: {error}"), None
    seconds = time.perf_counter() - start
    if store is not None:
        store.record(key, {"evidence": evidence, "result": result}, seconds)
    return replace(evidence, seconds=seconds), result


def _read_back(store: RunStore | None, key: str) -> tuple[Evidence, Result | None] | None:
    kept = {} if store is None else store.finished([key])
    if store is None or key not in kept:
        return None
    seconds = store.timings().get(key)
    return replace(kept[key]["evidence"], seconds=seconds), kept[key]["result"]


def _part_key(name: str, context: Context, settings: Any, used_keys: dict[str, str | None]) -> str:
    """What a part's answer depends on: a changed input is a new answer, never an old one."""
    sets = [context.test, context.train, context.operational]
    return sha256(
        name,
        __version__,
        settings.model_dump(),
        context.seed,
        context.model.sha256,
        [None if s is None else s.sha256 for s in sets],
        context.votes,
        context.vote_names,
        context.groups,
        used_keys,
    )


def _write(folder: Path, report: Report, gates: dict[str, dict[str, float]]) -> None:
    report.to_json(folder / RESULT)
    report.to_html(folder / PAGE, gates)
    seconds = {part.question: part.seconds for part in report.parts}
    (folder / TIMINGS).write_text(strict_json.dumps(seconds, indent=2) + "\n")
    (folder / GATES).write_text(strict_json.dumps(gates, indent=2) + "\n")
