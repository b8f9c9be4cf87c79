"""What a label book keeps: slots, leases, given answers."""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass

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
