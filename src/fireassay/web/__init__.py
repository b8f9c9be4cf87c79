"""The local app: label what a search asks for, review generated samples, look at runs."""

from typing import TYPE_CHECKING

from fireassay.core.lazy import lazy_names

if TYPE_CHECKING:
    from fireassay.web.queue import Queue as Queue
    from fireassay.web.queue import labels as labels
    from fireassay.web.queue import read_queue as read_queue
    from fireassay.web.queue import write_queue as write_queue
    from fireassay.web.queue_sources import queue_from_search as queue_from_search
    from fireassay.web.review import keep_reviewed as keep_reviewed
    from fireassay.web.review import kept_rows as kept_rows
    from fireassay.web.review import write_review_queue as write_review_queue
    from fireassay.web.server import serve as serve

lazy_names(__name__)
