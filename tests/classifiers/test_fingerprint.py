"""Content hashes of objects: equal content, equal hash, in any process."""

import functools
import pickle
import subprocess
import sys
from array import array
from typing import Any

import numpy as np
import pytest

from fireassay.classifiers.fingerprint import fingerprint


class Box:
    def __init__(self, value: Any) -> None:
        self.value = value

    def __call__(self, rows: Any) -> Any:
        return rows * self.value


def with_closure(value: Any) -> Any:
    return lambda rows: rows * value


def with_default(value: Any) -> Any:
    def function(rows: Any, factor: Any = value) -> Any:
        return rows * factor

    return function


FACTOR = 2.0


def with_global(rows: Any) -> Any:
    return rows * FACTOR


@pytest.mark.parametrize(
    "make",
    [
        lambda v: v,
        lambda v: np.array([v, 1.0]),
        lambda v: {"a": [v, (1, 2)]},
        lambda v: {v, 3.0},
        Box,
        with_closure,
        with_default,
        lambda v: functools.partial(with_closure, v),
        lambda v: Box(np.full(3, v)).__call__,
        lambda v: np.array([Box(v), None], dtype=object),
        lambda v: np.float32(v),
    ],
)
def test_equal_content_equal_hash_and_other_content_another(make: Any) -> None:
    assert fingerprint(make(1.5)) == fingerprint(make(1.5)) != fingerprint(make(2.5))


def test_globals_that_a_function_names_count(monkeypatch: pytest.MonkeyPatch) -> None:
    before = fingerprint(with_global)
    monkeypatch.setitem(with_global.__globals__, "FACTOR", 3.0)
    assert fingerprint(with_global) != before


def test_sharing_order_and_padding_do_not_count() -> None:
    array = np.arange(3)
    assert fingerprint([array, array]) == fingerprint([array, array.copy()])
    assert fingerprint({"a": 1, "b": 2}) == fingerprint({"b": 2, "a": 1})
    kind = np.dtype(
        {"names": ["a", "b"], "formats": ["u1", "f8"], "offsets": [0, 8], "itemsize": 16}
    )
    zeros = np.zeros(2, dtype=kind)
    dirty = np.frombuffer(b"\0" + b"\xff" * 7 + b"\0" * 8, dtype=kind).repeat(2)
    assert fingerprint(zeros) == fingerprint(dirty)


def test_cycles_end_and_travel_does_not_count() -> None:
    box = Box(None)
    box.value = [box]
    assert len(fingerprint(box)) == 64
    deep = {"x": [np.arange(4), ("a", 2)], "y": {1, 2}}
    assert fingerprint(pickle.loads(pickle.dumps(deep))) == fingerprint(deep)


def test_unreadable_objects_count_by_their_type() -> None:
    import threading

    assert fingerprint(threading.Lock()) == fingerprint(threading.Lock())


def test_the_hash_is_the_same_in_another_process() -> None:
    code = (
        "from fireassay.classifiers.fingerprint import fingerprint\n"
        "scale = {'b': 2.0, 'a': {'x', 'y', 'z'}}\n"
        "print(fingerprint(lambda rows: (rows * scale['b'], scale)))\n"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", code],
            check=True,
            capture_output=True,
            text=True,
            env={"PYTHONHASHSEED": seed, "PATH": ""},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(printed) == 1


def test_large_arrays_of_the_standard_library_are_read_at_once() -> None:
    numbers = array("H", range(60000)) * 20
    assert fingerprint(numbers) == fingerprint(array("H", numbers))
    assert fingerprint(numbers) != fingerprint(array("I", numbers))
    other = array("H", numbers)
    other[7] += 1
    assert fingerprint(numbers) != fingerprint(other)
