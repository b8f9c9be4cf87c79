"""SHA-256 of a Python object by its content: code, state and arrays, never memory addresses."""

import hashlib
import types
from array import array
from typing import Any

import numpy as np

_PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis))


def fingerprint(value: Any) -> str:
    """The content of an object, its containers, arrays and code as 64 hexadecimal digits."""
    # What cannot be read counts by its type alone.
    walk = _Walk()
    walk.feed(value)
    return walk.digest.hexdigest()


class _Walk:
    """Feeds a digest; each compound object counts by its own digest, made once."""

    def __init__(self) -> None:
        self.digest = hashlib.sha256()
        self.known: dict[int, str] = {}
        self.alive: list[Any] = []  # keeps temporaries, so that an id is never used twice

    def feed(self, value: Any) -> None:
        if isinstance(value, _PLAIN):
            self._tag(type(value).__name__, repr(value))
            return
        if id(value) in self.known:
            self._tag("part", self.known[id(value)])
            return
        if isinstance(value, np.generic):
            self._tag(f"scalar {value.dtype.str}", repr(value.item()))
        elif isinstance(value, types.CodeType):
            self._code(value)
        elif isinstance(value, types.ModuleType):
            self._tag("module", value.__name__)
        elif isinstance(value, type):
            self._tag("type", f"{value.__module__}.{value.__qualname__}")
        elif isinstance(value, np.dtype):
            self._tag("dtype", value.str if value.names is None else str(value.descr))
        else:
            self.alive.append(value)
            self.known[id(value)] = "inside itself"
            outer, self.digest = self.digest, hashlib.sha256()
            self._compound(value)
            self.known[id(value)] = self.digest.hexdigest()
            self.digest = outer
            self._tag("part", self.known[id(value)])

    def _compound(self, value: Any) -> None:
        if isinstance(value, np.ndarray):
            self._array(value)
        elif isinstance(value, array) and value.typecode not in "uw":
            self._tag("array", value.typecode)
            self._array(np.asarray(value))
        elif isinstance(value, list | tuple):
            self._tag(type(value).__name__, str(len(value)))
            for item in value:
                self.feed(item)
        elif isinstance(value, dict):
            self._tag("dict", str(len(value)))
            for key in sorted(value, key=lambda k: (type(k).__name__, repr(k))):
                self.feed(key)
                self.feed(value[key])
        elif isinstance(value, set | frozenset):
            self._tag("set", str(len(value)))
            for item in sorted(fingerprint(item) for item in value):
                self._tag("item", item)
        elif isinstance(value, types.FunctionType):
            self._function(value)
        elif isinstance(value, types.MethodType):
            self._tag("method", value.__func__.__qualname__)
            self.feed(value.__func__)
            self.feed(value.__self__)
        elif hasattr(value, "detach") and hasattr(value, "untyped_storage"):
            self._tag("tensor", str(value.dtype))
            self._array(value.detach().cpu().contiguous().view(-1).numpy())
            self._tag("shape", str(tuple(value.shape)))
        else:
            self._object(value)

    def _array(self, array: np.ndarray[Any, Any]) -> None:
        if array.dtype.names is not None:
            # Field by field: the bytes between fields are whatever was in memory.
            self._tag("record", str(array.shape))
            for name in array.dtype.names:
                self._tag("field", name)
                self._array(np.ascontiguousarray(array[name]))
        elif array.dtype.kind == "O":
            self._tag("objects", str(array.shape))
            for item in array.ravel().tolist():
                self.feed(item)
        else:
            self._tag("array", f"{array.dtype.str}{array.shape}")
            self.digest.update(np.ascontiguousarray(array).tobytes())

    def _function(self, function: types.FunctionType) -> None:
        self._tag("function", function.__module__ or "")
        self.feed(function.__code__)
        self.feed(function.__defaults__)
        self.feed(function.__kwdefaults__)
        for cell in function.__closure__ or ():
            try:
                self.feed(cell.cell_contents)
            except ValueError:  # not filled yet
                self._tag("empty cell", "")
        if not _is_installed(function):
            for name in sorted(_names(function.__code__)):
                if name in function.__globals__:
                    self._tag("global", name)
                    self.feed(function.__globals__[name])

    def _code(self, code: types.CodeType) -> None:
        self._tag("code", str((code.co_argcount, code.co_kwonlyargcount, code.co_flags)))
        self.digest.update(code.co_code)
        for names in (code.co_names, code.co_varnames, code.co_freevars):
            self._tag("names", " ".join(names))
        for constant in code.co_consts:
            self.feed(constant)

    def _object(self, value: Any) -> None:
        kind = type(value)
        self._tag("object", f"{kind.__module__}.{kind.__qualname__}")
        for method in ("forward", "__call__", "predict_proba"):
            function = getattr(kind, method, None)
            if isinstance(function, types.FunctionType) and not _is_installed(function):
                self._tag("defines", method)
                self.feed(function)
        if isinstance(value, types.BuiltinFunctionType | np.ufunc):
            self._tag("name", value.__name__)
            return
        try:
            reduced = value.__reduce_ex__(2)
        except Exception:  # noqa: BLE001 - any class may refuse in its own way; its type counts
            self._tag("opaque", "")
            return
        if isinstance(reduced, str):
            self._tag("name", reduced)
            return
        for part in reduced[1:3]:
            self.feed(part)
        for items in reduced[3:5]:
            if items is not None:
                self.feed(list(items))

    def _tag(self, kind: str, text: str) -> None:
        encoded = text.encode("utf-8", "surrogatepass")
        self.digest.update(f"{kind}:{len(encoded)}:".encode())
        self.digest.update(encoded)


def _names(code: types.CodeType) -> set[str]:
    nested = (c for c in code.co_consts if isinstance(c, types.CodeType))
    return set(code.co_names).union(*(_names(c) for c in nested))


def _is_installed(function: Any) -> bool:
    """Whether a function belongs to an installed library, whose globals need no reading."""
    path = function.__code__.co_filename
    return "site-packages" in path or "/lib/python" in path or path.startswith("<frozen")
