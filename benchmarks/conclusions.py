"""What the intervals of today make of the studies' stored results: lines of docs/intervals.md.

Used by ``benchmarks/coverage.py --docs``; nothing in the lines is typed that a rule can compute.
"""

import json
from pathlib import Path

CAMPAIGN = Path(__file__).parents[1] / "studies" / "results" / "survival_campaign.json"
_LEVEL = 0.05


def table(name: str) -> list[dict]:
    """A table of the campaign, row by row."""
    stored = json.loads(CAMPAIGN.read_text())[name]
    rows = (dict(zip(stored["columns"], row, strict=True)) for row in stored["data"])
    return [{"index": at, **row} for at, row in zip(stored["index"], rows, strict=True)]


def cost_ratios() -> str:
    """By the number alone, and by what its interval allows."""
    rows = table("cost")
    n, alone = len(rows), sum(row["trash"] > 1 for row in rows)
    above, below = sum(row["low"] > 1 for row in rows), sum(row["high"] < 1 for row in rows)
    standing = [row["survival_at_budget"] for row in rows]
    return (
        "* **The campaign's cost ratio** (training over breaking a sample). The number is above 1 "
        f"for {alone} of {n} models and defences, and that had been the conclusion. But "
        f"{min(standing):.0%} to {max(standing):.0%} of the samples still stand, and then it is an "
        "upper bound: a true ratio of .011 had come out as 2.03. By their intervals "
        f"{above} of {n} are above 1, {below} below, {n - above - below} undecided."
    )


def effects() -> str:
    """Clear of zero one by one, and all at once (Bonferroni)."""
    rows = [row for row in table("effects") if row["index"] != "Intercept"]
    alone = {row["index"] for row in rows if row["p"] < _LEVEL}
    clear = {row["index"] for row in rows if row["p"] < _LEVEL / len(rows)}
    lost = f" No longer claimed: {', '.join(sorted(alone - clear))}." if alone - clear else ""
    return (
        f"* **The campaign's effects on survival**. Of {len(rows)} covariates {len(alone)} have "
        f"p < .05 by themselves; {len(clear)} are clear of zero all at once, and only those are "
        f"claimed.{lost} Twelve covariates without any effect had given a claim in 24 of 60 "
        "campaigns."
    )


def percent(kept: dict, row: str, *, covered: bool = False) -> str:
    """How often a row of the coverage table held, or a test rejected."""
    count = kept[row]["sums"][0]
    share = count / kept[row]["runs"]
    return f"{100 * (1 - share if covered else share):.0f} %"


def simulated(kept: dict) -> list[str]:
    """What two other conclusions had been worth, by the rows of the coverage table."""
    world, looked = "AUC .80, 80 + 120", "stopped by looking"
    ratio, patients = "discovery ratio", "20 patients of 10 rows"
    together = percent(kept, f"best of 28 AUCs | {world}", covered=True)
    alone = percent(kept, f"best of 28 AUCs, its own interval | {world}", covered=True)
    worse = percent(kept, f"worse than the best of 28 | {world}")
    rows = percent(kept, f"{ratio}, fixed budget | {patients}")
    groups = percent(kept, f"{ratio}, groups | {patients}")
    fixed = percent(kept, f"{ratio}, fixed budget | {looked}")
    sequential = percent(kept, f"{ratio}, sequential | {looked}")
    best = (
        "* **The best of 28 supervisors** has an interval that holds for all at once: it contains "
        f"the truth in {together} of worlds, its own in {alone}. One that is as good is called "
        f"worse than the best in {worse} of worlds; pair by pair it had been 20 to 29 %."
    )
    counted = (
        "* **Discovery's ratio** counts patients, not rows: where errors come in patients, rows "
        f"reject a true null in {rows} of worlds, groups in {groups}. A budget that was stopped by "
        f"looking rejects it in {fixed}, with the sequential p-value in {sequential}."
    )
    return [best, counted]


def conclusions(kept: dict) -> str:
    """The whole list."""
    return "\n".join([cost_ratios(), effects(), *simulated(kept)])
