"""How many: the questions that ``fireassay plan --power`` answers before anything is bought."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from fireassay.core import ParameterError
from fireassay.core.groups import largest_group
from fireassay.data import DataSet
from fireassay.statistics import (
    groups_for_bound,
    labels_until_alarm,
    rows_for_auroc,
    rows_for_bound,
    rows_for_pair,
)
from fireassay.statistics.groups.group_bound import effective_groups
from fireassay.statistics.labels_needed import labels_to_show
from fireassay.survival import plan as plan_campaign

_BOUND = {"confidence": 0.975, "power": 0.8}
_TEST = {"confidence": 0.95, "power": 0.8}
# These are told in per cent, all others as they are.
_SHARES = (
    "limit", "rate", "gained", "lost", "positives", "power", "smallest", "first", "last", "fall",
)  # fmt: skip


@dataclass(frozen=True)
class HowMany:
    """The answer to one question.

    Attributes:
        question: One of `QUESTIONS`.
        number: How many.
        sentence: In words, with what was taken as given.
        given: What was assumed, by name.

    >>> print(how_many("bound", {"limit": 0.05, "rate": 0.02}))
    312 labelled rows show "at most 5 % wrong" with 80 % chance, if 2 % are.
    """

    question: str
    number: int
    sentence: str
    given: dict[str, float]

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True)
class _Question:
    """What is counted, what is usually assumed, and the sentence around the number."""

    count: Callable[..., int] | None
    usual: dict[str, float]
    sentence: str


def _slices(slices: float, smallest: float, **bound: float) -> int:
    return rows_for_bound(**bound, slices=int(slices), smallest_slice=smallest)


def _groups(rows: float, **bound: float) -> int:
    return groups_for_bound(**bound, rows_per_group=int(rows))


def _campaign(ratio: float, fall: float, confidence: float, power: float) -> int:
    return plan_campaign(ratio, power, confidence=confidence, failure_share=fall).samples


QUESTIONS: dict[str, _Question] = {
    "bound": _Question(
        rows_for_bound,
        {"limit": 0.05, "rate": 0.02, **_BOUND},
        '{n} labelled rows show "at most {limit} wrong" with {power} chance, if {rate} are.',
    ),
    "models": _Question(
        rows_for_pair,
        {"gained": 0.06, "lost": 0.03, **_TEST},
        "{n} rows judged by both models tell them apart with {power} chance, if only one is right "
        "on {gained} and only the other on {lost}.",
    ),
    "auroc": _Question(
        rows_for_auroc,
        {"auc": 0.9, "width": 0.05, "positives": 0.2, "confidence": 0.95},
        "{n} rows, {positives} of them positive, give an AUROC near {auc} an interval {width} "
        "wide.",
    ),
    "monitor": _Question(
        labels_until_alarm,
        {"limit": 0.02, "rate": 0.1, "alpha": 0.05},
        "{n} labels after errors rise to {rate} the alarm for more than {limit} has come in half "
        "of all cases.",
    ),
    "slices": _Question(
        _slices,
        {"limit": 0.1, "rate": 0.04, "slices": 10, "smallest": 0.05, **_BOUND},
        "{n} labelled rows bound the smallest of {slices} slices ({smallest} of the rows) by "
        "{limit}, all at once, with {power} chance, if {rate} are wrong there.",
    ),
    "groups": _Question(
        _groups,
        {"limit": 0.1, "rate": 0.04, "rows": 20, "correlation": 0.1, **_BOUND},
        "{n} groups (patients, devices) with {rows} rows each show at most {limit} wrong with "
        "{power} chance, if {rate} are and rows of one group correlate by {correlation}.",
    ),
    "audit": _Question(
        None,  # planned for the votes of a project
        {"first": 0.9, "last": 0.7, "power": 0.8},
        "{n} labels of the curated datasets {show} a fall of the weak labels' accuracy from "
        "{first} to {last} with {power} chance.",
    ),
    "campaign": _Question(
        _campaign,
        {"ratio": 1.5, "fall": 0.5, **_TEST},
        "{n} samples of each of two models show that one stands {ratio} times as long with {power} "
        "chance, if {fall} fall within the budget.",
    ),
}


def how_many(
    question: str, given: Mapping[str, float] | None = None, *, votes: Any = None
) -> HowMany:
    """How many rows, labels, groups or samples a question takes.

    Args:
        question: "bound", "models", "auroc", "monitor", "slices", "groups", "audit" or "campaign".
        given: What is assumed, by name; what is left out has a usual value.
        votes: For "audit": the votes of the project.

    >>> how_many("models", {"gained": 0.06, "lost": 0.03}).number
    830
    """
    if question not in QUESTIONS:
        raise ParameterError(f"Known questions: {', '.join(QUESTIONS)}.", got=repr(question))
    asked = QUESTIONS[question]
    unknown = [name for name in given or {} if name not in asked.usual]
    if unknown:
        known = ", ".join(asked.usual)
        raise ParameterError(f"'{question}' can be given {known}.", got=repr(unknown[0]))
    assumed = {**asked.usual, **(given or {})}
    number, show = _audit(votes, assumed) if asked.count is None else (asked.count(**assumed), "")
    told = {k: f"{100 * v:g} %" if k in _SHARES else f"{v:g}" for k, v in assumed.items()}
    sentence = asked.sentence.format(n=f"{number:,}", show=show, **told)
    return HowMany(question, number, sentence.replace(" 1 rows", " 1 row"), assumed)


def _audit(votes: Any, assumed: Mapping[str, float]) -> tuple[int, str]:
    if votes is None:
        raise ParameterError(
            "The audit is planned for the votes of a project.",
            got="none",
            do="Name them in fireassay.toml: [data] votes.",
        )
    from fireassay.curation import curate

    found = curate(votes).plan_audit(assumed["first"], assumed["last"], assumed["power"])
    return found.n_labels, "show" if found.enough else "are all there are, and too few to show"


# Round limits of the share of wrong answers, strictest first.
_ROUND = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3)


@dataclass(frozen=True)
class ProposedGate:
    """A limit with the reason for it, and the labels that it would need."""

    direction: Literal["max", "min"]
    name: str
    limit: float
    why: str


def propose_gates(test: DataSet) -> tuple[ProposedGate, ...]:
    """Limits from the majority's share, the smallest class and the number of labels."""
    if test.y is None or not len(test):
        return ()
    names, counts = np.unique(test.labels, return_counts=True)
    rows, most = int(counts.sum()), int(counts.argmax())
    # Rows of one group may say no more than one row.
    n = rows
    if test.groups is not None:
        sizes = np.unique(test.groups, return_counts=True)[1]
        n = max(1, int(effective_groups(sizes, largest_group(test.groups))))
    smallest = min(n, int(counts.min()))
    majority = counts[most] / rows
    better = min(99, math.floor(100 * majority + 1e-9) + 1) / 100
    rare = names[int(counts.argmin())]
    return (
        ProposedGate(
            "min",
            "accuracy.accuracy",
            better,
            f"better than always saying {str(names[most])!r}, which is right on "
            f"{100 * majority:.1f} %; {_labels(1 - better, n)}",
        ),
        ProposedGate(
            "max",
            "reliability.pmi_upper",
            _within_reach(n),
            f"the strictest round limit that {n:,} labels can show; {_labels(_within_reach(n), n)}",
        ),
        ProposedGate(
            "min",
            "accuracy.worst_recall",
            round(1 - _within_reach(smallest), 3),
            f"the smallest class, {str(rare)!r}, has {counts.min():,} rows; "
            f"{_labels(_within_reach(smallest), smallest)} in every class",
        ),
    )


def _within_reach(n: int) -> float:
    """The strictest round limit that n labels show if the true rate is half of it."""
    return next((limit for limit in _ROUND if _at_half(limit) <= n), _ROUND[-1])


def _at_half(limit: float) -> int:
    return labels_to_show(limit, limit / 2)


def _labels(limit: float, n: int) -> str:
    return (
        f"needs {labels_to_show(limit, 0.0):,} labels without an error, {_at_half(limit):,} if it "
        f"is wrong half as often (there are {n:,})"
    )
