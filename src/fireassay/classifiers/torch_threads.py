"""One torch thread while a model answers, and the user's setting back afterwards."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from fireassay.core.extras import require

_lock = threading.Lock()
_depth = 0
_before = 1


@contextmanager
def one_thread() -> Iterator[None]:
    """Set torch to one thread; the last of several nested or parallel users restores it.

    More threads than free cores make small models many times slower, and sums may then depend on
    the number of threads.
    """
    global _depth, _before
    torch = require("torch", "torch", "A torch model")
    with _lock:
        if _depth == 0:
            _before = torch.get_num_threads()
            if _before != 1:
                torch.set_num_threads(1)
        _depth += 1
    try:
        yield
    finally:
        with _lock:
            _depth -= 1
            if _depth == 0 and _before != 1:
                torch.set_num_threads(_before)
