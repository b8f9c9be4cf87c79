"""Pugh et al., naturally adversarial datasets: Tables I to III, Fig. 3 and five claims."""

from typing import Any

from fireassay.papers.curation_published import DASHES, TABLE_1
from fireassay.papers.sections.section import Claim, Results, Row, Section, not_run
from fireassay.papers.verdicts import NOT_RUN, PaperVerdict, decided, equal_cells, level, never

COMMAND = "studies/curation_case_studies.py"
_ALPHA = 0.05
_SIZES = ("train", "valid", "test", "labelling functions")
_WITHOUT_DEPENDENCE = ("recsys", "spam")


def section(results: Results) -> Section:
    """The section from the stored case studies."""
    found = results("curation_case_studies")
    cells = list(found.get("cells", []))
    title = "Pugh et al., naturally adversarial datasets (curation)"
    if not cells:
        return Section(title, [not_run("Table III", "Spearman's rho", COMMAND, "72 cells")], [])
    own = [cell for cell in cells if cell["approach"] == "ours"]
    rows = [
        *sizes_row(found.get("sizes", {})),
        Row(
            "Table II",
            "the valid coefficients of Table III (p < .05)",
            COMMAND,
            f"{len(cells) - len(DASHES)} of {len(cells)} cells, the others a dash",
            "the same rule on our cells in their mode",
            valid_cells(cells),
        ),
        Row(
            "Table III",
            "Spearman's rho of nine case studies",
            COMMAND,
            f"{len(cells)} cells",
            "their label model, rounding and order of ties",
            printed_cells(cells),
        ),
        Row(
            "Fig. 3",
            "accuracy of ten datasets by approach",
            COMMAND,
            "with and without pruning, the lines of Recsys and Spam overlap",
            f"{len(cells)} lines from the real data",
            overlapping_lines(cells),
            "papers/curation_fig_3.svg",
        ),
    ]
    random_orders = results("curation").get("verdict", {}).get("level_of_1000_random_orders")
    claims = [
        Claim(
            "Twelve of 18 orders of their approach are validly decreasing (p < .05).",
            twelve_decreasing(own),
            {"reproduced": "Twelve by their rule and their order of ties; see the next lines."},
        ),
        Claim(
            "Their approach never gives a validly increasing order.",
            never_increasing(own),
            {"refuted": "It can point the wrong way: validate on a few true labels first."},
        ),
        Claim(
            "Each of the three other approaches does give one.",
            others_increase(cells),
            {"reproduced": "So do the others; none is safe without labels."},
        ),
        Claim(
            "The verdicts are properties of the data (not of the order of ties).",
            tie_free(cells),
            {"refuted": "Some published verdicts are the luck of how ties were sorted."},
        ),
        Claim(
            "Definition 3 is a valid test at level .05.",
            NOT_RUN if random_orders is None else rule_level(random_orders),
            {"refuted": "A random order gets a verdict nearly every second time. Use the "
                        "calibrated test (`Trend.verdict`)."},
        ),
        Claim(
            "(Ours) This product's default order never points the wrong way.",
            default_order(list(found.get("default", []))),
            {"refuted": "Ours does as well; so sets are exported as *unvalidated* until an audit "
                        "or the stability panel supports their order."},
        ),
    ]  # fmt: skip
    return Section(title, rows, claims, float(found.get("cpu_seconds", 0.0)))


def sizes_row(found: dict[str, list[int | None]]) -> list[Row]:
    """Table I: rows and labelling functions of the public votes."""
    if not found:
        return []
    ours, theirs = (
        [str(number) for case in found for number in table[case]] for table in (found, TABLE_1)
    )
    told = f"{len(found)} case studies"
    return [
        Row("Table I", "rows and labelling functions", COMMAND, told, "the public votes",
            equal_cells(ours, theirs, [f"{case}, {of}" for case in found for of in _SIZES]))
    ]  # fmt: skip


def valid_cells(cells: list[dict[str, Any]]) -> PaperVerdict:
    """Which coefficients the caption's rule leaves, against those that are printed."""
    shown = [f"{c['authors_rho']:.3f}" if c["authors_p"] < _ALPHA else "–" for c in cells]
    printed = [
        "–" if (c["case"], c["labeler"], c["approach"]) in DASHES else f"{c['paper_rho']:.3f}"
        for c in cells
    ]
    return equal_cells(shown, printed, [_name(c) for c in cells])


