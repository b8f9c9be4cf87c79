"""Maps of files that somebody may cut while they are read: an error instead of SIGBUS (Linux)."""

import ctypes
import functools
import mmap
import platform
import signal
import sys
import threading
import weakref
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from fireassay.core.arrays import AnyArray
from fireassay.core.errors import DataError

_PAGE = mmap.PAGESIZE
_SIGINFO, _PRIVATE, _FIXED, _ANONYMOUS = 4, 2, 16, 32
_maps: dict[int, tuple[int, str]] = {}  # first address -> end, file
_cut: list[str] = []


class CutFileError(DataError):
    """A file became shorter while its rows were read."""

    def __init__(self, *said: str) -> None:
        name = _cut[-1] if _cut else "A data file"
        super().__init__(*said or (f"{name} became shorter while it was read. Run again.",))


class _Action(ctypes.Structure):
    _fields_ = (
        ("handler", ctypes.c_void_p),
        ("mask", ctypes.c_ulong * 16),
        ("flags", ctypes.c_int),
        ("restorer", ctypes.c_void_p),
    )


def guarded(array: np.memmap[Any, Any], path: Path) -> np.memmap[Any, Any]:
    """The map of a file; from now on reading beyond a cut raises `CutFileError` in its thread."""
    if sys.platform == "linux" and platform.machine() in ("x86_64", "aarch64"):
        kept: Any = array.base  # the map itself: views live as long as it does
        first = array.__array_interface__["data"][0]
        end = -(-(first + array.nbytes) // _PAGE) * _PAGE
        _maps[first // _PAGE * _PAGE] = end, path.name
        weakref.finalize(kept, _maps.pop, first // _PAGE * _PAGE, None)
        _install()
    return array


@functools.cache
def _install() -> Any:
    """Let SIGBUS in our maps read zeros once, then raise; any other goes to the handler before."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype, libc.mmap.argtypes = (
        ctypes.c_void_p,
        (
            *(ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int),
            *(ctypes.c_int, ctypes.c_int, ctypes.c_long),
        ),
    )
    before, raise_in = _Action(), ctypes.pythonapi.PyThreadState_SetAsyncExc

    # The fault is in a loop over numbers, never in Python's own memory: Python code may run here.
    def on_fault(number: int, info: int, context: int) -> None:
        del number, context
        place = ctypes.c_void_p.from_address(info + 16).value or 0
        for start, (end, name) in _maps.items():
            if start <= place < end:
                page = place // _PAGE * _PAGE
                flags = _PRIVATE | _FIXED | _ANONYMOUS
                libc.mmap(page, end - page, mmap.PROT_READ, flags, -1, 0)
                _cut.append(name)
                # Told when this frame goes: an error set earlier would be raised in here.
                here = ctypes.c_ulong(threading.get_ident())
                tell = functools.partial(raise_in, here, ctypes.py_object(CutFileError))
                at_the_end = type("AtTheEnd", (), {"__del__": staticmethod(tell)})()  # noqa: F841
                return
        libc.sigaction(signal.SIGBUS, ctypes.byref(before), None)  # the fault comes again

    called = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(on_fault)
    action = _Action(ctypes.cast(called, ctypes.c_void_p).value, flags=_SIGINFO)
    libc.sigaction(signal.SIGBUS, ctypes.byref(action), ctypes.byref(before))
    return called


LEAST_NUMBERS: Final = 2**28  # as float32 this is a gigabyte
_OF_MEMORY = ("base", "ctypes", "data", "flags", "strides")  # ask what is stored


def stay_bytes(rows: Any) -> bool:
    """Whether these rows are `ByteImages`, which pass for an array wherever one is expected."""
    return isinstance(rows, ByteImages)


class ByteImages(NDArrayOperatorsMixin):
    """Images that come out as float32, as those of smaller sets are from the beginning."""

    # Rows that are taken come out divided; so does everything else that numpy or anybody asks of
    # them, all at once then and with four times the memory. The bytes themselves are in ``stored``
    # alone, so that nobody takes 255 for 1.

    dtype: Final = np.dtype(np.float32)

    def __init__(self, stored: AnyArray, divisor: int = 1) -> None:
        self.stored, self.divisor = stored, divisor
        self._known_hash: str | None = None

    # Of the bytes that are kept; images, then height, width and channels.
    shape, ndim, size, nbytes = (
        property(attrgetter(f"stored.{name}")) for name in ("shape", "ndim", "size", "nbytes")
    )

    def __len__(self) -> int:
        return len(self.stored)

    def __getitem__(self, index: Any) -> Any:
        found = self.stored[index]
        if found.size >= LEAST_NUMBERS:
            return ByteImages(found, self.divisor)
        return self._floats(found)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def min(self, *axes: Any, **options: Any) -> Any:
        """The smallest number, as it comes out."""
        return self._floats(self.stored.min(*axes, **options))

    def max(self, *axes: Any, **options: Any) -> Any:
        """The largest number, as it comes out."""
        return self._floats(self.stored.max(*axes, **options))

    def reshape(self, *shape: Any) -> "ByteImages":
        """The same numbers in another shape, still as bytes."""
        return ByteImages(self.stored.reshape(*shape), self.divisor)

    def floats(self) -> AnyArray:
        """All of them as they come out: four times the memory."""
        whole: AnyArray = self._floats(self.stored)
        return whole

    def _floats(self, numbers: Any) -> Any:
        floats = numbers.astype(np.float32)
        return floats if self.divisor == 1 else floats / np.float32(self.divisor)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> AnyArray:
        del copy  # it is one
        return self.floats() if dtype is None else self.floats().astype(dtype, copy=False)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        plain = (each.floats() if isinstance(each, ByteImages) else each for each in inputs)
        return getattr(ufunc, method)(*plain, **options)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name in _OF_MEMORY or not hasattr(np.ndarray, name):
            raise AttributeError(name)
        return getattr(self.floats(), name)  # whatever else arrays have

    @property
    def sha256(self) -> str:
        """Identifies the content; of a file that nobody can write to it is found out once."""
        from fireassay.core.hashing import sha256

        if self._known_hash is None or self.stored.flags.writeable:
            self._known_hash = sha256("byte images", self.divisor, np.asarray(self.stored))
        return self._known_hash

    def __reduce__(self) -> tuple[Any, ...]:
        return ByteImages, (self.stored, self.divisor)
