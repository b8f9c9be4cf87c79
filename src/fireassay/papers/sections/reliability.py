"""Zhao et al., reliability assessment: Table 1, Figs. 1 to 3 and the claims made with them."""

from typing import Any

from fireassay.core.percent import percent
from fireassay.papers.sections.section import Claim, Results, Row, Section, not_run
from fireassay.papers.verdicts import NO_DATA, NOT_RUN, PaperVerdict, decided, level, near
from fireassay.statistics.clopper_pearson import clopper_pearson

GRID = "studies/reliability_table1.py"
LATENT = "studies/reliability_latent.py"
_NUMBERS = ("ACU", "E", "Ub")
_RELATIVE = 0.005
_PRINTED_R = {"running example": 0.004013, "DS-1": 0.004392}
_DS_2 = "test error .0079, r .002001, ACU .004739, E .005249, V .000002, Ub .005252"


def section(results: Results) -> Section:
    """The section from the stored grids and latent cells."""
    found = results("reliability_table1")
    grids = {row["data"]: row for row in found.get("rows", [])}
    images = {name: results(f"reliability_{name}") for name in ("mnist", "cifar10")}
    images = {name: row for name, row in images.items() if row}
    rows = [grid_row(name, grids.get(name), found.get("published", {})) for name in _PRINTED_R]
    rows += [separation_row(name, row) for name, row in grids.items()]
    rows.append(Row("Table 1, DS-2", "all columns", "", _DS_2, "–", NO_DATA))
    rows += [
        image_row(title, images.get(name))
        for name, title in (("mnist", "MNIST"), ("cifar10", "CIFAR-10"))
    ]
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
            bound_holds(worlds),
            {"refuted": "It is not a bound. Use `assess` (default or Clopper-Pearson)."},
        ),
        Claim(
            "On the two-dimensional sets ACU is below the test error: robust models.",
            acu_below(grids, below=True),
            {"reproduced": "True, but by construction: cells without data are labelled by the "
                           "model itself, which is then right in them."},
        ),
        Claim(
            "On image sets ACU is above the test error: models that are not robust.",
            acu_below(images, below=False),
            {"reproduced": "The number is above; the next line says what it measures."},
        ),
        Claim(
            "… because small changes fool them, not because cells are decoded.",
            robustness_explains(images),
            {"other setting": "Ours are misled by decoded images alone, without any change in the "
                              "cell: look first how a model does on them."},
        ),
        Claim(
            "The k heaviest cells can dominate the profile (99 % of its mass).",
            dominated(images),
            {"refuted": "They hold next to nothing of it: ACU and E of these rows say nothing "
                        "about the field. Draw cells from the profile instead."},
        ),
        Claim(
            "Plain draws do not suffice inside cells: splitting is needed.",
            splitting_needed(images),
            {"refuted": "For E[λ] plain draws do: what splitting adds is far below the rest."},
        ),
    ]  # fmt: skip
    seconds = sum(float(row.get("cpu_seconds", 0.0)) for row in (*grids.values(), *images.values()))
    return Section("Zhao et al., reliability assessment (reliability)", rows, claims, seconds)


