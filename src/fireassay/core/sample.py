"""A sample that proves a sentence: which row, what it is, what was said, and why it is shown."""

import base64
import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.core.errors import ParameterError

# Of a part: a page must stay a page.
SHOWN_PER_PART = 12
_LONGEST_SIDE = 96
_RED, _BLUE = (163.0, 33.0, 28.0), (11.0, 92.0, 173.0)


@dataclass(frozen=True)
class Cell:
    """One feature of a row in a table.

    Attributes
    ----------
    name, value
        As a reader sees them.
    unusual
        Whether it lies far from what is usual: the page marks it.
    usual
        What is usual, in words.
    was
        What it was, where somebody changed it.

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

    Attributes
    ----------
    row
        Its id in the data it comes from: a row's number, or a name.
    why
        Why it is shown, in a few words, e.g. ``"wrong, and sure"``.
    source
        Which data: ``"test"``, ``"operational"``, ``"made"``.
    truth, said
        The label, and the model's answer; empty if not known.
    confidence
        How sure the model was, in [0, 1].
    scores
        Further numbers by name, e.g. a monitor's score and its threshold.
    pictures
        PNG data URIs by name: ``"input"``, and ``"original"`` and ``"difference"`` where it was
        changed.
    cells
        Features of a row, those that deviate most first.
    text
        Tokens with how much each mattered, in order (0 where nothing is known).
    series
        One line of values per channel, by name.
    mark
        The mark of a chart that it belongs to, e.g. ``"ambiguity-3-5"``: the mark leads to it.

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
        return {
            "row": self.row,
            "why": self.why,
            "source": self.source,
            "truth": self.truth,
            "said": self.said,
            "confidence": self.confidence,
            "scores": dict(self.scores),
        }


def png_uri(pixels: NDArray[Any], *, low: float = 0.0, high: float = 1.0) -> str:
    """An image ``(h, w)`` or ``(h, w, 1, 3 or 4)`` as a small PNG data URI.

    Parameters
    ----------
    pixels
        Values; NaN becomes the lowest.
    low, high
        What is black and what is white.

    Returns
    -------
    str
        Large images are made smaller, small ones stay pixel by pixel.

    >>> png_uri(np.zeros((4, 4)))[:22]
    'data:image/png;base64,'
    """
    scaled = (np.nan_to_num(np.asarray(pixels, dtype=float), nan=low) - low) / (high - low or 1.0)
    shown = np.round(np.clip(scaled, 0.0, 1.0) * 255.0).astype(np.uint8)
    return _data_uri(shown)


def signed_png_uri(values: NDArray[Any]) -> str:
    """Differences as a picture: blue below zero, red above, white where nothing changed.

    Parameters
    ----------
    values
        ``(h, w)``, or with channels, which are averaged.

    Returns
    -------
    str
        A PNG data URI; the largest difference has the full colour.

    >>> signed_png_uri(np.array([[0.0, 0.2], [-0.1, 0.0]]))[:22]
    'data:image/png;base64,'
    """
    change = np.nan_to_num(np.asarray(values, dtype=float))
    if change.ndim == 3:
        change = change.mean(axis=2)
    change = change / (np.abs(change).max(initial=0.0) or 1.0)
    up, down = np.clip(change, 0, 1)[..., None], np.clip(-change, 0, 1)[..., None]
    shown = 255.0 - up * (255.0 - np.array(_RED)) - down * (255.0 - np.array(_BLUE))
    return _data_uri(np.round(shown).astype(np.uint8))


def _data_uri(pixels: NDArray[np.uint8]) -> str:
    from PIL import Image

    shown = pixels[:, :, 0] if pixels.ndim == 3 and pixels.shape[2] == 1 else pixels
    image = Image.fromarray(np.ascontiguousarray(shown))
    if max(image.size) > _LONGEST_SIDE:
        image.thumbnail((_LONGEST_SIDE, _LONGEST_SIDE))
    out = io.BytesIO()
    image.save(out, format="PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(out.getvalue()).decode()
