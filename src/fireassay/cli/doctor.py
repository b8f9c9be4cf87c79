"""``fireassay doctor``: what is installed, and whether a project is sound."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fireassay.cli.console import emit_json, say, starting
from fireassay.cli.options import Json, Quiet

if TYPE_CHECKING:
    from fireassay.assessment.project_check import Finding

_FILE = "fireassay.toml"
# Green is for a pass alone: what is sound here has passed no limit.
_MARKS = {"sound": "·", "stale": "?", "mend": "✗"}
_STYLES = {"sound": "", "stale": "yellow", "mend": "red"}
_EXITS = {"sound": 0, "stale": 3, "mend": 1}


def doctor(
    project: Annotated[
        Path | None,
        typer.Argument(
            help="A project's folder or its fireassay.toml [this folder, if it has one]."
        ),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show what is installed, and what in a project must be mended before a run.

    Exit code 0: nothing. 1: something to mend. 3: the last run is stale or has not ended.

    Example: fireassay doctor my-project
    """
    starting("looking at the installation and the project", quiet=quiet or json)
    from fireassay.assessment.project_check import check_project

    place = project or (Path() if Path(_FILE).exists() else None)
    installed = _installed()
    findings = [] if place is None else check_project(place)
    if json:
        found = [vars(finding) for finding in findings]
        emit_json(installed | ({"project": found} if place is not None else {}))
    elif not quiet:
        _show(installed)
        _show_project(findings, place)
    exits = [_EXITS[finding.state] for finding in findings]
    raise typer.Exit(1 if 1 in exits else max(exits, default=0))


def _installed() -> dict[str, Any]:
    from fireassay.classifiers.adapters import every_kind
    from fireassay.core.evidence import host_size, library_versions
    from fireassay.core.extras import EXTRAS, is_installed

    return {
        "versions": library_versions(),
        "host": host_size(),
        "extras": {name: is_installed(module) for name, (module, _) in EXTRAS.items()},
        "models": {row.name: row.is_available for row in every_kind()},
    }


def _show(installed: dict[str, Any]) -> None:
    from fireassay.core.extras import EXTRAS

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
    from rich.text import Text

    from fireassay.cli.answers import stdout_console
    from fireassay.visible import visible

    if place is None:
        say(f"{'project':<14} none here: no {_FILE} in this folder")
        return
    say()
    console = stdout_console()
    for finding in findings:
        line = f"{_MARKS[finding.state]} {finding.what:<18} {finding.found}"
        console.print(Text(visible(line), _STYLES[finding.state]), soft_wrap=True)
        if finding.do:
            console.print(Text(visible(f"  {'':<18} → {finding.do}")), soft_wrap=True)
    wrong = sum(finding.state == "mend" for finding in findings)
    stale = sum(finding.state == "stale" for finding in findings)
    if wrong or stale:
        say(f"{wrong} to mend, {stale} stale.")
    else:
        say("Nothing to mend. Whether the numbers are good enough: fireassay check.")
