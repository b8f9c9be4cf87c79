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
PEERS = ("ART Square", "ART AutoAttack", "foolbox PGD")


def short(value):
    return "–" if value is None else f"{value:.2f}".removeprefix("0")


def strength():
    record = json.loads((RESULTS / "strength.json").read_text())
    lines = []
    for name, part in record.items():
        lines += [
            f"| {name} | eps | rows | `auto` | {' | '.join(PEERS)} |",
            "|---" * (4 + len(PEERS)) + "|",
        ]
        for row in sorted(part["rows"], key=lambda row: ORDER.index(row["case"])):
            ours = row["ours"]
            peers = [short(row["peers"].get(peer, {}).get("standing")) for peer in PEERS]
            shown = f"{short(ours['standing'])} ({short(ours['low'])}–{short(ours['high'])})"
            lines.append(
                f"| {row['case']} | {row['eps']:.3g} | {ours['rows']} | {shown} | "
                f"{' | '.join(peers)} |"
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


def speeds(record):
    lines = [
        "| data | attack | rows | ours, CPU s (first) | foolbox | times | torch loop | times |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in record["speeds"]:
        loop = row.get("loop")
        last = "– | –" if loop is None else f"{loop:.2f} | {loop / row['ours']:.2f}"
        lines.append(
            f"| {row['data']} | `{row['attack']}` | {row['rows']} | {row['ours']:.2f} "
            f"({row['ours_first']:.2f}) | {row['foolbox']:.2f} | "
            f"{row['foolbox'] / row['ours']:.2f} | {last} |"
        )
    return [*lines, ""]


def main():
    timed = json.loads((RESULTS / "attack_speed.json").read_text())
    text = "\n".join([*strength(), *distances(timed), *speeds(timed)]).strip()
    if "--write" not in sys.argv:
        print(text)
        return
    page = PAGE.read_text()
    before, _, rest = page.partition(FIRST)
    _, _, after = rest.partition(LAST)
    PAGE.write_text(f"{before}{FIRST}\n\n{text}\n\n{LAST}{after}")


if __name__ == "__main__":
    main()
