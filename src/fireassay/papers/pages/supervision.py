"""Weiss et al., sixteen supervisors: Table 2, Tables 8 to 11, and the claims drawn from them."""

from dataclasses import replace
from statistics import fmean, stdev
from typing import Any

from fireassay.papers.pages.ambiguity import FAST_TRAINING
from fireassay.papers.pages.section import (
    Claim,
    Results,
    Row,
    Section,
    as_printed,
    grouped,
    not_run,
)
from fireassay.papers.supervision_published import PUBLISHED
from fireassay.papers.verdicts import (
    NOT_RUN,
    PaperVerdict,
    above,
    decided,
    near,
    near_all,
    together,
)

COMMAND = "studies/supervision_table2.py"
TITLES = {"mnist": "MNIST", "fashion": "Fashion-MNIST"}
KINDS = ("ambiguous", "adversarial", "corrupted", "invalid")
SOFTMAX = (
    "max-softmax", "pcs", "softmax-entropy", "deep-gini", "mc-dropout-mean-softmax",
    "mc-dropout-mutual-information", "mc-dropout-predictive-entropy", "ensemble-mean-softmax",
    "ensemble-mutual-information", "ensemble-predictive-entropy", "dissector",
)  # fmt: skip
STRANGENESS = ("dsa", "lsa", "mdsa", "autoencoder")
_ABOVE_CHANCE = sum(
    (PUBLISHED[name][column] or 0.0) > 0.5 for name in STRANGENESS for column in (0, len(KINDS))
)
"""How many of their AUROCs on ambiguous rows exceed .5 in Table 2 itself: the autoencoder's."""
_TOLERANCE, _LAST_DIGIT = 0.05, 0.005
PRICE = "ResNet-50 alone 1,300 CPU hours for 210 trainings; the autoencoder 6.6 for 10"
_GOOD, _NEARLY_SURE = 0.8, 0.9
_NOTABLE, _LARGE = 0.02, 0.05  # standard deviations over trainings
_TRAINING_ROWS, _ARCHITECTURES = 60_000, 4
_TRIES = 20
_ONE_NUMBER = ", printed "
_NONE = (None,) * len(KINDS)
Cells = dict[tuple[str, str, str], tuple[float, float, float]]
Spreads = dict[tuple[str, ...], tuple[float, float]]


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
    same = abs(mean - 0.015) <= _LAST_DIGIT and abs(largest - 0.124) <= _LAST_DIGIT
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


def is_printed(supervisor: str, kind: str) -> bool:
    """Whether the paper has a number of it: for attacked ensembles it has none."""
    return kind in KINDS and PUBLISHED.get(supervisor, _NONE)[KINDS.index(kind)] is not None


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
    many, large = (sum(spread > limit for spread in every) for limit in (_NOTABLE, _LARGE))
    ours = {
        "mean": [fmean(own) for own in trained.values()],
        f"share above {_NOTABLE}": [_share(own, _NOTABLE) for own in trained.values()],
        f"share above {_LARGE}": [_share(own, _LARGE) for own in trained.values()],
    }
    theirs = dict(zip(ours, (0.015, 114 / 488, 29 / 488), strict=True))
    tolerances = dict(zip(ours, (0.01, _TOLERANCE, _TOLERANCE), strict=True))
    return [
        Row(
            "Tables 8–11",
            "standard deviation over trainings",
            COMMAND,
            "mean 0.015, largest 0.124, of 488 114 above 0.02 and 29 above 0.05",
            f"mean {fmean(every):.3f}, largest {max(every):.3f}, of {len(every)} {many} above "
            f"{_NOTABLE} and {large} above {_LARGE}",
            near_all(ours, theirs, tolerances, differs),
        )
    ]


def _share(values: list[float], limit: float) -> float:
    return sum(value > limit for value in values) / len(values)


def unsteady_are_poor(found: Spreads, differs: str) -> PaperVerdict:
    """Whether every cell that differs much between trainings has a low mean AUROC."""
    if not found:
        return NOT_RUN
    large = {at: mean for at, (spread, mean) in found.items() if spread > _LARGE}
    good = {at: mean for at, mean in large.items() if mean >= _NEARLY_SURE}
    told = f"{len(large) - len(good)} of {len(large)}"
    if good:
        at = max(good, key=lambda cell: good[cell])
        told += f"; not {', '.join(at)} ({good[at]:.2f})"
    return decided(not good, told, differs)


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
        PaperVerdict(
            verdict.finding, f"farthest {far['supervisor']} {verdict.because}", verdict.differs
        ),
    )


_WHERE = (
    "Section 7.3, ambiguous data", "Section 7.3, ambiguous data", "Section 7.3, adversarial data",
    "Section 7.3, corrupted data", "Section 7.3, invalid data", "Section 7.3, invalid data",
    "Section 7.3, discussion", "Section 7.3, discussion", "Section 7.3, stability of results",
)  # fmt: skip


