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
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fuzz
from grammar_models import onnx, skops
from grammar_values import NAMES, TEXTS, Chance, archive, npy, of_json, value, whole_npy

BATCH = 1000


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


_ROLES = (
    "y_true",
    "label",
    "y_pred",
    "p",
    "p_a",
    "p_b",
    "0",
    "1",
    "score",
    "patient",
    "time",
    "id",
)
_CELLS = ("a", "b", "0", "1", "2", "0.5", ".25", "1.0", "1e309", "nan", "", "\u0663", "-1", "true")
_ODD_CELLS = ("99%", "1,5", "LABEL_1", "\\N", "2026-01-01", "\x00", " ", "inf", "[0.2, 0.8]")


def predictions(chance: Chance) -> bytes:
    """Truths, answers and probabilities as people write them; some cells are something else."""
    names = chance.sample((*_ROLES[4:], "b", "weight", "ward"), chance.randrange(5))
    names += chance.choice((["y_true", "y_pred"], ["y_true", "p"], ["label", "y_pred", "p"], ["p"]))
    usual = {name: chance.sample(_CELLS, chance.randrange(1, 4)) for name in names}
    if chance.random() < 0.7:
        classes, shares = (
            chance.choice((("0", "1"), ("a", "b"), ("1", "2", "3"))),
            (".1", "0.5", "1"),
        )
        alike = {n: shares if n[0] in "ps" and n != "patient" else classes for n in names}
        usual = {
            name: [*alike[name], *chance.sample(("", "nan"), chance.randrange(2))] for name in names
        }
    odd = chance.choice((0, 0, 0.05, 0.3))
    rows = [
        ",".join(
            f'"{chance.choice(_ODD_CELLS if chance.random() < odd else usual[name])}"'
            for name in names
        )
        for _ in range(chance.choice((1, 2, 5, 20, 60)))
    ]
    return "\n".join([",".join(names), *rows]).encode()


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


def grammars() -> dict[str, Callable[[], Callable[[Chance], bytes]]]:
    """A maker of files for each reader that needs no trust."""
    found: dict[str, Any] = {
        "npz": lambda: npz,
        "npy in npz": lambda: npy,
        "npy": lambda: npy,
        "csv": lambda: csv,
        "predictions": lambda: predictions,
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
