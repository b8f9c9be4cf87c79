"""``fireassay curation``: which field samples are hard, from votes alone."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from fireassay.cli.console import asked, emit, emit_json, say
from fireassay.cli.options import Output, Seed, Workers, answering, arg, opt

if TYPE_CHECKING:
    from fireassay.curation import Curation


_UNLIKE = "Four approaches, ties in expectation: not the paper's Table III (--as-published)"


def _list_labelers(asked: bool) -> None:
    if asked:
        from fireassay.curation import LABELERS

        for labeler in LABELERS.values():
            say(f"{labeler.name:<18} {labeler.summary}")
        raise typer.Exit


@answering
def curation(
    votes: Path = arg("Votes: .npy, .npz, .csv or .parquet; -1 abstains, 0, 1, … vote.", ...),
    labels: Path | None = opt("True class per sample, if known."),
    audit: Path | None = opt("CSV with the columns row,label: a few labels."),
    audit_rows: int = opt("Give this many samples to label: a CSV for --audit.", 0, min=0),
    predictions: Path | None = opt("A classifier's class per sample."),
    groups: Path | None = opt("Patient or device per sample."),
    by: Path | None = opt("Subgroup per sample, for the classifier."),
    fit_votes: Path | None = opt("More votes to learn from."),
    classes: int = opt("Number of classes.", 2, min=2),
    labeler: str = opt("Label model; --labelers lists them.", "majority"),
    labelers: Annotated[  # noqa: ARG001 - its callback answers before the command runs
        bool,
        Option("--labelers", is_eager=True, callback=_list_labelers, help="List the label models."),
    ] = False,
    prune: float = opt("Correlation that means dependent; 1: none.", 0.5, min=0, max=1),
    order_by: str = opt("lower_bound or confidence.", "lower_bound"),
    interval: str = opt("posterior, or paper as its authors coded it.", "posterior"),
    confidence: float = opt("Nominal confidence of the interval, two-sided.", 0.95),
    sets: int = opt("Number of datasets.", 10, min=1),
    default_class: int = opt("Label where votes are tied or missing.", 0, min=0),
    keep_silent: bool = opt("Keep labelling functions that never vote.", False),
    compare: bool = opt("Also print the paper's four approaches.", False),
    as_published: bool = opt("--compare by the paper's own rules: its Table III.", False),
    stability: bool = opt("Also try other label models and seeds.", False),
    stream: bool = opt("Bounded memory: results go to --output, not to RAM.", False),
    workers: Workers = 1,
    output: Output = None,
    seed: Seed = 0,
) -> None:
    """Label samples from weak votes, order them from safe to adversarial, check the order.

    Example: fireassay curation votes.npy --labels y.npy --labeler snorkel --output datasets
    """
    from fireassay import curation
    from fireassay.core.errors import ParameterError
    from fireassay.curation.files import read_audit, read_column, read_votes

    settings: dict[str, Any] = {
        "labeler": labeler, "prune": None if prune >= 1 else prune, "order_by": order_by,
        "interval": interval, "confidence": confidence, "n_sets": sets,
        "default_class": default_class, "drop_silent": not keep_silent, "seed": seed,
    }  # fmt: skip
    if as_published and not compare:
        raise ParameterError("--as-published is a way to compare.", do="Pass --compare, too.")
    if compare and labels is None:
        raise ParameterError("--compare needs true labels.", do="Pass --labels.")
    if stream:
        if output is None:
            raise ParameterError("--stream needs a folder for the results.", do="Pass --output.")
        _stream(votes, output, classes, labels, workers, settings)
        return
    table = read_votes(votes)
    more = None if fit_votes is None else read_votes(fit_votes)
    result = curation.curate(table, classes, more, **settings)
    columns = {"group": groups, "label": labels, "prediction": predictions, "subgroup": by}
    read = {name: path and read_column(path, name) for name, path in columns.items()}
    audited = None if audit is None else read_audit(audit)
    findings = result.findings(**_judged(result, read, audited, stability=stability))
    if output is not None:
        result.export(output, findings=findings)
        findings.save(output / "curation.result")
    emit(findings.evidence())
    if audit_rows:
        _print_audit(result, audit_rows, output)
    if asked.silent:
        return
    _print_more(result, output)
    if findings.verdict != "decreasing":
        _print_missing(findings.verdict)
    if compare:
        from fireassay.curation.simulation import compare_approaches

        shared = {k: settings[k] for k in ("confidence", "n_sets", "default_class", "seed")}
        own = {"interval": interval, "drop_silent": not keep_silent}
        table_3 = compare_approaches(
            table, read["label"], classes, more, case=votes.stem, groups=read["group"], **shared,
            **({"ties": "published"} if as_published else own),
        )  # fmt: skip
        say()
        say("Four approaches by the paper's rules (its Table III)" if as_published else _UNLIKE)
        say(str(table_3))


def _judged(
    result: "Curation", read: dict[str, Any], audited: Any, *, stability: bool
) -> dict[str, Any]:
    """The checks of an order that the given columns allow, by name."""
    truth, groups, answers = read["label"], read["group"], read["prediction"]
    parts: dict[str, Any] = {}
    if truth is not None:
        parts["trend"] = result.validate(truth, groups=groups)
    if audited is not None:
        parts["audit"] = result.audit(*audited)
    if stability:
        parts["stability"] = result.stability(
            truth, groups=groups, audit=audited, predictions=answers
        )
    if answers is not None:
        parts["bounds"] = result.bounds(answers)
        validity = parts.get("trend") or parts.get("audit") or parts["bounds"]
        parts["robustness"] = result.robustness(
            answers, read["subgroup"], validity=validity, groups=groups
        )
    return parts


def _print_audit(result: "Curation", audit_rows: int, output: Path | None) -> None:
    """The samples to label as a CSV to fill in: into the output folder, or printed."""
    from fireassay.core.files import write_text

    lines = ["row,label", *(f"{row}," for row in result.audit_rows(audit_rows))]
    if output is not None:
        write_text(output / "to_label.csv", "\n".join(lines) + "\n")
    elif not asked.json:
        for line in lines:
            say(line, quiet=False)


def _print_more(result: "Curation", output: Path | None) -> None:
    say()
    say("Labelling functions")
    shown = result.lf_analysis()[["name", "coverage", "conflict", "kept", "reason"]]
    for line in shown.to_string(index=False, float_format="{:.3f}".format).splitlines():
        say(f"  {line}")
    sizes = ", ".join(str(size) for size in result.sizes)
    say(f"Datasets: {sizes} samples" + ("" if output is None else f"; written to {output}"))


def _print_missing(verdict: str) -> None:
    """Why the sets are called unvalidated, and what would change that."""
    if verdict == "increasing":
        say("The sets are called unvalidated: later ones are easier. Try another --labeler.")
        return
    say(
        "The sets are called unvalidated: nothing shows that later ones are harder. What would: "
        "--labels, or --audit with a few labels (--audit-rows 100 says which), and --stability."
    )


def _stream(
    votes: Path, output: Path, classes: int, labels: Path | None, workers: int,
    settings: dict[str, Any],
) -> None:  # fmt: skip
    from fireassay import curation

    result = curation.curate_stream(votes, output, classes, workers=workers, **settings)
    trend = None if labels is None else result.validate(labels)
    summary = {
        "samples": result.n, "sizes": result.sizes.tolist(),
        "kept_lfs": result.kept_lfs.tolist(), "warnings": list(result.warnings),
    }  # fmt: skip
    validation = {} if trend is None else {"validation": trend.evidence().to_dict()}
    emit_json(summary | validation)
    say(f"curation: {result.n} samples in {len(result.sizes)} datasets, in {output}")
    for warning in result.warnings:
        say(f"  Note: {warning}")
    if trend is not None:
        say(f"  {trend.in_words()}")
