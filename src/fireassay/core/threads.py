"""One thread for linear algebra and torch: the same rounding here, in workers, anywhere."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any


class _Limit:
    """A limit that several nested or parallel users share; the last one restores what was."""

    def __init__(self, set_limit: Callable[[], Callable[[], Any]]) -> None:
        self._set_limit = set_limit
        self._lock = threading.Lock()
        self._users = 0
        self._restore: Callable[[], Any] | None = None

    @contextmanager
    def held(self) -> Iterator[None]:
        with self._lock:
            if self._users == 0:
                self._restore = self._set_limit()
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if self._users == 0 and self._restore is not None:
                    self._restore()


def _limit_everything() -> Any:
    from threadpoolctl import ThreadpoolController

    # Looked up anew: a library loaded since must be limited too.
    return ThreadpoolController().limit(limits=1).restore_original_limits


def _limit_torch() -> Callable[[], Any]:
    torch = sys.modules.get("torch")
    if torch is None:
        return lambda: None
    before = torch.get_num_threads()
    if before != 1:
        torch.set_num_threads(1)
        return lambda: torch.set_num_threads(before)
    return lambda: None


@cache
def _blas() -> Any:
    """Looking for the loaded libraries takes milliseconds; BLAS is loaded with numpy and scipy."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


_blas_limit = _Limit(lambda: _blas().limit(limits=1).restore_original_limits)
_all_limit = _Limit(_limit_everything)
_torch_limit = _Limit(_limit_torch)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """BLAS on one thread: with more, products are cut at other rows and round differently."""
    with _blas_limit.held():
        yield


@contextmanager
def one_torch_thread() -> Iterator[None]:
    """Torch, if loaded, on one thread: more make small models slower and sums thread-dependent."""
    with _torch_limit.held():
        yield


@contextmanager
def one_thread() -> Iterator[None]:
    """Everything on one thread: BLAS, OpenMP and torch, as in a worker process."""
    with _all_limit.held(), _torch_limit.held():
        yield
