"""A model that counts its own queries, also those of its copies in other processes."""

from collections.abc import Mapping
from typing import Any, Protocol


class Counted(Protocol):
    """A model that counts its queries per thread and adds those made by copies in workers."""

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
