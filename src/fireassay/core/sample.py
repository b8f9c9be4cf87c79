"""A sample that proves a sentence: which row, what it is, what was said, and why it is shown."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fireassay.core.errors import ParameterError

# Of a part: a page must stay a page.
SHOWN_PER_PART = 12


@dataclass(frozen=True)
class Cell:
    """One feature of a row in a table.

    Attributes:
        name, value: As a reader sees them.
        unusual: Whether it lies far from what is usual: the page marks it.
        usual: What is usual, in words.
        was: What it was, where somebody changed it.

    >>> Cell("age", "97", unusual=True, usual="31 to 64").unusual
    True
    """

    name: str
    value: str
    unusual: bool = False
    usual: str = ""
    was: str = ""


@dataclass(frozen=True)
class Sample:
    """One input as evidence.

    Attributes:
        row: Its id in the data it comes from: a row's number, or a name.
        why: Why it is shown, in a few words, e.g. ``"wrong, and sure"``.
        source: Which data: ``"test"``, ``"operational"``, ``"made"``.
        truth, said: The label, and the model's answer; empty if not known.
        confidence: How sure the model was, in [0, 1].
        scores: Further numbers by name, e.g. a monitor's score and its threshold.
        pictures: PNG data URIs by name: ``"input"``; if changed ``"original"``, ``"difference"``.
        cells: Features of a row, those that deviate most first.
        text: Tokens with how much each mattered, in order (0 where nothing is known).
        series: One line of values per channel, by name.
        mark: The mark of a chart that leads to it, e.g. ``"ambiguity-3-5"``.

    >>> Sample(17, "wrong, and sure", truth="cat", said="dog", confidence=0.99).title
    'cat → dog'
    """

    row: int | str
    why: str
    source: str = "test"
    truth: str = ""
    said: str = ""
    confidence: float | None = None
    scores: Mapping[str, float] = field(default_factory=dict)
    pictures: Mapping[str, str] = field(default_factory=dict)
    cells: tuple[Cell, ...] = ()
    text: tuple[tuple[str, float], ...] = ()
    series: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    mark: str = ""

    def __post_init__(self) -> None:
        for name, picture in self.pictures.items():
            if not picture.startswith("data:image/png;base64,"):
                raise ParameterError(
                    f"A sample's pictures are PNG data URIs, also '{name}'.", got=picture[:30]
                )

    @property
    def title(self) -> str:
        """Truth and answer, as ``cat → dog``."""
        return " → ".join(word for word in (self.truth, self.said) if word)

    def to_dict(self) -> dict[str, Any]:
        """What ``result.json`` keeps: which row and what was said, not the row itself."""
        kept = ("row", "why", "source", "truth", "said", "confidence")
        return {**{name: getattr(self, name) for name in kept}, "scores": dict(self.scores)}
