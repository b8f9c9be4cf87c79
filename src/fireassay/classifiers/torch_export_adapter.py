"""Files of ``torch.export.save`` (.pt2), read only after the user has said that they are trusted.

torch runs what such a file says: ``guards_code`` and the names of inputs become Python source that
is compiled and executed, shape expressions go through ``eval``, constants may be pickles.
"""

import hashlib
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fireassay.classifiers.torch_forward import TorchForward
from fireassay.classifiers.torch_gradients import TorchGradients
from fireassay.core.errors import ModelError
from fireassay.core.extras import require
from fireassay.core.threads import one_torch_thread


class ExportedLabels(TorchForward):
    """A program saved by ``torch.export.save``.

    A program exported with a fixed batch dimension is always sent blocks of that size. Its
    layers cannot be read: the exported graph has no submodules.
    """

    def __init__(self, path: Path, *, batch_size: Any = "auto", **options: Any) -> None:
        self.path = path
        self._file_bytes = path.read_bytes()
        module, fixed_rows = _load(self._file_bytes, path.name)
        size = batch_size if fixed_rows is None else fixed_rows
        super().__init__(module, batch_size=size, **options)
        self.has_fixed_batch = fixed_rows is not None

    @contextmanager
    def _quiet(self) -> Iterator[None]:
        with one_torch_thread():  # an exported program has no training mode to leave
            yield

    @property
    def file_sha256(self) -> str:
        """SHA-256 of the file's bytes, as ``sha256sum`` prints it."""
        return hashlib.sha256(self._file_bytes).hexdigest()

    def _content_hash(self) -> str:
        return self.file_sha256

    def _described(self) -> str:
        return repr(self.path.name)

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "module": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.module = _load(self._file_bytes, self.path.name)[0]
        if self.device is not None:
            self.module = self._moved(self.module, self.device)


class ExportedClassifier(ExportedLabels, TorchGradients):
    """An exported program that returns logits or probabilities, with gradients."""


def adapt(path: Path, **options: Any) -> ExportedLabels:
    """With gradients, unless the program returns labels."""
    kind = ExportedLabels if options.get("output") == "labels" else ExportedClassifier
    return kind(path, **options)


def _load(content: bytes, name: str) -> tuple[Any, int | None]:
    """The program as a module, and its batch size if that is fixed."""
    torch = require("torch", "torch", "A .pt2 model")
    try:
        program = torch.export.load(io.BytesIO(content))
    except Exception as failure:
        raise ModelError(
            "The .pt2 file must be readable with the torch installed here.",
            got=f"{name!r}: {type(failure).__name__}: {failure}"[:400],
        ) from failure
    inputs = program.graph_signature.user_inputs
    if len(inputs) != 1:
        raise ModelError(
            "An exported classifier must have one input.", got=f"{name!r} with {len(inputs)}"
        )
    shapes = {n.name: n.meta["val"].shape for n in program.graph.nodes if n.op == "placeholder"}
    rows = shapes[inputs[0]][0]
    return program.module(), rows if isinstance(rows, int) else None
