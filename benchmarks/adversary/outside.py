"""Worlds that outsiders made for version 0.2, measured again through the public doors.

    python benchmarks/adversary/outside.py                 # what is not measured yet
    python benchmarks/adversary/outside.py --again alarm   # these lines anew
    python benchmarks/adversary/outside.py --docs          # the tables of docs/intervals.md

Each line counts misses, false alarms, false objections or verdicts, in worlds of its own seed.
"""

import argparse
import json
import math
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.special import expit

import fireassay as fa
from fireassay import discovery, reliability
from fireassay.core.files import write_text
from fireassay.core.seeds import generator
from fireassay.statistics import ErrorDetector, paired_difference, share
from fireassay.statistics.groups.group_bound import group_upper
from fireassay.statistics.groups.group_counts import GroupCounts
from fireassay.statistics.groups.group_monitor import GroupDetector, group_evidence
from fireassay.statistics.groups.groups_max import groups_max_upper
from fireassay.statistics.independence import error_runs
from fireassay.statistics.labels_needed import groups_to_pass, rows_to_pass

HERE = Path(__file__).parents[1]
sys.path.insert(0, str(HERE))

from group_worlds import group_counts  # noqa: E402
from marked_tables import refresh  # noqa: E402

RESULT, PAGE = HERE / "results" / "outside.json", HERE.parent / "docs" / "intervals.md"
Rng = np.random.Generator
Kinds = tuple[tuple[float, float], ...]  # how common, how often wrong
MODEL = fa.as_classifier(lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]), classes=[0, 1])


class Line(NamedTuple):
    """A world, what is counted, what was promised, what 0.2 did, and how often it is drawn."""

    world: str
    counted: str
    promised: str
    before: str
    one: Callable[[Rng], bool | None]  # None: does not count
    draws: int = 2_000


def hits_of(rng: Rng, count: int, size: int, kinds: Kinds) -> tuple[np.ndarray, np.ndarray, float]:
    """Errors of rows of groups of some kinds, whose row it is, and the true share."""
    weight, rate = np.array(kinds).T
    own = rng.choice(rate, count, p=weight)
    return (
        (rng.random((count, size)) < own[:, None]).ravel(),
        np.repeat(np.arange(count), size),
        float(weight @ rate),
    )


def missed_share(count: int, size: int, kinds: Kinds, rng: Rng) -> bool:
    """The interval that fireassay shows for an error rate."""
    hit, who, truth = hits_of(rng, count, size, kinds)
    return share(hit, groups=who).high < truth


def missed_assess(count: int, size: int, kinds: Kinds, rng: Rng) -> bool:
    """The bound of a whole assessment."""
    hit, who, truth = hits_of(rng, count, size, kinds)
    X = rng.random((len(hit), 1))
    y = np.where(hit, X[:, 0] <= 0.5, X[:, 0] > 0.5).astype(int)
    return reliability.assess(MODEL, X, y, groups=who).pmi_upper < truth


def missed_change(broken: float, rng: Rng) -> bool:
    """A new model that breaks a few groups: the upper end of the change in errors."""
    hit, who, _ = hits_of(rng, 40, 25, ((1 - broken, 0.0), (broken, 0.9)))
    first = rng.random(len(hit)) < 0.01
    truth = 0.9 * broken * (1 - 0.01)
    return paired_difference(first, first | hit, groups=who).high < truth


def alike_batches(correlation: float, rng: Rng) -> bool:
    """500 batches of 20 labels at the limit of 5 %: ever an alarm at .01."""
    return bool(_evidence(rng, 0.05, 20, correlation, 500).max() >= 100)


def _evidence(rng: Rng, rate: float, size: int, correlation: float, batches: int) -> np.ndarray:
    counts = group_counts(rng, [size] * batches, rate, correlation)
    return group_evidence(counts.hits, counts.sizes, 0.05, size)


def late_answers(rng: Rng) -> bool:
    """Errors are reported after 5 rows, right answers after 300; 1,500 rows at the limit."""
    wrong = rng.random(1_500) < 0.05
    when = np.arange(1_500) + np.where(wrong, 5, 300)
    at = np.r_[np.arange(1_500), when]
    order = np.argsort(at, kind="stable")
    marks = np.r_[np.full(1_500, np.nan), wrong.astype(float)][order]
    names = np.tile(np.arange(1_500), 2)[order]
    detector = GroupDetector(0.05, 1, open_groups=None)
    return detector.followed(names[at[order] < 1_500], marks[at[order] < 1_500]).alarm


