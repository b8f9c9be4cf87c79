"""Every table, figure and claim of the five papers beside what came out here: docs/papers.md.

    python studies/papers.py                      write the page
    python studies/papers.py 003 [--table 1]      print one paper, or what it says of one table
    python studies/papers.py --rows               which rows each study decides, without running it

Papers: 000 curation, 001 ambiguity and supervision, 002 discovery, 003 reliability, 004 survival.
"""

import argparse
import re
from pathlib import Path

from all import STUDIES

from fireassay.papers.pages.page import PAPERS, sections, stored, write_page

ROOT = Path(__file__).resolve().parents[1]


def printed(paper: str, table: str | None) -> list[str]:
    """Lines of one paper; with a table those that name it (4 is within 4–7) and the headings."""
    lines = []
    for module in PAPERS[paper]:
        found = module.section(stored(ROOT)).markdown(ROOT / "docs")
        lines += [line for line in found if table is None or _names(line, table)]
    return lines


def rows_by_study() -> list[str]:
    """Rows that each study decides, those of the page of tables among them."""
    found: dict[str, list[str]] = {}
    for section in sections(stored(ROOT)):
        for row in (*section.rows, *section.details):
            found.setdefault(row.command or "their printed numbers", []).append(row.item)
    hours = {command[0]: price for command, _, price in STUDIES.values()}
    return [
        f"{study} ({len(items)} rows, {hours.get(study.removeprefix('studies/'), 0):g} CPU hours): "
        + "; ".join(item.split(" [")[0] for item in items)
        for study, items in found.items()
    ]


def _names(line: str, table: str) -> bool:
    heading = line.startswith(("## ", "| table or figure", "|---|---|---|---|---|---|"))
    return heading or bool(re.search(rf"Tables? {re.escape(table)}\b", line))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paper", nargs="?", choices=list(PAPERS))
    parser.add_argument("--table", help="Its number as printed: 1, III.")
    parser.add_argument("--rows", action="store_true", help="Rows by study.")
    chosen = parser.parse_args()
    if chosen.rows:
        print("\n".join(rows_by_study()))
    elif chosen.paper:
        print("\n".join(printed(chosen.paper, chosen.table)))
    else:
        print(f"wrote {write_page(ROOT)}")
