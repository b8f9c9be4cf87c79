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


def short(value):
    return "–" if value is None else f"{value:.2f}".removeprefix("0")


def share(found):
    """A standing share with its interval."""
    if found is None or found.get("standing") is None:
        return "–"
    return f"{short(found['standing'])} ({short(found['low'])}–{short(found['high'])})"


def strength():
    record = json.loads((RESULTS / "strength.json").read_text())
    lines = []
    for name, part in record.items():
        lines += [
            f"| {name} | eps | rows | `auto` | {' | '.join(PEERS)} |",
            "|---" * (4 + len(PEERS)) + "|",
        ]
        for row in sorted(part["rows"], key=lambda row: ORDER.index(row["case"])):
            peers = [share(row["peers"].get(peer)) for peer in PEERS]
            lines.append(
                f"| {row['case']} | {row['eps']:.3g} | {row['ours']['rows']} | "
                f"{share(row['ours'])} | {' | '.join(peers)} |"
            )
        lines.append("")
    return lines


def distances(record):
    lines = [
        "| data | attack | norm | rows | ours, median | CPU s | foolbox, median | CPU s |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {row['data']} | `{row['attack']}` | {row['norm']} | {row['rows']} | "
        f"{row['ours']:.3g} | {row['ours_cpu_s']:.2f} | {row['foolbox']:.3g} | "
        f"{row['foolbox_cpu_s']:.2f} |"
        for row in record["distances"]
    ]
    return [*lines, ""]


def decisions(record):
    lines = [
        "| data | attack | peer | median l2 | CPU s | ours, median l2 (queries) | CPU s | times |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {row['data']} | `{row['attack']}` | {row['peer']} | {row['theirs']:.3g} | "
        f"{row['theirs_cpu_s']:.2f} | {row['ours']:.3g} ({row['limit']}) | "
        f"{row['ours_cpu_s']:.2f} | {row['ratio']:.1f} |"
        for row in record["decisions"]
    ]
    return [*lines, ""]


def speeds(record):
    lines = [
        "| data | attack | rows | ours, CPU s (first) | forward, gradients | foolbox | loop |",
        "|---|---|---|---|---|---|---|",
    ]

    def times(row, rival):
        if f"{rival}_ratio" not in row:
            return "–"
        ratio = f"{row[f'{rival}_ratio']:.2f}"
        if row["repeats"] < 2:
            return ratio
        return f"{ratio} ({row[f'{rival}_low']:.2f}–{row[f'{rival}_high']:.2f})"

    for row in record["speeds"]:
        asked = f"{row['asked'][0]:,}, {row['asked'][1]:,}"
        compared = f"{times(row, 'foolbox')} | {times(row, 'loop')}"
        lines.append(
            f"| {row['data']} | `{row['attack']}` | {row['rows']} | {row['ours']:.3f} "
            f"({row['ours_first']:.2f}) | {asked} | {compared} |"
        )
    return [*lines, ""]


def main():
    timed = json.loads((RESULTS / "attack_speed.json").read_text())
    text = "\n".join([*strength(), *distances(timed), *decisions(timed), *speeds(timed)]).strip()
    if "--write" not in sys.argv:
        print(text)
        return
    page = PAGE.read_text()
    before, _, rest = page.partition(FIRST)
    _, _, after = rest.partition(LAST)
    PAGE.write_text(f"{before}{FIRST}\n\n{text}\n\n{LAST}{after}")


if __name__ == "__main__":
    main()
