"""Rows delivered to the models of a run, over all its starts, killed ones included."""

from pathlib import Path
from typing import Any, Final

import numpy as np

from fireassay.assessment.context import Context
from fireassay.classifiers.base import BaseClassifier, innermost
from fireassay.engine.run_lock import refuse_link

FILE: Final = "rows-delivered"
_KNOWN: Final = "the meter"


class Meter:
    """One number, mapped from a file of the run folder, so that a kill does not take it away."""

    def __init__(self, folder: Path | None) -> None:
        self._rows = np.zeros(1, dtype=np.int64)
        if folder is not None:
            path = folder / FILE
            refuse_link(path)
            if not path.is_file() or path.stat().st_size != self._rows.nbytes:
                path.write_bytes(self._rows.tobytes())
            self._rows = np.memmap(path, np.int64, "r+", shape=(1,))

    @property
    def rows(self) -> int:
        """Rows delivered so far."""
        return int(self._rows[0])

    def add(self, rows: int) -> None:
        """Count rows that are about to be delivered."""
        self._rows[0] += rows

    def watch(self, model: Any, max_rows: int | None = None) -> None:
        """Count what this model gets from now on; no more than ``max_rows`` in all."""
        adapter = innermost(model)
        if not isinstance(adapter, BaseClassifier):
            return
        adapter.on_delivery = self.add
        if max_rows is not None:
            allowed = adapter.rows_delivered + max(0, max_rows - self.rows)
            own = adapter.max_queries
            adapter.max_queries = allowed if own is None else min(own, allowed)


def meter_of(context: Context) -> Meter:
    """The meter of the run that a context belongs to."""
    if _KNOWN not in context.known:
        store = context.executor.store
        context.known[_KNOWN] = Meter(None if store is None else store.path)
    found: Meter = context.known[_KNOWN]
    return found