def printed_cells(cells: list[dict[str, Any]]) -> PaperVerdict:
    """Every cell with ties in the authors' order, to the printed digits."""
    ours = [f"{c['authors_rho']:.3f} ({c['authors_p']:.3f})" for c in cells]
    theirs = [f"{c['paper_rho']:.3f} ({c['paper_p']:.3f})" for c in cells]
    return equal_cells(ours, theirs, [_name(c) for c in cells])


def _name(cell: dict[str, Any]) -> str:
    return f"{cell['case']}/{cell['labeler']}/{cell['approach']}"


def overlapping_lines(cells: list[dict[str, Any]]) -> PaperVerdict:
    """Without dependent labelling functions pruning changes nothing."""
    lines = {(c["case"], c["labeler"], c["approach"]): c["authors_accuracy"] for c in cells}
    pairs = [
        (line, lines[case, labeler, other])
        for (case, labeler, approach), line in lines.items()
        for pruned, other in (("pl_conf_indep", "pl_conf_all"), ("ours", "ci_lb_all"))
        if case in _WITHOUT_DEPENDENCE and approach == pruned
    ]
    same = sum(a == b for a, b in pairs)
    return decided(bool(pairs) and same == len(pairs), f"{same} of {len(pairs)} pairs of lines")


def twelve_decreasing(own: list[dict[str, Any]]) -> PaperVerdict:
    """How many, in the authors' mode."""
    count = sum(says(c["authors_rho"], c["authors_p"]) == "decreasing" for c in own)
    return decided(count == 12, f"{count} of {len(own)} in their mode")


def never_increasing(own: list[dict[str, Any]]) -> PaperVerdict:
    """By the calibrated test; by their rule with ties in expectation beside it."""
    against = [
        f"{c['case']}/{c['labeler']} AUC {c['auc']:.2f} [{c['auc_low']:.2f}, {c['auc_high']:.2f}]"
        for c in own
        if c["verdict"] == "increasing"
    ]
    against += [
        f"{c['case']}/{c['labeler']} rho {c['rho']:+.3f} (p {c['p_value']:.3f}, ties averaged)"
        for c in own
        if c["definition_3"] == "increasing"
    ]
    return never(against, len(own))


def others_increase(cells: list[dict[str, Any]]) -> PaperVerdict:
    """Which of the other approaches have an increasing order by the printed rule."""
    others = sorted({c["approach"] for c in cells} - {"ours"})
    counts = {
        name: sum(
            says(c["authors_rho"], c["authors_p"]) == "increasing"
            for c in cells
            if c["approach"] == name
        )
        for name in others
    }
    told = ", ".join(f"{name} {count}" for name, count in counts.items())
    return decided(all(counts.values()), f"increasing: {told}")


def tie_free(cells: list[dict[str, Any]]) -> PaperVerdict:
    """How many printed verdicts change when ties are averaged."""
    changed = sum(says(c["rho"], c["p_value"]) != says(c["paper_rho"], c["paper_p"]) for c in cells)
    return decided(changed == 0, f"{changed} of {len(cells)} verdicts change with ties averaged")


def rule_level(random_orders: dict[str, int]) -> PaperVerdict:
    """Verdicts that Definition 3 gives to random orders."""
    hits = random_orders["definition_3_decreasing"] + random_orders["definition_3_increasing"]
    return level(hits, 1000, _ALPHA)


def default_order(found: list[dict[str, Any]]) -> PaperVerdict:
    """The product's own default on the same data."""
    if not found:
        return NOT_RUN
    wrong = [
        f"{r['case']}/{r['labeler']} AUC {r['auc']:.2f} [{r['auc_low']:.2f}, {r['auc_high']:.2f}]"
        for r in found
        if r["verdict"] == "increasing"
    ]
    return never(wrong, len(found))


def says(rho: float, p_value: float) -> str:
    """Definition 3."""
    if p_value >= _ALPHA:
        return "none"
    return "decreasing" if rho < 0 else "increasing"
