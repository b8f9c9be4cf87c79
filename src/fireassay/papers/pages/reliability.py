"""Zhao et al., reliability assessment: Table 1, Figs. 1 to 3 and the claims made with them."""

from dataclasses import replace
from typing import Any

from fireassay.core.words import percent
from fireassay.papers.pages.reliability_authors import authors_acu, authors_ladder, authors_rows
from fireassay.papers.pages.section import (
    Claim,
    Ladder,
    Results,
    Row,
    Section,
    as_printed,
    not_run,
)
from fireassay.papers.verdicts import NOT_RUN, PaperVerdict, decided, near
from fireassay.statistics.counts import clopper_pearson

GRID = "studies/reliability_table1.py"
LATENT = "studies/reliability_latent.py"
_COLUMN = {"ACU": 1, "E": 2, "Ub": 4}
_NUMBERS = tuple(_COLUMN)
_RADII = ((0.004013, 0.004), (0.004392, 0.004), (0.002001, 0.002), (0.1003, 0.1), (0.1947, 0.125))
_PRINTED_TO = 5e-7 * (1 + 1 + 1.96)  # E, Ub and V have six decimals
_RELATIVE, _ALLOWED = 0.005, 0.025
_PRINTED_R = {"running example": 0.004013, "DS-1": 0.004392}
_PRINTED_COLUMNS = {  # training error, test error, column V
    "running example": (0.0005, 0.0180, 0.000004),
    "DS-1": (0.0037, 0.0800, 0.000014),
}
_DS_2 = "test error .0079, r .002001, ACU .004739, E .005249, V .000002, Ub .005252"

_NOT_OBTAINED = PaperVerdict(
    "open", "public, not obtained (github.com/havelhuang/ReAsDL was searched)", "nothing was run"
)


def section(results: Results) -> Section:
    """The section from the stored grids and latent cells."""
    found = results("reliability_table1")
    grids = {row["data"]: row for row in found.get("rows", [])}
    images = {name: results(f"reliability_{name}") for name in ("mnist", "cifar10")}
    images = {name: row for name, row in images.items() if row}
    rows = [
        grid_row(name, number, grids.get(name), found.get("published", {}))
        for name in _PRINTED_R
        for number in _NUMBERS
    ]
    rows += [separation_row(name, row) for name, row in grids.items()]
    rows += [one for name, row in grids.items() for one in column_rows(name, row)]
    rows += variance_row(found.get("published", {}))
    rows.append(Row("Table 1, DS-2", "all columns", "", _DS_2, "–", _NOT_OBTAINED))
    theirs = results("reliability_authors_mnist")
    rows += authors_rows(theirs)
    rows.append(image_row("CIFAR-10", images.get("cifar10")))
    drawn = bool(grids)
    for item, shows in (("Fig. 1", "r-separation"), ("Fig. 2", "points and profile"),
                        ("Fig. 3", "DS-1 and DS-2")):  # fmt: skip
        if drawn:
            rows.append(figure_row(item, shows, grids))
    worlds = [
        row
        for row in results("reliability").get("coverage", [])
        if row["method"] == "ram (published)"
    ]
    claims = [
        Claim(
            "Ub is an upper bound on the pmi with 97.5 % confidence.",
            "Section 3.2",
            bound_holds(worlds),
            {"differs": "It is not a bound. Use `assess` (default or Clopper-Pearson)."},
            "no price: the true pmi of their sets is unknown",
        ),
        Claim(
            "On the two-dimensional sets ACU is below the test error: robust models.",
            "Section 4, Table 1",
            replace(acu_below(grids, below=True), retrained=True),
            {"agrees": "True, but by construction: cells without data are labelled by the "
                       "model itself, which is then right in them."},
        ),
        Claim(
            "On image sets ACU is above the test error: models that are not robust.",
            "Section 4, Table 1",
            acu_below(authors_acu(theirs), below=False),
            {"agrees": "On their MNIST network, yes; it is misled by decoded images alone, without "
                       "any change in the cell (steps above)."},
        ),
        Claim(
            "On these sets E[λ] is a middle point between ACU and the test error.",
            "Section 4, Table 1",
            replace(in_the_middle(grids), retrained=True),
            {},
        ),
        Claim(
            "Plain draws do not suffice inside cells: splitting is needed.",
            "Section 5, efficiency of cell robustness evaluation",
            splitting_needed(images),
            {},
            ".7 CPU hours",
        ),
    ]  # fmt: skip
    if grids:
        claims.append(narrow_cells())
    stored = [*grids.values(), *images.values(), *([theirs] if theirs else [])]
    seconds = sum(float(row.get("cpu_seconds", 0.0)) for row in stored)
    return Section(
        "Zhao et al., reliability assessment (reliability)", rows, claims, seconds,
        ladders=[*authors_ladder(theirs), *separate_worlds(worlds)],
        price="not obtained: github.com/havelhuang/ReAsDL was searched",
    )  # fmt: skip


