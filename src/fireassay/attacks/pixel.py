"""Pixel attack: a few pixels, anywhere and of any value, found by differential evolution."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.attacks.attacked_model import AttackedModel, Index
from fireassay.attacks.evolution import Genes, evolve
from fireassay.attacks.result import AttackResult
from fireassay.attacks.start import feature_ranges
from fireassay.attacks.windows import make_layout


def pixel(
    model: Any,
    X: ArrayLike,
    y: ArrayLike | None = None,
    norm: str = "l0",
    eps: float = 3,
    max_queries: int = 400,
    *,
    mask: ArrayLike | None = None,
    seed: int = 0,
) -> AttackResult:
    """Change at most ``eps`` features (whole pixels) to any value of their range.

    Parameters
    ----------
    model, X, y, mask
        As in `fgm`; gradients are not needed.
    norm
        ``"l0"``: how many features differ.
    eps
        Most features that change, at least 1; a pixel of a colour image has three.
    max_queries
        Hard limit of forward queries per sample; populations have an eighth of it, 4 to 40.
    seed
        Of the populations.

    Notes
    -----
    Su, Vargas and Sakurai 2019: a member of the population is a list of places and values; it is
    challenged by another plus half the difference of two more. All samples evolve at once.

    >>> from fireassay import as_classifier
    >>> last = lambda X: np.column_stack([1 - X[:, 2], X[:, 2]])  # looks at one feature
    >>> model = as_classifier(last, classes=[0, 1], bounds=(0, 1))
    >>> found = pixel(model, np.full((2, 3), 0.1), [0, 0], eps=1)
    >>> found.success.tolist(), found.distance.tolist()
    ([True, True], [1.0, 1.0])
    """
    target = AttackedModel(
        "pixel", model, X, y, norm=norm, seed=seed, max_queries=max_queries, eps=eps, mask=mask,
        norms=("l0",),
    )  # fmt: skip
    layout = make_layout(target.shape, target.mask)
    place = layout.row * layout.width + layout.column
    places = np.unique(place[target.free])
    count = int(min(max(eps // layout.channels, 1), len(places)))
    low, high = feature_ranges(target)
    width = 1 + layout.channels
    # Features of each place, in the order of the channels; −1 where there is none that may change.
    table = np.full((len(places), layout.channels), -1, dtype=np.int64)
    table[np.searchsorted(places, place[target.free]), layout.channel[target.free]] = target.free

    def build(genes: Genes, rows: Index) -> NDArray[Any]:
        points = target.original[rows].astype(np.float64)
        here = np.arange(len(rows))
        for k in range(count):
            own = genes[:, k * width : (k + 1) * width]
            chosen = table[np.minimum((own[:, 0] * len(places)).astype(int), len(places) - 1)]
            for channel in range(layout.channels):
                at = chosen[:, channel]
                ok = at >= 0
                value = low[at] + own[:, 1 + channel] * (high - low)[at]
                points[here[ok], at[ok]] = value[ok]
        return target.inside(points, rows)

    evolve(target, count * width, build)
    return target.result()
