"""How much memory this process holds, and the most it has held since asked to forget."""

import sys
from pathlib import Path

ROWS_HELD = "rows sent at once, and megabytes that the process took for them"  # known of a context
_STATUS, _FORGET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def held_mb() -> float:
    """Megabytes of memory that this process holds now (elsewhere than on Linux: at its most)."""
    return _from_status("VmRSS:")


def most_held_mb() -> float:
    """The most megabytes since `forget_most` (elsewhere than on Linux: since the start)."""
    return _from_status("VmHWM:")


def forget_most() -> None:
    """Start to look for the most again, where the system allows it."""
    if _FORGET.exists():
        try:
            _FORGET.write_text("5")
        except OSError:  # a container may forbid it: then the most since the start is shown
            return


def _from_status(field: str) -> float:
    if _STATUS.exists():
        for line in _STATUS.read_text().splitlines():
            if line.startswith(field):
                return int(line.split()[1]) / 1024
    if sys.platform == "win32":
        return float("nan")
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (1024**2 if sys.platform == "darwin" else 1024)
