"""How long this machine takes for what a plan knows in seconds of another one."""

import time
from typing import Final

import numpy as np

# Processor seconds of one piece on the machine where the parts' own seconds were measured.
_THERE: Final = 0.0034
_PIECES: Final = 5


def slowness(pieces: int = _PIECES) -> float:
    """Processor seconds here for one of those that the parts' own work was measured in.

    The quickest of a few pieces of work as parts do it: an interpreter's loop, products, a sort.
    Others at work only make a piece slower, and a plan is for a machine without them.

    Parameters
    ----------
    pieces
        How many pieces, of some milliseconds each.

    >>> 0.01 < slowness(3) < 100
    True
    """
    rng = np.random.default_rng(0)
    square = rng.random((192, 192), dtype=np.float32)
    numbers = rng.random(40_000)
    return min(_piece(square, numbers) for _ in range(pieces)) / _THERE


def _piece(square: np.ndarray, numbers: np.ndarray) -> float:
    begun = time.process_time()
    total = 0
    for i in range(20_000):
        total += i * i
    for _ in range(8):
        square @ square
    np.sort(numbers)
    return time.process_time() - begun
