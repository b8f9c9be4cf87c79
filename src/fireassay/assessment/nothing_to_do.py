"""A run whose parts are all done from what there is now: known from hashes, nothing is loaded."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from fireassay.assessment.config import Config
from fireassay.assessment.judging import judge_run
from fireassay.assessment.parts import in_running_order
from fireassay.assessment.run_folder import (
    PAGE,
    PART_KEYS,
    RESULT,
    as_it_was_left,
    configured_gates,
    read_costs,
    read_report,
)
from fireassay.assessment.run_outcome import RunOutcome
from fireassay.assessment.sources import source_facts
from fireassay.classifiers.import_path import is_import_path
from fireassay.core import sha256
from fireassay.core.hashing import sha256_file
from fireassay.discovery.state_file import STATE_FILE
from fireassay.engine import RunStore
from fireassay.engine.label_book import BOOK
from fireassay.report import Report
from fireassay.report.gates import parse_gates

_ENDED: Final = "end of the run"
# What people have answered since: of a search that waits, and in the book of labels.
_ANSWERED: Final = (STATE_FILE, BOOK, f"{BOOK}-wal")


def ended(store: RunStore, config: Config, report: Report, notes: tuple[str, ...]) -> None:
    """Note at the end of a run what it was made from, if nothing of it is left to do."""
    whole = all(
        part.status in ("done", "not available") and not part.partial and not part.stale
        for part in report.parts
    )
    made = _made_from(config, store.path) if whole else None
    store.set_meta(_ENDED, None if made is None else {"made from": made, "notes": list(notes)})


def already_done(config: Config, say: Callable[[str], None]) -> RunOutcome | None:
    """The outcome of a run with nothing left to do, judged again; None: it has to be run."""
    folder = config.folder / config.run.folder
    if not (folder / RESULT).is_file():
        return None
    with RunStore(folder) as store:
        found = _all_done(store, config)
    if found is None:
        return None
    report, lines = found
    for line in lines:
        say(line)
    gates = configured_gates(config)
    judge_run(folder, report, parse_gates(gates))
    return RunOutcome(folder, report, read_costs(folder), (), gates)


def _all_done(store: RunStore, config: Config) -> tuple[Report, list[str]] | None:
    """The report and the lines that are said of it."""
    kept, made = store.meta(_ENDED), _made_from(config, store.path)
    if not kept or made is None or kept.get("made from") != made or not as_it_was_left(store):
        return None
    report, keys = read_report(store.path, charts=False), store.meta(PART_KEYS, {})
    done = [part.question for part in report.parts if part.status == "done"]
    if not (store.path / PAGE).is_file() or not set(done) <= keys.keys():
        return None
    if not store.are_sound([keys[name] for name in done]):
        return None
    found = {part.question: part.headline for part in report.parts}
    lines = [f"{'note':<13}{note}" for note in kept["notes"]]
    order = [name for name in in_running_order(found) if name in config.run.parts]
    return report, [*lines, *(f"{name:<13}{found[name]}" for name in order)]


def _made_from(config: Config, folder: Path) -> str | None:
    """One hash of all that a run's files depend on; None where files do not tell it all.

    Code and servers may change without a file that is known here.
    """
    path = config.model.path
    if "://" in path or is_import_path(path) or not (folder / RESULT).is_file():
        return None
    answered = [sha256_file(folder / name) for name in _ANSWERED if (folder / name).is_file()]
    facts: dict[str, Any] = source_facts(config)
    settings = {name: part.model_dump(mode="json") for name, part in config.settings.items()}
    said = config.model_dump(mode="json", exclude={"folder", "settings"})
    return sha256(facts, said, settings, answered, sha256_file(folder / RESULT))
