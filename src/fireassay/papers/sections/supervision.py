"""Weiss et al., sixteen supervisors: Table 2, Tables 8 to 11, and the claims drawn from them."""

from collections.abc import Callable
from statistics import fmean, stdev
from typing import Any

from fireassay.papers.intervals import mean_interval
from fireassay.papers.sections.section import Claim, Results, Row, Section, not_run
from fireassay.papers.supervision_published import PUBLISHED
from fireassay.papers.verdicts import NOT_RUN, PaperVerdict, above, decided, near

COMMAND = "studies/supervision_table2.py"
TITLES = {"mnist": "MNIST", "fashion": "Fashion-MNIST"}
KINDS = ("ambiguous", "adversarial", "corrupted", "invalid")
SOFTMAX = (
    "max-softmax", "pcs", "softmax-entropy", "deep-gini", "mc-dropout-mean-softmax",
    "mc-dropout-predictive-entropy", "ensemble-mean-softmax", "ensemble-predictive-entropy",
    "dissector",
)  # fmt: skip
SURPRISE = ("dsa", "lsa", "mdsa")
_TOLERANCE = 0.05
_GOOD, _NOTABLE = 0.8, 0.02
_TRAINING_ROWS, _ARCHITECTURES = 60_000, 4
_OWN = (
    "our own ambiguous rows, autoencoder and attack budgets (the paper prints none), DenseNet and "
    "ResNet narrower"
)
Cells = dict[tuple[str, str, str], tuple[float, float, float]]


def section(results: Results) -> Section:
    """The section from the stored AUROCs."""
    found = results("supervision_table2")
    title = "Weiss et al., sixteen supervisors (supervision)"
    if not found:
        return Section(title, [not_run("Table 2", "AUROC", COMMAND, "122 cells")], [])
    differs = setting(found)
    cells = auroc(found["summary"])
    rows = []
    for data, name in TITLES.items():
        own = [r for r in found["summary"] if r["data"] == data and "mean" in r]
        for kind in KINDS:
            both = [r for r in own if r["set"] == kind and r.get("published") is not None]
            if both:
                rows.append(table_row(name, kind, both, "; ".join(filter(None, (differs, _OWN)))))
    rows += stability_row(found["parts"], "; ".join(filter(None, (differs, _OWN))))
    seconds = float(found["cpu_seconds"])
    return Section(title, rows, claims(cells, differs), seconds)


def stability_row(parts: list[dict[str, Any]], differs: str) -> list[Row]:
    """Standard deviations over the trainings of one architecture, as Tables 8 to 11 print them.

    The interval of their mean is about architectures and data sets, whose cells are alike.
    """
    cells: dict[tuple[str, ...], list[float]] = {}
    for part in parts:
        for row in part["records"]:
            if row["set"] in KINDS and row["supervisor"] in PUBLISHED and row["status"] == "done":
                cell = part["data"], part["architecture"], row["supervisor"], row["set"]
                cells.setdefault(cell, []).append(float(row["auroc"]))
    spreads = {at: stdev(values) for at, values in cells.items() if len(values) > 1}
    if not spreads:
        return []
    trained: dict[tuple[str, ...], list[float]] = {}
    for at, spread in spreads.items():
        trained.setdefault(at[:2], []).append(spread)
    mean, largest = fmean(spreads.values()), max(spreads.values())
    many = sum(spread > _NOTABLE for spread in spreads.values())
    interval = mean_interval([fmean(own) for own in trained.values()])
    return [
        Row(
            "Tables 8–11",
            "standard deviation over trainings",
            COMMAND,
            "mean 0.015, largest 0.124, 114 of 488 above 0.02",
            f"mean {mean:.3f}, largest {largest:.3f}, {many} of {len(spreads)} above {_NOTABLE}",
            near(mean, 0.015, 0.01, interval, differs),
        )
    ]


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


def as_far_as_ours(judged: Callable[[str], PaperVerdict], differs: str) -> PaperVerdict:
    """What holds, holds; what does not may come of attacks or an autoencoder that are not theirs.

    >>> as_far_as_ours(lambda differs: decided(False, "AUROC 0.4", differs), "").word
    'other setting'
    """
    verdict = judged(differs)
    return verdict if verdict.word == "reproduced" else judged(differs or _OWN)


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
    close = sum(gap <= _TOLERANCE for gap in gaps.values())
    arm = far.get("arm", 1.0)
    verdict = near(
        far["mean"], far["published"], _TOLERANCE, (far["mean"] - arm, far["mean"] + arm), differs
    )
    return Row(
        f"Table 2, {name}, {kind}",
        f"AUROC of {len(both)} supervisors",
        COMMAND,
        f"{min(r['published'] for r in both):.2f} to {max(r['published'] for r in both):.2f}",
        f"{close} of {len(both)} within {_TOLERANCE}, mean distance "
        f"{sum(gaps.values()) / len(gaps):.2f}, {max(r['runs'] for r in both)} trainings",
        type(verdict)(verdict.word, f"farthest {far['supervisor']} {verdict.because}"),
    )


