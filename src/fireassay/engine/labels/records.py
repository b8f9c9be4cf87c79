"""Records of a label book: slots, leases, questions, answers and their consensus."""

import math
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.errors import DataError


@dataclass(frozen=True)
class Slot:
    """An item that is asked about: its turn, its purpose, and with what chance it was drawn."""

    rank: int
    item: int
    arm: str = "search"
    probability: float | None = None
    answers: int = 0


@dataclass(frozen=True)
class Lease:
    """The right to answer one item for some minutes; ``token`` makes an answer count once."""

    token: str
    item: int
    annotator: str
    granted: float
    after_reveal: bool


@dataclass(frozen=True)
class GivenAnswer:
    """One answer: a choice (−1 cannot tell, −2 other), a skip, or the resolution of a conflict."""

    number: int
    item: int
    annotator: str
    kind: str
    choice: int | None
    comment: str
    seconds: float | None
    created: str
    after_reveal: bool


class LeaseLostError(DataError):
    """The item went to somebody else meanwhile; nothing was saved."""


class AnsweredDifferentlyError(LeaseLostError):
    """The item has another answer from the same form; that one stays, and this one is not saved."""


# Opens a further slot, given the book's connection; None when there is none.
Chooser = Callable[[sqlite3.Connection], Slot | None]


CANNOT_TELL, OTHER = -1, -2
_SPECIAL = {CANNOT_TELL: "(cannot tell)", OTHER: "(other)"}


@dataclass(frozen=True, eq=False)
class Questions:
    """Items that people label: a search's candidates, or a queue of the app."""

    label_key: str
    labels_sha256: str
    choices: tuple[str, ...]
    annotators_per_item: int | None
    reveal: bool
    ids: "np.ndarray[tuple[int, ...], np.dtype[np.str_]]"
    rows: IntArray
    predicted: IntArray
    confidence: FloatArray

    def __len__(self) -> int:
        return len(self.rows)

    def choice_name(self, choice: int) -> str:
        """An answer in words."""
        return _SPECIAL[choice] if choice < 0 else self.choices[choice]

    def has_prediction(self, item: int) -> bool:
        """Whether the model's answer and confidence are known."""
        return bool(self.predicted[item] >= 0 and not math.isnan(self.confidence[item]))

    def predicted_name(self, item: int) -> str | None:
        """The model's answer, if it is known."""
        return self.choices[int(self.predicted[item])] if self.has_prediction(item) else None

    def is_wrong(self, item: int, label: int | None) -> bool | None:
        """Whether the model's answer is another than a label; None where either is not known."""
        known = label is not None and self.has_prediction(item)
        return label != int(self.predicted[item]) if known else None

    def reveals(self, item: int) -> bool:
        """Whether people see the model's answer to this item after theirs."""
        return self.reveal and self.has_prediction(item)


def search_key(state_file: str) -> str:
    """The name under which the labels of a saved search are kept; no queue can have it."""
    return f"search:{state_file}"


STATES = ("open", "settled", "conflict", "cannot tell")


@dataclass(frozen=True)
class Consensus:
    """What the answers to one item amount to."""

    # ``state`` is "open" (no answer), "settled" (``label`` holds), "cannot tell" or "conflict" (a
    # tie, to be resolved). ``disagreed``: the annotators were not unanimous.

    item: int
    state: str
    label: int | None
    answers: tuple[GivenAnswer, ...]
    disagreed: bool
    resolved: bool


def consensus(answers: Iterable[GivenAnswer]) -> dict[int, Consensus]:
    """Majority of the answers per item, in order of first answers; a resolution overrules all."""
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
