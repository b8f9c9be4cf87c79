"""How many rows were asked, sent and probed; budgets; here, in threads and in other processes."""

import contextlib
import threading
from collections.abc import Iterator, Mapping
from typing import Any

from fireassay.core.errors import BudgetExceededError
from fireassay.core.validation import check_integer


class CountsRows:
    """Counts what it is asked, for all threads and for each, and keeps to a budget.

    Parameters
    ----------
    max_queries
        The budget of rows, probes included.

    >>> asked = CountsRows(max_queries=3)
    >>> asked.count_kept(2)
    >>> asked.queries, asked.rows_sent
    (2, 0)
    """

    def __init__(self, max_queries: int | None = None) -> None:
        self.max_queries = (
            None if max_queries is None else check_integer(max_queries, "max_queries", low=0)
        )
        self._counts = {"queries": 0, "probe_queries": 0, "gradient_queries": 0, "rows_sent": 0}
        self._lock = threading.Lock()
        self._local = threading.local()

    @property
    def queries(self) -> int:
        """Rows that callers have asked about so far (padding and probes are not counted)."""
        return self._counts["queries"]

    @property
    def rows_sent(self) -> int:
        """Rows that the model got for the callers' questions: as `queries`, with padding."""
        return self._counts["rows_sent"]

    @property
    def probe_queries(self) -> int:
        """Rows that `probe` and the choice of block sizes have sent so far."""
        return self._counts["probe_queries"]

    def _count(self, **rows: int) -> None:
        with self._lock:
            self._tally(rows)

    def _reserve(self, n: int, gradients_per_row: int = 0, name: str = "queries") -> None:
        with self._lock:
            spent = self._counts["queries"] + self._counts["probe_queries"]
            if self.max_queries is not None and spent + n > self.max_queries:
                raise BudgetExceededError(
                    f"The budget is {self.max_queries} queries, of which "
                    f"{self.max_queries - spent} are left.",
                    got=f"a call with {n} rows; none was sent",
                    do="Send fewer rows, or raise max_queries.",
                )
            self._tally({name: n, "gradient_queries": n * gradients_per_row})

    def _tally(self, rows: Mapping[str, int]) -> None:
        """Add to the counts of the model and of this thread; the caller holds the lock."""
        here = vars(self._local).setdefault("asked", dict.fromkeys(self._counts, 0))
        for name, n in rows.items():
            self._counts[name] += n
            here[name] += n

    def count_kept(self, n: int) -> None:
        """Count rows as asked whose answers are known: a budget is for what is asked."""
        self._reserve(n)

    @contextlib.contextmanager
    def counting_kept(self, n: int) -> Iterator[None]:
        """Count ``n`` rows more as asked with the next call in this thread."""
        vars(self._local)["known"] = n
        try:
            yield
        finally:
            vars(self._local).pop("known", None)

    def asked_here(self) -> Mapping[str, int]:
        """What this thread has asked so far: queries, probe and gradient queries, rows sent."""
        return dict(getattr(self._local, "asked", dict.fromkeys(self._counts, 0)))

    def count_elsewhere(self, asked: Mapping[str, int]) -> None:
        """Add what a copy of this model was asked in another process."""
        self._count(**asked)

    # Travelling to worker processes ---------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        del state["_lock"], state["_local"]
        with self._lock:
            state["_counts"] = dict(self._counts)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()
        self._local = threading.local()
