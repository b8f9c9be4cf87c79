"""Products of small blocks gain nothing from threads, and lose much on a busy machine."""

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


def one_thread() -> AbstractContextManager[Any]:
    """A context in which linear algebra runs in one thread."""
    limited: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limited


@cache
def _controller() -> ThreadpoolController:
    """Looking for the loaded libraries takes milliseconds; they do not change."""
    return ThreadpoolController()
