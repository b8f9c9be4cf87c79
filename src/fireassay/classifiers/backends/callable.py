"""Any function from rows to class probabilities."""

from collections.abc import Callable
from typing import Any

from fireassay.classifiers.base import BaseClassifier
from fireassay.classifiers.fingerprint import fingerprint
from fireassay.core.threads import one_blas_thread


class CallableClassifier(BaseClassifier):
    """A function ``f(X) -> probabilities``, called with blocks of rows of the caller's type."""

    # Its ``sha256`` covers code, defaults, closure and named globals, as before its first answer.
    # Blocks are not filled up: nobody knows what a function costs.

    pads_blocks = False
    takes_objects = True
    takes_integers = True

    def __init__(self, function: Callable[[Any], Any], **options: Any) -> None:
        super().__init__(**options)
        self._need_classes("function")
        self.function = function

    def _raw(self, block: Any) -> Any:
        if self._identity is None:  # before the first answer: a function may keep state
            self.identify()
        with one_blas_thread():
            if self.rows_as == "each":
                return [self.function(text) for text in block]
            return self.function(block)

    def _content_hash(self) -> str:
        return fingerprint(self.function)

    def _described(self) -> str:
        return str(getattr(self.function, "__qualname__", type(self.function).__qualname__))


def accepts(obj: Any) -> bool:
    """Whether an object can be called."""
    return callable(obj)


adapt = CallableClassifier
