"""``fireassay compare``: what changed from one run to another."""

from pathlib import Path
from typing import Annotated

import typer

from fireassay.cli.console import emit_json, say, starting
from fireassay.cli.options import Json, Quiet

_SHOWN = 12


def compare(
    runs: Annotated[list[Path], typer.Argument(help="Two or more run folders, oldest first.")],
    html: Annotated[
        Path | None, typer.Option(help="Write a page of the comparison of two runs here.")
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show differences with intervals, each run against the first, and what changed around them.

    On the same rows every number that keeps its rows is compared row by row, and the rows whose
    answers became wrong or right are listed by id.

    Exit code 3: they are shown, but a run's configuration, model or data have changed since, or it
    has not come to its end.

    Example: fireassay compare run-v1 run-v2 --html changes.html
    """
    starting("reading the runs", quiet=quiet or json)
    from fireassay.assessment.moved_samples import moved_answers
    from fireassay.assessment.paired_runs import pair_runs
    from fireassay.assessment.run_folder import read_gates, read_report, reservations
    from fireassay.cli.answers import shape
    from fireassay.core import ParameterError
    from fireassay.core.files import write_text
    from fireassay.report import ComparedRun, compare_reports, comparison_html
    from fireassay.report.comparison_page import became

    if len(runs) < 2:
        raise ParameterError("compare needs at least two runs.", got=f"{len(runs)}")
    if html is not None and len(runs) != 2:
        raise ParameterError("A page compares two runs.", got=f"{len(runs)}", do="Name two.")
    reports = [read_report(run, charts=False) for run in runs]
    judged = [r.verdict(read_gates(run)) for run, r in zip(runs, reports, strict=True)]
    verdicts = [f"{shape(v.status)} {v.headline}" for v in judged]
    reserved = {str(run): reservations(run, r) for run, r in zip(runs, reports, strict=True)}
    found = {}
    for run, report in zip(runs[1:], reports[1:], strict=True):
        pairs = pair_runs(runs[0], run, (reports[0], report))
        comparison = compare_reports(reports[0], report, pairs.changes)
        found[str(run)] = {
            "verdicts": [verdicts[0], verdicts[runs.index(run)]],
            "differences": comparison.frame().to_dict("records"),
            "changed": comparison.changed,
            "only_before": comparison.only_before,
            "only_after": comparison.only_after,
            "reservations": {str(runs[0]): reserved[str(runs[0])], str(run): reserved[str(run)]},
            "paired": sorted(pairs.changes),
            "newly_wrong": list(pairs.newly_wrong),
            "newly_right": list(pairs.newly_right),
        }
        if html is not None:
            first, second = (
                ComparedRun(
                    side.name or str(side),
                    v,
                    r.about,
                    tuple(f"{part}: {why}" for part, why in reserved[str(side)].items()),
                )
                for side, v, r in zip(runs, judged, reports, strict=True)
            )
            moved = moved_answers(runs[0], run, pairs)
            write_text(html, comparison_html(first, second, comparison, set(pairs.changes), moved))
        if json or quiet:
            continue
        say(f"{runs[0]} → {run}")
        say(f"  verdict: {verdicts[0]} → {verdicts[runs.index(run)]}")
        for change in comparison.changed:
            say(f"  changed: {change}")
        for d in comparison.differences:
            before, after, change = (d.measure.shown(e) for e in (d.before, d.after, d.change))
            say(f"  {became(d)}: {d.measure.label} ({d.part}.{d.number})")
            how = "row by row" if f"{d.part}.{d.number}" in pairs.changes else "not row by row"
            say(f"    {before} → {after}, change {change} ({how})")
        for word, ids in (("wrong", pairs.newly_wrong), ("right", pairs.newly_right)):
            if ids:
                more = f" and {len(ids) - _SHOWN:,} more" if len(ids) > _SHOWN else ""
                say(f"  newly {word} ({len(ids):,}): {', '.join(map(str, ids[:_SHOWN]))}{more}")
        for title, names in (("gone", comparison.only_before), ("new", comparison.only_after)):
            if names:
                say(f"  {title}: {', '.join(names)}")
    if json:
        emit_json(found)
    elif not quiet:
        if html is not None:
            say(f"page: {html}")
        for run_name, reasons in reserved.items():
            for name, reason in reasons.items():
                say(f"  not now: {run_name}, {name}: {reason}")
    if any(reserved.values()):
        raise typer.Exit(3)