def column_rows(name: str, row: dict[str, Any]) -> list[Row]:
    """Errors and column V of a two-dimensional set, to the printed digits."""
    training, test, spread = _PRINTED_COLUMNS[name]
    return [
        Row(f"Table 1, {name}, {column}", "one column", GRID, form.format(printed),
            form.format(value),
            replace(near(value, printed, digit, (value, value)), retrained=True))
        for column, value, printed, digit, form in (
            ("training error", row["training error"], training, 5.1e-5, "{:.4f}"),
            ("test error", row["test error"], test, 5.1e-5, "{:.4f}"),
            ("column V", row["sd"], spread, 5.1e-7, "{:.6f}"),
        )
    ]  # fmt: skip


def variance_row(published: dict[str, Any]) -> list[Row]:
    """Column V of Table 1 against the printed bound: E + 1.96 sd or E + 1.96 √V."""
    if not published:
        return []
    as_sd = [abs(e + 1.96 * v - ub) <= _PRINTED_TO for _, _, e, v, ub in published.values()]
    told = f"E + 1.96 V gives the printed Ub in {sum(as_sd)} of {len(as_sd)} rows"
    return [
        Row("Table 1, column V", "variance of the pmi", "", "a variance",
            "a standard deviation, by the printed E and Ub", decided(not all(as_sd), told))
    ]  # fmt: skip


def grid_row(name: str, number: str, row: dict[str, Any] | None, published: dict[str, Any]) -> Row:
    """ACU, E or Ub of a two-dimensional set, within half a per cent."""
    item, shows = f"Table 1, {name}, {number}", "two-dimensional set"
    if row is None:
        return not_run(item, shows, GRID, "–")
    value, printed = row[number], published[name][_COLUMN[number]]
    verdict = near(value, printed, _RELATIVE * printed, (value, value))
    off = percent(abs(value - printed) / printed, 2)
    return Row(
        item, shows, GRID, f"{printed:.6f}", f"{value:.6f}",
        PaperVerdict(verdict.finding, f"{off} off", retrained=True),
    )  # fmt: skip


def separation_row(name: str, row: dict[str, Any]) -> Row:
    """The printed r against the smallest distance between two classes (the doubled r)."""
    apart, printed = 2 * row["r"], _PRINTED_R[name]
    return Row(
        f"Table 1, {name}", "r-separation", GRID, f"{printed:.6f}",
        f"{apart:.6f} between the nearest points of two classes",
        near(apart, printed, 0.02 * printed, (apart, apart)),
    )  # fmt: skip


def image_row(title: str, row: dict[str, Any] | None) -> Row:
    """ACU and E of latent cells of a network and a VAE of our own."""
    item, shows = f"Table 1, {title}", "ACU, E"
    if row is None:
        return not_run(item, shows, LATENT, "–")
    theirs = row["published"]
    own = f"test error {row['test error']:.4f}, theirs {theirs['test error']:.4f}"
    differs = f"our own network ({own}) and VAE; their network is public, not obtained"
    if row["cells"] < theirs["cells"]:
        differs += f"; {row['cells']:,} of {int(theirs['cells']):,} cells"
    verdicts = []
    for name in ("ACU", "E"):
        low, high = row[f"{name} interval"] or (row[name], row[name])
        told = near(row[name], theirs[name], 0.1 * theirs[name], (low, high), differs)
        verdicts.append((abs(row[name] - theirs[name]) / theirs[name], name, told))
    _, name, worst = max(verdicts, key=lambda one: one[0])
    return Row(
        item, shows, LATENT, f"{theirs['ACU']:.3f}, {theirs['E']:.3f}",
        f"{row['ACU']:.3f}, {row['E']:.3f}; {row['cells']:,} cells with {row['their mass']:.1g} of "
        f"the mass, test error {row['test error']:.4f}",
        PaperVerdict(worst.finding, f"{name} {worst.because}", differs),
    )  # fmt: skip


