"""Large things that every task needs: written once, mapped into each worker, never copied."""

import io
import mmap
import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cloudpickle  # type: ignore[import-untyped]

from fireassay.core.counted import Counted, is_counted
from fireassay.core.errors import ParameterError

_ALIGNMENT = 64


@dataclass(frozen=True)
class Shared:
    """What every task is given, and the models somewhere in it, which count their queries."""

    given: Mapping[str, Any]
    models: tuple[Counted, ...]


_loaded: dict[str, Shared] = {}


class _Packer(cloudpickle.Pickler):  # type: ignore[misc]
    """Notes each model that travels, however deep it lies in what is shared."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.models: dict[int, Counted] = {}

    def persistent_id(self, value: Any) -> None:
        if is_counted(value):
            self.models[id(value)] = value


def find_models(shared: Mapping[str, Any]) -> Shared:
    """``shared`` with the models in it that count their queries."""
    packer = _Packer(_Nowhere(), protocol=5, buffer_callback=lambda _: None)
    packer.dump(dict(shared))
    models = tuple(packer.models.values())
    for model in models:
        if model.max_queries is not None:
            raise ParameterError(
                "A model with a query budget must stay in one process.",
                got=f"max_queries={model.max_queries} and several workers",
                do="Use workers=1 and no cluster, or a model without max_queries.",
            )
    return Shared(shared, models)


class _Nowhere(io.RawIOBase):
    """Takes everything and keeps nothing."""

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        return memoryview(data).nbytes


def write_shared(shared: Shared, folder: Path) -> Path:
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


def read_shared(path: str) -> Shared:
    """What `write_shared` wrote, read once per process and kept until the next map."""
    # Arrays are copy-on-write views: a task that writes changes its own process's copy only.
    if path not in _loaded:
        _loaded.clear()
        _loaded[path] = _map(path)
    return _loaded[path]


def _map(path: str) -> Shared:
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
    shared: Shared = pickle.loads(body, buffers=buffers)  # noqa: S301
    return shared
