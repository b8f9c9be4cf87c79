"""How much a file may unpack to: a few kilobytes can declare terabytes."""

from pathlib import Path

from fireassay.core.errors import DataError

MAX_BYTES = 16 * 1024**3


def check_declared_size(declared: int, max_bytes: int, path: str | Path) -> None:
    """Refuse a file that says it unpacks to more than ``max_bytes``, before reading it."""
    if declared > max_bytes:
        raise DataError(
            f"{path} must unpack to at most {max_bytes / 1e9:.3g} GB.",
            got=f"{declared / 1e9:.3g} GB declared",
            do="If the file is what you think it is, allow more with max_bytes=.",
        )
