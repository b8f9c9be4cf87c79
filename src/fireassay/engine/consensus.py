"""From answers to labels: agreed, in conflict, resolved, or nobody can tell."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from fireassay.engine.label_records import GivenAnswer
from fireassay.engine.questions import CANNOT_TELL

STATES = ("open", "settled", "conflict", "cannot tell")


@dataclass(frozen=True)
class Consensus:
    """What the answers to one item amount to.

    ``state`` is "open" (no answer), "settled" (``label`` holds), "cannot tell" or "conflict" (as
    many for one as for another; to be resolved). ``disagreed``: the annotators were not unanimous.
    """

    item: int
    state: str
    label: int | None
    answers: tuple[GivenAnswer, ...]
    disagreed: bool
    resolved: bool


def consensus(answers: Iterable[GivenAnswer]) -> dict[int, Consensus]:
    """What the answers to each answered item amount to, in the order of the first answers.

    The answer of most annotators holds; a resolution overrules all.
    """
    grouped: dict[int, list[GivenAnswer]] = {}
    for answer in answers:
        if answer.kind != "skip":
            grouped.setdefault(answer.item, []).append(answer)
    return {item: _of_one(item, given) for item, given in grouped.items()}


def _of_one(item: int, given: list[GivenAnswer]) -> Consensus:
    votes = Counter(answer.choice for answer in given if answer.kind == "answer")
    resolution = next((a for a in reversed(given) if a.kind == "resolve"), None)
    ranked = votes.most_common(2)
    label: int | None
    if resolution is not None:
        label = resolution.choice
    elif len(ranked) > 1 and ranked[0][1] == ranked[1][1]:
        label = None
    else:
        label = ranked[0][0] if ranked else None
    if label is None:
        state = "conflict" if votes else "open"
    elif label == CANNOT_TELL:
        state = "cannot tell"
    else:
        state = "settled"
    settled = label if state == "settled" else None
    return Consensus(item, state, settled, tuple(given), len(votes) > 1, resolution is not None)
