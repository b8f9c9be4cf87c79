"""What people are asked: the items, what can be answered, and what the model said of them."""

import math
from dataclasses import dataclass

import numpy as np

from fireassay.core.arrays import FloatArray, IntArray

CANNOT_TELL, OTHER = -1, -2
_SPECIAL = {CANNOT_TELL: "(cannot tell)", OTHER: "(other)"}


@dataclass(frozen=True, eq=False)
class Questions:
    """Items that people label: a search's candidates, or a queue of the app.

    Attributes
    ----------
    label_key, labels_sha256
        Under which name the label book keeps the labels, and the hash of what they are labels of.
    choices
        What can be answered, in order; an answer is a position here, or `CANNOT_TELL` or `OTHER`.
    annotators_per_item
        How many different people label each item; None: as the label book has it, at first one.
    reveal
        Whether people see the model's answer after theirs.
    ids, rows
        Text and row of the data set of each item.
    predicted, confidence
        The model's answer (position in ``choices``, −1: unknown) and its confidence (NaN: unknown).
        Nobody sees them before labelling.
    """

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

    def reveals(self, item: int) -> bool:
        """Whether people see the model's answer to this item after theirs."""
        return self.reveal and self.has_prediction(item)


def search_key(state_file: str) -> str:
    """The name under which the labels of a saved search are kept; no queue can have it."""
    return f"search:{state_file}"