def visits(rng: Rng) -> bool:
    """40 patients of 12 visits, correlation .3, watched: the bound after the last visit."""
    rates = rng.beta(0.05 * 7 / 3, 0.95 * 7 / 3, 40)
    wrong = (rng.random((12, 40)) < rates).ravel().astype(float)
    detector = GroupDetector(0.5, 12, open_groups=None)
    return detector.after(np.tile(np.arange(40), 12), wrong).upper() < 0.05


def sorted_by_class(n: int, rng: Rng) -> bool:
    """Independent rows in a file sorted by class: is independence contradicted?"""
    label = rng.integers(0, 2, n)
    score = rng.normal(size=n) + 2.0 * label - 1.0
    order = np.argsort(label, kind="stable")
    return error_runs(label[order], (score > 0)[order], np.abs(score)[order]).objects


def persons(kind: str, rng: Rng) -> bool:
    """1,000 persons with such columns, a limit five times the error rate: does it not pass?"""
    X = rng.normal(size=(1_000, 5))
    if kind == "correlated":
        X = X[:, :1] + 0.05 * X
    else:
        X = np.where(rng.random(X.shape) < 0.9, 0.0, X.round(1))
        X[:, 0] = rng.normal(size=1_000).round(2)
    y = ((X[:, 0] > 0) ^ (rng.random(1_000) < 0.02)).astype(int)
    model = fa.as_classifier(
        lambda rows: np.column_stack([expit(-9 * rows[:, 0]), expit(9 * rows[:, 0])]),
        classes=[0, 1],
    )
    report = fa.evaluate(model, X, y, parts=["accuracy"])
    return not report.verdict({"max": {"error": 0.1}})


def accused(mended: bool, rng: Rng) -> bool:
    """A calibrated model, the 200 least sure rows: wrong more often than it says?"""
    score = rng.normal(size=(3_200, 1))
    y = (rng.random(3_200) < expit(2 * score[:, 0])).astype(int)
    model = fa.as_classifier(
        lambda X: np.column_stack([expit(-2 * X[:, 0]), expit(2 * X[:, 0])]), classes=[0, 1]
    )
    search = discovery.Search(
        "low-confidence", model=model, X=score[200:], budget=200, audit_share=0.0,
        calibration=(score[:200], y[:200]),
    )  # fmt: skip
    for row in search.ask_many(200):
        search.tell(row, int(y[200 + row]))
    found = search.result
    return bool((found.mended_p if mended else (found.raw or found.ratio).p_value) <= 0.05)


def rows_followed(rng: Rng) -> bool | None:
    """Undecided after 200 rows of a uniform rate: the labels asked for do not let it pass."""
    rate, n = 0.15 * rng.random(), 200
    errors = int(rng.binomial(n, rate))
    asked = rows_to_pass(errors, n, 0.05)
    if share(errors, n).high <= 0.05 or share(errors, n).low > 0.05 or asked.more is None:
        return None
    return share(errors + int(rng.binomial(asked.more, rate)), asked.total).high > 0.05


def groups_followed(rng: Rng) -> bool | None:
    """The same for 100 groups of 10 rows, correlation .1, of rates that can pass."""
    rate = 0.04 * rng.random()
    first = group_counts(rng, [10] * 100, rate, 0.1)
    if group_upper(first.hits, first.sizes, 0.025) <= 0.05:
        return None
    asked = groups_to_pass(first.hits, first.sizes, 0.05, seed=int(rng.integers(2**31)))
    if asked.more is None:
        return None
    more = group_counts(rng, [10] * asked.more, rate, 0.1)
    both = np.r_[first.hits, more.hits], np.r_[first.sizes, more.sizes]
    return group_upper(*both, 0.025) > 0.05


