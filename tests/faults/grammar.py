"""Files that follow their format's grammar but say something unusual, for every reader.

    python tests/faults/grammar.py N [READER …]

N files per reader, in processes of their own, so that a crash of compiled code is seen and its
file is kept. Anything but a value or an error that fireassay means ends it.
"""

import io
import json
import random
import sqlite3
import struct
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fuzz
import numpy as np

BATCH = 1000
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


def npz(chance: Chance) -> bytes:
    names = [
        f"{chance.choice(NAMES)}{chance.choice(('.npy', '.npy', ''))}"
        for _ in range(chance.randrange(5))
    ]
    if chance.random() < 0.7:
        names = ["X.npy", "y.npy", *names]
    made = [
        (name, whole_npy(chance) if chance.random() < 0.8 else npy(chance))
        for name in dict.fromkeys(names)
    ]
    if made and chance.random() < 0.05:
        made.append((made[0][0] + "/", b""))
    return archive(made, chance)


def csv(chance: Chance) -> bytes:
    ends, comma = (
        chance.choice(("\n", "\r\n", "\r")),
        chance.choice((",", ",", ",", ";", "\t", "|")),
    )
    columns = chance.randint(0, 5)

    def cell() -> str:
        text = chance.choice(
            (*TEXTS, "1", "2.5", "cat", "1,5", 'a"b', "x\ny", " 1 ", "1_000", "NULL")
        )
        quoted = any(mark in text for mark in (comma, '"', "\n")) or chance.random() < 0.1
        return '"' + text.replace('"', '""') + '"' if quoted else text

    lines = [comma.join(chance.choice((*NAMES, "label", "target", "a")) for _ in range(columns))]
    lines += [
        comma.join(cell() for _ in range(columns + chance.choice((0, 0, 0, 0, 1, -1))))
        for _ in range(chance.randrange(6))
    ]
    text = ends.join(lines) + ends * chance.randrange(3)
    return text.encode(
        chance.choice(("utf-8", "utf-8", "utf-8-sig", "utf-16", "latin-1")), "replace"
    )


def parquet(chance: Chance) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    simple = (
        pa.int64(),
        pa.float64(),
        pa.float32(),
        pa.float16(),
        pa.string(),
        pa.large_string(),
        pa.binary(),
    )
    simple += (
        pa.bool_(),
        pa.date32(),
        pa.timestamp("ns", "Europe/Paris"),
        pa.duration("s"),
        pa.null(),
    )
    simple += (
        pa.decimal128(9, 2),
        pa.time64("us"),
        pa.uint8(),
        pa.binary(3),
        pa.dictionary(pa.int8(), pa.string()),
    )

    def kind(depth: int = 2) -> Any:
        deep = chance.randrange(8) if depth else 9
        if deep == 0:
            return pa.list_(kind(depth - 1))
        if deep == 1:
            return pa.struct([("a", kind(depth - 1))])
        return chance.choice(simple)

    rows, arrays, names = chance.randrange(7), [], []
    for _ in range(chance.randrange(5)):
        which = kind()
        try:
            made = pa.array([chance.choice((None, 0, 1, 3)) for _ in range(rows)]).cast(which)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
            made = pa.nulls(rows, which)
        arrays.append(made)
        names.append(chance.choice((*NAMES, "label", "target", "b")))
    table = pa.Table.from_arrays(arrays, names=names)
    if chance.random() < 0.3:
        said = json.dumps(value(chance)) if chance.random() < 0.7 else "{"
        table = table.replace_schema_metadata({"pandas": said, "ARROW:schema": "x"})
    file = io.BytesIO()
    codec = chance.choice(("snappy", "gzip", "none", "zstd"))
    try:
        pq.write_table(table, file, compression=codec, row_group_size=chance.choice((1, 3, 100)))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # a null type in a list and the like
        return parquet(chance)
    return file.getvalue()