def claims(cells: Cells, differs: str) -> list[Claim]:
    """The paper's sub-claims, each on its own."""

    def of(names: tuple[str, ...], kinds: tuple[str, ...], data: str | None = None) -> Any:
        return {
            f"{s} on {k} {TITLES[d]}": value
            for (d, s, k), value in cells.items()
            if s in names and k in kinds and data in (None, d)
        }

    listed: list[tuple[str, PaperVerdict, dict[Any, str]]] = [
        ("Softmax-based supervisors find ambiguous inputs.",
         _above(of(SOFTMAX, ("ambiguous",)), 0.5, differs), {}),
        ("Surprise adequacy (DSA, LSA, MDSA) does not find ambiguous inputs.",
         below(of(SURPRISE, ("ambiguous",)), 0.5, differs), {}),
        ("On adversarial inputs surprise and autoencoder are better than softmax.",
         as_far_as_ours(lambda d: better(
             cells, ("dsa", "mdsa", "autoencoder"), "adversarial", d), differs), {}),
        ("On corrupted Fashion-MNIST DSA is the best.",
         as_far_as_ours(lambda d: best(cells, "dsa", "fashion", "corrupted", d), differs), {}),
        ("The autoencoder is nearly perfect on invalid inputs of MNIST (1.00) …",
         as_far_as_ours(lambda d: _near(cells, ("mnist", "autoencoder", "invalid"), 1.00, d),
                        differs), {}),
        ("… and no better than chance on those of Fashion-MNIST (.49).",
         as_far_as_ours(lambda d: _near(cells, ("fashion", "autoencoder", "invalid"), 0.49, d),
                        differs), {}),
        ("Softmax-based supervisors beat chance on all four kinds of trouble.",
         as_far_as_ours(lambda d: _above(of(SOFTMAX, KINDS), 0.5, d), differs), {}),
        (f"No single supervisor is good (≥ {_GOOD}) at everything.",
         nobody_alone(cells, differs), {"reproduced": "Use two monitors of different kinds."}),
    ]  # fmt: skip
    return [Claim(*row) for row in listed]


def below(
    values: dict[str, tuple[float, float, float]], limit: float, differs: str
) -> PaperVerdict:
    """All are said to be at or below a limit."""
    if not values:
        return NOT_RUN
    mirrored = {name: (-v, -high, -low) for name, (v, low, high) in values.items()}
    over = {name: row for name, row in values.items() if row[1] > limit}
    held = True if above(mirrored, -limit).word == "reproduced" else None
    name = max(values, key=lambda key: values[key][1])
    told = f"largest {name} {values[name][0]:.2f} [{values[name][1]:.2f}, {values[name][2]:.2f}]"
    return decided(False if over else held, told, differs)


def better(cells: Cells, names: tuple[str, ...], kind: str, differs: str) -> PaperVerdict:
    """The least of some supervisors against the best of the softmax-based, by data set."""
    found, told = [], []
    for data, title in TITLES.items():
        own = [cells[data, n, kind] for n in names if (data, n, kind) in cells]
        rest = [cells[data, n, kind] for n in SOFTMAX if (data, n, kind) in cells]
        if not own or not rest:
            continue
        least, most = min(own), max(rest)
        found.append(None if least[2] >= most[1] and least[1] <= most[2] else least > most)
        told.append(f"{title}: least {least[0]:.2f}, best softmax {most[0]:.2f}")
    if not found:
        return NOT_RUN
    held = False if False in found else None if None in found else True
    return decided(held, "; ".join(told), differs)


def best(cells: Cells, name: str, data: str, kind: str, differs: str) -> PaperVerdict:
    """One supervisor of the sixteen against the best other."""
    sixteen = (*SOFTMAX, *SURPRISE, "autoencoder", "mc-dropout-variation-ratio",
               "mc-dropout-mutual-information", "ensemble-mutual-information")  # fmt: skip
    rest = {s: cells[data, s, kind] for s in sixteen if s != name and (data, s, kind) in cells}
    own = cells.get((data, name, kind))
    if own is None or not rest:
        return NOT_RUN
    rival = max(rest, key=lambda s: rest[s][0])
    told = ", ".join(
        f"{n} {v:.2f} [{low:.2f}, {high:.2f}]"
        for n, (v, low, high) in ((name, own), (rival, rest[rival]))
    )
    apart = own[1] > rest[rival][2] or own[2] < rest[rival][1]
    return decided((own[0] > rest[rival][0]) if apart else None, told, differs)


def nobody_alone(cells: Cells, differs: str) -> PaperVerdict:
    """The supervisor whose worst kind of trouble is best, over both data sets."""
    worst: dict[str, float] = {}
    for s in {s for _, s, _ in cells}:
        own = [v[0] for (_, name, k), v in cells.items() if name == s and k in KINDS]
        if len(own) == len(KINDS) * len(TITLES):
            worst[s] = min(own)
    if not worst:
        return NOT_RUN
    name = max(worst, key=lambda s: worst[s])
    return decided(worst[name] < _GOOD, f"best of all {name}, at worst {worst[name]:.2f}", differs)


def _above(values: dict[str, Any], limit: float, differs: str) -> PaperVerdict:
    return above(values, limit, differs) if values else NOT_RUN


def _near(cells: Cells, key: tuple[str, str, str], theirs: float, differs: str) -> PaperVerdict:
    if key not in cells:
        return NOT_RUN
    value, low, high = cells[key]
    return near(value, theirs, _TOLERANCE, (low, high), differs)