def grid_row(name: str, row: dict[str, Any] | None, published: dict[str, Any]) -> Row:
    """ACU, E and Ub of a two-dimensional set, within half a per cent."""
    item, shows = f"Table 1, {name}", "ACU, E, Ub"
    if row is None:
        return not_run(item, shows, GRID, "–")
    theirs = dict(zip(_NUMBERS, (published[name][i] for i in (1, 2, 4)), strict=True))
    gaps = {n: abs(row[n] - theirs[n]) / theirs[n] for n in _NUMBERS}
    worst = max(gaps, key=lambda n: gaps[n])
    value, printed = row[worst], theirs[worst]
    verdict = near(value, printed, _RELATIVE * printed, (value, value))
    return Row(
        item, shows, GRID, ", ".join(f"{theirs[n]:.6f}" for n in _NUMBERS),
        ", ".join(f"{row[n]:.6f}" for n in _NUMBERS),
        PaperVerdict(verdict.word, f"at most {percent(max(gaps.values()), 2)} off ({worst})"),
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
    """ACU and E of latent cells; never the same setting, since their networks are not public."""
    item, shows = f"Table 1, {title}", "ACU, E"
    if row is None:
        return not_run(item, shows, LATENT, "–")
    theirs = row["published"]
    own = f"test error {row['test error']:.4f}, theirs {theirs['test error']:.4f}"
    differs = [f"our own network ({own}) and VAE, because theirs are not public"]
    if row["cells"] < theirs["cells"]:
        differs.append(f"{row['cells']:,} of {int(theirs['cells']):,} cells")
    verdicts = []
    for name in ("ACU", "E"):
        low, high = row[f"{name} interval"] or (row[name], row[name])
        told = near(row[name], theirs[name], 0.1 * theirs[name], (low, high), "; ".join(differs))
        verdicts.append((abs(row[name] - theirs[name]) / theirs[name], name, told))
    _, name, worst = max(verdicts)
    return Row(
        item, shows, LATENT, f"{theirs['ACU']:.3f}, {theirs['E']:.3f}",
        f"{row['ACU']:.3f}, {row['E']:.3f}; {row['cells']:,} cells with {row['their mass']:.1g} of "
        f"the mass, test error {row['test error']:.4f}",
        PaperVerdict(worst.word, f"{name} {worst.because}"),
    )  # fmt: skip


def figure_row(item: str, shows: str, grids: dict[str, dict[str, Any]]) -> Row:
    """A drawing of the authors' points: right if their test errors come out."""
    held = {"running example": 0.018, "DS-1": 0.08}
    same = all(abs(grids[n]["test error"] - e) < 5e-4 for n, e in held.items() if n in grids)
    told = "the authors' points, on which the printed test errors come out"
    return Row(
        item, shows, GRID, "figure", "DS-2 is not public" if item == "Fig. 3" else "drawn",
        decided(same, told), f"papers/reliability_{item.lower().replace('. ', '_')}.svg",
    )  # fmt: skip


def bound_holds(worlds: list[dict[str, Any]]) -> PaperVerdict:
    """Misses of the published bound in simulated worlds where the pmi is known."""
    if not worlds:
        return NOT_RUN
    return level(sum(w["misses"] for w in worlds), sum(w["worlds"] for w in worlds), 0.025)


def acu_below(rows: dict[str, dict[str, Any]], below: bool) -> PaperVerdict:
    """ACU against the test error, in every set."""
    if not rows:
        return NOT_RUN
    told = ", ".join(f"{n} {r['ACU']:.4f} / {r['test error']:.4f}" for n, r in rows.items())
    held = all((r["ACU"] < r["test error"]) == below for r in rows.values())
    return decided(held, f"ACU / test error: {told}")


def robustness_explains(images: dict[str, dict[str, Any]]) -> PaperVerdict:
    """Errors on test images that were only encoded and decoded, against the test error.

    Where these alone are twice the test error, decoding explains what is above it.
    """
    known = {n: r for n, r in images.items() if r.get("wrong after decoding") is not None}
    held: list[bool | None] = []
    told = []
    for name, row in known.items():
        n = int(row["test rows"])
        low, high = clopper_pearson(int(row["wrong after decoding"]), n)
        twice = 2 * row["test error"]
        held.append(False if low > twice else True if high <= twice else None)
        share = row["wrong after decoding"] / n
        told.append(
            f"{name} {share:.3f} [{low:.3f}, {high:.3f}], test error {row['test error']:.4f}"
        )
    if not known:
        return NOT_RUN
    verdict = False if False in held else None if None in held else True
    because = "wrong after decoding alone: " + "; ".join(told)
    return decided(verdict, because, "our own networks and VAEs, theirs are not public")


def dominated(images: dict[str, dict[str, Any]]) -> PaperVerdict:
    """The mass that the evaluated cells hold."""
    known = {n: r["their mass"] for n, r in images.items() if r.get("their mass") is not None}
    if not known:
        return NOT_RUN
    told = ", ".join(f"{images[n]['cells']:,} cells of {n} hold {m:.1g}" for n, m in known.items())
    return decided(min(known.values()) >= 0.99, told)


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
    return decided(True if True in held else None if None in held else False, "; ".join(told))
