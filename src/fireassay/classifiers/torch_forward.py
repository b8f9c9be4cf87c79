"""A torch module's forward pass: evaluation mode, one thread, the module left as it was."""

import copy
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.classifiers import answer_forms, answers
from fireassay.classifiers.base import BaseClassifier
from fireassay.classifiers.fingerprint import fingerprint
from fireassay.core.errors import ModelError
from fireassay.core.extras import require
from fireassay.core.threads import one_torch_thread


class TorchForward(BaseClassifier):
    """A torch module read through its forward pass alone: evaluation mode, no gradients kept.

    Runs on one thread; the module's training flags are put back after each call. Input rows are
    converted to the module's own floating type and device.
    """

    def __init__(self, module: Any, *, device: str | None = None, **options: Any) -> None:
        super().__init__(**options)
        if self.output == "labels" and self._classes is None:
            raise ModelError(
                "A module that returns labels needs its classes.",
                do="Pass classes=[…] to as_classifier.",
            )
        self.device = device
        self.module = module if device is None else self._moved(module, device)
        names = {type(part).__name__ for part in self.module.modules()}
        self.takes_integers = bool(names & {"Embedding", "EmbeddingBag"})  # tokens
        self._eval_depth = 0
        self._modes: list[tuple[Any, bool]] = []

    def _raw(self, block: NDArray[Any]) -> Any:
        torch = require("torch", "torch", "A torch model")
        with self._quiet(), torch.no_grad():
            answer, kind = self._answer(self._tensor(block))
            array = self._numpy(answer)
            return {"logits": array} if kind == "logits" != self.output else array

    # Inside one call ------------------------------------------------------------------------

    def _answer(self, inputs: Any) -> tuple[Any, str]:
        """The module's tensor, and what it is; one column of a binary model becomes two."""
        torch = require("torch", "torch", "A torch model")
        output, kind = self.module(inputs), self.output
        if isinstance(output, Mapping):
            form = answer_forms.wrapped_array(output, self.output)
            if form is not None:
                output, kind = form.array, form.output
        if not hasattr(output, "detach"):
            opened = answer_forms.opened(output, self.output, len(inputs))
            answers.as_array(opened.array)  # says what came instead of a tensor, if it has a name
            raise ModelError(
                "A torch classifier must return one tensor.", got=type(output).__name__
            )
        single = output.ndim == 1 or (output.ndim == 2 and output.shape[1] == 1)
        if single and output.dtype.is_floating_point and kind != "labels":
            answer_forms.two_columns(self._numpy(output), kind, None)  # refuses what is neither
            column = output.reshape(-1)
            first = torch.zeros_like(column) if kind == "logits" else 1 - column
            output = torch.stack([first, column], dim=1)
        return output, kind

    def _tensor(self, block: NDArray[Any]) -> Any:
        torch = require("torch", "torch", "A torch model")
        parameter = next(self.module.parameters(), None)
        if parameter is None:
            parameter = next(self.module.buffers(), None)
        dtype = torch.float32
        if parameter is not None and parameter.dtype.is_floating_point:
            dtype = parameter.dtype
        if block.dtype.kind in "iu":
            dtype, block = torch.int64, block.astype(np.int64)
        device = "cpu" if parameter is None else parameter.device
        return torch.from_numpy(block).to(device=device, dtype=dtype)

    @staticmethod
    def _numpy(tensor: Any) -> NDArray[Any]:
        if tensor.dtype.is_floating_point and tensor.dtype.itemsize < 4:
            tensor = tensor.float()
        array: NDArray[Any] = tensor.detach().cpu().numpy()
        return array

    @contextmanager
    def _quiet(self) -> Iterator[None]:
        """Evaluation mode and one thread; both as before when the last caller leaves."""
        with self._lock:
            if self._eval_depth == 0:
                self._modes = [(part, True) for part in _parts(self.module) if part.training]
                if self._modes:
                    self.module.eval()
            self._eval_depth += 1
        try:
            with one_torch_thread():
                yield
        finally:
            with self._lock:
                self._eval_depth -= 1
                if self._eval_depth == 0:
                    for module, training in self._modes:
                        module.training = training
                    self._modes = []

    @staticmethod
    def _moved(module: Any, device: str) -> Any:
        """The module on a device; a copy, so that the user's own stays where it is."""
        torch = require("torch", "torch", "A torch model")
        parameter = next(module.parameters(), None)
        try:
            target = torch.device(device)
            torch.zeros(1, device=target)
        except (RuntimeError, AssertionError, NotImplementedError) as failure:
            raise ModelError(
                "The 'device' parameter must name a device of this machine.",
                got=f"{device!r} ({str(failure).splitlines()[0][:200]})",
                do="Use device='cpu', or leave it out to stay where the module is.",
            ) from failure
        if parameter is None or parameter.device == target:
            return module
        return copy.deepcopy(module).to(target)

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        state.update(_eval_depth=0, _modes=[])
        return state

    def _content_hash(self) -> str:
        return module_fingerprint(self.module)

    def _described(self) -> str:
        return type(self.module).__name__


def _parts(module: Any) -> list[Any]:
    """The module and everything in it, once each; at every call, so without torch's names."""
    found, waiting = {id(module): module}, [module]
    while waiting:
        for part in waiting.pop()._modules.values():
            if part is not None and id(part) not in found:
                found[id(part)] = part
                waiting.append(part)
    return list(found.values())


def module_fingerprint(module: Any) -> str:
    """SHA-256 of a module's structure, code, settings, parameters and buffers."""
    skipped = {"training", "_parameters", "_buffers", "_modules"}
    parts: list[Any] = [repr(module)]
    for name, part in module.named_modules():
        settings = {
            key: value
            for key, value in vars(part).items()
            if key not in skipped and isinstance(value, bool | int | float | str | tuple | list)
        }
        kind = type(part)
        parts.append((name, kind.__module__, kind.__qualname__, settings))
        if not kind.__module__.startswith("torch."):
            parts.append(kind.forward)
    parts.extend(module.named_parameters())
    parts.extend(module.named_buffers())
    return fingerprint(parts)
