"""A file of model answers, which grows by records; one that a kill has cut short is left out."""

import hashlib
import os
import struct
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.errors import FireassayWarning
from fireassay.engine.run_lock import refuse_link

_MAGIC: Final = b"fireassay answers 1\n"
_HEAD: Final = struct.Struct("<QQB")  # rows, classes, bytes of a number
_FLOATS: Final[dict[int, np.dtype[Any]]] = {4: np.dtype("<f4"), 8: np.dtype("<f8")}
_SUM_BYTES: Final = 16
_MOST: Final = 1.0 + 1e-6  # a probability, rounded


class AnswerFile:
    """Answers about the rows of one data set in a run folder: places, probabilities, checksums."""

    # Damaged records, or none that are probabilities, are left out with a warning and asked again.

    def __init__(self, path: Path, name: str, n: int) -> None:
        for place in (path.parent, path):
            refuse_link(place)
        self.path, self._name, self._n = path, name.encode(), n
        self._length: int | None = None

    def append(self, places: IntArray, answers: FloatArray) -> None:
        """Put down one record; it is there whole, or not at all after a kill."""
        if answers.dtype not in _FLOATS.values():
            answers = answers.astype(np.float64)
        head = _HEAD.pack(len(places), answers.shape[1], answers.itemsize)
        body = (
            np.ascontiguousarray(places, "<i8").tobytes()
            + np.ascontiguousarray(answers, _FLOATS[answers.itemsize]).tobytes()
        )
        if self._length is None:
            self._length = sum(len(record) for record in self._records())
        self.path.parent.mkdir(exist_ok=True)
        with open(self.path, "r+b" if self.path.exists() else "w+b") as file:
            if self._length == 0:
                file.truncate(0)
                self._length = file.write(_MAGIC)
            file.seek(self._length)  # over a record that a kill has cut short
            file.truncate()
            self._length += file.write(head + body + self._sum(head + body))

    def read(self) -> Iterator[tuple[IntArray, FloatArray]]:
        """Places and answers, record by record."""
        for record in self._records():
            if record == _MAGIC:
                continue
            rows, classes, size = _HEAD.unpack_from(record)
            at = _HEAD.size + 8 * rows
            places = np.frombuffer(record, "<i8", rows, _HEAD.size).astype(np.int64)
            answers = np.frombuffer(record, _FLOATS[size], rows * classes, at)
            yield places, answers.reshape(rows, classes).astype(_FLOATS[size].newbyteorder("="))

    def remove(self) -> None:
        """Begin again with nothing."""
        self.path.unlink(missing_ok=True)
        self._length = None

    def _sum(self, content: bytes) -> bytes:
        return hashlib.blake2b(content, key=self._name[:64], digest_size=_SUM_BYTES).digest()

    def _records(self) -> Iterator[bytes]:
        """The magic, then records that are whole, as bytes; stops at the first that is not."""
        if not self.path.exists():
            return
        with open(self.path, "rb") as file:
            left = os.fstat(file.fileno()).st_size
            if file.read(len(_MAGIC)) != _MAGIC:
                self._warn()
                return
            left -= len(_MAGIC)
            yield _MAGIC
            while left > 0:
                head = file.read(_HEAD.size)
                length = self._body_bytes(head)
                if _HEAD.size + length + _SUM_BYTES > left:
                    return  # cut short by a kill
                content = head + file.read(length)
                whole = length > 0 and file.read(_SUM_BYTES) == self._sum(content)
                if not whole or not self._is_sound(content):
                    self._warn()
                    return
                left -= len(content) + _SUM_BYTES
                yield content + self._sum(content)

    def _body_bytes(self, head: bytes) -> int:
        """Bytes of places and answers that a record says it has; 0 if that cannot be."""
        if len(head) < _HEAD.size:
            return 0
        rows, classes, size = _HEAD.unpack(head)
        possible = size in _FLOATS and 0 < rows <= self._n and classes > 0
        return int(rows) * (8 + int(classes) * int(size)) if possible else 0

    def _is_sound(self, content: bytes) -> bool:
        rows, classes, size = _HEAD.unpack_from(content)
        places = np.frombuffer(content, "<i8", rows, _HEAD.size)
        answers = np.frombuffer(content, _FLOATS[size], rows * classes, _HEAD.size + 8 * rows)
        inside = places.min() >= 0 and places.max() < self._n
        return bool(inside and (answers >= 0).all() and (answers <= _MOST).all())

    def _warn(self) -> None:
        warnings.warn(
            f"Answers kept in {self.path} are damaged: the rows they are about are asked again. "
            "Check the disk.",
            FireassayWarning,
            stacklevel=4,
        )