def png(chance: Chance) -> bytes:
    if chance.random() < 0.25:
        return other_image(chance)

    def chunk(name: bytes, content: bytes) -> bytes:
        return (
            struct.pack(">I", len(content))
            + name
            + content
            + struct.pack(">I", zlib.crc32(name + content))
        )

    wide, high = (chance.choice((0, 1, 2, 8, 9, 2**15, 2**31 - 1)) for _ in range(2))
    depth, colour = chance.choice((1, 2, 4, 8, 16, 7)), chance.choice((0, 2, 3, 4, 6, 5))
    inner = zlib.compress(
        chance.randbytes(chance.choice((0, 8, 72, 500))) if chance.random() < 0.8 else b"\0" * 10**6
    )
    parts = [
        chunk(
            b"IHDR",
            struct.pack(
                ">IIBBBBB",
                wide,
                high,
                depth,
                colour,
                chance.choice((0, 0, 1)),
                0,
                chance.choice((0, 1, 2)),
            ),
        )
    ]
    more = {
        b"PLTE": bytes(3 * chance.randrange(9)),
        b"tRNS": bytes(chance.randrange(9)),
        b"gAMA": b"\0" * 4,
        b"iCCP": b"a\0\0" + zlib.compress(b"x" * 200),
        b"zTXt": b"k\0\0" + zlib.compress(b"\0" * 10**5),
        b"acTL": struct.pack(">II", chance.choice((1, 9, 2**31)), 0),
        b"eXIf": b"MM\0*" + bytes(12),
        b"IDAT": inner,
    }
    parts += [chunk(name, more[name]) for name in chance.sample(list(more), chance.randrange(5))]
    parts += [chunk(b"IDAT", inner), chunk(b"IEND", b"")]
    if chance.random() < 0.2:
        chance.shuffle(parts)
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts[: chance.randint(1, len(parts))])


def other_image(chance: Chance) -> bytes:
    from PIL import Image

    kind, mode = chance.choice(
        (
            ("GIF", "P"),
            ("BMP", "RGB"),
            ("TIFF", "I;16"),
            ("TIFF", "F"),
            ("JPEG", "CMYK"),
            ("PNG", "LA"),
            ("PPM", "L"),
        )
    )
    size = chance.choice(((1, 1), (8, 8), (3, 5)))
    file = io.BytesIO()
    Image.new(mode, size).save(file, kind)
    return file.getvalue()


def toml(name: str) -> Callable[[Chance], bytes]:
    lines = fuzz.READERS[name][1].decode().splitlines()

    def literal(chance: Chance) -> str:
        return chance.choice(
            (
                "0",
                "-1",
                "1e400",
                "inf",
                "nan",
                "true",
                '""',
                '"a"',
                "[]",
                "[1, [2]]",
                "{}",
                "{a = 1}",
                "2020-01-01",
                '["a", "a"]',
                "9" * 30,
                "'''x'''",
            )
        )

    def make(chance: Chance) -> bytes:
        found = list(lines)
        for _ in range(chance.randint(1, 3)):
            at = chance.randrange(len(found))
            key, equals, _ = found[at].partition(" = ")
            if equals and chance.random() < 0.7:
                found[at] = f"{key} = {literal(chance)}"
            elif chance.random() < 0.5:
                found.insert(
                    at, f"{chance.choice(('seed', 'extra', 'path', 'workers'))} = {literal(chance)}"
                )
            else:
                del found[at]
        return "\n".join(found).encode()

    return make


def sqlite(name: str) -> Callable[[Chance], bytes]:
    """Databases with our tables and other values in their cells, or other tables besides."""

    def make(chance: Chance) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "a.sqlite"
            path.write_bytes(fuzz.READERS[name][1])
            base = sqlite3.connect(path, isolation_level=None)
            base.execute("PRAGMA journal_mode = DELETE")
            tables = [
                row[0]
                for row in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            ]
            for _ in range(chance.randint(1, 4)):
                table = chance.choice(tables)
                columns = [row[1] for row in base.execute(f'PRAGMA table_info("{table}")')]
                cell = chance.choice(
                    (None, -1, 2**62, 1.5, "", "x", b"\0", json.dumps(value(chance)), "1e999")
                )
                wanted = chance.choice(columns) if columns else ""
                line = chance.choice(
                    (
                        f'UPDATE "{table}" SET "{wanted}" = ?',
                        f'DELETE FROM "{table}" WHERE "{wanted}" = ?',
                        f'INSERT INTO "{table}" ("{wanted}") VALUES (?)',
                    )
                )
                try:
                    base.execute(line, (cell,))
                except sqlite3.Error:
                    continue
            if chance.random() < 0.1:
                base.execute(
                    chance.choice(
                        (
                            "CREATE TABLE more (a)",
                            "CREATE VIEW v AS SELECT 1",
                            "PRAGMA user_version = 77",
                        )
                    )
                )
            base.close()
            return path.read_bytes()

    return make


