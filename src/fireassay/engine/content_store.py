"""What depends on data and settings alone, kept between runs by the hash of exactly those."""

import contextlib
import functools
import hashlib
import os
import platform
import stat
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from fireassay.core import codec
from fireassay.core.errors import ConfigError, FireassayError, FireassayWarning
from fireassay.core.evidence import library_versions
from fireassay.core.files import cache_folder, write_bytes
from fireassay.core.hashing import sha256

OFF: Final = "off"
MOST_BYTES: Final = 2 * 2**30
_SUFFIX: Final = ".kept"
_DIGEST: Final = 64  # characters of a checksum
_ABANDONED_S: Final = 3600.0


class ContentStore:
    """Values by key, a checksummed file each: shared between runs, models and processes.

    Nothing depends on it: what is damaged, missing or cannot be written is computed. What was not
    used for longest goes first when the files take more than ``most_bytes``.

    Args:
        path: The folder, readable by its owner alone; made if it is not there.
        most_bytes: Of all files together.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = ContentStore(Path(folder) / "store")
    ...     store.once("sum", [1, 2], lambda: 3), store.once("sum", [1, 2], lambda: 0)
    (3, 3)
    """

    def __init__(self, path: str | Path, most_bytes: int = MOST_BYTES) -> None:
        self.path, self.most_bytes = Path(path), most_bytes
        self.closed_because: str | None = None
        self._open()

    @classmethod
    def configured(cls, setting: str | None, folder: Path) -> "ContentStore | None":
        """The store of ``[run] store``: the user's cache, "off", or a folder beside the file."""
        if setting == OFF:
            return None
        if setting is None:
            return cls(cache_folder() / "store")
        if not (folder / setting).resolve().is_relative_to(folder.resolve()):
            raise ConfigError(
                "[run] store must lie inside the folder of the configuration, or be off.",
                got=f"{setting!r}",
                do="Somebody else may have written it. Another folder: set XDG_CACHE_HOME.",
            )
        return cls(folder / setting)

    def _open(self) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.mkdir(mode=0o700, exist_ok=True)
            found = self.path.lstat()
        except OSError as error:
            return self._close(str(error))
        if not stat.S_ISDIR(found.st_mode):
            return self._close("it is no folder")
        if hasattr(os, "getuid") and (found.st_uid != os.getuid() or found.st_mode & 0o077):
            return self._close("others than its owner may use it; chmod 700 ends that")
        return None

    def _close(self, why: str) -> None:
        self.closed_because = why
        warnings.warn(
            f"The store {self.path} is not used: {why}. What it would hold is computed.",
            FireassayWarning,
            stacklevel=4,
        )

    def once(self, name: str, inputs: Any, compute: Callable[[], Any]) -> Any:
        """What ``compute`` gives for these inputs; the same whether it was kept or not."""
        key = key_of(name, inputs)
        found = self.finished([key])
        return found[key] if found else self.record(key, compute())

    def has(self, name: str, inputs: Any) -> bool:
        """Whether a value is there; it is not read."""
        return self._file(key_of(name, inputs)).is_file()

    # What an `Executor` asks of a journal

    def expect(self, ids: Iterable[str], name: str, function: str) -> None:
        """Nothing: what is not done is not there."""

    def record_failure(self, task: str, error: str, seconds: float) -> None:
        """Nothing: a failure is computed again."""

    def finished(self, ids: Sequence[str]) -> dict[str, Any]:
        """The values that are kept under these keys; what is damaged is said and taken away."""
        found = {}
        for key in ids if self.closed_because is None else ():
            try:
                content = self._file(key).read_bytes()
            except OSError:
                continue
            checksum, content = content[:_DIGEST], content[_DIGEST:]
            try:
                if _checksum(key, content) != checksum:
                    raise FireassayError("A kept value must be as it was written.", got=key[:12])
                found[key] = codec.from_bytes(content)
            except FireassayError as error:
                warnings.warn(
                    f"{error} In {self.path}; it is computed again. Check the disk.",
                    FireassayWarning,
                    stacklevel=3,
                )
                self._file(key).unlink(missing_ok=True)
                continue
            with contextlib.suppress(OSError):  # another process has just taken it away
                os.utime(self._file(key))
        return found

    def record(self, task: str, value: Any, seconds: float = 0.0) -> Any:
        """Keep a value; returns it as a later run will read it."""
        del seconds
        content = codec.to_bytes(value)
        if self.closed_because is None and len(content) <= self.most_bytes // 4:
            try:
                write_bytes(self._file(task), _checksum(task, content) + content)
                self._make_room()
            except OSError as error:
                self._close(str(error))
        return codec.from_bytes(content)

    def files(self) -> Iterator[tuple[Path, os.stat_result]]:
        """The kept files, with size and time of last use."""
        for path in self.path.glob(f"*{_SUFFIX}"):
            with contextlib.suppress(OSError):
                yield path, path.stat()

    def clear(self) -> None:
        """Take all kept files away."""
        for path, _ in self.files():
            path.unlink(missing_ok=True)

    def _make_room(self) -> None:
        found = sorted(self.files(), key=lambda one: one[1].st_mtime)
        total = sum(about.st_size for _, about in found)
        for path, about in found:
            if total <= self.most_bytes:
                break
            path.unlink(missing_ok=True)
            total -= about.st_size
        for part in self.path.glob(f".*{_SUFFIX}*.part"):  # left by processes that were killed
            with contextlib.suppress(OSError):
                if time.time() - part.stat().st_mtime > _ABANDONED_S:
                    part.unlink()

    def _file(self, key: str) -> Path:
        return self.path / f"{sha256(_surroundings(), key)}{_SUFFIX}"


def key_of(name: str, inputs: Any) -> str:
    """The key of a kept value: what it is, and the content that it is made from."""
    return sha256("kept", name, inputs)


def _checksum(key: str, content: bytes) -> bytes:
    return hashlib.sha256(key.encode() + b"\0" + content).hexdigest().encode()


@functools.cache
def _surroundings() -> str:
    """What else may change bytes: code, libraries, the kind of processor."""
    code = hashlib.sha256()
    package = Path(__file__).parents[1]
    for file in sorted(package.rglob("*.py")):
        code.update(str(file.relative_to(package)).encode() + file.read_bytes())
    return sha256(code.hexdigest(), library_versions(), _processor())


def _processor() -> list[str]:
    """The processor's model and abilities, which decide how libraries round."""
    wanted = ("model name", "flags", "Features", "CPU part")
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    found = {line for line in lines if line.partition("\t")[0].strip().rstrip(" :") in wanted}
    return [platform.machine(), platform.processor(), *sorted(found)]
