"""Which claims about ambiguous inputs hold on the answers measured."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from fireassay.papers.ambiguity_published import (
    BASELINE,
    NUMBERS,
    PUBLISHED,
)
from fireassay.papers.intervals import mean_interval
from fireassay.papers.pages.section import (
    Claim,
    as_printed,
)
from fireassay.papers.verdicts import (
    NOT_RUN,
    Finding,
    PaperVerdict,
    above,
    near_all,
    together,
)

MODELS = ("CNN", "MLP", "DenseNet", "ResNet")

AVERAGE = "average"

REBUILT = "the baseline rebuilt, not their file"

_SHARE = 0.05  # of 1, and of the largest entropy of ten classes

TOLERANCE = {"top1": _SHARE, "top2": _SHARE, "top_pair": _SHARE, "entropy": _SHARE * math.log2(10)}

Values = dict[str, list[float]]


def claims(parts: list[dict[str, Any]], differs: str) -> list[Claim]:
    """The paper's claims on its inputs, beside its own table, and what came out here."""
    printed = printed_parts()

    def claim(text: str, judged: Callable[..., PaperVerdict], believe: str = "") -> Claim:
        told: Mapping[Finding, str] = {"agrees": believe} if believe else {}
        return Claim(
            text, "Section 6.2, Table 1", as_printed(judged(printed, "")), told,
            also=judged(parts, differs),
        )  # fmt: skip

    return [
        claim("Ambiguous inputs halve top-1 accuracy (about 50 %) after mixed training.",
              lambda own, d: close_to(own, "top1", 0.5, d)),
        claim("Top-2 accuracy is nearly that of nominal inputs (within .06).", top2_like_nominal),
        claim("Entropy is higher on ambiguous than on nominal inputs.", entropy),
        claim("Mixed training costs nominal accuracy at most .01.", nominal_cost,
              "Ambiguous rows can be added to the training set."),
        claim("Their inputs are more ambiguous than the baseline's (top-1 lower, top-2 and entropy "
              "higher).", beats_baseline),
    ]  # fmt: skip


def printed_parts() -> list[dict[str, Any]]:
    """Table 1 in the form of stored trainings: two alike, since its numbers are taken as exact."""
    parts = []
    for made, training, _ in [key for key in PUBLISHED if key[2] == "nominal"]:
        own: dict[str, Any] = {"made": made, "training": training, "model": AVERAGE}
        for test, key in (("ambiguous", made), ("nominal", "nominal")):
            own[key] = dict(zip(NUMBERS, PUBLISHED[made, training, test][AVERAGE], strict=True))
        parts += [own | {"run": run} for run in (0, 1)]
    return parts


def answers(
    parts: list[dict[str, Any]], made: str, training: str, test: str, model: str | None = None
) -> Values:
    """Values over trainings of every number: of one network, of all, or of their average.

    The average is that of the four networks of a round, one value a round.
    """
    source = "mnist" if made == BASELINE and training == "clean" else made
    key = "nominal" if test == "nominal" else made
    own = [
        part
        for part in parts
        if (part["made"], part["training"]) == (source, training)
        and key in part
        and model in (None, AVERAGE, part["model"])
    ]
    if model != AVERAGE:
        return {n: [p[key][n] for p in own if p[key][n] is not None] for n in NUMBERS}
    return _averages(own, key)


def _averages(own: list[dict[str, Any]], key: str) -> Values:
    """The mean of each number over the networks of a round, for rounds that have all of them."""
    rounds = [[p[key] for p in own if p["run"] == run] for run in sorted({p["run"] for p in own})]
    whole = [of_round for of_round in rounds if len(of_round) == len(MODELS)]
    return {
        n: [sum(p[n] for p in of_round) / len(of_round) for of_round in whole]
        if whole and whole[0][0][n] is not None
        else []
        for n in NUMBERS
    }


def close_to(parts: list[dict[str, Any]], number: str, value: float, differs: str) -> PaperVerdict:
    """A number of both data sets after mixed training."""
    ours = {
        made: found
        for made in ("mnist", "fashion-mnist")
        if (found := answers(parts, made, "mixed", "ambiguous")[number])
    }
    if not ours:
        return NOT_RUN
    return near_all(
        ours, dict.fromkeys(ours, value), dict.fromkeys(ours, TOLERANCE[number]), differs
    )


def top2_like_nominal(parts: list[dict[str, Any]], differs: str) -> PaperVerdict:
    """How far top-2 on ambiguous inputs is below top-2 on nominal ones."""
    return _all_above(_gaps(parts, "mixed", "top2"), -0.06, differs)


def entropy(parts: list[dict[str, Any]], differs: str) -> PaperVerdict:
    """Mean entropy on ambiguous minus that on nominal inputs, in bits."""
    gaps = {
        f"{made}, {training}": gap
        for training in ("mixed", "clean")
        for made, gap in _gaps(parts, training, "entropy").items()
    }
    return _all_above(gaps, 0.0, differs)


def nominal_cost(parts: list[dict[str, Any]], differs: str) -> PaperVerdict:
    """Nominal top-1 after mixed minus after clean training, of the same network and seed."""
    gaps = {}
    for made in ("mnist", "fashion-mnist"):
        mixed, clean = (
            {
                (part["model"], part["run"]): part["nominal"]["top1"]
                for part in parts
                if (part["made"], part["training"]) == (made, kind)
            }
            for kind in ("mixed", "clean")
        )
        gaps[made] = [mixed[key] - clean[key] for key in sorted(mixed.keys() & clean.keys())]
    return _all_above({made: own for made, own in gaps.items() if own}, -0.01, differs)


def beats_baseline(parts: list[dict[str, Any]], differs: str) -> PaperVerdict:
    """Theirs against the baseline, after mixed training of the same network and seed."""
    own, other = (
        {(p["model"], p["run"]): p[made] for p in parts if (p["made"], p["training"]) == at}
        for made, at in (("mnist", ("mnist", "mixed")), (BASELINE, (BASELINE, "mixed")))
    )
    gaps = {
        told: [sign * (own[key][n] - other[key][n]) for key in sorted(own.keys() & other.keys())]
        for told, n, sign in (
            ("top-1 lower by", "top1", -1),
            ("top-2 higher by", "top2", 1),
            ("entropy higher by", "entropy", 1),
        )
    }
    return _all_above(
        gaps if all(gaps.values()) else {}, 0.0, together(differs and REBUILT, differs)
    )


def _gaps(parts: list[dict[str, Any]], training: str, number: str) -> dict[str, list[float]]:
    """Ambiguous minus nominal, training by training."""
    gaps = {}
    for made in ("mnist", "fashion-mnist"):
        here = answers(parts, made, training, "ambiguous")[number]
        there = answers(parts, made, training, "nominal")[number]
        if here and there:
            gaps[made] = [own - other for own, other in zip(here, there, strict=True)]
    return gaps


def _all_above(gaps: dict[str, list[float]], limit: float, differs: str) -> PaperVerdict:
    """Means over trainings with their intervals, all said to be above a limit."""
    if not gaps:
        return NOT_RUN
    values = {
        name: (sum(own) / len(own), *mean_interval(own)) for name, own in sorted(gaps.items())
    }
    return above(values, limit, differs)
