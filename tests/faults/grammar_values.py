"""Unusual values, JSON trees, arrays and archives, of which unusual files are made."""

import io
import json
import random
import struct
import zipfile
from collections.abc import Callable
from typing import Any

import fuzz
import numpy as np

Chance = random.Random

NAMES = (
    "X",
    "y",
    "ids",
    "class_names",
    "feature_names",
    "label",
    "a",
    "",
    "x.npy",
    "../X",
    "ü",
    "group",
)

TEXTS = (
    "",
    "a",
    "label",
    "nan",
    "-1",
    "1e999",
    "0x1f",
    "٣",
    "\x00",
    "=1+1",
    "é" * 40,
    "true",
    "2020-01-01",
)

SCALARS = (
    "<f8",
    "<f4",
    ">f4",
    "<f2",
    "<i8",
    "|u1",
    "|b1",
    "<c16",
    "<M8[ns]",
    "<m8[s]",
    "<U4",
    "<U0",
    "|S0",
    "|S3",
    "|V8",
    "|O",
    "<q",
    "<g",
)


def number(chance: Chance) -> Any:
    return chance.choice((0, 1, 2, 3, -1, 0.5, -0.25, 1.5, 2**31, 2**63, -(2**63), 1e300, 10**30))


def value(chance: Chance, depth: int = 3) -> Any:
    kind = chance.randrange(8 if depth else 5)
    if kind < 2:
        return number(chance)
    if kind < 5:
        return chance.choice((None, True, False, chance.choice(TEXTS), chance.choice(NAMES)))
    if kind < 7:
        return [value(chance, depth - 1) for _ in range(chance.randrange(4))]
    return {
        chance.choice(TEXTS + NAMES): value(chance, depth - 1) for _ in range(chance.randrange(4))
    }


def places(tree: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) of a JSON tree."""
    pairs = list(tree.items()) if isinstance(tree, dict) else list(enumerate(tree))
    found = [(tree, key) for key, _ in pairs]
    for _, inner in pairs:
        found += places(inner) if isinstance(inner, dict | list) else []
    return found


def changed(tree: Any, chance: Chance) -> Any:
    """The tree with a few values, keys or whole branches exchanged, repeated or gone."""
    tree = {"": json.loads(json.dumps(tree))}
    for _ in range(chance.randint(1, 3)):
        where = places(tree)
        holder, key = chance.choice(where)
        other, other_key = chance.choice(where)
        how = chance.randrange(6)
        if how == 0 and holder is not tree:
            del holder[key]
        elif how == 1:
            holder[key] = json.loads(json.dumps(other[other_key]))
        elif how == 2 and isinstance(holder, dict) and holder is not tree:
            holder[chance.choice(TEXTS + NAMES)] = holder.pop(key)
        elif how == 3 and isinstance(holder[key], list) and holder[key]:
            holder[key] = holder[key] * chance.randint(2, 5)
        elif how == 4 and type(holder[key]) in (int, float):
            holder[key] = number(chance)
        else:
            holder[key] = value(chance)
    return tree[""]


def of_json(name: str) -> Callable[[Chance], bytes]:
    tree = json.loads(fuzz.READERS[name][1])
    return lambda chance: json.dumps(changed(tree, chance)).encode()


def npy(chance: Chance) -> bytes:
    size = [
        chance.choice((0, 1, 2, 3, 4, 4, 4, 6)) for _ in range(chance.choice((0, 1, 1, 2, 2, 3, 4)))
    ]
    descr: Any = chance.choice(SCALARS)
    if chance.random() < 0.15:
        descr = [(chance.choice(("a", "b", "")), chance.choice(SCALARS)) for _ in range(2)]
    shape: Any = tuple(size)
    if chance.random() < 0.2:
        shape = chance.choice(((-1,), (2**62, 4), (True, 2), [2, 2], (2.0,), 4, None, (2**31,) * 3))
    keys = {
        "descr": descr,
        "fortran_order": chance.choice((False, False, True, 0, None)),
        "shape": shape,
    }
    if chance.random() < 0.1:
        keys.pop(chance.choice(list(keys)))
    if chance.random() < 0.1:
        keys["extra"] = 1
    text = repr(keys).encode() + b" " * chance.randrange(64) + b"\n"
    version = chance.choice((1, 1, 1, 2, 3, 4))
    head = struct.pack("<H" if version == 1 else "<I", len(text))
    try:
        width = np.dtype(descr).itemsize
    except (TypeError, ValueError):
        width = 8
    count = int(np.prod(size, dtype=np.int64)) * width + chance.choice((0, 0, 0, 0, -1, 1, 8))
    return b"\x93NUMPY" + bytes((version, 0)) + head + text + chance.randbytes(max(0, count))


def archive(members: list[tuple[str, bytes]], chance: Chance) -> bytes:
    file = io.BytesIO()
    methods = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
    with zipfile.ZipFile(file, "w") as zipped:
        for name, content in members:
            info = zipfile.ZipInfo(name)
            info.compress_type = chance.choice(methods)
            zipped.writestr(info, content)
    return file.getvalue()


def whole_npy(chance: Chance, rows: int = 4) -> bytes:
    shape = (rows, *(chance.randint(0, 4) for _ in range(chance.choice((0, 1, 1, 2)))))
    kind = chance.choice(("f8", "f4", "i8", "u1", "U3", "S2", "b1", "c8", "M8[D]"))
    numbers = np.array([chance.choice((0, 1, 2, 3, 250)) for _ in range(int(np.prod(shape)))])
    array = numbers.reshape(shape).astype(kind)
    if kind[0] == "f" and array.size and chance.random() < 0.3:
        array.flat[0] = chance.choice((np.nan, np.inf, -np.inf, 1e30))
    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    return file.getvalue()
