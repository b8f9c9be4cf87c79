"""The files of a run folder: how they are written, and how they are read back."""

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fireassay.assessment.config import Config, read_config
from fireassay.assessment.run.reproducibility import REPRODUCIBLE, with_reproducibility
from fireassay.assessment.run.stale import (
    OTHER_ANSWERS,
    Made,
    MadeFrom,
    made_from_files,
    read_made,
    what_differs,
)
from fireassay.classifiers.read_files import moved
from fireassay.core import DataError, Estimate, Evidence, Measure, Result, json_files, sha256
from fireassay.core.files import write_text
from fireassay.core.hashing import sha256_file
from fireassay.core.json_files import read_kept
from fireassay.engine import RunStore
from fireassay.report import About, Gate, Report, Verdict
from fireassay.report.gates import Ask, parse_gates
from fireassay.report.page import to_html
from fireassay.version import __version__

RESULT, PAGE = "result.json", "report.html"
TIMINGS, COSTS, GATES = "timings.json", "costs.json", "gates.json"
ABOUT = "about.json"
TEST_ROWS, ENDED = "test rows", "end of the run"
FIRST_LIMITS, FILES, DIGESTS = "first limits", "files of the model", "files as they were"
_RUN = "run"  # in the journal, with these names
_CONFIGURATION, _UNDER_WAY, _WRITTEN = "configuration", "under way", "result.json"
_NOTED = (TEST_ROWS, ENDED, _CONFIGURATION, _UNDER_WAY, _WRITTEN)
_NOT_ENDED = "the run that began {} has not come to its end"


def write_run(
    folder: Path, report: Report, verdict: Verdict, costs: Mapping[str, Mapping[str, Any]]
) -> None:
    """Result, page, and apart from them the times and costs, which differ from run to run."""
    report.to_json(folder / RESULT)
    page = to_html(report.parts, report.title, verdict, costs, report.accepted, report.about)
    write_text(folder / PAGE, page)
    seconds = {part.question: part.seconds for part in report.parts}
    gates = gate_tables(check.gate for check in verdict.checks)
    files: dict[str, Any] = {TIMINGS: seconds, COSTS: costs, GATES: gates}
    if report.about is not None:
        files[ABOUT] = report.about.to_dict()
    for name, content in files.items():
        text = json_files.dumps(content, indent=2, sort_keys=name != GATES)  # limits as they stand
        write_text(folder / name, text + "\n")


def result_path(run: Path) -> Path:
    """The ``result.json`` of a run folder (or the file itself)."""
    path = run / RESULT if run.is_dir() else run
    if not path.is_file():
        raise DataError(
            f"Expected a run folder with a {RESULT}.",
            got=str(run),
            do="Make one with: fireassay run (or fireassay demo)",
        )
    return path


@contextlib.contextmanager
def under_way(store: RunStore, config: Config | None = None) -> Iterator[None]:
    """Mark the folder while a run is going on; one that ends badly, in whatever way, leaves it."""
    began = datetime.now(UTC).isoformat(timespec="seconds")
    file = None if config is None else (config.folder / config.file_name).resolve()
    relative = None if file is None else os.path.relpath(file, store.path.resolve())
    note(store, {_UNDER_WAY: f"{began}, process {os.getpid()}", _CONFIGURATION: relative})
    yield
    result = store.path / RESULT
    written = sha256_file(result) if result.is_file() else None
    note(store, {_WRITTEN: written, _UNDER_WAY: None})


def noted(store: RunStore) -> dict[str, Any]:
    """What a run has noted in its journal besides its parts."""
    found: dict[str, Any] | None = store.meta(_RUN)
    return {name: store.meta(name) for name in _NOTED} if found is None else found  # 0.2.0: each


def note(store: RunStore, facts: Mapping[str, Any]) -> None:
    """Add to what a run has noted."""
    store.set_meta(_RUN, {**noted(store), **facts})


def as_it_was_left(store: RunStore) -> bool:
    """Whether the last run in a folder came to its end, and its result is what it wrote."""
    # Asked while this process holds the folder's lock, so that no other run can be under way.
    result, known = store.path / RESULT, noted(store)
    ended = not known.get(_UNDER_WAY) and result.is_file()
    return ended and sha256_file(result) == known.get(_WRITTEN)


