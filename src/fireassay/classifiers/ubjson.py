"""Universal Binary JSON, read strictly: what a length says must be there, nothing comes after."""

from typing import Any

import numpy as np

from fireassay.core.errors import ModelError

_DEEPEST = 40
_NUMBERS = {
    b"i": ">i1",
    b"U": ">u1",
    b"I": ">i2",
    b"l": ">i4",
    b"L": ">i8",
    b"d": ">f4",
    b"D": ">f8",
}
_PLAIN = {b"T": True, b"F": False, b"Z": None}


def loads(content: bytes) -> Any:
    """The value that these bytes hold; arrays of one type of number become lists of numbers.

    Raises
    ------
    ModelError
        If they are cut, too deep, hold an unknown mark, or more than one value.

    >>> loads(b"{i\\x01a[$U#i\\x02\\x07\\x08}")
    {'a': [7, 8]}
    """
    reader = _Reader(content)
    value = reader.value(reader.take(1), 0)
    if reader.at != len(content):
        raise _damaged("more after its end")
    return value


class _Reader:
    def __init__(self, content: bytes) -> None:
        self.content, self.at = content, 0

    def take(self, n: int) -> bytes:
        if n < 0 or self.at + n > len(self.content):
            raise _damaged("less than it says")
        self.at += n
        return self.content[self.at - n : self.at]

    def value(self, mark: bytes, depth: int) -> Any:
        if depth > _DEEPEST:
            raise _damaged("values in values without an end")
        if mark in _PLAIN:
            return _PLAIN[mark]
        if mark in _NUMBERS:
            return self.numbers(mark, 1)[0]
        if mark in (b"S", b"H"):
            return self.text()
        if mark == b"C":
            return self.take(1).decode("ascii")
        if mark == b"[":
            return self.array(depth)
        if mark == b"{":
            return self.object(depth)
        raise _damaged(f"the mark {mark!r}")

    def numbers(self, mark: bytes, n: int) -> list[Any]:
        kind = np.dtype(_NUMBERS[mark])
        if n > len(self.content):
            raise _damaged("less than it says")
        found: list[Any] = np.frombuffer(self.take(n * kind.itemsize), kind).tolist()
        return found

    def length(self) -> int:
        mark = self.take(1)
        if mark not in _NUMBERS or mark in (b"d", b"D"):
            raise _damaged("a length that is no whole number")
        return int(self.numbers(mark, 1)[0])

    def text(self) -> str:
        return self.take(self.length()).decode("utf-8")

    def array(self, depth: int) -> list[Any]:
        mark = self.take(1)
        if mark == b"$":
            kind = self.take(1)
            if kind not in _NUMBERS or self.take(1) != b"#":
                raise _damaged("an array of an unknown type")
            return self.numbers(kind, self.length())
        if mark == b"#":
            n = self.length()
            if not 0 <= n <= len(self.content):
                raise _damaged("less than it says")
            return [self.value(self.take(1), depth + 1) for _ in range(n)]
        found = []
        while mark != b"]":
            found.append(self.value(mark, depth + 1))
            mark = self.take(1)
        return found

    def object(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while self.content[self.at : self.at + 1] != b"}":
            name = self.text()
            if name in found:
                raise _damaged("a name twice")
            found[name] = self.value(self.take(1), depth + 1)
        self.take(1)
        return found


def _damaged(got: str) -> ModelError:
    return ModelError("The file must be whole.", got=got, do="Save or copy the model again.")
