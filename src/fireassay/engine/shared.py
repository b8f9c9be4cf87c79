"""Large things that every task needs: written once, mapped into each worker, never copied."""

import mmap
import pickle
from pathlib import Path
from typing import Any

import cloudpickle  # type: ignore[import-untyped]

_ALIGNMENT = 64
_loaded: dict[str, dict[str, Any]] = {}


def write_shared(shared: dict[str, Any], folder: Path) -> Path:
    """Write ``shared`` so that workers map its arrays from the file instead of copying them."""
    buffers: list[pickle.PickleBuffer] = []
    path = folder / "shared"
    body = cloudpickle.dumps(shared, protocol=5, buffer_callback=buffers.append)
    views = [buffer.raw() for buffer in buffers]
    head = pickle.dumps((len(body), [view.nbytes for view in views]))
    with open(path, "wb") as file:
        file.write(len(head).to_bytes(8, "little"))
        file.write(head)
        file.write(body)
        for view in views:
            file.write(b"\0" * (-file.tell() % _ALIGNMENT))
            file.write(view)
    return path


def read_shared(path: str) -> dict[str, Any]:
    """What `write_shared` wrote: read once in each process, then kept until the next map.

    The arrays are copy-on-write views of the file: a task that writes into one changes its own
    process's copy, never the file.
    """
    if path not in _loaded:
        _loaded.clear()
        _loaded[path] = _map(path)
    return _loaded[path]


def _map(path: str) -> dict[str, Any]:
    with open(path, "rb") as file:
        memory = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))
    at = 8 + int.from_bytes(memory[:8], "little")
    # The file was written by the driver of this very run a moment ago, in its private folder.
    body_length, lengths = pickle.loads(memory[8:at])  # noqa: S301
    body = memory[at : at + body_length]
    at += body_length
    buffers = []
    for length in lengths:
        at += -at % _ALIGNMENT
        buffers.append(memory[at : at + length])
        at += length
    shared: dict[str, Any] = pickle.loads(body, buffers=buffers)  # noqa: S301
    return shared
