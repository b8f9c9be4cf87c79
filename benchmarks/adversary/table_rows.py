"""The rows of docs/intervals.md that have no entry of their own: the same worlds, free numbers."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from space import Range, Space, World, said

sys.path.insert(0, str(Path(__file__).parents[1]))

import auc_worlds
import cost_worlds
import detection_worlds
import field_worlds
import group_worlds
import label_noise_worlds
import null_worlds
import paired_worlds
import slice_worlds

import fireassay.statistics as st
from fireassay.core.errors import FireassayError

EACH = Range(3, 200, "whole")
OTHERS = Range(3, 500, "whole")
SHIFT = Range(0.0, 3.5)
RATE = Range(0.002, 0.998, "logit")
ALIKE = Range(0.01, 0.9, "logit")
GROUPS: Space = {"groups": Range(8, 100, "whole"), "size": Range(2, 30, "whole"), "alike": ALIKE}
PATIENTS: Space = {
    "sick": Range(3, 40, "whole"), "healthy": Range(3, 60, "whole"),
    "size": Range(2, 25, "whole"), "alike": ALIKE,
}  # fmt: skip
OF_GROUPS = "{groups} groups of {size} rows, correlation {alike}"
OF_PATIENTS = "{sick} sick and {healthy} healthy patients of {size} rows, correlation {alike}"
BINORMAL: Space = {"sick": EACH, "healthy": OTHERS, "shift": SHIFT}
TWO_SETS = "{sick} and {healthy} rows, {shift} standard deviations apart"


class TableRow(NamedTuple):
    """A method of the page: what makes its world, of which numbers, and those in words."""

    method: str
    make: Callable[[World], Callable[[np.random.Generator], Any]]
    space: Space
    words: str
    called: str = "approximate"
    nominal: float = 0.05

    def missed(self, world: World, draws: int, rng: np.random.Generator) -> np.ndarray:
        """The interval misses; a test rejects what is true at .05."""
        whole = {
            name: int(value) if self.space[name].scale in ("whole", "choice") else value
            for name, value in world.items()
        }
        one = self.make(whole)

        def miss() -> bool:
            try:
                seen = one(rng)
            except FireassayError:  # a refusal promises nothing
                return False
            return bool(seen[0] if isinstance(seen, tuple) else seen <= 0.05)

        return np.array([miss() for _ in range(draws)], dtype=bool)

    def in_words(self, world: World) -> str:
        """The world as a sentence."""
        return said(self.words, world)


def weighted_sum(w: World) -> Callable[[np.random.Generator], Any]:
    """Fractional successes whose weights are Beta."""
    law = w["mean"] * w["total"], (1 - w["mean"]) * w["total"], w["n"]

    def world(rng):
        low, high = st.clopper_pearson(float(rng.beta(*law).sum()), w["n"])
        return (not low <= w["mean"] <= high,)

    return world


def resampled(statistic, of_groups=False, aware=True):
    """Log-normal values, whose law is the more skewed the larger the spread."""

    def make(w):
        def world(rng):
            who = np.repeat(np.arange(w["groups"]), w["size"]) if of_groups else None
            normal = rng.normal(size=w["n"] if who is None else len(who))
            if who is not None:
                own = rng.normal(size=w["groups"])[who]
                normal = np.sqrt(w["alike"]) * own + np.sqrt(1 - w["alike"]) * normal
            truth = 1.0 if statistic is np.median else float(np.exp(w["spread"] ** 2 / 2))
            found = st.bootstrap(
                statistic, np.exp(w["spread"] * normal), groups=who if aware else None,
                n_resamples=200, seed=int(rng.integers(2**31)),
            )  # fmt: skip
            return (not found.low <= truth <= found.high,)

        return world

    return make


def detection(name: str, groups: bool) -> Callable[[World], Any]:
    """A number of a supervisor whose scores are two standard deviations apart."""
    grouped = ("size", "alike") if groups else ()
    return lambda w: detection_worlds.metric(
        name, w["sick"], w["healthy"], *(w[g] for g in grouped)
    )


def in_order(function, *names):
    """A maker of worlds that takes these numbers in this order."""
    return lambda w: function(*(w[name] for name in names))


# fmt: off
def _rows() -> Iterator[TableRow]:
    row = TableRow
    spread = {"n": Range(8, 300, "whole"), "spread": Range(0.1, 2, "log")}
    skewed = "{n} log-normal values, spread {spread}"
    of_groups = {**GROUPS, "spread": Range(0.1, 2, "log")}
    yield row("Clopper–Pearson, fractional", weighted_sum,
              {"n": Range(3, 300, "whole"), "mean": RATE, "total": Range(0.01, 5, "log")},
              "{n} weights, Beta with mean {mean} and total {total}")
    yield row("bootstrap, mean", resampled(np.mean), spread, skewed)
    yield row("bootstrap, median", resampled(np.median), spread, skewed)
    yield row("bootstrap of groups, mean", resampled(np.mean, True), of_groups,
              OF_GROUPS + ", log-normal values of spread {spread}")
    yield row("bootstrap of rows, mean", resampled(np.mean, True, False), of_groups,
              OF_GROUPS + ", log-normal values of spread {spread}", "misused")
    yield row("Clopper–Pearson of rows, upper",
              lambda w: group_worlds.share_of([w["size"]] * w["groups"], w["rate"], w["alike"],
                                              group_worlds.rows_as_independent),
              {**GROUPS, "rate": RATE}, OF_GROUPS + ", rate {rate}", "misused", 0.025)
    for name, function in ((auc_worlds._MW, auc_worlds.MW), (auc_worlds._DL, auc_worlds.DL)):
        yield row(name, lambda w, f=function: auc_worlds.auc(
            f, w["shift"], w["sick"], w["healthy"]), BINORMAL, TWO_SETS)
    for name, aware, called in (("AUC of groups", True, "approximate"),
                                ("AUC of rows", False, "misused")):
        yield row(name, lambda w, a=aware: auc_worlds.clustered(
            w["sick"], w["healthy"], w["size"], w["alike"], w["area"], a),
            {**PATIENTS, "area": Range(0.5, 0.999)}, OF_PATIENTS + ", AUC {area}", called)
    many = {"count": Range(2, 30, "whole"), **BINORMAL}
    winners = "the best of {count}, " + TWO_SETS
    yield row("best of 28 AUCs",
              in_order(auc_worlds.winner, "count", "sick", "healthy", "shift"), many, winners)
    yield row("best of 28 AUCs, its own interval",
              in_order(auc_worlds.winner_alone, "count", "sick", "healthy", "shift"), many,
              winners, "misused")
    yield row("best of 10 AUCs, groups",
              in_order(auc_worlds.grouped_winner, "count", "each", "size", "alike", "area"),
              {"count": Range(2, 15, "whole"), "each": Range(3, 40, "whole"),
               "size": Range(2, 15, "whole"), "alike": ALIKE, "area": Range(0.5, 0.995)},
              "the best of {count}, {each} sick and healthy patients of {size} rows, "
              "correlation {alike}, AUC {area}")
    yield row("alarm rule", lambda w: auc_worlds.alarms(w["rows"], 1, 0.0),
              {"rows": Range(60, 3_000, "whole")}, "{rows} nominal rows", "bound")
    yield row("alarm rule, groups", in_order(auc_worlds.alarms, "groups", "size", "alike"),
              GROUPS, OF_GROUPS)
    for name, number in ((detection_worlds._FPR, "fpr95"), (detection_worlds._AUPR, "aupr"),
                         (detection_worlds._AURC, "aurc")):
        yield row(name, detection(number, False), {"sick": EACH, "healthy": OTHERS},
                  "{sick} suspicious and {healthy} nominal rows")
        yield row(f"{name}, groups", detection(number, True), PATIENTS, OF_PATIENTS)
    yield row("calibration error", in_order(cost_worlds.calibration, "n", "share"),
              {"n": Range(30, 2_000, "whole"), "share": Range(0.0, 1.0)},
              "{n} rows, accuracy rises {share} times as fast as confidence")
    yield row("calibration error, groups",
              in_order(cost_worlds.grouped_calibration, "groups", "size", "alike", "stated"),
              {**GROUPS, "stated": Range(0.7, 0.99)}, OF_GROUPS + ", {stated} stated and .7 right")
    yield row("expected cost, groups",
              in_order(cost_worlds.grouped_cost, "groups", "size", "rate", "alike"),
              {**GROUPS, "rate": RATE}, OF_GROUPS + ", a mistake in {rate} of rows", "bound")
    yield row("cost at the cheapest threshold",
              in_order(cost_worlds.at_the_cheapest_threshold, "n", "positive", "miss", "shift"),
              {"n": Range(40, 1_500, "whole"), "positive": Range(0.02, 0.5, "logit"),
               "miss": Range(1, 100, "log"), "shift": SHIFT},
              "{n} rows, {positive} sick, a miss costs {miss}, {shift} standard deviations apart",
              "bound")
    for name, grouped, what, called in (
        ("recall of classes, all at once", False, "all", "bound"),
        ("recall of classes, groups", True, "all", "bound"),
        ("worst recall", False, "worst", "bound"),
    ):
        space = GROUPS | {"rate": RATE} if grouped else {"rows": EACH, "rate": RATE}
        yield row(name, lambda w, g=grouped, k=what: cost_worlds.classes(
            g, k, w.get("groups", w.get("rows")), w.get("size", 1), w["rate"], w.get("alike", 0.5)),
            space, "four classes, each of " + (OF_GROUPS if grouped else "{rows} rows")
            + ", recall {rate}", called)
    yield row("slices at once", lambda w: slice_worlds.slices(w["count"], w["count"] * w["rows"]),
              {"count": Range(2, 60, "whole"), "rows": Range(10, 300, "whole")},
              "{count} slices of {rows} rows, rates .02 to .3", "bound")
    yield row("slices at once, groups",
              in_order(slice_worlds.grouped_slices, "groups", "size", "alike", "worst"),
              {"groups": Range(5, 30, "whole"), "size": Range(2, 15, "whole"), "alike": ALIKE,
               "worst": Range(0.06, 0.9)},
              "ten wards of " + OF_GROUPS + ", rates .05 to {worst}", "bound")
    yield row("worst slice, upper", in_order(slice_worlds.worst_slice, "count", "rows", "rate"),
              {"count": Range(2, 30, "whole"), "rows": Range(10, 300, "whole"), "rate": RATE},
              "{count} slices of {rows} rows, all with rate {rate}", "bound", 0.025)
    yield row("gaps at once", in_order(slice_worlds.gaps, "rows", "least", "most"),
              {"rows": Range(10, 400, "whole"), "least": Range(0.0, 0.5), "most": Range(0.5, 1.0)},
              "five slices of {rows} rows, rates {least} to {most}")
    changes = {"n": Range(20, 1_500, "whole"), "gained": Range(0.0005, 0.4, "log"),
               "lost": Range(0.0005, 0.4, "log"), "right": Range(0.0, 1.0)}
    yield row("paired shares", lambda w: paired_worlds.models(
        w["lost"], w["gained"], w["right"] * (1 - w["lost"] - w["gained"]), w["n"]), changes,
        "{n} rows, {gained} gained, {lost} lost, {right} of the others right by both")
    yield row("paired means, t", in_order(paired_worlds.queries, "n"),
              {"n": Range(5, 400, "whole")}, "{n} skewed times, the second model 20 % slower")
    yield row("paired AUCs",
              in_order(paired_worlds.scores, "sick", "healthy", "first", "second", "shared"),
              {"sick": EACH, "healthy": OTHERS, "first": SHIFT, "second": SHIFT,
               "shared": Range(0.0, 0.98)},
              "{sick} and {healthy} rows, models {first} and {second} standard deviations apart, "
              "correlation {shared}")
    yield row("paired precision", in_order(paired_worlds.precisions, "n"),
              {"n": Range(30, 1_500, "whole")}, "{n} rows, precision .90 and .92")
    off = {"first": Range(0.0, 0.19), "second": Range(0.0, 0.19)}
    yield row("paired calibration errors",
              in_order(paired_worlds.calibrations, "first", "second", "n"),
              {**off, "n": Range(40, 1_000, "whole")}, "{n} rows, off by {first} and {second}")
    yield row("paired calibration errors, groups",
              lambda w: paired_worlds.calibrations(
                  w["first"], w["second"], w["groups"] * w["size"], w["groups"]),
              {**off, "groups": Range(6, 80, "whole"), "size": Range(2, 30, "whole")},
              "{groups} groups of {size} rows, correlation .1, off by {first} and {second}")
    yield row("paired costs", in_order(paired_worlds.costs, "n"),
              {"n": Range(10, 1_500, "whole")}, "{n} rows, 3 % cost 20 and a third is avoided",
              "bound")
    yield row("unbiased rate of a pool (LURE)",
              in_order(field_worlds.unbiased_rate, "patients", "draws", "rate", "pull"),
              {"patients": Range(5, 40, "whole"), "draws": Range(10, 200, "whole"),
               "rate": Range(0.01, 0.9, "logit"), "pull": Range(-1.0, 2.0)},
              "{patients} patients of 50 rows, rate {rate}, {draws} drawn, "
              "weight of wrong rows {pull}", "bound")
    yield row("rate of the last 500 labels, upper",
              in_order(field_worlds.now, "since", "before", "after"),
              {"since": Range(1, 500, "whole"), "before": RATE, "after": RATE},
              "from {before} to {after} before the last {since} labels", "bound", 0.05)
    wrong = {"p": Range(0.005, 0.4, "log"), "e": Range(0.002, 0.2, "log"),
             "n": Range(50, 2_000, "whole"), "twice": Range(30, 600, "whole")}
    told = "{n} rows, errors {p}, wrong labels {e}, {twice} labelled twice"
    yield row("wrong labels, interval", lambda w: label_noise_worlds.world(
        w["p"], w["e"], w["n"], w["twice"], related=w["related"] * min(1.0, w["p"] / w["e"])),
        {**wrong, "related": Range(0.0, 1.0)}, told + ", {related} of them hide errors", "bound")
    yield row("wrong labels, point", lambda w: label_noise_worlds.world(
        w["p"], w["e"], w["n"], w["twice"], apart=True), wrong, told, "bound")
    yield row("Mann–Whitney", in_order(null_worlds.mann_whitney, "ratings", "sick", "healthy"),
              {"ratings": Range(2, 30, "whole"), "sick": EACH, "healthy": OTHERS},
              "{ratings} ratings, {sick} and {healthy} rows")
    yield row("DeLong, paired", in_order(null_worlds.paired_delong, "sick", "healthy"),
              {"sick": EACH, "healthy": OTHERS}, "{sick} and {healthy} rows")
    yield row("Spearman", in_order(null_worlds.spearman, "n", "values"),
              {"n": Range(5, 200, "whole"), "values": Range(2, 30, "whole")},
              "{n} rows, {values} values in y")
    yield row("AUC of groups, p-value", in_order(null_worlds.auc_of_groups, "sick", "healthy"),
              {"sick": Range(2, 30, "whole"), "healthy": Range(2, 30, "whole")},
              "{sick} and {healthy} patients of 20 rows")
# fmt: on


ROWS = list(_rows())
