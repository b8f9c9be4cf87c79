"""How well the annotators of a queue agree."""

import itertools
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from fireassay.core.errors import NotEnoughEvidenceError
from fireassay.core.estimate import Estimate
from fireassay.engine.label_records import GivenAnswer

_MOST_PAIRS = 45


@dataclass(frozen=True)
class Agreement:
    """Fleiss' kappa over all, Cohen's kappa for each two; None with the reason where undefined."""

    items: int
    annotators: tuple[str, ...]
    fleiss: Estimate | None
    reason: str
    pairs: tuple[tuple[str, str, int, Estimate | None], ...]


def agreement(answers: Iterable[GivenAnswer]) -> Agreement:
    """Agreement on the items that two or more people answered; "cannot tell" is an answer."""
    # Loads scipy; the first page must not wait for that.
    from fireassay.statistics.kappa import fleiss_kappa

    given: dict[int, dict[str, int]] = {}
    for answer in answers:
        if answer.kind == "answer" and answer.choice is not None:
            given.setdefault(answer.item, {})[answer.annotator] = answer.choice
    shared = {item: votes for item, votes in given.items() if len(votes) > 1}
    people = sorted({name for votes in shared.values() for name in votes})
    choices = sorted({choice for votes in shared.values() for choice in votes.values()})
    fleiss, reason = None, "no item has two answers yet"
    if shared:
        column = {choice: i for i, choice in enumerate(choices)}
        counts = np.zeros((len(shared), len(choices)), dtype=np.int64)
        for row, votes in enumerate(shared.values()):
            for choice in votes.values():
                counts[row, column[choice]] += 1
        fleiss, reason = _defined(fleiss_kappa, counts)
    return Agreement(len(shared), tuple(people), fleiss, reason, _pairs(shared, people))


def _pairs(
    shared: dict[int, dict[str, int]], people: list[str]
) -> tuple[tuple[str, str, int, Estimate | None], ...]:
    from fireassay.statistics.kappa import cohen_kappa

    found = []
    for one, two in itertools.islice(itertools.combinations(people, 2), _MOST_PAIRS):
        both = [(v[one], v[two]) for v in shared.values() if one in v and two in v]
        if both:
            first, second = zip(*both, strict=True)
            kappa, _ = _defined(cohen_kappa, list(first), list(second))
            found.append((one, two, len(both), kappa))
    return tuple(found)


def _defined(kappa: object, *data: object) -> tuple[Estimate | None, str]:
    assert callable(kappa)
    try:
        return kappa(*data), ""
    except NotEnoughEvidenceError as error:
        return None, str(error)
