"""Every number that is called a bound, and every check that can object: name, function, worlds."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import bounds_of_groups
import groups
import number_worlds
import numpy as np
import row_bounds
import streams
import table_rows
from space import Range, Space, World, said

Missed = Callable[[World, int, np.random.Generator], np.ndarray]


@dataclass(frozen=True)
class Entry:
    """What is tried.

    ``called`` is "bound" (keeps nominal − .005 in the worst world), "approximate", or "objection"
    (nominal is the largest share of false ones). ``known`` are worlds that others found.
    """

    name: str
    missed: Missed
    space: Space
    words: Callable[[World], str]
    nominal: float = 0.025
    called: str = "bound"
    few: int = 400
    many: int = 2_000
    most: int = 20_000
    block: int = 500
    known: tuple[World, ...] = ()


def mixture(count: int, size: int, *kinds: tuple[float, float, float]) -> World:
    """Groups of one size; each kind has a weight, a rate and a correlation."""
    world: World = {"groups": count, "fractional": 0}
    for kind in groups.KINDS:
        weight, rate, alike = kinds[kind] if kind < len(kinds) else (1e-9, 0.5, 0.001)
        world |= {f"weight{kind}": weight, f"size{kind}": size, f"spread{kind}": 0}
        world |= {f"rate{kind}": rate, f"alike{kind}": alike}
    return world


RARE_BAD = (
    mixture(40, 25, (0.97, 0.01, 0.001), (0.03, 0.9, 0.001)),
    mixture(60, 20, (0.98, 0.02, 0.001), (0.02, 0.8, 0.001)),
    mixture(30, 40, (0.95, 0.01, 0.001), (0.05, 0.5, 0.001)),
)
PAIRED = (
    {**mixture(40, 25, (0.97, 0.001, 0.001), (0.03, 0.9, 0.001)), "mended": 0.01},
    {**mixture(40, 25, (0.98, 0.001, 0.001), (0.02, 0.9, 0.001)), "mended": 0.01},
)
GROUPS = groups.space()
SHARES, COUNTS, VALUES, POOLS, AUDITS, ROWS, PATIENTS, CLAIMS = (
    partial(said, words)
    for words in (
        "{n} rows, rate {rate}",
        "mean {mean}",
        "{n} values, a share {zeros} of them 0, of the others {ones} 1, the rest {between}",
        (
            "{pool} rows, {labels} of them labelled; {suspect} wrong {rate1} (thought {risk1}), "
            "the others {rate0} (thought {risk0})"
        ),
        "{rows} rows, {errors} of them wrong, {audit} of them audited",
        "{n} rows, {positive} positive, sharpness {sharpness}, slope {slope}, {digits} digits",
        (
            "{groups} groups of {size} rows, shared shift {alike}, {reversed} of them reversed, "
            "{positive} positive, sharpness {sharpness}, slope {slope}, {digits} digits"
        ),
        (
            "{classes} classes, sharpness {sharpness}, temperature {temperature}, "
            "{calibration} calibration rows, {labels} labels"
        ),
    )
)

ENTRIES = [
    Entry("group_upper, largest group declared", bounds_of_groups.declared, GROUPS,
          groups.in_words, known=RARE_BAD),
    Entry("group_upper, largest group seen", bounds_of_groups.seen, GROUPS, groups.in_words,
          called="approximate", known=RARE_BAD),
    Entry("group_lower, largest group declared", bounds_of_groups.lower, GROUPS,
          groups.in_words, known=RARE_BAD),
    Entry("group_upper, paired difference", bounds_of_groups.paired,
          GROUPS | {"mended": Range(0.001, 0.9, "logit")}, groups.in_words, known=PAIRED),
    Entry("GroupDetector, ever a false alarm", streams.alarm, GROUPS, groups.in_words,
          nominal=0.01),
    Entry("error_runs", streams.runs, streams.RUNS, streams.in_words, nominal=0.01,
          called="objection", few=40, many=200, most=2_000),
    Entry("more errors than mended confidences announce", streams.mended, streams.CLAIMS, CLAIMS,
          nominal=0.05, called="objection", few=10, many=30, most=400, block=40),
    Entry("groups-max", bounds_of_groups.groups_max, groups.space(100), groups.in_words,
          called="approximate", few=60, many=200, most=2_000, known=RARE_BAD),
    Entry("clopper_pearson, upper", row_bounds.exact_upper, row_bounds.SHARES, SHARES),
    Entry("wilson", row_bounds.wilson_ends, row_bounds.SHARES, SHARES, nominal=0.05,
          called="approximate"),
    Entry("poisson_interval", row_bounds.poisson, row_bounds.COUNTS, COUNTS,
          nominal=0.05),
    Entry("hoeffding_bentkus_upper", row_bounds.hoeffding_bentkus, row_bounds.VALUES, VALUES),
    Entry("betting_interval, upper", row_bounds.betting_upper, row_bounds.VALUES, VALUES,
          many=800, most=10_000),
    Entry("betting_sequence, ever outside", row_bounds.betting_ever, row_bounds.VALUES, VALUES,
          few=60, many=200, most=2_000),
    Entry("mean_cost, upper end", row_bounds.costs, row_bounds.VALUES, VALUES,
          few=200, many=600, most=5_000),
    Entry("all_looks_upper, ever below", row_bounds.all_looks, row_bounds.SHARES, SHARES,
          few=40, many=100, most=10_000),
    Entry("thinned_upper", row_bounds.by_suspicion, row_bounds.POOLS, POOLS,
          many=1_000, most=10_000),
    Entry("errors_among, both ends", row_bounds.left, row_bounds.AUDITS, AUDITS,
          nominal=0.05),
    *(
        Entry(f"{number} of {kind}", number_worlds.missing(number), space, words,
              nominal=0.05, few=40, many=120, most=2_000, block=100,
              called="bound" if number in ("brier", "net_benefit@0.2") else "approximate")
        for number in number_worlds.NUMBERS
        for kind, space, words in (
            ("rows", number_worlds.ROWS, ROWS), ("groups", number_worlds.GROUPS, PATIENTS)
        )
    ),
    *(
        Entry(row.method, row.missed, row.space, row.in_words, nominal=row.nominal,
              called=row.called, few=25, many=100, most=4_000, block=100)
        for row in table_rows.ROWS
    ),
]  # fmt: skip
