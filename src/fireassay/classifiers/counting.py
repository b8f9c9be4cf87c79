"""Rows asked and rows delivered; budgets; here, in threads and in other processes."""

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from fireassay.core.errors import BudgetExceededError
from fireassay.core.validation import check_integer


class CountsRows:
    """Counts rows asked and rows delivered, for all threads and for each, and keeps to a budget."""

    # Callers *ask* about rows (``queries``); a row of which the answer is known is asked, too. A
    # row is *delivered* when it reaches the model: for a caller, a probe, or to fill up a block.
    # The budget is of delivered rows.

    def __init__(self, max_queries: int | None = None) -> None:
        if max_queries is not None:
            max_queries = check_integer(max_queries, "max_queries", low=0)
        self.max_queries = max_queries
        self.on_delivery: Callable[[int], None] | None = None  # told of each block before it goes
        self._counts = {"queries": 0, "gradient_queries": 0, "rows_delivered": 0}
        self._lock = threading.Lock()
        self._local = threading.local()

    @property
    def queries(self) -> int:
        """Rows that callers have asked about so far (padding and probes are not counted)."""
        return self._counts["queries"]

    @property
    def rows_delivered(self) -> int:
        """Rows that reached the model so far: of callers and probes, with padding."""
        return self._counts["rows_delivered"]

    def _count(self, **rows: int) -> None:
        with self._lock:
            self._tally(rows, self._here())

    def _deliver(self, n: int, here: dict[str, int] | None = None) -> None:
        """Count rows that go to the model now; rows beyond the budget must not go."""
        # ``here`` are the counts of the thread that waits for the answer, where that is another.
        with self._lock:
            self._refuse(n)
            self._tally({"rows_delivered": n}, self._here() if here is None else here)

    def _check_room(self, n: int) -> None:
        """Refuse a call as a whole, if its rows do not fit into the budget."""
        with self._lock:
            self._refuse(n)

    def _refuse(self, n: int) -> None:
        left = None if self.max_queries is None else self.max_queries - self.rows_delivered
        if left is not None and n > left:
            raise BudgetExceededError(
                f"The budget is {self.max_queries} queries, of which {max(0, left)} are left.",
                got=f"a call with {n} rows; none was sent",
                do="Send fewer rows, or raise max_queries.",
            )

    def _here(self) -> dict[str, int]:
        """The counts of this thread."""
        here: dict[str, int] = vars(self._local).setdefault("asked", dict.fromkeys(self._counts, 0))
        return here

    def _tally(self, rows: Mapping[str, int], here: dict[str, int]) -> None:
        """Add to the counts of the model and of a thread; the caller holds the lock."""
        for name, n in rows.items():
            self._counts[name] += n
            here[name] += n
        if self.on_delivery is not None and rows.get("rows_delivered"):
            self.on_delivery(rows["rows_delivered"])

    def count_kept(self, n: int) -> None:
        """Count rows as asked whose answers are known: nothing is delivered."""
        self._count(queries=n)

    @contextlib.contextmanager
    def counting_kept(self, n: int) -> Iterator[None]:
        """Count ``n`` rows more as asked with the next call in this thread."""
        vars(self._local)["known"] = vars(self._local).get("known", 0) + n
        try:
            yield
        finally:
            vars(self._local).pop("known", None)

    def asked_here(self) -> Mapping[str, int]:
        """What this thread has asked so far: queries, gradient queries, rows delivered."""
        return dict(self._here())

    def count_elsewhere(self, asked: Mapping[str, int]) -> None:
        """Add what a copy of this model was asked in another process."""
        self._count(**asked)

    # Travelling to worker processes ---------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        state = {**self.__dict__, "on_delivery": None}  # the driver adds what a copy delivered
        del state["_lock"], state["_local"]
        with self._lock:
            state["_counts"] = dict(self._counts)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()
        self._local = threading.local()