def onnx(chance: Chance) -> bytes:
    import onnx as library

    helper, kinds = library.helper, library.TensorProto
    dims = [chance.choice((None, 1, 6, 0)), chance.choice((4, 4, 4, 3, None))]
    nodes, tensors, last = [], [], "rows"
    for step in range(chance.randint(1, 3)):
        name = chance.choice(
            (
                "MatMul",
                "Gemm",
                "Relu",
                "Softmax",
                "Reshape",
                "Gather",
                "Slice",
                "Conv",
                "Cast",
                "TopK",
                "Squeeze",
                "Trees",
                "Linear",
                "Scaler",
                "Pad",
                "Tile",
                "Expand",
                "ArgMax",
                "Resize",
                "OneHot",
                "If",
            )
        )
        out, weight = f"v{step}", f"w{step}"
        small = [chance.choice((-9, -1, 0, 1, 2, 4, 99)) for _ in range(chance.choice((1, 2, 4)))]
        if name == "Trees":
            count = chance.randint(1, 4)
            ids = [chance.choice((0, 1, 2, 3, -1, 99, 2**40)) for _ in range(4 * count)]
            nodes.append(
                helper.make_node(
                    "TreeEnsembleClassifier",
                    [last],
                    [f"l{step}", out],
                    domain="ai.onnx.ml",
                    nodes_treeids=ids[:count],
                    nodes_nodeids=list(range(count)),
                    nodes_featureids=ids[count : 2 * count],
                    nodes_values=[0.5] * count,
                    nodes_modes=[
                        chance.choice(("BRANCH_LEQ", "LEAF", "BRANCH_GT", "X"))
                        for _ in range(count)
                    ],
                    nodes_truenodeids=ids[2 * count : 3 * count],
                    nodes_falsenodeids=ids[3 * count :],
                    class_treeids=ids[:2],
                    class_nodeids=ids[2:4],
                    class_ids=[0, chance.choice((1, 7, -1))],
                    class_weights=[0.5, 0.5],
                    classlabels_int64s=[0, 1],
                    post_transform=chance.choice(("NONE", "SOFTMAX", "PROBIT")),
                )
            )
        elif name in ("Linear", "Scaler"):
            numbers = [0.5] * chance.choice((1, 2, 4, 8, 9))
            if name == "Linear":
                nodes.append(
                    helper.make_node(
                        "LinearClassifier",
                        [last],
                        [f"l{step}", out],
                        domain="ai.onnx.ml",
                        coefficients=numbers,
                        intercepts=numbers[:2],
                        classlabels_ints=list(range(chance.choice((1, 2, 9)))),
                    )
                )
            else:
                nodes.append(
                    helper.make_node(
                        "Scaler",
                        [last],
                        [out],
                        domain="ai.onnx.ml",
                        offset=numbers,
                        scale=numbers[:4],
                    )
                )
        elif name in ("Relu", "Softmax", "Cast", "ArgMax"):
            said = {
                "Softmax": {"axis": chance.choice((0, 1, -1, 7))},
                "Cast": {"to": chance.choice((1, 7, 8, 10, 16))},
                "ArgMax": {"axis": chance.choice((0, 1, 3))},
            }
            nodes.append(helper.make_node(name, [last], [out], **said.get(name, {})))
        else:
            is_float = name in ("MatMul", "Gemm", "Conv")
            shape = [chance.choice((0, 1, 2, 3, 4)) for _ in range(chance.choice((1, 2, 2, 4)))]
            numbers = np.ones(shape, np.float32) if is_float else np.array(small, np.int64)
            tensors.append(library.numpy_helper.from_array(numbers, weight))
            more = [weight] * (2 if name in ("Slice", "OneHot", "If") else 1)
            nodes.append(helper.make_node(name, [last, *more], [out]))
        last = out
    if chance.random() < 0.6:
        nodes.append(helper.make_node("Softmax", [last], ["p"], axis=1))
        last = "p"
    rows = helper.make_tensor_value_info(
        "rows",
        chance.choice(
            (kinds.FLOAT, kinds.FLOAT, kinds.FLOAT, kinds.INT64, kinds.STRING, kinds.DOUBLE)
        ),
        dims,
    )
    answer = helper.make_tensor_value_info(
        chance.choice((last,) * 15 + ("none",)),
        kinds.FLOAT,
        chance.choice((None, [None, 3], [None, None], [2])),
    )
    graph = helper.make_graph(nodes, "g", [rows], [answer], tensors)
    sets = [
        helper.make_opsetid("", chance.choice((17,) * 16 + (11, 18, 99))),
        helper.make_opsetid("ai.onnx.ml", 3),
    ]
    model = helper.make_model(
        graph, opset_imports=sets, ir_version=chance.choice((8,) * 18 + (3, 99))
    )
    return bytes(model.SerializeToString())