PATIENTS = ((0.97, 0.01), (0.03, 0.9))
LINES = [
    Line("3 % of patients wrong .9, the rest .01; 40 × 25", "share below the truth", ".025",
         ".28", partial(missed_share, 40, 25, PATIENTS)),
    Line("the same, `assess`", "bound below the truth", ".025", ".32",
         partial(missed_assess, 40, 25, PATIENTS), 100),
    Line("2 % wrong .8, rest .02; 60 × 20", "share below the truth", ".025", ".243",
         partial(missed_share, 60, 20, ((0.98, 0.02), (0.02, 0.8)))),
    Line("5 % wrong .5, rest .01; 30 × 40", "share below the truth", ".025", ".233",
         partial(missed_share, 30, 40, ((0.95, 0.01), (0.05, 0.5)))),
    Line("a new model breaks 3 % of groups", "paired change below the truth", ".025", ".30",
         partial(missed_change, 0.03)),
    Line("a new model breaks 2 % of groups", "paired change below the truth", ".025", ".265",
         partial(missed_change, 0.02)),
    Line("40 groups, no error at all", "bound below 1 − .025^(1/40) = .0881", "never", "says .051",
         lambda _: group_upper([0] * 40, [25] * 40, 0.025) < 1 - 0.025 ** (1 / 40) - 1e-9, 1),
    Line("monitor at its limit, batches of 20 labels, correlation .1", "ever an alarm", ".01",
         ".50", partial(alike_batches, 0.1), 4_000),
    Line("the same, correlation .3", "ever an alarm", ".01", ".93", partial(alike_batches, 0.3),
         4_000),
    Line("errors reported after 5 rows, right answers after 300", "ever an alarm", ".01", ".97",
         late_answers, 500),
    Line("40 patients × 12 visits, `watch`", "bound below the truth", ".025", ".21", visits, 1_000),
    Line("independent rows in a file sorted by class, n 1,000", "independence contradicted", ".01",
         ".33", partial(sorted_by_class, 1_000)),
    Line("the same, n 5,000", "independence contradicted", ".01", ".96",
         partial(sorted_by_class, 5_000), 1_000),
    Line("1,000 persons, correlated columns, limit five times the error rate", "not a pass",
         "seldom", "8 of 8", partial(persons, "correlated"), 16),
    Line("the same, zero-inflated columns", "not a pass", "seldom", "8 of 8",
         partial(persons, "zero-inflated"), 16),
    Line("calibrated model, low-confidence search, n 200, own confidences", "accused", ".05",
         ".20–.24", partial(accused, False), 30),
    Line("the same, calibrated confidences", "accused", ".05", ".20–.24", partial(accused, True),
         30),
    Line("advice on rows followed", "did not pass", ".20", "–", rows_followed, 600),
    Line("advice on groups followed", "did not pass", ".20", ".44", groups_followed, 120),
]  # fmt: skip
KIND = [
    ("40 × 25, 5 %, correlation .1", [25] * 40, 0.05, 0.1),
    ("200 × 10, 5 %, correlation .1", [10] * 200, 0.05, 0.1),
    ("1,000 × 5, 5 %, correlation .1", [5] * 1_000, 0.05, 0.1),
    ("40 × 25, .5 %, correlation .1", [25] * 40, 0.005, 0.1),
    ("200 × 10, .5 %, correlation .1", [10] * 200, 0.005, 0.1),
    ("1,000 × 5, .5 %, correlation .1", [5] * 1_000, 0.005, 0.1),
    ("40 × 25, 5 %, correlation .5", [25] * 40, 0.05, 0.5),
    ("200 × 10, 20 %, correlation .3", [10] * 200, 0.2, 0.3),
    ("500 × 2, 5 %, correlation .3", [2] * 500, 0.05, 0.3),
    ("40 of 1 to 60 rows, 5 %, correlation .1", None, 0.05, 0.1),
]
DELAYS = [(1, 0.0), (20, 0.1), (20, 0.3), (8, 0.3)]


def price(sizes: list[int] | None, rate: float, correlation: float, draws: int = 30) -> dict:
    """Mean upper bounds, the default of 0.2 beside that of now, and how often each missed."""
    found = []
    for draw in range(draws):
        rng = generator(1, "price", str(sizes and len(sizes)), str(rate), str(correlation), draw)
        counts: GroupCounts = group_counts(rng, sizes, rate, correlation)
        found.append(
            (groups_max_upper(counts, 0.025), group_upper(counts.hits, counts.sizes, 0.025))
        )
    before, now = np.array(found).T
    return {"before": before.mean(), "now": now.mean(), "draws": draws,
            "missed": [int((before < rate).sum()), int((now < rate).sum())]}  # fmt: skip


