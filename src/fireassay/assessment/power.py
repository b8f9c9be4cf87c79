"""How many: the questions that ``fireassay plan --power`` answers before anything is bought."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from fireassay.core import ParameterError
from fireassay.statistics import (
    groups_for_bound,
    labels_until_alarm,
    rows_for_auroc,
    rows_for_bound,
    rows_for_pair,
)
from fireassay.survival import plan as plan_campaign


@dataclass(frozen=True)
class HowMany:
    """The answer to one question.

    Attributes
    ----------
    question
        One of `QUESTIONS`.
    number
        How many.
    sentence
        In words, with what was taken as given.
    given
        What was assumed, by name.

    >>> print(how_many("bound", {"limit": 0.05, "rate": 0.02}))
    312 labelled rows show "at most 5 % wrong" with 80 % chance, if 2 % are.
    """

    question: str
    number: int
    sentence: str
    given: dict[str, float]

    def __str__(self) -> str:
        return self.sentence


def _bound(
    limit: float = 0.05, rate: float = 0.02, confidence: float = 0.975, power: float = 0.8
) -> tuple[int, str]:
    n = rows_for_bound(limit, rate, confidence, power)
    return n, (
        f'{n:,} labelled rows show "at most {100 * limit:g} % wrong" with {100 * power:g} % '
        f"chance, if {100 * rate:g} % are."
    )


def _slices(
    limit: float = 0.1,
    rate: float = 0.04,
    slices: int = 10,
    smallest: float = 0.05,
    confidence: float = 0.975,
    power: float = 0.8,
) -> tuple[int, str]:
    n = rows_for_bound(limit, rate, confidence, power, slices=int(slices), smallest_slice=smallest)
    return n, (
        f"{n:,} labelled rows bound the smallest of {int(slices)} slices ({100 * smallest:g} % of "
        f"the rows) by {100 * limit:g} %, all at once, with {100 * power:g} % chance, if "
        f"{100 * rate:g} % are wrong there."
    )


def _groups(
    limit: float = 0.1,
    rate: float = 0.04,
    rows: int = 20,
    correlation: float = 0.1,
    confidence: float = 0.975,
    power: float = 0.8,
) -> tuple[int, str]:
    n = groups_for_bound(limit, rate, int(rows), correlation, confidence, power)
    return n, (
        f"{n:,} groups (patients, devices) with {int(rows)} rows each show at most "
        f"{100 * limit:g} % wrong with {100 * power:g} % chance, if {100 * rate:g} % are and rows "
        f"of one group correlate by {correlation:g}."
    )


def _models(
    gained: float = 0.06, lost: float = 0.03, confidence: float = 0.95, power: float = 0.8
) -> tuple[int, str]:
    n = rows_for_pair(gained, lost, confidence, power)
    return n, (
        f"{n:,} rows judged by both models tell them apart with {100 * power:g} % chance, if only "
        f"one is right on {100 * gained:g} % and only the other on {100 * lost:g} %."
    )


def _auroc(
    auc: float = 0.9, width: float = 0.05, positives: float = 0.2, confidence: float = 0.95
) -> tuple[int, str]:
    n = rows_for_auroc(auc, width, positives, confidence)
    return n, (
        f"{n:,} rows, {100 * positives:g} % of them positive, give an AUROC near {auc:g} an "
        f"interval {width:g} wide."
    )


def _monitor(limit: float = 0.02, rate: float = 0.1, alpha: float = 0.05) -> tuple[int, str]:
    n = labels_until_alarm(limit, rate, alpha)
    return n, (
        f"{n:,} labels after errors rise to {100 * rate:g} % the alarm for more than "
        f"{100 * limit:g} % has come in half of all cases."
    )


def _audit(
    votes: Any = None,
    first: float = 0.9,
    last: float = 0.7,
    power: float = 0.8,
) -> tuple[int, str]:
    if votes is None:
        raise ParameterError(
            "The audit is planned for the votes of a project.",
            got="none",
            do="Name them in fireassay.toml: [data] votes.",
        )
    from fireassay.curation import curate

    found = curate(votes).plan_audit(first, last, power)
    n = found.n_labels
    words = "show" if found.enough else "are all there are, and too few to show"
    return n, (
        f"{n:,} labels of the curated datasets {words} a fall of the weak labels' accuracy from "
        f"{100 * first:g} to {100 * last:g} % with {100 * power:g} % chance."
    )


def _campaign(
    ratio: float = 1.5, fall: float = 0.5, confidence: float = 0.95, power: float = 0.8
) -> tuple[int, str]:
    found = plan_campaign(ratio, power, confidence=confidence, failure_share=fall)
    return found.samples, (
        f"{found.samples:,} samples of each of two models show that one stands {ratio:g} times as "
        f"long with {100 * power:g} % chance, if {100 * fall:g} % fall within the budget."
    )


QUESTIONS: dict[str, Callable[..., tuple[int, str]]] = {
    "bound": _bound,
    "models": _models,
    "auroc": _auroc,
    "monitor": _monitor,
    "slices": _slices,
    "groups": _groups,
    "audit": _audit,
    "campaign": _campaign,
}


def how_many(
    question: str, given: Mapping[str, float] | None = None, *, votes: Any = None
) -> HowMany:
    """How many rows, labels, groups or samples a question takes.

    Parameters
    ----------
    question
        "bound", "models", "auroc", "monitor", "slices", "groups", "audit" or "campaign".
    given
        What is assumed, by name; what is left out has a usual value.
    votes
        For "audit": the votes of the project.

    >>> how_many("models", {"gained": 0.06, "lost": 0.03}).number
    830
    """
    if question not in QUESTIONS:
        raise ParameterError(f"Known questions: {', '.join(QUESTIONS)}.", got=repr(question))
    ask, assumed = QUESTIONS[question], dict(given or {})
    known = [name for name in inspect.signature(ask).parameters if name != "votes"]
    unknown = [name for name in assumed if name not in known]
    if unknown:
        raise ParameterError(f"'{question}' can be given {', '.join(known)}.", got=repr(unknown[0]))
    usual = {name: p.default for name, p in inspect.signature(ask).parameters.items()}
    usual.pop("votes", None)
    extra = {"votes": votes} if question == "audit" else {}
    number, sentence = ask(**assumed, **extra)
    return HowMany(question, number, sentence, {**usual, **assumed})