def estimators() -> list[bytes]:
    import skops.io
    from sklearn.ensemble import (
        GradientBoostingClassifier,
        HistGradientBoostingClassifier,
        RandomForestClassifier,
    )
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(0)
    X, y = rng.random((40, 4)).astype(np.float32), np.arange(40) % 2
    models = (
        DecisionTreeClassifier(max_depth=3),
        RandomForestClassifier(3, max_depth=2),
        GradientBoostingClassifier(n_estimators=2),
        HistGradientBoostingClassifier(max_iter=2),
        SVC(probability=False),
        LogisticRegression(),
        GaussianNB(),
        make_pipeline(StandardScaler(), LogisticRegression()),
        MLPClassifier((3,), max_iter=5),
    )
    return [bytes(skops.io.dumps(model.fit(X, y))) for model in models]


def skops() -> Callable[[Chance], bytes]:
    with fuzz.warnings.catch_warnings():
        fuzz.warnings.simplefilter("ignore")
        sound = estimators()

    def make(chance: Chance) -> bytes:
        with zipfile.ZipFile(io.BytesIO(chance.choice(sound))) as before:
            members = {name: before.read(name) for name in before.namelist()}
        arrays = [name for name in members if name.endswith(".npy")]
        if arrays and chance.random() < 0.4:
            members[chance.choice(arrays)] = chance.choice((npy, whole_npy))(chance)
        if arrays and chance.random() < 0.3:
            members[chance.choice(arrays)] = members[chance.choice(arrays)]
        if chance.random() < 0.8:
            schema = json.loads(members["schema.json"])
            members["schema.json"] = json.dumps(changed(schema, chance)).encode()
        return archive(list(members.items()), chance)

    return make


def grammars() -> dict[str, Callable[[], Callable[[Chance], bytes]]]:
    """A maker of files for each reader that needs no trust."""
    found: dict[str, Any] = {
        "npz": lambda: npz,
        "npy in npz": lambda: npy,
        "npy": lambda: npy,
        "csv": lambda: csv,
        "png": lambda: png,
        "votes": lambda: npy,
        "parquet": lambda: parquet,
        "onnx": lambda: onnx,
        "skops": skops,
    }
    for name in (
        "codec tree",
        "result.json",
        "trusted.json",
        "about.json",
        "costs.json",
        "gates.json",
        "looks",
        "server",
    ):
        found[name] = lambda name=name: of_json(name)
    for name in ("fireassay.toml", "campaign.toml"):
        found[name] = lambda name=name: toml(name)
    for name in ("journal", "labels.sqlite"):
        found[name] = lambda name=name: sqlite(name)
    return {name: make for name, make in found.items() if name in fuzz.READERS}


def batch(name: str, seed: str, count: int, kept: Path) -> None:
    """Some files for one reader; the one that is being read is in ``kept``."""
    make, chance, fine = grammars()[name](), random.Random(seed), 0
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(count):
            content = make(chance)
            kept.write_bytes(content)
            fine += fuzz.is_read(name, Path(folder), content)
    fuzz.say(str(fine))


def main() -> None:
    """Try them all, and print a table; the exit code says whether all was meant."""
    count, names, bad, total = int(sys.argv[1]), sys.argv[2:] or list(grammars()), 0, 0
    for name in names:
        read = done = 0
        for first in range(0, count, BATCH):
            size, seed = min(BATCH, count - first), f"{name} {first}"
            kept = Path(tempfile.gettempdir()) / f"grammar-{name.replace(' ', '-')}-{first}"
            line = [sys.executable, __file__, "--batch", name, seed, str(size), str(kept)]
            found = subprocess.run(line, capture_output=True, text=True, check=False)
            if found.returncode:
                bad += 1
                last = found.stderr.strip().splitlines()[-1:] or [""]
                fuzz.say(f"{name}: exit {found.returncode}, {last[0][:200]}, with {kept}")
                continue
            kept.unlink()
            read, done = read + int(found.stdout.split()[-1]), done + size
        total += done
        fuzz.say(f"{name:<16}{read:>8} read{done - read:>9} refused")
    fuzz.say(f"{total} files for {len(names)} readers, {bad} batches ended by something else")
    sys.exit(bad > 0)


if __name__ == "__main__":
    if sys.argv[1] == "--batch":
        batch(sys.argv[2], sys.argv[3], int(sys.argv[4]), Path(sys.argv[5]))
    else:
        main()
