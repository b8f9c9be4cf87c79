"""``fireassay doctor``: what is installed, and whether a project is sound."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from fireassay.cli.console import asked, emit_json, say, shape, show, starting
from fireassay.cli.options import answering, arg, opt

if TYPE_CHECKING:
    from fireassay.assessment.doctor import Finding

_FILE = "fireassay.toml"
# Green is for a pass alone: what is sound here has passed no limit.
_MARKS = {"sound": "·", "stale": "?", "mend": "✗"}
_STYLES = {"sound": "", "stale": "yellow", "mend": "red"}
_EXITS = {"sound": 0, "stale": 3, "mend": 1}


@answering
def doctor(
    project: Path | None = arg(
        "A project's folder or its fireassay.toml [this folder, if it has one]."
    ),
    qualify: Path | None = opt(
        "Write a record for tool qualification to this file, and nothing else."
    ),
    store: bool = opt("Only show what is kept between runs, and where.", False),
    clear: bool = opt("Take all of that away; runs compute it again.", False, "--clear-store"),
) -> None:
    """Show what is installed, and what in a project must be mended before a run.

    --qualify runs a self-test against known answers: versions, hashes and known limits go with it.
    Exit code 0: nothing. 1: something to mend. 3: the last run is stale or has not ended.

    Example: fireassay doctor my-project
    """
    if qualify is not None:
        raise typer.Exit(_qualify(qualify))
    if store or clear:
        return _show_store(project or Path(), clear=clear)
    starting("looking at the installation and the project")
    from fireassay.assessment.doctor import check_project

    place = project or (Path() if Path(_FILE).exists() else None)
    installed = _installed()
    findings = [] if place is None else check_project(place)
    if asked.json:
        found = [vars(finding) for finding in findings]
        emit_json(installed | ({"project": found} if place is not None else {}))
    elif not asked.quiet:
        _show(installed)
        _show_project(findings, place)
    exits = [_EXITS[finding.state] for finding in findings]
    raise typer.Exit(1 if 1 in exits else max(exits, default=0))


def _qualify(file: Path) -> int:
    starting("running the self-test")
    from fireassay.assessment.doctor import qualification_record
    from fireassay.core.files import write_text
    from fireassay.core.json_files import dumps

    record = qualification_record()
    write_text(file, dumps(record, indent=2) + "\n")
    emit_json(record)
    for test in record["self_test"]:
        mark = shape("pass" if test["holds"] else "fail")
        seen = "" if test["holds"] else f": expected {test['expected']}, got {test['got']}"
        silent = asked.json or (asked.quiet and test["holds"])
        say(f"{mark} {test['what']} ({test['source']}){seen}", quiet=silent)
    say(f"written: {file}, {len(record['files'])} files hashed")
    return 0 if record["holds"] else 1


def _show_store(project: Path, *, clear: bool) -> None:
    from fireassay.assessment.config import read_config
    from fireassay.engine import ContentStore

    file = project / _FILE if project.is_dir() else project
    setting = read_config(file).run.store if file.exists() else None
    store = ContentStore.configured(setting, file.parent)
    if store is not None and clear:
        store.clear()
    sizes = [] if store is None else [about.st_size for _, about in store.files()]
    found = {
        "path": None if store is None else str(store.path),
        "values": len(sizes),
        "megabytes": round(sum(sizes) / 2**20, 1),
        "most_megabytes": 0 if store is None else store.most_bytes // 2**20,
    }
    emit_json({"store": found})
    kept = f"{len(sizes)} values, {found['megabytes']} MB of at most {found['most_megabytes']:,} MB"
    say('store: off ([run] store = "off")' if store is None else f"store: {store.path}, {kept}")


def _installed() -> dict[str, Any]:
    from fireassay.classifiers.adapters import every_kind
    from fireassay.core.evidence import host_size, library_versions
    from fireassay.core.lazy import EXTRAS, is_installed

    return {
        "versions": library_versions(),
        "host": host_size(),
        "extras": {name: is_installed(module) for name, (module, _) in EXTRAS.items()},
        "models": {row.name: row.is_available for row in every_kind()},
    }


def _show(installed: dict[str, Any]) -> None:
    from fireassay.core.lazy import EXTRAS

    for name, version in installed["versions"].items():
        say(f"{name:<14} {version}")
    host = installed["host"]
    say(f"{'machine':<14} {host['cores']} cores, {host.get('memory_gib', '?')} GiB")
    for name, (_, purpose) in EXTRAS.items():
        there = installed["extras"][name]
        state = "installed" if there else f"missing: pip install 'fireassay[{name}]'"
        say(f"[{name}] {state} ({purpose})")
    readable = ", ".join(name for name, available in installed["models"].items() if available)
    say(f"{'models':<14} {readable}")


def _show_project(findings: "list[Finding]", place: Path | None) -> None:
    if place is None:
        say(f"{'project':<14} none here: no {_FILE} in this folder")
        return
    say()
    for finding in findings:
        line = f"{_MARKS[finding.state]} {finding.what:<18} {finding.found}"
        show(line, _STYLES[finding.state], wraps=True)
        if finding.do:
            show(f"  {'':<18} → {finding.do}", wraps=True)
    states = [finding.state for finding in findings]
    wrong, stale = states.count("mend"), states.count("stale")
    if wrong or stale:
        say(f"{wrong} to mend, {stale} stale.")
    else:
        say("Nothing to mend. Whether the numbers are good enough: fireassay check.")
