"""How far the maps of a layer are averaged before a supervisor looks at them."""

from collections.abc import Sequence

FEATURES_WIDEST = 4096  # of a layer chosen by the user
PROBE_WIDEST = 512  # of each of many layers
MOST_LAYERS = 8
_GRID = 4


def grid(shape: Sequence[int], widest: int) -> tuple[int, int]:
    """Rows and columns to average maps (channels, height, width) to, at most 4 × 4.

    >>> grid((32, 14, 14), 512), grid((64, 7, 7), 512), grid((2048, 7, 7), 512)
    ((4, 4), (2, 2), (1, 1))
    """
    channels, height, width = shape
    side = _GRID
    while side > 1 and channels * min(side, height) * min(side, width) > widest:
        side -= 1
    return min(side, height), min(side, width)


def spread(names: Sequence[str], most: int = MOST_LAYERS) -> list[str]:
    """At most so many names, evenly spaced, always with the last."""
    if len(names) <= most:
        return list(names)
    step = (len(names) - 1) / (most - 1)
    return [names[round(i * step)] for i in range(most)]
