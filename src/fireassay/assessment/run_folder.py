"""The files of a run folder: how they are written, and how they are read back."""

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fireassay.assessment.config import Config, read_config
from fireassay.assessment.looks import (
    LookLedger,
    RowSketch,
    fraction,
    looks_at,
    sketch_from_json,
)
from fireassay.assessment.measures import full_names
from fireassay.assessment.part_key import what_differs
from fireassay.assessment.reproducibility import REPRODUCIBLE, with_reproducibility
from fireassay.assessment.sources import source_facts
from fireassay.core import DataError, Evidence, Result, strict_json
from fireassay.core.files import write_text
from fireassay.core.hashing import sha256_file
from fireassay.core.kept_json import read_kept
from fireassay.engine import RunStore
from fireassay.report import About, Report
from fireassay.report.gates import parse_gates

RESULT, PAGE = "result.json", "report.html"
TIMINGS, COSTS, GATES = "timings.json", "costs.json", "gates.json"
ABOUT = "about.json"
PART_KEYS, PART_FACTS, PART_SOURCES = "part keys", "part facts", "part sources"
TEST_ROWS = "test rows"
_CONFIGURATION, _UNDER_WAY, _WRITTEN = "configuration", "under way", "result.json"
_NOT_ENDED = "the run that began {} has not come to its end"


def write_run(
    folder: Path,
    report: Report,
    gates: Mapping[str, Mapping[str, float]],
    costs: Mapping[str, Mapping[str, Any]],
) -> None:
    """Result, page, and apart from them the times and costs, which differ from run to run."""
    report.to_json(folder / RESULT)
    report.to_html(folder / PAGE, gates, costs=costs)
    seconds = {part.question: part.seconds for part in report.parts}
    files: dict[str, Any] = {TIMINGS: seconds, COSTS: costs, GATES: gates}
    if report.about is not None:
        files[ABOUT] = report.about.to_dict()
    for name, content in files.items():
        write_text(folder / name, strict_json.dumps(content, indent=2) + "\n")


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
    store.set_meta(_UNDER_WAY, f"{began}, process {os.getpid()}")
    file = None if config is None else (config.folder / config.file_name).resolve()
    relative = None if file is None else os.path.relpath(file, store.path.resolve())
    store.set_meta(_CONFIGURATION, relative)
    yield
    result = store.path / RESULT
    store.set_meta(_WRITTEN, sha256_file(result) if result.is_file() else None)
    store.set_meta(_UNDER_WAY, None)


def as_it_was_left(store: RunStore) -> bool:
    """Whether the last run in a folder came to its end, and its result is what it wrote.

    Asked while this process holds the folder's lock, so that no other run can be under way.
    """
    result = store.path / RESULT
    written = store.meta(_WRITTEN)
    return store.meta(_UNDER_WAY) is None and result.is_file() and sha256_file(result) == written


def read_report(run: Path, *, charts: bool = True) -> Report:
    """The report of a run folder (or a ``result.json``), compared with what there is now.

    Parts that were made from another model, other data, settings or another version than the
    configuration names now are stale; if the last run in the folder did not come to its end, all
    are partial. Assumptions are accepted, and samples shown, as the configuration says now.
    """
    plain = Report.from_json(_as_written(run))
    config = configuration(run)
    now = {} if config is None else source_facts(config)
    sources, began = _noted(run, PART_SOURCES) or {}, _noted(run, _UNDER_WAY)
    kept = _finished_parts(_folder(run)) if charts else {}
    parts = []
    for part in plain.parts:
        name = part.question
        if name in kept:
            part = as_journalled(part, kept[name]["evidence"])
        if part.status == "done" and not part.stale and name in now:
            part = replace(part, stale=what_differs(sources.get(name), now[name]))
        if part.status == "done" and began and not part.partial:
            part = replace(part, partial=_NOT_ENDED.format(began))
        parts.append(part)
    accepted = plain.accepted if config is None else config.gates.accept
    fractions = {} if config is None else looks_left(config, labelled_rows(run), parts)
    report = Report(parts, plain.title, accepted, read_about(run), fractions)
    return report if config is None or config.run.samples else report.without_samples()


def looks_left(
    config: Config, sketch: RowSketch | None, parts: Sequence[Evidence]
) -> dict[str, float]:
    """What is left of each gated number's error probability; empty if looks are not planned."""
    if sketch is None or config.gates.looks is None:
        return {}
    gates = parse_gates(configured_gates(config))
    looks = looks_at(LookLedger(config.folder), sketch, gates, parts)
    return {gate.number: fraction(look, config.gates.looks) for gate, _, look in looks}


def labelled_rows(run: Path) -> RowSketch | None:
    """The labelled rows that the run in a folder was made on; None for a run without any."""
    return sketch_from_json(_noted(run, TEST_ROWS))


def project_folder(run: Path) -> Path:
    """Where a run belongs: the folder of its configuration, or the one that its folder is in."""
    config = configuration(run)
    return _folder(run).resolve().parent if config is None else config.folder


def reservations(run: Path, report: Report) -> dict[str, str]:
    """Why a run's answers cannot be relied on as they stand, in words: by part, or for the run."""
    found = {part.question: f"made from {part.stale}" for part in report.parts if part.stale}
    began = _noted(run, _UNDER_WAY)
    return {"run": _NOT_ENDED.format(began), **found} if began else found


def configuration(run: Path) -> Config | None:
    """The configuration that a run folder belongs to, as it is now.

    None where there is none any more, or where it names another run folder by now.
    """
    folder, relative = _folder(run).resolve(), _noted(run, _CONFIGURATION)
    file = None if relative is None else folder / relative
    if file is None or not file.is_file():
        return None
    config = read_config(file)
    return config if (config.folder / config.run.folder).resolve() == folder else None


def _as_written(run: Path) -> Path:
    """The ``result.json`` of a run that has ended must be what that run wrote."""
    path, written = result_path(run), _noted(run, _WRITTEN)
    if written is not None and not _noted(run, _UNDER_WAY) and sha256_file(path) != written:
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
    """The results of the finished parts of a run, by name."""
    return {name: saved["result"] for name, saved in _finished_parts(folder).items()}


def read_gates(run: Path) -> Mapping[str, Mapping[str, float]]:
    """The limits under ``max`` and ``min``, as configured now or for the run; empty without any."""
    config = configuration(run)
    path = _folder(run) / GATES
    if config is not None:
        found = configured_gates(config)
    else:
        found = read_kept(path, _limits) if path.is_file() else {}
    return found if any(found.values()) else {}


def configured_gates(config: Config) -> dict[str, dict[str, float]]:
    """The limits of a configuration, each by the full name of its number."""
    return {
        "max": full_names(config.gates.max, config.run.parts),
        "min": full_names(config.gates.min, config.run.parts),
    }


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


def _noted(run: Path, key: str) -> Any:
    """What the run's journal has under a name; None without a journal."""
    if not (_folder(run) / "run.sqlite").is_file():
        return None
    with RunStore(_folder(run), read_only=True) as store:
        return store.meta(key)


def _finished_parts(folder: Path) -> dict[str, Any]:
    """Evidence and result of each finished part; nothing for a folder without a journal."""
    keys: dict[str, str] = _noted(folder, PART_KEYS) or {}
    if not keys:
        return {}
    with RunStore(folder, read_only=True) as store:
        kept = store.finished(list(keys.values()))
    return {name: kept[key] for name, key in keys.items() if key in kept}
