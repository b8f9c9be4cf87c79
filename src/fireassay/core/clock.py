"""CPU clocks: seconds without waiting for a processor, and seconds of work in all processes."""

import time
from pathlib import Path

_WAITED = Path("/proc/thread-self/schedstat")


def quiet_seconds() -> float:
    """Elapsed seconds without the time this thread waited for a CPU (Linux; elsewhere all)."""
    # Waiting for a disk, a server or another thread counts.
    waited = _waited()
    while True:
        now, before, waited = time.perf_counter(), waited, _waited()
        if waited == before:  # or it stood in line between the two looks
            return now - waited


def _waited() -> float:
    try:
        return 1e-9 * int(_WAITED.read_bytes().split()[1])
    except (OSError, IndexError):  # no such file, or a kernel that does not count
        return 0.0


class SecondsInWorkers:
    """A sum that only grows: what it was before some work is taken off after it."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def add(self, seconds: float) -> None:
        """A task that another process has done."""
        self.seconds += seconds


seconds_in_workers = SecondsInWorkers()


class WorkClock:
    """What some work has taken since this was made, a plan's seconds: those of all processes."""

    # While others work, this thread waits: their seconds are counted then, and its own are not.

    def __init__(self) -> None:
        self._quiet, self._own = quiet_seconds(), time.thread_time()
        self._elsewhere = seconds_in_workers.seconds

    @property
    def seconds(self) -> float:
        """Seconds of work so far."""
        elsewhere = seconds_in_workers.seconds - self._elsewhere
        if elsewhere:
            return time.thread_time() - self._own + elsewhere
        return quiet_seconds() - self._quiet
