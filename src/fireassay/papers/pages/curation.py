"""Pugh et al., naturally adversarial datasets: Tables I to III, Fig. 3 and four claims."""

from typing import Any

from fireassay.papers.curation_published import DASHES, TABLE_1
from fireassay.papers.pages.section import Claim, Ladder, Results, Row, Section, not_run
from fireassay.papers.verdicts import NOT_RUN, PaperVerdict, decided, equal_cells, level, never
from fireassay.statistics.counts import clopper_pearson

COMMAND = "studies/curation_case_studies.py"
_ALPHA = 0.05
_POINT = 0.01
_SIZES = ("train", "valid", "test", "labelling functions")
_MEDICAL = ("spo2_hr_lo", "spo2_hr_hi", "rr_lo", "rr_hi", "spo2_lo", "crossmodal")
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
        *(
            Row(
                f"Table III, {case}",
                "Spearman's rho (p) by label model and approach",
                COMMAND,
                f"{len(of_case)} cells",
                "their label model, rounding and order of ties",
                printed_cells(of_case),
            )
            for case in dict.fromkeys(c["case"] for c in cells)
            if (of_case := [c for c in cells if c["case"] == case])
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
    claims = [
        Claim(
            "Twelve of 18 orders of their approach are validly decreasing (p < .05).",
            "Section V-D, Table II",
            twelve_decreasing(own),
            {"agrees": "Twelve by their rule and their order of ties; see the steps above."},
        ),
        Claim(
            "On real medical data their approach gives no validly increasing order.",
            "Section V-D, main takeaway",
            never_increasing([c for c in own if c["case"] in _MEDICAL]),
            {"agrees": "By their rule, yes. It can still point the wrong way (steps above): "
                       "validate on a few true labels first."},
        ),
        Claim(
            "Each of the three other approaches does give one.",
            "Section V-D, Table II",
            others_increase(cells),
            {"agrees": "So do the others; none is safe without labels."},
        ),
        Claim(
            "The other approaches give at least as many validly decreasing orders.",
            "Section V-D, main takeaway",
            at_least_as_many(cells),
            {},
        ),
        Claim(
            "An order with p ≤ .05 is statistically valid.",
            "Section III, Definition 3",
            rule_level(found.get("random_orders", {})),
            {"differs": "Their p-value takes ten nested sets for ten independent points. Use the "
                        "calibrated test (`Trend.verdict`)."},
        ),
    ]  # fmt: skip
    return Section(
        title, rows, claims, float(found.get("cpu_seconds", 0.0)),
        ladders=(
            interval_ladder(cells),
            direction_ladder(own),
            bars_ladder(cells),
            *disagreement_ladder(found.get("disagreement", {}), cells),
        ),
    )  # fmt: skip


def interval_ladder(cells: list[dict[str, Any]]) -> Ladder:
    """Table III with the interval of the program, with that of the text, and with ties averaged."""
    count = len(cells)
    same = {
        name: sum(f"{c[name]:.3f}" == f"{c['paper_rho']:.3f}" for c in cells)
        for name in ("authors_rho", "rho")
    }
    bounded = [c for c in cells if c["approach"] in ("ours", "ci_lb_all")]
    written = sum(f"{c['formula_rho']:.3f}" == f"{c['paper_rho']:.3f}" for c in bounded)
    changed = sum(says(c["rho"], c["p_value"]) != says(c["paper_rho"], c["paper_p"]) for c in cells)
    return Ladder(
        "Table III, coefficients as printed",
        (
            f"{count} printed",
            f"{same['authors_rho']} of {count} by the interval of their program",
            f"{written} of the {len(bounded)} that use an interval by the formula of Section IV-C",
            (
                f"{same['rho']} by the program's interval with ties averaged "
                f"({changed} of {count} verdicts change)"
            ),
        ),
    )


def direction_ladder(own: list[dict[str, Any]]) -> Ladder:
    """Orders of their approach that point the wrong way, by three rules."""
    averaged = [
        f"{c['case']}/{c['labeler']} rho {c['rho']:+.3f}"
        for c in own
        if c["definition_3"] == "increasing"
    ]
    calibrated = [
        f"{c['case']}/{c['labeler']} AUC {c['auc']:.2f} [{c['auc_low']:.2f}, {c['auc_high']:.2f}]"
        for c in own
        if c["verdict"] == "increasing"
    ]
    printed, rerun = (
        sum(says(c[f"{name}_rho"], c[f"{name}_p"]) == "increasing" for c in own)
        for name in ("paper", "authors")
    )
    return Ladder(
        "Increasing orders of their approach",
        (
            f"{printed} of {len(own)} as printed",
            f"{rerun} rerun",
            f"{len(averaged)} with ties averaged ({_listed(averaged)})",
            f"{len(calibrated)} by the calibrated test ({_listed(calibrated)})",
            "true labels of a few rows before an order is used",
        ),
    )


def disagreement_ladder(found: dict[str, Any], cells: list[dict[str, Any]]) -> list[Ladder]:
    """The simplest baseline where people vote: how far they disagree."""
    if not found:
        return []
    own = next(c for c in cells if (c["case"], c["labeler"], c["approach"])
               == ("crowd", "majorityvote", "ours"))  # fmt: skip
    shown = (
        "AUC {auc:.2f} [{auc_low:.2f}, {auc_high:.2f}] by {name}".format(**row, name=name)
        for name, row in (("their approach", own), ("the crowd's disagreement alone", found))
    )
    return [Ladder("Crowdsourcing, later sets harder", (*shown, "disagreement as the baseline"))]


def _listed(cases: list[str]) -> str:
    return "; ".join(cases) or "none"


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
    """By their rule, in their mode."""
    against = [
        f"{c['case']}/{c['labeler']} {c['authors_rho']:+.3f} (p {c['authors_p']:.3f})"
        for c in own
        if says(c["authors_rho"], c["authors_p"]) == "increasing"
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


def rule_level(random_orders: dict[str, int]) -> PaperVerdict:
    """Verdicts that Definition 3 gives to random orders of the rows of their case studies."""
    if not random_orders:
        return NOT_RUN
    return level(random_orders["valid"], random_orders["orders"], _ALPHA)


def at_least_as_many(cells: list[dict[str, Any]]) -> PaperVerdict:
    """Validly decreasing orders of each approach by the printed rule."""
    counts: dict[str, int] = {}
    for c in cells:
        valid = says(c["authors_rho"], c["authors_p"]) == "decreasing"
        counts[c["approach"]] = counts.get(c["approach"], 0) + valid
    told = ", ".join(f"{name} {count}" for name, count in counts.items())
    return decided(min(counts.values()) == counts["ours"], told)


def bars_ladder(cells: list[dict[str, Any]]) -> Ladder:
    """Bars of the printed width beside the exact 90 % interval of the same share."""
    near, flat, every = 0, 0, 0
    for c in cells:
        for place, share in enumerate(c["authors_accuracy"], start=1):
            n = round(c["n"] * place / len(c["authors_accuracy"]))
            arm = 1.64 * (share * (1 - share) / n) ** 0.5
            low, high = clopper_pearson(round(share * n), n, 0.9)
            near += max(abs(share - arm - low), abs(share + arm - high)) <= _POINT
            flat += arm == 0
            every += 1
    return Ladder(
        "Fig. 3, 90 % bars",
        (
            "1.64 √(a (1 − a) / n) each way as printed (Section A of the appendix)",
            f"{near} of {every} within {_POINT:g} of the exact interval, {flat} of no width",
            "Clopper and Pearson's interval (`Trend.exact_interval`)",
        ),
    )


def says(rho: float, p_value: float) -> str:
    """Definition 3."""
    if p_value >= _ALPHA:
        return "none"
    return "decreasing" if rho < 0 else "increasing"