def read_report(run: Path, *, charts: bool = True, config: Config | None = None) -> Report:
    """The report of a run folder (or a ``result.json``), compared with what there is now."""
    # Parts made from another model, other data, settings or version than the configuration names
    # now are stale; if the last run did not come to its end, all are partial. Assumptions are
    # accepted, and samples shown, as the configuration says now.
    known = read_noted(run)
    plain = Report.from_json(_as_written(run, known))
    config = config or configuration(run)
    now = {} if config is None else made_from_files(config)
    made = _made(_folder(run))
    other = [] if config is None else moved(known.get(FILES) or {}, config.folder)
    kept = _journalled(_folder(run), made, "evidence") if charts else {}
    parts = []
    for part in plain.parts:
        name = part.question
        if name in kept:
            part = as_journalled(part, kept[name])
        if part.status == "done" and not part.stale and name in now:
            before = made[name]["files"] if name in made else None
            part = replace(part, stale=what_differs(before, now[name]))
        if part.status == "done" and other and not part.stale:
            part = replace(part, stale=f"another model ({', '.join(other)})")
        if part.status == "done" and known.get(_UNDER_WAY) and not part.partial:
            part = replace(part, partial=_NOT_ENDED.format(known[_UNDER_WAY]))
        parts.append(part)
    accepted = plain.accepted if config is None else config.gates.accept
    asked = _asked(run) if "accuracy" in _of_this_version(made) else None
    report = Report(parts, plain.title, accepted, read_about(run), asked=asked)
    return report if config is None or config.run.samples else report.without_samples()


def _asked(run: Path) -> Ask:
    """Gives the standard numbers that a run's answers allow, read when one is asked for."""

    def number(name: str) -> tuple[str, Estimate, Measure]:
        result: Any = read_results(_folder(run))["accuracy"]
        found: tuple[str, Estimate, Measure] = result.number(name)
        return found

    return number


def labelled_rows(run: Path) -> Mapping[str, Any] | None:
    """The sketch of the labelled rows that a run was made on; None for a run without any."""
    found: Mapping[str, Any] | None = read_noted(run).get(TEST_ROWS)
    return found


def first_noted(run: Path) -> Mapping[str, Any]:
    """The limits that there were when each part of a run was first finished."""
    return read_noted(run).get(FIRST_LIMITS) or {}


def project_folder(run: Path) -> Path:
    """Where a run belongs: the folder of its configuration, or the one that its folder is in."""
    file = _configuration_file(run)
    return _folder(run).resolve().parent if file is None else file.parent


def reservations(run: Path, report: Report) -> dict[str, str]:
    """Why a run's answers cannot be relied on as they stand, in words: by part, or for the run."""
    found = {part.question: f"made from {part.stale}" for part in report.parts if part.stale}
    began = read_noted(run).get(_UNDER_WAY)
    return {"run": _NOT_ENDED.format(began), **found} if began else found


def configuration(run: Path) -> Config | None:
    """The configuration that a run folder belongs to, as it is now."""
    # None where there is none any more, or where it names another run folder by now.
    file = _configuration_file(run)
    config = None if file is None else read_config(file)
    if config is None or (config.folder / config.run.folder).resolve() != _folder(run).resolve():
        return None
    return config


def _configuration_file(run: Path) -> Path | None:
    relative = read_noted(run).get(_CONFIGURATION)
    file = None if relative is None else Path(os.path.normpath(_folder(run).resolve() / relative))
    return file if file is not None and file.is_file() else None


def _as_written(run: Path, known: Mapping[str, Any]) -> Path:
    """The ``result.json`` of a run that has ended must be what that run wrote."""
    path, written = result_path(run), known.get(_WRITTEN)
    if written is not None and not known.get(_UNDER_WAY) and sha256_file(path) != written:
        raise DataError(
            f"{path} must be as the run wrote it.",
            got="another content: it is damaged, or was changed by hand",
            do="Write it again with: fireassay run",
        )
    return path


def as_journalled(part: Evidence, kept: Evidence) -> Evidence:
    """The evidence as it was journalled, with what has been said about it since."""
    whole = replace(kept, stale=part.stale, partial=part.partial)
    if part.withheld:  # the run was asked to leave samples out
        whole = whole.without_samples()
    same = next((a for a in part.assumptions if a.id == REPRODUCIBLE), None)
    return whole if same is None else with_reproducibility(whole, same)


def read_results(folder: Path) -> dict[str, Result]:
    """The results of the finished parts of a run, by name; none that another version made."""
    # Fields of results change from version to version; numbers and charts are in the evidence.
    return _journalled(folder, _of_this_version(_made(folder)), "result")


