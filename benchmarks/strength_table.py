"""Tables of docs/attacks.md from results/strength.json and results/attack_speed.json.

python benchmarks/strength_table.py           # prints them
python benchmarks/strength_table.py --write   # puts them between the page's two marks
"""

import json
import sys
from pathlib import Path

from figures import RESULTS

PAGE = Path(__file__).resolve().parent.parent / "docs" / "attacks.md"
FIRST, LAST = "<!-- tables of benchmarks/strength_table.py -->", "<!-- end of tables -->"
ORDER = (
    "plain", "trained", "logits × 50", "logits × 100", "float32 saturated", "probabilities only",
    "rounding", "noise", "threshold",
)  # fmt: skip
PEERS = ("ART Square", "ART AutoAttack", "ART, three apart", "foolbox PGD")


def table(heads, rows):
    """Lines of one table; an empty one at its end."""
    lines = (f"| {' | '.join(cells)} |" for cells in (heads, ["---"] * len(heads), *rows))
    return [*lines, ""]


def short(value):
    return "–" if value is None else f"{value:.2f}".removeprefix("0")


def share(found):
    """A standing share with its interval."""
    if found is None or found.get("standing") is None:
        return "–"
    return f"{short(found['standing'])} ({short(found['low'])}–{short(found['high'])})"


def times(row, rival):
    """A ratio of CPU seconds, with its interval where there were several."""
    if f"{rival}_ratio" not in row:
        return "–"
    ratio = f"{row[f'{rival}_ratio']:.2f}"
    if row["repeats"] < 2:
        return ratio
    return f"{ratio} ({row[f'{rival}_low']:.2f}–{row[f'{rival}_high']:.2f})"


def strength(name, rows):
    cells = [
        [row["case"], f"{row['eps']:.3g}", str(row["ours"]["rows"]), share(row["ours"]),
         *(share(row["peers"].get(peer)) for peer in PEERS)]
        for row in sorted(rows, key=lambda row: ORDER.index(row["case"]))
    ]  # fmt: skip
    return table([name, "eps", "rows", "`auto`", *PEERS], cells)


def distances(rows):
    heads = ["data", "attack", "norm", "rows", "ours, median", "CPU s", "foolbox, median", "CPU s"]
    cells = [
        [row["data"], f"`{row['attack']}`", row["norm"], str(row["rows"]), f"{row['ours']:.3g}",
         f"{row['ours_cpu_s']:.2f}", f"{row['foolbox']:.3g}", f"{row['foolbox_cpu_s']:.2f}",
         f"{row['ratio']:.2f}"]
        for row in rows
    ]  # fmt: skip
    return table([*heads, "times"], cells)


def queries(row):
    """What a peer asked per row; unknown where the layers were called past the count."""
    asked = row["theirs_sent"][1] / row["rows"]
    return f"{asked:.0f}" if asked > 1 else "–"


def decisions(rows):
    heads = ["data", "attack", "rows", "peer", "median l2", "queries", "CPU s", "ours, median l2"]
    cells = [
        [row["data"], f"`{row['attack']}`", str(row["rows"]), row["peer"], f"{row['theirs']:.3g}",
         queries(row), f"{row['theirs_cpu_s']:.2f}",
         f"{row['ours']:.3g}", str(row["limit"]),
         f"{row['ours_cpu_s']:.3f} ({row['module_cpu_s']:.3f})", f"{row['ratio']:.1f}"]
        for row in rows
    ]  # fmt: skip
    return table([*heads, "queries", "CPU s (module's)", "times"], cells)


def speeds(rows):
    heads = ["data", "attack", "rows", "ours, CPU s (first)", "forward, gradients"]
    cells = [
        [row["data"], f"`{row['attack']}`", f"{row['rows']:,}",
         f"{row['ours']:.3f} ({row['ours_first']:.2f})",
         f"{row['asked'][0]:,}, {row['asked'][1]:,}", times(row, "foolbox"), times(row, "loop")]
        for row in sorted(rows, key=lambda row: (row["data"], row["attack"], row["rows"]))
    ]  # fmt: skip
    return table([*heads, "foolbox", "loop"], cells)


def page():
    """The whole of docs/attacks.md with its tables as the results are now."""
    before, _, rest = PAGE.read_text().partition(FIRST)
    return f"{before}{FIRST}\n\n{tables()}\n\n{LAST}{rest.partition(LAST)[2]}"


def tables():
    timed = json.loads((RESULTS / "attack_speed.json").read_text())
    stood = json.loads((RESULTS / "strength.json").read_text())
    parts = [strength(name, part["rows"]) for name, part in stood.items()]
    parts += [make(timed[make.__name__]) for make in (distances, decisions, speeds)]
    return "\n".join(line for part in parts for line in part).strip()


if __name__ == "__main__":
    if "--write" in sys.argv:
        PAGE.write_text(page())
    else:
        print(tables())
