"""``fireassay judge``: predictions in a file are enough."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from fireassay.cli.console import asked, emit_json, loading, say, say_wrapped, starting
from fireassay.cli.options import Seed, answering, arg, opt, read_pairs
from fireassay.core.errors import DataError, ParameterError

if TYPE_CHECKING:
    from fireassay.assessment.judge import Terms
    from fireassay.data.predictions import Predictions
    from fireassay.report import GateCheck, Report, Verdict

Column = Annotated[str | None, Option(help="Name of the column; none: there is none.")]
_LEADING = (
    "accuracy", "balanced_accuracy", "sensitivity", "specificity", "ppv", "npv", "f1", "auroc",
    "average_precision", "brier", "calibration_intercept", "calibration_slope",
)  # fmt: skip
_OF_MANY = ("accuracy", "balanced_accuracy", "f1_macro", "mcc", "auroc_macro", "brier", "log_loss")
_MOST_CLASSES = 8


@answering
def judge(
    file: str = arg("CSV, Parquet, JSON lines or npz; - reads stdin.", ...),
    max_: list[str] | None = opt("NAME=VALUE, at most.", None, "--max"),
    min_: list[str] | None = opt("NAME=VALUE, at least.", None, "--min"),
    output: Path | None = opt("A run folder.", None, "--output", "-o"),
    truth: Column = None,
    answer: Column = None,
    probability: str | None = opt("Column, or one per class with commas; none: leave out."),
    answer_confidence: Column = None,
    id_: str | None = opt("Column of ids.", None, "--id"),
    group: str | None = opt("Column of patients or devices: intervals count these."),
    time: Column = None,
    weight: Column = None,
    weights: str = opt("What weights are: design, or importance (for reliability).", "design"),
    slice_: list[str] | None = opt("Column to slice by (repeatable); none.", None, "--slice"),
    classes: str | None = opt("All classes in order, with commas."),
    positive: str | None = opt("The positive class."),
    ordered: str | None = opt("Classes from low to high: a,b,c."),
    indeterminate: str | None = opt("The answer that stands for: cannot tell."),
    unlabelled: str | None = opt("The truth that stands for: not known."),
    threshold: float | None = opt("Answer the positive class from this probability on."),
    cost: list[str] | None = opt("'truth -> answer=COST' (repeatable)."),
    prevalence: list[str] | None = opt("CLASS=SHARE elsewhere, for PPV and NPV there."),
    per: str | None = opt("Judge groups: COLUMN=any, majority or last."),
    exposure: str | None = opt("Column of exposure: false alarms per unit of it."),
    largest_group: float | None = opt("The most rows that a group can have.", min=1),
    independent: bool = opt("No two rows belong to one patient or device.", False),
    not_worse_than: str | None = opt("Predictions of another model on the same ids."),
    margin: list[str] | None = opt("NAME=POINTS that it may be worse (repeatable)."),
    confidence: float = opt("Two-sided, of every interval.", 0.95),
    undecided: str = opt("Undecided limits: warn (exit 3) or fail.", "warn"),
    seed: Seed = 0,
) -> None:
    """Judge predictions in a file; no model and no configuration is needed.

    Columns are found by their usual names; each finding is printed. Exit code 0: pass, or no
    limits. 1: a limit is not met. 2: usage. 3: not enough evidence.

    Example: fireassay judge predictions.csv --max error=0.05 --min sensitivity=0.9
    """
    starting(f"reading {file}")
    with loading():
        from fireassay.assessment.judge import Terms, judged_report
        from fireassay.assessment.parts.operating_point import Decision
        from fireassay.assessment.parts.table import checked_gate
        from fireassay.assessment.run.challenge import OF_A_FILE
        from fireassay.report.gates import Gate
        from fireassay.report.looks_and_changes import with_check

    if undecided not in ("warn", "fail") or weights not in ("design", "importance"):
        raise ParameterError(
            "--undecided is warn or fail, --weights is design or importance.",
            got=f"{undecided}, {weights}",
        )
    gates = [Gate.parse(text, "max") for text in max_ or []]
    gates += [Gate.parse(text, "min") for text in min_ or []]
    gates = [checked_gate(gate) for gate in gates]
    columns = None if probability is None else probability.split(",")
    options: dict[str, Any] = {
        "truth": truth, "answer": answer, "answer_confidence": answer_confidence, "id_column": id_,
        "probability": columns[0] if columns and len(columns) == 1 else columns,
        "group": group or (per.partition("=")[0] if per else None), "time": time, "weight": weight,
        "classes": None if classes is None else [c.strip() for c in classes.split(",")],
        "positive": positive, "indeterminate": indeterminate, "threshold": threshold,
        "unlabelled": unlabelled,
    }  # fmt: skip
    if independent:
        options["group"] = "none"
    found = _read(file, options, per)
    chosen = None if slice_ is None else tuple(c for c in slice_ if c != "none")
    costs = read_pairs(cost, "--cost is NAME=NUMBER.")
    elsewhere = read_pairs(prevalence, "--prevalence is NAME=NUMBER.")
    margins = read_pairs(margin, "--margin is NAME=NUMBER.")
    decision = Decision.of(
        costs, None, found.positive, elsewhere,
        () if ordered is None else [c.strip() for c in ordered.split(",")],
    )  # fmt: skip
    terms = Terms(
        chosen, decision, exposure, largest_group, confidence, seed, output is not None, weights
    )
    for line in (*found.findings, *found.asks):
        say(f"  {line}")
    report = judged_report(found, terms, gates, output)
    broken = report["accuracy"]
    if broken.status == "failed":  # e.g. a limit that needs --positive: nothing was judged
        raise DataError(broken.reason.partition(": ")[2] or broken.reason)
    if independent:
        report.accepted["independent-rows"] = "vouched for with --independent"
    strict = undecided == "fail"
    verdict = replace(report.verdict(gates, strict=strict), model=OF_A_FILE.text)
    for check in _not_worse(found, terms, not_worse_than, margins, options, per):
        verdict = with_check(verdict, check, strict=strict)
    code = 0 if verdict.status == "no limits set" else verdict.exit_code
    if asked.json:
        emit_json(_document(report, verdict, found, code))
    elif not asked.quiet:
        _show(report, verdict, found, terms, code)
        say(verdict.model)
        if output is not None:
            say(f"report: {output / 'report.html'}")
        else:
            say("No record of this look is kept; -o RUN keeps one.")
    raise typer.Exit(code)


def _read(file: str, options: dict[str, Any], per: str | None) -> "Predictions":
    from fireassay.data.predictions import per_group, read_predictions

    found = read_predictions(file, **options)
    return found if per is None else per_group(found, per.partition("=")[2] or "any")


def _not_worse(
    found: "Predictions", terms: "Terms", other: str | None, margins: dict[str, float],
    options: dict[str, Any], per: str | None,
) -> "list[GateCheck]":  # fmt: skip
    """The change of each number since other predictions of the same rows, as a gate."""
    if other is None:
        return []
    from fireassay.assessment.judge import paired_changes
    from fireassay.report.looks_and_changes import not_worse_check

    before = _read(other, options, per)
    if not margins:
        raise ParameterError(
            "How much worse it may be must be said.", do="Type --margin sensitivity=0.05."
        )
    if found.ids is None or before.ids is None:
        raise ParameterError(
            "Two files are compared row by row: both need ids.", do="Type --id COLUMN."
        )
    changes = paired_changes(before, found, terms, list(margins))
    return [
        not_worse_check(name, change, measure, margin, other)
        for (name, change, measure), margin in zip(changes, margins.values(), strict=True)
    ]


def _document(report: "Report", verdict: "Verdict", found: "Predictions", code: int) -> Any:
    checks = [
        {"number": c.gate.number, "direction": c.gate.direction, "limit": c.gate.limit,
         "status": c.status, "explanation": c.explanation,
         **({} if c.estimate is None else {
             "value": c.estimate.value, "low": c.estimate.low, "high": c.estimate.high,
             "n": c.estimate.n, "method": c.estimate.method})}
        for c in verdict.checks
    ]  # fmt: skip
    return {"status": verdict.status, "headline": verdict.headline, "exit_code": code,
            "findings": found.findings, "asks": found.asks, "checks": checks,
            **report.document()}  # fmt: skip


def _show(
    report: "Report", verdict: "Verdict", found: "Predictions", terms: "Terms", code: int
) -> None:
    """The first screen: verdict, unit, limits and leading numbers, matrix, slices, what is open."""
    from fireassay.report.first_screen import MOST_NUMBERS, first_screen

    part = report["accuracy"]
    screen = first_screen(report.parts, verdict, report.accepted, report.about)
    say()
    say_wrapped(f"{verdict.headline}  [exit {code}]", indent=2)
    say(_unit(found))
    say(_classes(found))
    sure = 100 * terms.confidence
    one = 100 - (100 - sure) / 2
    say(f"Intervals: two-sided {sure:g} % = one-sided {one:g} % per limit; all limits must hold.")
    rows = []
    shown = set()
    for line in screen.limits:
        check = line.check
        shown.add(check.gate.number.removeprefix("accuracy."))
        why = "" if line.found else f": {check.explanation}"
        rows.append((check.label, line.found, line.between, check.limit, line.state + why))
    elsewhere = [name for name in part.estimates if "@prevalence" in name]
    for name in (*_leading(found), *elsewhere):
        estimate = part.estimates.get(name)
        if estimate is not None and name not in shown:
            m = part.measure(name)
            known = estimate.value == estimate.value
            ends = m.between(estimate) if known else estimate.method
            rows.append((m.label, m.told(estimate) if known else "–", ends, "", ""))
    rows = rows[: max(len(screen.limits), MOST_NUMBERS)]
    wide = [max(len(row[i]) for row in rows) for i in range(4)]
    say(f"{'':<{wide[0]}}  {'found':<{wide[1]}}  {f'{sure:g} % interval':<{wide[2]}}  limit")
    for row in rows:
        cells = [f"{cell:<{width}}" for cell, width in zip(row[:4], wide, strict=True)]
        say("  ".join([*cells, row[4]]).rstrip())
    if len(found.classes) <= _MOST_CLASSES:
        _matrix(part.tables["confusion"])
    wanted = ("slice", "Too small", "indeterminate", " where ", "threshold")
    for claim in part.claims:
        if any(text in claim.text for text in wanted):
            say_wrapped(claim.text, indent=2)
    assumed = [
        a.check
        for a in part.assumptions
        if a.id in ("missing-truths", "independent-rows", "equal-weights")
    ]
    for text in assumed:
        say_wrapped(f"Assumes: {text}", indent=2)
    for action in screen.actions:
        say_wrapped(f"Do next: {action}", indent=2)
    for item in screen.unknown:
        text = item if item.startswith("Not asked") else f"Not known: {item}"
        say_wrapped(f"{text}.", indent=2)


def _unit(found: "Predictions") -> str:
    import numpy as np

    n, absent = len(found), int((found.truth < 0).sum())
    text = f"Unit: row. {n:,} rows"
    if absent:
        text += f" − {absent:,} without truth = {n - absent:,}"
    if found.groups is not None:
        word = found.roles.get("group", "group").removesuffix("_id").replace("_", " ")
        text += f" of {len(np.unique(found.groups[found.truth >= 0])):,} {word}s"
    if found.weights is not None:
        text += ". Numbers count rows; weights are not in them"
    return text + "."


def _classes(found: "Predictions") -> str:
    known = found.truth[found.truth >= 0]
    rule = "The most probable class is the answer."
    if found.threshold:
        cut = ", ".join(f"{c} from {t:g} on" for c, t in found.threshold.items())
        rule = f"Threshold: {cut}."
    if found.positive is None:
        return f"{len(found.classes)} classes, none is known to be positive. {rule}"
    events = int((known == found.classes.index(found.positive)).sum())
    share = 100 * events / max(1, len(known))
    return f"Positive: {found.positive} ({events:,}, {share:.1f} %). {rule}"


def _leading(found: "Predictions") -> list[str]:
    whole = ("accuracy", "balanced_accuracy", "brier", "f1_macro", "mcc", "log_loss")
    if found.positive is not None:
        return [n if n in whole else f"{n}[{found.positive}]" for n in _LEADING]
    each = [f"{name}[{c}]" for c in found.classes for name in ("sensitivity", "ppv")]
    return [*_OF_MANY, *(each if len(each) <= 6 else ())]


def _matrix(table: Any) -> None:
    rows = [table.columns, *[[str(cell) if i == 0 else f"{cell:,}" for i, cell in enumerate(row)]
                             for row in table.rows]]  # fmt: skip
    wide = [max(len(str(row[i])) for row in rows) for i in range(len(table.columns))]
    for row in rows:
        first, *rest = row
        cells = [f"{cell:>{width}}" for cell, width in zip(rest, wide[1:], strict=True)]
        say("  ".join([f"{first:<{wide[0]}}", *cells]))
