"""One BLAS thread while a model answers, and the user's setting back afterwards."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_lock = threading.Lock()
_depth = 0
_controller: Any = None
_limit: Any = None


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Set numpy's and scipy's BLAS to one thread; the last of several users restores it.

    With more threads a matrix product is cut at other rows, and the rows at a cut are rounded
    differently: a worker process would not give the same bytes as the main one.
    """
    global _depth, _controller, _limit
    with _lock:
        if _depth == 0:
            if _controller is None:
                from threadpoolctl import ThreadpoolController

                _controller = ThreadpoolController().select(user_api="blas")
            _limit = _controller.limit(limits=1)
        _depth += 1
    try:
        yield
    finally:
        with _lock:
            _depth -= 1
            if _depth == 0:
                _limit.restore_original_limits()
