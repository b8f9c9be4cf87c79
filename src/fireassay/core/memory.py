"""Limits of memory as sentences: what libraries would otherwise end the process over."""

import sys

from fireassay.core.errors import FireassayError

LIBRARIES_GB = 1.0  # below it numpy, scipy and pandas hang, abort or cannot be imported
DRAWING_GB = 70.0  # V8, which draws charts, reserves 64 GiB of addresses (and uses 80 MB)
_SAID = ("failed to map segment", "cannot allocate memory", "cannot create shared object")


class TooLittleMemoryError(FireassayError):
    """The process may not use as much memory as a library needs."""


def need_addresses(gigabytes: float, purpose: str) -> None:
    """Refuse to begin under an ``ulimit -v`` at which a library would abort the process."""
    allowed = _address_limit()
    if allowed is not None and allowed < gigabytes * 1e9:
        raise TooLittleMemoryError(
            f"{purpose} needs {gigabytes:g} GB of address space, most of it never used.",
            got=f"a limit of {allowed / 1e9:.2g} GB (ulimit -v)",
            do="Type: ulimit -v unlimited. To limit the memory that is used, take a container "
            "or: systemd-run --user --scope -p MemoryMax=8G fireassay …",
        )


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error, also that of an import, says that memory ran out."""
    if isinstance(error, ImportError | OSError):
        return any(words in str(error).lower() for words in _SAID)
    return isinstance(error, MemoryError)


def _address_limit() -> int | None:
    if sys.platform == "win32":
        return None
    import resource

    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else limit
