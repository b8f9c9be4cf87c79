"""The worst worlds found so far, in the tables of docs/intervals.md: python worst_table.py"""

import json
import sys
from collections.abc import Callable
from pathlib import Path

from registry import ENTRIES

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from marked_tables import refresh  # noqa: E402

DOCS = HERE.parents[1] / "docs" / "intervals.md"
_EXACT, _GROUPS = "clopper_pearson, upper", "group_upper, largest group declared"
# Methods of the page that are searched under another name.
SAME = {
    "Clopper–Pearson": _EXACT,
    "Clopper–Pearson, upper": _EXACT,
    "cells of a black box, upper": _EXACT,
    "Wilson": "wilson",
    "Poisson (Garwood)": "poisson_interval",
    "Hoeffding–Bentkus, upper": "hoeffding_bentkus_upper",
    "betting": "betting_interval, upper",
    "betting, upper": "betting_interval, upper",
    "betting, all times": "betting_sequence, ever outside",
    "share of groups, upper": _GROUPS,
    "groups-max, upper": "groups-max",
    "expected cost": "mean_cost, upper end",
    "balanced accuracy": "balanced_accuracy of rows",
    "balanced accuracy, groups": "balanced_accuracy of groups",
    "paired shares, groups": "group_upper, paired difference",
    "draws by suspicion, upper": "thinned_upper",
}
USES = [
    ("a share of rows (accuracy, error rate)", "`clopper_pearson`",
     "holds for every true share and every n", "Clopper–Pearson"),
    ("a share of rows of patients, devices, documents", "`share(groups=)`, `group_mean`",
     "holds for independent groups of any law, none larger than declared or seen",
     "share of groups, upper"),
    ("a share, for a plot or a quick comparison", "`wilson`",
     "right on average over shares, can be 2 points short at one", "Wilson"),
    ("a count of rare events", "`poisson_interval`", "holds for every true mean",
     "Poisson (Garwood)"),
    ("a mean of values in known bounds", "`betting_interval`",
     "holds for every distribution and every n", "betting"),
    ("the same, looked at again and again while data comes in", "`betting_sequence`",
     "holds at all times at once, stopping is free", "betting, all times"),
    ("an upper bound when only the mean is known", "`hoeffding_bentkus_upper`",
     "holds, wider than betting", "Hoeffding–Bentkus, upper"),
    ("an AUC", "`delong_interval`, `mann_whitney_auc`",
     "approximate; never (1, 1) for a perfect separation", "DeLong, logit, t"),
    ("a calibration error", "`expected_calibration_error`",
     "approximate; knows that the plain ECE of a calibrated model is not 0", "calibration error"),
    ("balanced accuracy of rows of groups", "`score(groups=)`", "approximate",
     "balanced accuracy, groups"),
    ("the change of any number between two runs on the same rows",
     "`paired_difference` and its like", "approximate; costs and shares of groups hold",
     "paired shares"),
    ("shares of many classes or slices, all at once", "`simultaneous_shares`, `slice_rates`",
     "holds (exact or by groups, Bonferroni); gaps approximate", "slices at once"),
    ("the mean of costs, most of them 0", "`mean_cost`",
     "holds for every distribution on the bounds, with groups for independent groups",
     "expected cost, groups"),
    ("an error rate from labels drawn by suspicion", "`thinned_upper`",
     "holds; only from 50 expected errors on, uniform draws before", "draws by suspicion, upper"),
    ("any other statistic", "`bootstrap`", "approximate; too narrow for small skewed samples",
     "bootstrap, mean"),
]  # fmt: skip


class Worst:
    """The worst world of each entry."""

    def __init__(self) -> None:
        self.kept = json.loads((HERE / "worst.json").read_text())
        self.words: dict[str, Callable] = {entry.name: entry.words for entry in ENTRIES}

    def of(self, name: str) -> tuple[dict, str] | None:
        """What was found of a method or an entry, and its world in words."""
        mine = [one for one in self.kept if one["entry"] == SAME.get(name, name)]
        if not mine:
            return None
        worst = max(mine, key=lambda one: one["rate"])
        return worst, self.words[worst["entry"]](worst["world"])

    def cell(self, name: str, *, words: bool = True) -> str:
        """Misses of those allowed, and the world; empty where nothing was searched."""
        found = self.of(name)
        if found is None:
            return ""
        one, told = found
        return f"{one['rate']:.4f} of {one['nominal']:g}" + (f": {told}" if words else "")


def table(worst: Worst) -> str:
    """One line for each entry: its worst world, with the Monte Carlo error of fresh draws."""
    log = json.loads((HERE.parent / "results" / "adversary.json").read_text())
    lines = [
        "| searched | called | nominal | worst found | the world | worlds tried | CPU s |",
        "|---|---|---|---|---|---|---|",
    ]
    for entry in ENTRIES:
        found, mine = worst.of(entry.name), [one for one in log if one["entry"] == entry.name]
        if found is None:
            continue
        one, words = found
        seconds, tried = (sum(m[key] for m in mine) for key in ("cpu_hours", "worlds"))
        rate = f"{one['rate']:.4f} ± {one['error']:.4f} ({one['draws']:,} draws)"
        lines.append(
            f"| {entry.name} | {entry.called} | {one['nominal']:g} | {rate} | {words} "
            f"| {tried:,} | {3600 * seconds:,.0f} |"
        )
    hours = sum(one["cpu_hours"] for one in log)
    return "\n".join(lines) + f"\n\n{hours:.2f} CPU hours in all."


def uses(worst: Worst) -> str:
    """Which interval to use, with the worst world of each."""
    lines = ["| the number is | use | promise | worst found (misses) |", "|---|---|---|---|"]
    return "\n".join(
        [*lines, *(f"| {a} | {b} | {c} | {worst.cell(method)} |" for a, b, c, method in USES)]
    )


if __name__ == "__main__":
    found = Worst()
    refresh(DOCS, "worst", table(found))
    refresh(DOCS, "uses", uses(found))
