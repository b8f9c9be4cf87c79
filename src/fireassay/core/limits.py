"""How much a file may unpack to: a few kilobytes can declare terabytes."""

from pathlib import Path

from fireassay.core.errors import DataError

MAX_BYTES = 16 * 1024**3
# Measured data packs to a hundredth at best; above a gigabyte, what packs better is a bomb.
_HARMLESS_BYTES = 1024**3
_MOST_PACKED = 200


def check_declared_size(
    declared: int, max_bytes: int, path: str | Path, *, packed: int | None = None
) -> None:
    """Refuse a file that says it unpacks to more than ``max_bytes``, before reading it.

    With ``packed``, the bytes on the disk, it must not be a bomb either: more than a gigabyte out
    of less than a two-hundredth of that. Whoever names a ``max_bytes`` of their own allows it.
    """
    if packed is not None and max_bytes == MAX_BYTES and declared > _MOST_PACKED * packed:
        max_bytes = _HARMLESS_BYTES
    if declared > max_bytes:
        raise DataError(
            f"{path} must unpack to at most {max_bytes / 1e9:.3g} GB.",
            got=f"{declared / 1e9:.3g} GB declared",
            do="If the file is what you think it is, allow more with max_bytes=.",
        )


def check_text_size(texts: list[str], name: str) -> None:
    """Refuse texts of which a single long one makes an array of texts huge."""
    longest = max(map(len, texts), default=0)
    if 4 * longest * len(texts) > _HARMLESS_BYTES:
        raise DataError(
            f"{name} must be short texts, below 1 GB as an array.",
            got=f"{len(texts)} of them, one with {longest} characters",
            do="Name another column, or shorten them.",
        )
