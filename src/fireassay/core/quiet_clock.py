"""A clock that stands still while others have the processor: plans are for a quiet machine."""

import time
from pathlib import Path

_WAITED = Path("/proc/thread-self/schedstat")


def quiet_seconds() -> float:
    """Seconds, without those that this thread stood in line for a busy processor.

    Waiting for a disk, a server or another thread counts. Elsewhere than on Linux all does.

    >>> begun = quiet_seconds()
    >>> time.sleep(0.01)
    >>> quiet_seconds() - begun > 0.005
    True
    """
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
