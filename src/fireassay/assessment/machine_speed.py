"""How long this machine takes for what a plan knows in seconds of another one."""

import time
from typing import Final

import numpy as np

from fireassay.core.arrays import FloatArray

# Processor seconds of one piece on the machine where the parts' own seconds were measured.
_THERE: Final = 0.0011
_PIECES: Final = 5


def slowness(pieces: int = _PIECES) -> float:
    """Processor seconds here for one of those that the parts' own work was measured in.

    The quickest of a few pieces of work as parts do it: a loop, exponentials, a sort.
    Others at work only make a piece slower, and a plan is for a machine without them.

    Parameters
    ----------
    pieces
        How many pieces, of a millisecond or so each.

    >>> 0.01 < slowness(3) < 100
    True
    """
    numbers = np.random.default_rng(0).random(20_000)
    return min(_piece(numbers) for _ in range(pieces)) / _THERE


def _piece(numbers: FloatArray) -> float:
    """Seconds of this thread; nothing that a library would share among several."""
    begun, total = time.thread_time(), 0
    for i in range(12_000):
        total += i * i
    for _ in range(3):
        np.exp(numbers)
    np.sort(numbers)
    return time.thread_time() - begun
