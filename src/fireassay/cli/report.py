"""``fireassay report``: write a run's page again, and open it."""

import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from fireassay.cli.console import emit_json, say, starting
from fireassay.cli.options import NoSamples, answering, arg, opt

if TYPE_CHECKING:
    from fireassay.assessment.run.compare import PairedRuns
    from fireassay.report.comparison import RunComparison


@answering
def report(
    run: Path = arg("A run folder.", Path("fireassay-run")),
    open_: bool = opt("Open it in the browser.", False, "--open"),
    gsn: Path | None = opt("Also write the argument as GSN YAML."),
    junit: Path | None = opt("Also write JUnit XML."),
    card: Path | None = opt("Also write a Markdown model card."),
    pdf: Path | None = opt("Also print the page as PDF here."),
    no_samples: NoSamples = False,
) -> None:
    """Write the report of a finished or unfinished run.

    Exit code 3: it is written, but the configuration, model or data have changed since the run, or
    the run has not come to its end.

    Example: fireassay report fireassay-run --open
    """
    starting(f"reading {run}")
    from fireassay.assessment.run.bundle import requirements_of
    from fireassay.assessment.run.folder import read_costs, reservations
    from fireassay.assessment.run.judging import read_judged
    from fireassay.report.exports import print_pdf

    judged = read_judged(run)
    gates = judged.verdict
    loaded = judged.report.without_samples() if no_samples else judged.report
    page = loaded.to_html(run / "report.html", gates, costs=read_costs(run))
    if gsn is not None:
        loaded.to_gsn(gsn, gates, requirements_of(run))
    if junit is not None:
        loaded.to_junit(junit, gates)
    if card is not None:
        loaded.to_model_card(card, gates)
    if pdf is not None:
        print_pdf(page, pdf)
    reserved = reservations(run, loaded)
    emit_json({"report": str(page), "reservations": reserved})
    for name, reason in reserved.items():
        say(f"not now   {name}: {reason}")
    say(f"report: {page}")
    if open_:
        webbrowser.open(page.resolve().as_uri())
    if reserved:
        raise typer.Exit(3)


_SHOWN = 12


@answering
def compare(
    runs: list[Path] = arg("Two or more run folders, oldest first.", ...),
    html: Path | None = opt("Write a page of the comparison of two runs here."),
) -> None:
    """Show differences with intervals, each run against the first, and what changed around them.

    On the same rows every number that keeps its rows is compared row by row, and the rows whose
    answers became wrong or right are listed by id.

    Exit code 3: they are shown, but a run's configuration, model or data have changed since, or it
    has not come to its end.

    Example: fireassay compare run-v1 run-v2 --html changes.html
    """
    starting("reading the runs")
    from fireassay.assessment.run.compare import pair_runs
    from fireassay.assessment.run.folder import reservations
    from fireassay.assessment.run.judging import read_judged
    from fireassay.assessment.samples.content import moved_answers
    from fireassay.cli.console import shape
    from fireassay.core import ParameterError
    from fireassay.core.files import write_text
    from fireassay.report import ComparedRun, compare_reports, comparison_html

    if len(runs) < 2:
        raise ParameterError("compare needs at least two runs.", got=f"{len(runs)}")
    if html is not None and len(runs) != 2:
        raise ParameterError("A page compares two runs.", got=f"{len(runs)}", do="Name two.")
    judged = [read_judged(run, charts=False) for run in runs]
    reports = [each.report for each in judged]
    verdicts = [f"{shape(each.verdict.status)} {each.verdict.headline}" for each in judged]
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
                ComparedRun(side.name or str(side), v, r.about, _sentences(reserved[str(side)]))
                for side, v, r in zip(runs, (j.verdict for j in judged), reports, strict=True)
            )
            moved = moved_answers(runs[0], run, pairs)
            write_text(html, comparison_html(first, second, comparison, set(pairs.changes), moved))
        say(f"{runs[0]} → {run}")
        say(f"  verdict: {verdicts[0]} → {verdicts[runs.index(run)]}")
        _show_changes(comparison, pairs)
    emit_json(found)
    if html is not None:
        say(f"page: {html}")
    for name, reasons in reserved.items():
        for line in _sentences(reasons):
            say(f"  not now: {name}, {line}")
    if any(reserved.values()):
        raise typer.Exit(3)


def _sentences(reserved: dict[str, str]) -> tuple[str, ...]:
    """Each part that is not of now, with the reason."""
    return tuple(f"{part}: {why}" for part, why in reserved.items())


def _show_changes(comparison: "RunComparison", pairs: "PairedRuns") -> None:
    """Print what changed between two runs: numbers, rows, and names that only one of them has."""
    from fireassay.report.comparison import became

    for change in comparison.changed:
        say(f"  changed: {change}")
    for d in comparison.differences:
        before, after, moved = (d.measure.shown(e) for e in (d.before, d.after, d.change))
        say(f"  {became(d)}: {d.measure.label} ({d.part}.{d.number})")
        how = "row by row" if f"{d.part}.{d.number}" in pairs.changes else "not row by row"
        say(f"    {before} → {after}, change {moved} ({how})")
    for word, ids in (("wrong", pairs.newly_wrong), ("right", pairs.newly_right)):
        if ids:
            more = f" and {len(ids) - _SHOWN:,} more" if len(ids) > _SHOWN else ""
            say(f"  newly {word} ({len(ids):,}): {', '.join(map(str, ids[:_SHOWN]))}{more}")
    for title, names in (("gone", comparison.only_before), ("new", comparison.only_after)):
        if names:
            say(f"  {title}: {', '.join(names)}")
