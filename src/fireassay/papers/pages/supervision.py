"""Weiss et al., sixteen supervisors: Table 2, Tables 8 to 11, and the claims drawn from them."""

from dataclasses import replace
from statistics import fmean, stdev
from typing import Any

from fireassay.papers.pages.ambiguity import FAST_TRAINING
from fireassay.papers.pages.section import (
    Results,
    Row,
    Section,
    as_printed,
    grouped,
    not_run,
)
from fireassay.papers.pages.supervision_claims import (
    KINDS,
    LARGE,
    LAST_DIGIT,
    NOTABLE,
    TITLES,
    TOLERANCE,
    Cells,
    Spreads,
    claims,
    is_printed,
)
from fireassay.papers.supervision_published import PUBLISHED
from fireassay.papers.verdicts import (
    PaperVerdict,
    decided,
    near,
    near_all,
    together,
)

COMMAND = "studies/supervision_table2.py"

PRICE = "ResNet-50 alone 1,300 CPU hours for 210 trainings; the autoencoder 6.6 for 10"

_TRAINING_ROWS, _ARCHITECTURES = 60_000, 4

_TRIES = 20

_ONE_NUMBER = ", printed "


def section(results: Results) -> Section:
    """The section from the stored AUROCs."""
    found = results("supervision_table2")
    title = "Weiss et al., sixteen supervisors (supervision)"
    if not found:
        return Section(title, [not_run("Table 2", "AUROC", COMMAND, "122 cells")], [])
    differs, own_parts = setting(found), parts_of_our_own(found["settings"])
    both_differ = together(differs, own_parts)
    cells = auroc(found["summary"])
    rows, details = [], []
    for data, name in TITLES.items():
        own = [r for r in found["summary"] if r["data"] == data and "mean" in r]
        columns = []
        for kind in KINDS:
            both = [r for r in own if r["set"] == kind and r.get("published") is not None]
            if both:
                columns.append(table_row(name, kind, both, both_differ))
        details += columns
        rows += [grouped(f"Table 2, {name}", columns)] if columns else []
    appendix = results("supervision_appendix")
    rows += appendix_row(appendix)
    over_trainings = spreads(found["parts"])
    rows += stability_row(over_trainings, both_differ)
    ours = claims(cells, over_trainings, both_differ)
    theirs = claims(printed_cells(), printed_spreads(appendix), "")
    # A sentence that repeats one number of the table cannot be judged by the table.
    told = [
        own
        if _ONE_NUMBER in claim.verdict.because
        else replace(claim, verdict=as_printed(claim.verdict), also=own.verdict)
        for claim, own in zip(theirs, ours, strict=True)
    ]
    return Section(
        title, rows, told, float(found["cpu_seconds"]), settings=(own_parts,), details=details,
        price=PRICE,
    )  # fmt: skip


def printed_cells() -> Cells:
    """Table 2 in the form of stored means, its numbers taken as exact."""
    return {
        (data, name, kind): (value, value, value)
        for name, values in PUBLISHED.items()
        for (data, kind), value in zip(((d, k) for d in TITLES for k in KINDS), values, strict=True)
        if value is not None
    }


def printed_spreads(appendix: dict[str, Any]) -> Spreads:
    """Standard deviations of Tables 8 to 11, with the mean of Table 2 that they print beside."""
    if not appendix:
        return {}
    columns = [n for n in range(2 * len(KINDS)) if n != appendix["column not read"]]
    return {
        (f"Table {table}", name, str(column)): (spread, mean)
        for table, rows in appendix["spreads"].items()
        for name, own in rows.items()
        for column, spread in zip(columns, own, strict=True)
        if spread is not None and (mean := PUBLISHED[name][column]) is not None
    }


def appendix_row(printed: dict[str, Any]) -> list[Row]:
    """Tables 8 to 11: the printed means by architecture against those of Table 2."""
    if not printed:
        return []
    columns = [n for n in range(2 * len(KINDS)) if n != printed["column not read"]]
    same = {
        table: sum(values == [PUBLISHED[name][n] for n in columns] for name, values in rows.items())
        for table, rows in printed["tables"].items()
    }
    whole = [table for table, rows in same.items() if rows == len(PUBLISHED)]
    told = f"all {len(PUBLISHED)} rows of {len(whole)} of {len(same)} tables are those of Table 2"
    return [
        Row(
            "Tables 8–11, means", "AUROC by architecture", "", "one table for each architecture",
            "the means of Table 2, seven of eight columns read",
            as_printed(decided(not whole, told)),
        ),
        printed_stability_row(printed),
    ]  # fmt: skip


def printed_stability_row(appendix: dict[str, Any]) -> Row:
    """Mean and largest standard deviation of the text beside those of Tables 8 to 11."""
    every = [spread for spread, _ in printed_spreads(appendix).values()]
    mean, largest = fmean(every), max(every)
    same = abs(mean - 0.015) <= LAST_DIGIT and abs(largest - 0.124) <= LAST_DIGIT
    told = f"mean {mean:.3f}, largest {largest:.2f} of {len(every)} printed deviations"
    return Row(
        "Section 7.3, stability", "the text beside Tables 8–11", "", "mean 0.015, largest 0.124",
        "seven of eight columns read", as_printed(decided(same, told)),
    )  # fmt: skip


