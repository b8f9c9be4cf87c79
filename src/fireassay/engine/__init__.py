"""Many tasks as one call: workers, clusters, progress, and a journal that survives a kill."""

from fireassay.engine.executor import Executor
from fireassay.engine.failure import ExecutionError, Failure
from fireassay.engine.label_book import LabelBook
from fireassay.engine.progress import track
from fireassay.engine.store import Progress, RunStore

__all__ = [
    "ExecutionError",
    "Executor",
    "Failure",
    "LabelBook",
    "Progress",
    "RunStore",
    "track",
]