def figure_row(item: str, shows: str, grids: dict[str, dict[str, Any]]) -> Row:
    """A drawing of the authors' points: right if their test errors come out."""
    held = {"running example": 0.018, "DS-1": 0.08}
    same = all(abs(grids[n]["test error"] - e) < 5e-4 for n, e in held.items() if n in grids)
    told = "the authors' points, on which the printed test errors come out"
    drawn = "DS-1 drawn; DS-2 not obtained" if item == "Fig. 3" else "drawn"
    return Row(
        item, shows, GRID, "figure", drawn,
        decided(same, told), f"papers/reliability_{item.lower().replace('. ', '_')}.svg",
    )  # fmt: skip


def bound_holds(worlds: list[dict[str, Any]]) -> PaperVerdict:
    """Misses of the published bound in worlds of known pmi, each kind of world apart."""
    if not worlds:
        return NOT_RUN
    ends = [clopper_pearson(w["misses"], w["worlds"]) for w in worlds]
    broken = sum(low > _ALLOWED for low, _ in ends)
    told = f"missed more often than {_ALLOWED:g} in {broken} of {len(worlds)} kinds of world"
    return decided(not broken, told, "simulated worlds with a known pmi")


def separate_worlds(worlds: list[dict[str, Any]]) -> list[Ladder]:
    """The misses of each kind of world."""
    if not worlds:
        return []
    told = "; ".join(f"{w['world']} {w['misses']} of {w['worlds']}" for w in worlds)
    return [
        Ladder(
            "Ub in simulated worlds",
            (f"{_ALLOWED:g} of cases missed as said", f"missed: {told}", "`assess` for a bound"),
        )
    ]


def acu_below(rows: dict[str, dict[str, Any]], below: bool) -> PaperVerdict:
    """ACU against the test error, in every set."""
    if not rows:
        return NOT_RUN
    told = ", ".join(f"{n} {r['ACU']:.4f} / {r['test error']:.4f}" for n, r in rows.items())
    held = all((r["ACU"] < r["test error"]) == below for r in rows.values())
    return decided(held, f"ACU / test error: {told}")


def narrow_cells() -> Claim:
    """The printed radius of a cell beside the printed r-separation."""
    narrow = sum(side <= r for r, side in _RADII)
    told = decided(narrow == len(_RADII), f"in {narrow} of {len(_RADII)} rows")
    return Claim(
        "A cell is no wider than the r-separation.", "Section 3.2, Table 1", as_printed(told),
        {"agrees": "By the printed r. Between the points of the running example r is a fifth of "
                   "it (below): its cells may hold two classes."},
    )  # fmt: skip


def in_the_middle(rows: dict[str, dict[str, Any]]) -> PaperVerdict:
    """E between ACU and the test error, in every set."""
    if not rows:
        return NOT_RUN
    held = [row["ACU"] < row["E"] < row["test error"] for row in rows.values()]
    return decided(all(held), f"in {sum(held)} of {len(held)}")


def splitting_needed(images: dict[str, dict[str, Any]]) -> PaperVerdict:
    """Splitting minus plain draws on the same cells, against a hundredth of the ACU."""
    known = {n: r["splitting"] for n, r in images.items() if r.get("splitting")}
    if not known:
        return NOT_RUN
    held: list[bool | None] = []
    told = []
    for name, row in known.items():
        low, high = row["difference interval"]
        small = 0.01 * images[name]["ACU"]
        held.append(
            False if max(abs(low), abs(high)) <= small else None if low <= 0 <= high else True
        )
        told.append(
            f"{name}: {row['difference']:+.2g} [{low:.2g}, {high:.2g}] of {row['cells']} cells"
        )
    verdict = True if True in held else None if None in held else False
    return decided(verdict, "; ".join(told), "our own networks and VAEs")
