"""torch modules and exported programs (.pt2): probabilities, gradients, hidden layers."""

import hashlib
import io
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.classifiers.backends.torch_gradients import TorchForward, TorchGradients
from fireassay.classifiers.declared import checked_layers, readable
from fireassay.core.errors import ModelError
from fireassay.core.lazy import require, torch
from fireassay.core.threads import one_torch_thread


class TorchLabels(TorchForward):
    """A torch module that returns labels: nothing to derive, but submodules' outputs to read."""

    @property
    def layers(self) -> tuple[str, ...]:
        """Names of the submodules, in the order of the module."""
        return tuple(name for name, _ in self.module.named_modules() if name)

    def activations(self, X: ArrayLike, layers: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """The (last) output of each named submodule, float32 of shape ``(n, ...)``."""
        names = checked_layers(layers, self.layers)
        call = partial(self._activations_of_block, names=names)
        joined = self._in_blocks(None, call, self._checked_input(X))
        return dict(zip(names, joined, strict=True))

    def _activations_of_block(
        self, block: NDArray[Any], names: list[str]
    ) -> tuple[NDArray[np.float32], ...]:
        caught: dict[str, Any] = {}
        thread = threading.get_ident()

        def catch(name: str) -> Any:
            def hook(_module: Any, _inputs: Any, output: Any) -> None:
                if threading.get_ident() == thread:
                    caught[name] = output

            return hook

        submodules = dict(self.module.named_modules())
        hooks = [submodules[name].register_forward_hook(catch(name)) for name in names]
        try:
            with self._quiet(), torch.no_grad():
                self._answer(self._tensor(block))
        finally:
            for handle in hooks:
                handle.remove()
        return tuple(_activation(name, caught.get(name), len(block)) for name in names)


class TorchClassifier(TorchGradients, TorchLabels):
    """A torch module that returns logits or probabilities: gradients and layers."""


def adapt(module: Any, **options: Any) -> TorchLabels:
    """With gradients, unless the module returns labels."""
    kind = TorchLabels if options.get("output") == "labels" else TorchClassifier
    return kind(module, **options)


def accepts(obj: Any) -> bool:
    """Whether an object is a torch module, told without importing torch."""
    return any(
        f"{kind.__module__}.{kind.__qualname__}" == "torch.nn.modules.module.Module"
        for kind in type(obj).__mro__
    )


def _activation(name: str, output: Any, n: int) -> NDArray[np.float32]:
    if not hasattr(output, "detach"):
        raise ModelError(
            f"Layer {name!r} must give one tensor in each forward pass.",
            got="nothing: it was not called" if output is None else type(output).__name__,
        )
    if output.ndim == 0 or output.shape[0] != n:
        raise ModelError(
            f"Layer {name!r} must give one entry per row ({n} rows sent).",
            got=f"shape {tuple(output.shape)}",
        )
    array: NDArray[np.float32] = output.detach().cpu().float().numpy().copy()
    return array


class ExportedLabels(TorchForward):
    """A ``torch.export`` program, without layers; a fixed batch dimension sets the block size."""

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


def adapt_exported(path: Path, **options: Any) -> ExportedLabels:
    """With gradients, unless the program returns labels."""
    kind = ExportedLabels if options.get("output") == "labels" else ExportedClassifier
    return kind(path, **options)


def _load(content: bytes, name: str) -> tuple[Any, int | None]:
    """The program as a module, and its batch size if that is fixed."""
    require("torch", "torch", "A .pt2 model")
    with readable("The .pt2 file must be readable with the torch installed here.", name, 400):
        program = torch.export.load(io.BytesIO(content))
    inputs = program.graph_signature.user_inputs
    if len(inputs) != 1:
        raise ModelError(
            "An exported classifier must have one input.", got=f"{name!r} with {len(inputs)}"
        )
    shapes = {n.name: n.meta["val"].shape for n in program.graph.nodes if n.op == "placeholder"}
    rows = shapes[inputs[0]][0]
    return program.module(), rows if isinstance(rows, int) else None
