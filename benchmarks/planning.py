"""Work past one machine, from measured costs: writes the table of docs/scale.md.

python benchmarks/planning.py
"""

import json
import re
from pathlib import Path

RESULTS = Path(__file__).parent / "results"
STUDIES = Path(__file__).parent.parent / "studies" / "results"
PAGE = Path(__file__).parent.parent / "docs" / "scale.md"
CORES = 32  # of a node
NODES = (1, 10, 100)


def stored(path):
    return json.loads(path.read_text())


def per_item(name):
    """CPU seconds for one more item, between the two largest sizes of a curve."""
    rows = {row["name"]: row for row in stored(RESULTS / "scaling.json")["rows"]}
    smaller, larger = rows[name]["points"][-2:]
    return (larger["cpu_s"] - smaller["cpu_s"]) / (larger["n"] - smaller["n"])


def duration(seconds):
    for unit, size in (("days", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.1f} {unit}"
    return f"{seconds:.1f} s"


def rows():
    engine = stored(RESULTS / "engine.json")
    campaign = stored(STUDIES / "cluster_campaign.json")
    short = engine["cluster"]["cpu_ms_per_task"]
    long = engine["feeding"]["cpu_ms_per_task"]
    trial = campaign["runs"]["local"]["seconds"] / campaign["trials"]
    block = 1 << 20  # rows of one task
    yield "10⁶ small trials", 1e6, trial, 1e6, short["driver and journal"], short["scheduler"]
    yield "10⁶ trials of a minute", 1e6, 60.0, 1e6, long["driver"], long["scheduler"]
    votes = per_item("curation.curate_stream")
    yield "10⁹ rows of 10 votes", 1e9, votes, 1e9 / block, long["driver"], long["scheduler"]
    field = per_item("reliability.assess, rectified")
    yield "10⁸ field rows", 1e8, field, 1e8 / block, long["driver"], long["scheduler"]


def table():
    head = ["work", "CPU of one item", *(f"{n} node{'s'[: n > 1]}" for n in NODES),
            "driver", "scheduler"]  # fmt: skip
    lines = [head, ["---"] * len(head)]
    for name, items, each, tasks, driver_ms, scheduler_ms in rows():
        driver, scheduler = tasks * driver_ms / 1e3, tasks * scheduler_ms / 1e3
        cells = [name, f"{each * 1e6:,.3g} µs" if each < 1e-2 else f"{each:.3g} s"]
        for nodes in NODES:
            work = items * each / (nodes * CORES)
            slowest = max(work, driver, scheduler)
            who = "" if slowest == work else " (driver)" if slowest == driver else " (scheduler)"
            cells.append(duration(slowest) + who)
        lines.append([*cells, duration(driver), duration(scheduler)])
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def main():
    marked = re.compile(r"(<!-- plan -->\n).*?(<!-- end of plan -->)", re.DOTALL)
    page, found = marked.subn(lambda m: m[1] + "\n" + table() + "\n\n" + m[2], PAGE.read_text())
    if not found:
        raise SystemExit("docs/scale.md has no place for the table")
    PAGE.write_text(page)
    print(table())


if __name__ == "__main__":
    main()