def delay(size: int, correlation: float, after: float, streams: int = 40) -> float:
    """Median rows to the alarm at limit .05, from 1,000 rows at .01 to this rate."""
    rows = []
    for stream in range(streams):
        rng = generator(2, "delay", size, str(correlation), str(after), stream)
        quiet, most = 1_000 // size, 6_000 // size
        counts = [group_counts(rng, [size] * n, rate, correlation)
                  for n, rate in ((quiet, 0.01), (most, after))]  # fmt: skip
        hits = np.r_[counts[0].hits, counts[1].hits]
        if size == 1:
            at = ErrorDetector(0.05, 0.01).after(hits).alarm_at
            first = math.inf if at is None else at - quiet
        else:
            over = np.flatnonzero(group_evidence(hits, [size] * len(hits), 0.05, size) >= 100)
            first = (over[0] + 1 - quiet) * size if len(over) else math.inf
        if first > 0:
            rows.append(first)
    return float(np.median(rows))


def measured(line: Line) -> dict:
    """Counts of one line."""
    start, counts, name = time.process_time(), [], f"{line.world} | {line.counted}"
    for draw in range(line.draws):
        found = line.one(generator(0, "outside", name, draw))
        if found is not None:
            counts.append(bool(found))
    return {"count": sum(counts), "draws": len(counts),
            "cpu_s": round(time.process_time() - start, 1)}  # fmt: skip


def published() -> list[str]:
    """Tables that took no part in making the rules (`benchmarks/public_tables.py`)."""
    found = json.loads((HERE / "results" / "public_tables_1.json").read_text()).values()
    objected = sum(table["copies_object"] or table["runs_object"] for table in found)
    asked = sum(bool(table["asked"]) for table in found)
    who = f"R's tables that took no part in the rules ({asked} asked about)"
    share = f"{objected / len(found):.4f} | {len(found):,}"
    return [f"| {who} | independence contradicted | .02 | 32 of 75 | {share} |"]


def tables(kept: dict) -> dict[str, str]:
    """The tables of the page, from what is measured so far."""
    lines = ["| world | counted | promised | 0.2.0 | now | of |", "|---|---|---|---|---|---|"]
    for line in LINES:
        found = kept.get(f"{line.world} | {line.counted}")
        if found:
            k, n = found["count"], found["draws"]
            error = math.sqrt(max(k, 1) * max(n - k, 1) / n) / n if n > 1 else 0.0
            now = f"{k / n:.4f} ± {error:.4f}"
            lines.append(f"| {line.world} | {line.counted} | {line.promised} | {line.before} "
                         f"| {now} | {n:,} |")  # fmt: skip
    lines += published()
    prices = ["| kind world | rate | groups-max (0.2.0) | now | times | misses of 30, then · now |",
              "|---|---|---|---|---|---|"]  # fmt: skip
    for name, _, rate, _ in KIND:
        found = kept.get(f"price {name}")
        if found:
            times, (old, new) = found["now"] / found["before"], found["missed"]
            prices.append(f"| {name} | {rate:g} | {found['before']:.4f} | {found['now']:.4f} "
                          f"| {times:.2f} | {old} · {new} |")  # fmt: skip
    rows = ["| labels | .01 → .1 | → .2 | → .4 |", "|---|---|---|---|"]
    for size, correlation in DELAYS:
        found = kept.get(f"delay {size} {correlation}")
        name = "single rows" if size == 1 else f"groups of {size}, correlation {correlation:g}"
        if found:
            rows.append(f"| {name} | " + " | ".join(f"{d:,.0f}" for d in found) + " |")
    return {"outside": "\n".join(lines), "price": "\n".join(prices), "delays": "\n".join(rows)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--again", help="forget lines that have this text, and measure them anew")
    parser.add_argument("--docs", action="store_true", help="only the tables of docs/intervals.md")
    asked = parser.parse_args()
    kept = json.loads(RESULT.read_text()) if RESULT.exists() else {}
    if asked.again is not None:
        kept = {name: found for name, found in kept.items() if asked.again not in name}
    todo: dict[str, Callable] = {
        f"{line.world} | {line.counted}": partial(measured, line) for line in LINES
    }
    todo |= {f"price {name}": partial(price, *world) for name, *world in KIND}
    todo |= {
        f"delay {size} {correlation}": lambda s=size, c=correlation: [
            delay(s, c, after) for after in (0.1, 0.2, 0.4)
        ]
        for size, correlation in DELAYS
    }
    # What takes longest comes last.
    for name, one in sorted(
        todo.items(), key=lambda item: "search" in item[0] or "the same, c" in item[0]
    ):
        if name not in kept and not asked.docs:
            kept[name] = one()
            print(name, kept[name], flush=True)
            write_text(RESULT, json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
    if asked.docs:
        for mark, table in tables(kept).items():
            refresh(PAGE, mark, table)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
