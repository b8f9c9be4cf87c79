"""How long a part works, in whatever processes: what a plan is compared with."""

import time

from fireassay.core.quiet_clock import quiet_seconds
from fireassay.engine.elsewhere import ELSEWHERE


class WorkClock:
    """What some work has taken since this was made, a plan's seconds: those of all processes.

    While others work, this thread waits; what it waits is not counted then, but what they do.

    >>> work = WorkClock()
    >>> ELSEWHERE.add(5.0)
    >>> 5.0 <= work.seconds < 6.0
    True
    """

    def __init__(self) -> None:
        self._quiet, self._own = quiet_seconds(), time.thread_time()
        self._elsewhere = ELSEWHERE.seconds

    @property
    def seconds(self) -> float:
        """Seconds of work so far."""
        elsewhere = ELSEWHERE.seconds - self._elsewhere
        if elsewhere:
            return time.thread_time() - self._own + elsewhere
        return quiet_seconds() - self._quiet
