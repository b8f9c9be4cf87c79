"""A run on disk: what is done stays done, whatever happens to the process."""

import contextlib
import hashlib
import sqlite3
import threading
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from fireassay.core import codec, json_files
from fireassay.core.errors import DataError, FireassayWarning, StoreError
from fireassay.core.files import write_bytes
from fireassay.engine import journal_tables
from fireassay.engine.journal_tables import DATABASE_ERRORS
from fireassay.engine.run_lock import RunLock, refuse_link

_INLINE_BYTES = 64 * 1024
_ZIP = b"PK"


@dataclass(frozen=True)
class Progress:
    """How far the tasks of one name are.

    Attributes:
        done, failed, total: Tasks.
    """

    done: int
    failed: int
    total: int


class RunStore:
    """A run folder: ``run.sqlite`` (the journal) and ``artifacts/``.

    Finished tasks are in the journal before the next result is looked at, so that ``kill -9``
    loses no more than the tasks in flight. Each carries a checksum: one that is damaged counts as
    not done, with a warning. Links in the folder are refused: they could lead out of it.

    Args:
        path: The folder; made if it is not there.
        read_only: Only look: no lock is taken, nothing is written, another process may be at work.

    Raises:
        StoreError: If the folder cannot be written, another process has it open, or it belongs to
            something else.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, RunStore(Path(folder) / "run") as store:
    ...     _ = store.save_artifact("weights", {"layers": [0.5, 0.25]})
    ...     store.load_artifact("weights")
    {'layers': [0.5, 0.25]}
    """

    def __init__(self, path: str | Path, *, read_only: bool = False) -> None:
        self.path = Path(path)
        self.read_only = read_only
        self._lock: RunLock | None = None
        self._finished = 0
        self._writing = threading.RLock()  # a web app writes from many threads
        for name in ("run.sqlite", "run.lock", "artifacts"):
            refuse_link(self.path / name)
        with self._explained("open"):
            if read_only:
                self._connection = self._connect_to_read()
                self._connection.text_factory = _readable
                return
            self.artifacts.mkdir(parents=True, exist_ok=True)
            self._lock = RunLock(self.path / "run.lock")
            try:
                self._connection = self._connect_to_write()
                self._connection.text_factory = _readable
            except BaseException:
                self._lock.release()
                raise

    @property
    def artifacts(self) -> Path:
        """The folder of larger results."""
        return self.path / "artifacts"

    def _connect_to_write(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path / "run.sqlite", isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            # A commit reaches the system, which a kill cannot undo.
            connection.execute("PRAGMA synchronous = NORMAL")
            journal_tables.prepare(connection, self.path / "run.sqlite")
            last = "SELECT coalesce(max(finished), 0) FROM tasks WHERE typeof(finished) = 'integer'"
            self._finished = int(connection.execute(last).fetchone()[0])
        except BaseException:
            connection.close()
            raise
        for leftover in self.artifacts.glob(".*.part"):
            leftover.unlink()
        return connection

    def _connect_to_read(self) -> sqlite3.Connection:
        file = self.path / "run.sqlite"
        if not file.exists():
            raise StoreError(f"{self.path} must be a run folder.", got="no run.sqlite in it")
        address = file.resolve().as_uri()
        connection = sqlite3.connect(f"{address}?mode=ro", uri=True, check_same_thread=False)
        try:
            connection.execute("SELECT count(*) FROM sqlite_master")
        except sqlite3.OperationalError:
            # A folder without write permission cannot hold the journal's side files.
            connection.close()
            connection = sqlite3.connect(
                f"{address}?mode=ro&immutable=1", uri=True, check_same_thread=False
            )
        if journal_tables.check_version(connection, file) < journal_tables.VERSION:
            connection.close()
            raise StoreError(
                f"A run must have version {journal_tables.VERSION} to be read.",
                got="an older one",
                do="Open it once for writing: it is brought up to date.",
            )
        return connection

    def close(self) -> None:
        """Close the journal and let other processes write."""
        self._connection.close()
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Tasks

    def expect(self, ids: Iterable[str], name: str, function: str) -> None:
        """Note tasks that are to be done; those already known stay as they are."""
        with self._transaction() as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO tasks (id, name, function, status) "
                "VALUES (?, ?, ?, 'pending')",
                ((task, name, function) for task in ids),
            )

    def record(self, task: str, value: Any, seconds: float) -> Any:
        """Journal a finished task; returns the value as a later run will read it."""
        tree, arrays = codec.encode(value)
        content: str | bytes | None
        if arrays:
            content = codec.packed(tree, arrays)
            stored = codec.from_bytes(content)
        else:
            content = json_files.dumps(tree, sort_keys=False)
            stored = codec.decode(json_files.loads(content), {})
        artifact = None
        checksum = _checksum(task, content)
        if len(content) > _INLINE_BYTES:
            artifact = f"{task}.npz"
            packed = content if isinstance(content, bytes) else codec.packed(tree, arrays)
            checksum = _checksum(task, packed)
            with self._explained("write"):
                self._check_writable()
                write_bytes(self._artifact(artifact), packed)
            content = None
        self._finish(
            task, seconds, status="done", result=content, artifact=artifact, checksum=checksum
        )
        return stored

    def record_failure(self, task: str, error: str, seconds: float) -> None:
        """Journal a failed task; the next run tries it again."""
        self._finish(task, seconds, status="failed", error=error)

    def _finish(
        self, task: str, seconds: float, *, status: str, result: str | bytes | None = None,
        artifact: str | None = None, error: str | None = None, checksum: str | None = None,
    ) -> None:  # fmt: skip
        self._finished += 1
        with self._transaction() as connection:
            connection.execute(
                "UPDATE tasks SET status = ?, result = ?, artifact = ?, error = ?, finished = ?, "
                "checksum = ? WHERE id = ?",
                (status, result, artifact, error, self._finished, checksum, task),
            )
            connection.execute(
                "INSERT OR REPLACE INTO timings SELECT number, ? FROM tasks WHERE id = ?",
                (seconds, task),
            )

    def finished(self, ids: Sequence[str], *, only: str | None = None) -> dict[str, Any]:
        """The values of those tasks that are done; damaged ones are said and left out."""
        # ``only`` is the key of a value that is a dict: nothing else of it is decoded.
        values: dict[str, Any] = {}
        for task, content in self._done(ids):
            if content is None:
                self._warn_of_damage(f"the result of task {task[:12]}")
            else:
                values[task] = _decoded(content, only)
        return values

    def are_sound(self, ids: Sequence[str]) -> bool:
        """Whether all these tasks are done and their results undamaged; nothing is decoded."""
        sound = {task for task, content in self._done(ids) if content is not None}
        return sound >= set(ids)

    def _done(self, ids: Sequence[str]) -> Iterator[tuple[str, str | bytes | None]]:
        """The tasks that are done, with what is stored of each; None where that is damaged."""
        with self._explained("read"):
            for start in range(0, len(ids), 500):
                some = ids[start : start + 500]
                marks = ",".join("?" * len(some))
                for task, result, artifact, checksum in self._connection.execute(
                    "SELECT id, result, artifact, checksum FROM tasks "  # noqa: S608 - only question marks
                    f"WHERE status = 'done' AND id IN ({marks})",
                    some,
                ):
                    path = None if artifact is None else self._artifact(f"{task}.npz")
                    if path is None or path.exists():
                        content = result if path is None else path.read_bytes()
                        sound = content is not None and _checksum(task, content) == checksum
                        yield task, content if sound else None

    def _warn_of_damage(self, what: str) -> None:
        warnings.warn(
            f"{what} in {self.path} is damaged: it counts as not done, and the next run does it "
            "again. Check the disk.",
            FireassayWarning,
            stacklevel=3,
        )

    def progress(self, name: str) -> Progress:
        """How many tasks of this name are done, failed, and known."""
        with self._explained("read"):
            rows = self._connection.execute(
                "SELECT status, count(*) FROM tasks WHERE name = ? GROUP BY status", (name,)
            ).fetchall()
        count = dict(rows)
        return Progress(count.get("done", 0), count.get("failed", 0), sum(count.values()))

    def timings(self) -> dict[str, float]:
        """The seconds of each task: kept apart from the results, which must not depend on them."""
        with self._explained("read"):
            asked = "SELECT id, seconds FROM timings JOIN tasks ON task = number"
            return dict(self._connection.execute(asked))

    # Artifacts

    def save_artifact(self, name: str, value: Any) -> Path:
        """Write a value under a plain file name: whole, or not at all."""
        with self._explained("write"):
            self._check_writable()
            return codec.save(value, self._artifact(name))

    def load_artifact(self, name: str) -> Any:
        """Read what `save_artifact` wrote."""
        return codec.load(self._artifact(name))

    def _artifact(self, name: str) -> Path:
        if not name or name != Path(name).name or name.startswith(".") or len(name) > 200:
            raise StoreError("An artifact's name must be a plain file name.", got=repr(name))
        refuse_link(self.artifacts / name)
        return self.artifacts / name

    # Facts about the run

    def set_meta(self, key: str, value: Any) -> None:
        """Keep a plain value (anything strict JSON can hold) under a name."""
        with self._transaction() as connection:
            content = json_files.dumps(value)
            connection.execute(
                "INSERT OR REPLACE INTO meta (key, value, checksum) VALUES (?, ?, ?)",
                (key, content, _checksum(key, content)),
            )

    def meta(self, key: str, default: Any = None) -> Any:
        """What `set_meta` kept; what is damaged is said, and an error where it cannot be mended."""
        with self._explained("read"):
            row = self._connection.execute(
                "SELECT value, checksum FROM meta WHERE key = ?", (key,)
            ).fetchone()
        if row is not None and _checksum(key, row[0]) != row[1]:
            if self.read_only:
                raise StoreError(
                    f"The journal of {self.path} must be as it was written.",
                    got=f"a damaged entry {key!r}",
                    do="Check the disk; start the run again, which does what is damaged again.",
                )
            self._warn_of_damage(f"the entry {key!r}")
            row = None
        return default if row is None else json_files.loads(row[0])

    # Border to the operating system

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._writing, self._explained("write"):
            self._check_writable()
            if self._connection.in_transaction:  # left by Ctrl-C while another one was undone
                self._connection.execute("ROLLBACK")
            with journal_tables.atomic(self._connection) as connection:
                yield connection

    def _check_writable(self) -> None:
        if self.read_only:
            what = f"The run {self.path} must be open for writing."
            raise StoreError(what, got="a read-only store")

    @contextlib.contextmanager
    def _explained(self, doing: str) -> Iterator[None]:
        try:
            yield
        except (*DATABASE_ERRORS, OSError) as error:
            raise StoreError(
                f"The run folder {self.path} must be one that fireassay can {doing}.",
                got=f"{error}",
                do="Check free space, permissions, and that it is a run folder; what is "
                "already done is kept.",
            ) from error


def _readable(text: bytes) -> str:
    return text.decode("utf-8", "replace")  # damaged text is for its checksum to find


def _checksum(name: str, content: str | bytes) -> str:
    plain = content if isinstance(content, bytes) else str(content).encode("utf-8", "replace")
    return hashlib.sha256(name.encode() + b"\0" + plain).hexdigest()


def _decoded(content: str | bytes, only: str | None) -> Any:
    if isinstance(content, bytes):
        if not content.startswith(_ZIP):
            raise DataError("Expected a stored result.", got=f"{content[:8]!r}")
        return codec.from_bytes(content, only=only)
    tree = json_files.loads(content)
    return codec.decode(tree if only is None else tree[only], {})