def _of_this_version(made: Mapping[str, Made]) -> dict[str, Made]:
    now = {"fireassay": sha256(__version__)}
    return {
        name: one
        for name, one in made.items()
        if one["key"] and now.items() <= (one["objects"] or now).items()
    }


def read_gates(run: Path, config: Config | None = None) -> tuple[Gate, ...]:
    """The limits of a run: those of its configuration, or as they were when it ran."""
    path = _folder(run) / GATES
    if config is not None:
        return config.limits
    return parse_gates(read_kept(path, _limits)) if path.is_file() else ()


def gate_tables(gates: Iterable[Gate]) -> dict[str, dict[str, float]]:
    """Limits under ``max`` and ``min``, as in ``gates.json``."""
    tables: dict[str, dict[str, float]] = {"max": {}, "min": {}}
    for gate in gates:
        tables[gate.direction][gate.number] = gate.limit
    return tables


def read_costs(run: Path) -> dict[str, dict[str, Any]]:
    """For each part of a run what was planned and what it took; empty if nothing is known."""
    path = _folder(run) / COSTS
    return read_kept(path, _costs) if path.is_file() else {}


def read_about(run: Path) -> About | None:
    """The model, the data, the day and the seed of a run; None if nobody has noted them."""
    path = _folder(run) / ABOUT
    return read_kept(path, _about) if path.is_file() else None


def _about(kept: Any) -> About:
    about = About.from_dict(kept)
    str(about)  # a day or a name that cannot be said is found here
    return about


def _costs(kept: Any) -> dict[str, dict[str, Any]]:
    return {
        part: {
            side: spent and {name: float(amount) for name, amount in spent.items()}
            for side, spent in record.items()
        }
        for part, record in kept.items()
    }


def _limits(kept: Any) -> dict[str, dict[str, float]]:
    return {
        side: {name: float(limit) for name, limit in kept.get(side, {}).items()}
        for side in ("max", "min")
    }


def _folder(run: Path) -> Path:
    return run if run.is_dir() else run.parent


def read_noted(run: Path) -> dict[str, Any]:
    """What a run has noted; nothing without a journal."""
    if not (_folder(run) / "run.sqlite").is_file():
        return {}
    with RunStore(_folder(run), read_only=True) as store:
        return noted(store)


def _made(folder: Path) -> dict[str, Made]:
    """What each part of a run was made from; nothing without a journal."""
    if not (folder / "run.sqlite").is_file():
        return {}
    with RunStore(folder, read_only=True) as store:
        return read_made(store)


def _journalled(folder: Path, made: Mapping[str, Made], what: str) -> dict[str, Any]:
    """The evidence or the result of each finished part."""
    keys = {name: one["key"] for name, one in made.items() if one["key"]}
    if not keys:
        return {}
    with RunStore(folder, read_only=True) as store:
        kept = store.finished(list(keys.values()), only=what)
    return {name: kept[key] for name, key in keys.items() if key in kept}


class EarlierParts:
    """What an earlier run in the same folder found: kept, with what has changed since."""

    def __init__(self, store: RunStore | None) -> None:
        self.store = store
        self.parts: dict[str, Evidence] = {}
        self.made: dict[str, Made] = {} if store is None else read_made(store)
        if store is not None and (store.path / RESULT).is_file():
            seconds = store.timings()
            for part in Report.from_json(store.path / RESULT).parts:
                taken = seconds.get(self.key(part.question))
                self.parts[part.question] = replace(part, seconds=taken)

    def key(self, name: str) -> str:
        """A part's key in the journal; empty if it has none."""
        return self.made[name]["key"] if name in self.made else ""

    def compare(self, name: str, now: MadeFrom) -> None:
        """Mark a part whose inputs are no longer those it was made with."""
        if name in self.parts and self.parts[name].status == "done":
            before = self.made[name]["objects"] if name in self.made else None
            self.parts[name] = replace(self.parts[name], stale=what_differs(before, now))

    def compare_key(self, name: str, key: str) -> None:
        """Mark a part as stale if a result it depends on has changed."""
        part = self.parts.get(name)
        if part is not None and part.status == "done" and self.key(name) != key:
            self.parts[name] = replace(part, stale=part.stale or OTHER_ANSWERS)

    def restore(self, name: str) -> None:
        """Give a part that stays its charts and samples back."""
        part, key = self.parts.get(name), self.key(name)
        kept = {}
        if part is not None and self.store is not None and key:
            kept = self.store.finished([key], only="evidence")
        if part is not None and key in kept:
            journalled = as_journalled(part, kept[key])
            self.parts[name] = replace(journalled, seconds=part.seconds)
