"""docs/pairs.md: what happened to every pair."""

import platform

from pair import PAIRS
from walk import STEPS, Outcome

INTRODUCTION = (
    "Each pair went through `init`, `plan`, `run`, `report` and `serve` with small settings, the "
    "million rows with the usual ones. "
    "Seconds of the processor in each step, those of `serve` until its first page, and the most "
    "memory of any step, libraries included (Python {}, one thread). The accuracy of the bare "
    "model comes from scikit-learn or numpy; it is the same to the last digit. Made by "
    "`python benchmarks/pairs`; `benchmarks/million_rows.py` shows the parts of the million rows."
)


def page(outcomes: dict[str, Outcome]) -> str:
    """The page of these outcomes."""
    done = {name: o for name, o in outcomes.items() if o.accuracy is not None}
    heads = ["pair", "model", "data", *STEPS, "MB", "accuracy", "bare model"]
    lines = [
        "# Models and data, side by side",
        "",
        INTRODUCTION.format(platform.python_version()),
        "",
        f"| {' | '.join(heads)} |",
        "|---|---|---|" + "--:|" * (len(heads) - 3),
    ]
    for name, o in done.items():
        times = " | ".join(f"{o.seconds[step]:.1f}" for step in STEPS)
        lines.append(
            f"| {name} | {_cell(PAIRS[name].model)} | {_cell(PAIRS[name].data)} | {times} "
            f"| {o.megabytes:,.0f} | {o.accuracy:.4f} | {o.bare:.4f} |"
        )
    lines += ["", "## What could not be asked", "", "| part | why | pairs |", "|---|---|---|"]
    why: dict[tuple[str, str], list[str]] = {}
    for name, o in done.items():
        for part, reason in o.parts.items():
            why.setdefault((part, reason), []).append(name)
    lines += [f"| {part} | {_cell(r)} | {', '.join(n)} |" for (part, r), n in why.items()]
    lines += ["", "## What is refused, and what a user reads", "", "| pair | said |", "|---|---|"]
    lines += [f"| {n} | {_cell(o.said)} |" for n, o in outcomes.items() if o.accuracy is None]
    return "\n".join([*lines, ""])


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")[:600]