def spreads(parts: list[dict[str, Any]]) -> Spreads:
    """Standard deviation over trainings and mean of each cell that Tables 8 to 11 print.

    They attacked no ensemble: ours on adversarial rows do not count.
    """
    cells: dict[tuple[str, ...], list[float]] = {}
    for part in parts:
        for row in part["records"]:
            name, kind = row["supervisor"], row["set"]
            if row["status"] == "done" and is_printed(name, kind):
                cell = part["data"], part["architecture"], name, kind
                cells.setdefault(cell, []).append(float(row["auroc"]))
    return {at: (stdev(own), fmean(own)) for at, own in cells.items() if len(own) > 1}


def stability_row(found: Spreads, differs: str) -> list[Row]:
    """Tables 8 to 11: the mean standard deviation and how many are notable, the worse decides.

    Their intervals are about architectures and data sets, whose cells are alike.
    """
    if not found:
        return []
    trained: dict[tuple[str, ...], list[float]] = {}
    for at, (spread, _) in found.items():
        trained.setdefault(at[:2], []).append(spread)
    every = [spread for spread, _ in found.values()]
    many, large = (sum(spread > limit for spread in every) for limit in (NOTABLE, LARGE))
    ours = {
        "mean": [fmean(own) for own in trained.values()],
        f"share above {NOTABLE}": [_share(own, NOTABLE) for own in trained.values()],
        f"share above {LARGE}": [_share(own, LARGE) for own in trained.values()],
    }
    theirs = dict(zip(ours, (0.015, 114 / 488, 29 / 488), strict=True))
    tolerances = dict(zip(ours, (0.01, TOLERANCE, TOLERANCE), strict=True))
    return [
        Row(
            "Tables 8–11",
            "standard deviation over trainings",
            COMMAND,
            "mean 0.015, largest 0.124, of 488 114 above 0.02 and 29 above 0.05",
            f"mean {fmean(every):.3f}, largest {max(every):.3f}, of {len(every)} {many} above "
            f"{NOTABLE} and {large} above {LARGE}",
            near_all(ours, theirs, tolerances, differs),
        )
    ]


def _share(values: list[float], limit: float) -> float:
    return sum(value > limit for value in values) / len(values)


def setting(found: dict[str, Any]) -> str:
    """In what the runs are smaller than the paper's; empty at its size."""
    settings = found["settings"]
    rows, attacked, members = (settings[name] for name in ("train_rows", "attacked", "members"))
    least = min((r["architectures"] for r in found["summary"] if "mean" in r), default=0)
    listed = (
        (least < _ARCHITECTURES, f"{least} of {_ARCHITECTURES} architectures"),
        (rows < _TRAINING_ROWS, f"{rows:,} of {_TRAINING_ROWS:,} training rows"),
        (attacked < 1_000, f"{attacked:,} rows attacked"),
        ("tries" not in settings, "the smallest perturbation that works"),
        (members < 20, f"ensembles of {members} instead of 20"),
    )
    return ", ".join(told for differs, told in listed if differs)


def parts_of_our_own(settings: dict[str, Any]) -> str:
    """What is not theirs at any size."""
    tries = settings.get("tries", 1)
    fewer = f", {tries} a pair (theirs {_TRIES})" if tries < _TRIES else ""
    return (
        f"ambiguous rows of {FAST_TRAINING}{fewer}, an autoencoder of 16 dimensions scored by "
        "squared error (theirs 2, by cross-entropy), attacks of one budget (theirs four attacks, "
        "smallest of 13 strengths that works), CNN of 16 and 32 channels (theirs 32 and 64), "
        "ResNet of 18 narrow layers on halved images (theirs 50), a narrower DenseNet"
    )


def auroc(summary: list[dict[str, Any]]) -> Cells:
    """Mean and interval over trainings by data, supervisor and kind of trouble."""
    return {
        (r["data"], r["supervisor"], r["set"]): (
            r["mean"],
            r["mean"] - r.get("arm", 1.0),
            r["mean"] + r.get("arm", 1.0),
        )
        for r in summary
        if "mean" in r
    }


def table_row(name: str, kind: str, both: list[dict[str, Any]], differs: str) -> Row:
    """One column of Table 2: how many cells are near, and the one farthest off."""
    gaps = {r["supervisor"]: abs(r["mean"] - r["published"]) for r in both}
    far = max(both, key=lambda r: gaps[r["supervisor"]])
    close = sum(gap <= TOLERANCE for gap in gaps.values())
    arm = far.get("arm", 1.0)
    verdict = near(
        far["mean"], far["published"], TOLERANCE, (far["mean"] - arm, far["mean"] + arm), differs
    )
    return Row(
        f"Table 2, {name}, {kind}",
        f"AUROC of {len(both)} supervisors",
        COMMAND,
        f"{min(r['published'] for r in both):.2f} to {max(r['published'] for r in both):.2f}",
        f"{close} of {len(both)} within {TOLERANCE}, mean distance "
        f"{sum(gaps.values()) / len(gaps):.2f}, {max(r['runs'] for r in both)} trainings",
        PaperVerdict(
            verdict.finding, f"farthest {far['supervisor']} {verdict.because}", verdict.differs
        ),
    )
