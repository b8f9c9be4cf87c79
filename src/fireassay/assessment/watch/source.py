"""Lines that keep coming: a file that grows, a folder of such files, or standard input."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from fireassay.core import DataError

TABLES, JSON_LINES = (".csv", ".tsv"), (".jsonl", ".ndjson")
_AT_ONCE = 2000
_LONGEST = 1 << 24
_HEAD = 256
_HEAP = 1 << 16


@dataclass(frozen=True)
class Cursor:
    """How far a source has been read; a later start goes on from here."""

    file: str = ""
    offset: int = 0
    head: str = ""
    header: str = ""
    lines: int = 0


@dataclass(frozen=True)
class Lines:
    """Some whole lines, the header they belong to ('' for JSON), and the cursor after them."""

    lines: tuple[str, ...]
    header: str
    cursor: Cursor


def new_lines(source: Path, cursor: Cursor) -> Iterator[Lines]:
    """What came since, some lines at a time, oldest first."""
    if not source.is_dir():
        yield from _of_file(source, cursor, ended=False)
        return
    names = sorted(p.name for p in source.iterdir() if _is_source(p) and p.name >= cursor.file)
    for position, name in enumerate(names):
        ended = position + 1 < len(names)
        if name != cursor.file:
            cursor = Cursor(file=name, lines=cursor.lines)
        for some in _of_file(source / name, cursor, ended=ended):
            cursor = some.cursor
            yield some


def lines_of(stream: Any, skip: int, cursor: Cursor) -> Iterator[Lines]:
    """JSON lines from a binary stream, as they come; the first ``skip`` were read before."""
    left, seen = b"", 0
    while True:
        came = stream.read1(_HEAP)  # what is there, not what may come
        *whole, left = (left + came).split(b"\n")
        if not came and left:
            whole, left = [left], b""
        fresh = [_decoded(line, Path("stdin")) for line in whole][max(0, skip - seen) :]
        seen += len(whole)
        if fresh:
            cursor = replace(cursor, lines=cursor.lines + len(fresh))
            yield Lines(tuple(fresh), "", cursor)
        if not came:
            return


def _is_source(path: Path) -> bool:
    return path.suffix.lower() in (*TABLES, *JSON_LINES) and not path.name.startswith(".")


def _of_file(path: Path, cursor: Cursor, *, ended: bool) -> Iterator[Lines]:
    if not path.is_file():
        raise DataError("Expected a file that grows, a folder of such files, or -.", got=str(path))
    if not _is_source(path):
        known = ", ".join((*TABLES, *JSON_LINES))
        raise DataError(f"A file that is watched must end in {known}.", got=path.name)
    with path.open("rb") as file:
        _check_same(file, cursor, path)
        file.seek(cursor.offset)
        while True:
            raw = _whole_lines(file, ended=ended)
            if not raw:
                return
            text = [_decoded(line, path) for line in raw]
            offset, header = cursor.offset + sum(map(len, raw)), cursor.header
            if cursor.offset == 0 and path.suffix.lower() in TABLES:
                header, text = text[0], text[1:]
            cursor = replace(
                cursor,
                offset=offset,
                header=header,
                head=_head(file, offset),
                lines=cursor.lines + len(text),
            )
            file.seek(offset)
            yield Lines(tuple(text), header, cursor)


def _whole_lines(file: IO[bytes], *, ended: bool) -> list[bytes]:
    found: list[bytes] = []
    while len(found) < _AT_ONCE:
        line = file.readline(_LONGEST)
        if not line or not (line.endswith(b"\n") or ended):
            if len(line) == _LONGEST:
                raise DataError(f"A line must be shorter than {_LONGEST:,} bytes.", got="more")
            break
        found.append(line)
    return found


def _decoded(line: bytes, path: Path) -> str:
    try:
        return line.decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise DataError(f"{path.name} must be UTF-8 text.", got=str(error)) from error


def _head(file: IO[bytes], offset: int) -> str:
    """The first bytes of those that were read."""
    file.seek(0)
    size = min(offset, _HEAD)
    return f"{size}:{hashlib.sha256(file.read(size)).hexdigest()}"


def _check_same(file: IO[bytes], cursor: Cursor, path: Path) -> None:
    if not cursor.head:
        return
    size = file.seek(0, 2)
    if size < cursor.offset or _head(file, int(cursor.head.partition(":")[0])) != cursor.head:
        raise DataError(
            f"{path} must only grow at its end while it is watched.",
            got="a file that was cut or replaced",
            do="Watch a folder and give each new file a later name, or begin with a new --output.",
        )
