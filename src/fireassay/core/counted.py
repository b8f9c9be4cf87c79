"""What counts its own queries: a model of which copies may work in other processes."""

from collections.abc import Mapping
from typing import Any, Protocol


class Counted(Protocol):
    """A model that knows what was asked of it, by which thread, and what else was asked of copies.

    ``Executor.map`` sends copies of a model to workers. With these two methods it adds what each
    task asked there to the model here, whatever the number of workers.
    """

    max_queries: int | None

    def asked_here(self) -> Mapping[str, int]:
        """What this thread has asked so far: queries, probe queries, gradient queries."""
        ...

    def count_elsewhere(self, asked: Mapping[str, int]) -> None:
        """Add what a copy of this model was asked in another process."""
        ...


def is_counted(value: Any) -> bool:
    """Whether a value counts its queries; asks the type alone, so that nothing is computed."""
    return hasattr(type(value), "count_elsewhere")