def claims(cells: Cells, over_trainings: Spreads, d: str) -> list[Claim]:
    """The paper's sub-claims, each on its own, judged by some AUROCs of setting ``d``."""

    def of(names: tuple[str, ...], kinds: tuple[str, ...], data: str | None = None) -> Any:
        return {
            f"{s} on {k} {TITLES[d]}": value
            for (d, s, k), value in cells.items()
            if s in names and k in kinds and data in (None, d) and is_printed(s, k)
        }

    listed: list[tuple[str, PaperVerdict, dict[Any, str]]] = [
        ("Softmax-based supervisors find ambiguous inputs.",
         _above(of(SOFTMAX, ("ambiguous",)), 0.5, d), {}),
        ("DSA, LSA, MDSA and autoencoder do not find ambiguous inputs: barely any is above 0.5.",
         barely_any(of(STRANGENESS, ("ambiguous",)), 0.5, _ABOVE_CHANCE, d), {}),
        ("On adversarial inputs DSA, MDSA and autoencoder are better than softmax.",
         better(cells, ("dsa", "mdsa", "autoencoder"), "adversarial", d), {}),
        ("On corrupted Fashion-MNIST DSA is the best.",
         best(cells, "dsa", "fashion", "corrupted", d), {}),
        ("The autoencoder is nearly perfect on invalid inputs of MNIST (1.00) …",
         _near(cells, ("mnist", "autoencoder", "invalid"), 1.00, d), {}),
        ("… and no better than chance on those of Fashion-MNIST (.49).",
         _near(cells, ("fashion", "autoencoder", "invalid"), 0.49, d), {}),
        ("Softmax-based supervisors beat chance on all four kinds of trouble.",
         _above(of(SOFTMAX, KINDS), 0.5, d), {}),
        (f"No single supervisor is good (≥ {_GOOD}) at everything.", nobody_alone(cells, d),
         {"agrees": "Use two monitors of different kinds."}),
        (f"Where trainings differ much (above {_LARGE}), the mean AUROC is below {_NEARLY_SURE}.",
         unsteady_are_poor(over_trainings, d), {}),
    ]  # fmt: skip
    return [
        Claim(text, where, verdict, believe)
        for (text, verdict, believe), where in zip(listed, _WHERE, strict=True)
    ]


def barely_any(
    values: dict[str, tuple[float, float, float]], limit: float, theirs: int, differs: str
) -> PaperVerdict:
    """Hardly one is said to be above a limit: no more of ours than ``theirs`` of their own."""
    if not values:
        return NOT_RUN
    over = sum(low > limit for _, low, _ in values.values())
    perhaps = sum(high > limit for _, _, high in values.values())
    name = max(values, key=lambda key: values[key][1])
    value, low, high = values[name]
    told = f"{over} of {len(values)} above {limit}, theirs {theirs}; largest {name} {value:.2f} "
    held = True if perhaps <= theirs else False if over > theirs else None
    return decided(held, f"{told}[{low:.2f}, {high:.2f}]", differs)


def better(cells: Cells, names: tuple[str, ...], kind: str, differs: str) -> PaperVerdict:
    """The least of some supervisors against the best softmax-based one printed, by data set."""
    found, told = [], []
    for data, title in TITLES.items():
        own = [cells[data, n, kind] for n in names if (data, n, kind) in cells]
        rest = [
            cells[data, n, kind]
            for n in SOFTMAX
            if (data, n, kind) in cells and is_printed(n, kind)
        ]
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
    rest = {s: cells[data, s, kind] for s in PUBLISHED if s != name and (data, s, kind) in cells}
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
    """The supervisor whose worst kind of trouble is best, over both data sets.

    The claim holds if each is surely below in some cell, and fails if one is surely good in all.
    """
    worst: dict[str, tuple[float, float, float]] = {}
    for s in {s for _, s, _ in cells}:
        own = [v for (_, name, k), v in cells.items() if name == s and k in KINDS]
        if len(own) == len(KINDS) * len(TITLES):
            value, low, high = (min(numbers) for numbers in zip(*own, strict=True))
            worst[s] = (value, low, high)
    if not worst:
        return NOT_RUN
    name = max(worst, key=lambda s: worst[s])
    if max(high for _, _, high in worst.values()) < _GOOD:
        held: bool | None = True
    else:
        held = False if max(low for _, low, _ in worst.values()) >= _GOOD else None
    value, low, high = worst[name]
    told = f"best of all {name}, at worst {value:.2f} [{low:.2f}, {high:.2f}]"
    return decided(held, told, differs)


def _above(values: dict[str, Any], limit: float, differs: str) -> PaperVerdict:
    return above(values, limit, differs) if values else NOT_RUN


def _near(cells: Cells, key: tuple[str, str, str], theirs: float, differs: str) -> PaperVerdict:
    if key not in cells:
        return NOT_RUN
    value, low, high = cells[key]
    return near(value, theirs, _TOLERANCE, (low, high), differs)
