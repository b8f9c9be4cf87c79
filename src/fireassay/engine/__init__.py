"""Many tasks as one call: workers, clusters, progress, and a journal that survives a kill."""

from typing import TYPE_CHECKING

from fireassay.core.lazy import lazy_names

if TYPE_CHECKING:
    from fireassay.engine.content_store import ContentStore
    from fireassay.engine.executor import Executor
    from fireassay.engine.local import ExecutionError, Failure
    from fireassay.engine.progress import track
    from fireassay.engine.store import Progress, RunStore

__all__ = ["ContentStore", "ExecutionError", "Executor", "Failure", "Progress", "RunStore", "track"]

lazy_names(__name__)
