"""The local app: label what a search asks for, review generated samples, look at runs."""

from typing import TYPE_CHECKING

from fireassay.core.lazy import lazy_names

# By name, so that queues can be made and read where the app's extra is not installed.
if TYPE_CHECKING:
    from fireassay.web.queue import Queue, labels, read_queue, write_queue
    from fireassay.web.queue_sources import queue_from_search
    from fireassay.web.review import keep_reviewed, kept_rows, write_review_queue
    from fireassay.web.server import serve

__all__ = [
    "Queue",
    "keep_reviewed",
    "kept_rows",
    "labels",
    "queue_from_search",
    "read_queue",
    "serve",
    "write_queue",
    "write_review_queue",
]

lazy_names(__name__)
