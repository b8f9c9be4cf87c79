"""torch modules: probabilities, gradients with respect to the input, hidden layers."""

import copy
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.classifiers import answers
from fireassay.classifiers.base import BaseClassifier
from fireassay.classifiers.fingerprint import fingerprint
from fireassay.classifiers.protocol import FloatArray
from fireassay.classifiers.torch_threads import one_thread
from fireassay.core.errors import DataError, ModelError, ParameterError
from fireassay.core.extras import require


def is_module(obj: Any) -> bool:
    """Whether an object is a torch module, told without importing torch."""
    return any(
        f"{kind.__module__}.{kind.__qualname__}" == "torch.nn.modules.module.Module"
        for kind in type(obj).__mro__
    )


class TorchLabels(BaseClassifier):
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
        self.module = module if device is None else _on_device(module, device)
        self._eval_depth = 0
        self._modes: list[tuple[Any, bool]] = []

    def _raw(self, block: NDArray[Any]) -> Any:
        torch = require("torch", "torch", "A torch model")
        with self._quiet(), torch.no_grad():
            return self._numpy(self._forward(self._tensor(block)))

    @property
    def layers(self) -> tuple[str, ...]:
        """Names of the submodules, in the order of the module."""
        return tuple(name for name, _ in self.module.named_modules() if name)

    def activations(self, X: ArrayLike, layers: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """The output of each named submodule, float32 of shape ``(n, ...)``.

        A submodule that is called several times in one forward pass gives its last output.
        """
        names = [layers] if isinstance(layers, str) else list(layers)
        unknown = [name for name in names if name not in self.layers]
        if unknown or not names:
            raise ParameterError(
                f"Layers must be among {', '.join(self.layers[:20])}.", got=repr(unknown or names)
            )
        joined = self._in_blocks(
            lambda block: self._activations_of_block(block, names), self._checked_input(X)
        )
        return dict(zip(names, joined, strict=True))

    def _activations_of_block(
        self, block: NDArray[Any], names: list[str]
    ) -> tuple[NDArray[np.float32], ...]:
        torch = require("torch", "torch", "A torch model")
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
                self._forward(self._tensor(block))
        finally:
            for handle in hooks:
                handle.remove()
        return tuple(_activation(name, caught.get(name), len(block)) for name in names)

    # Inside one call ------------------------------------------------------------------------

    def _forward(self, inputs: Any) -> Any:
        output = self.module(inputs)
        if not hasattr(output, "detach"):
            answers.as_array(output)  # says what came instead of a tensor, if it has a name
            raise ModelError(
                "A torch classifier must return one tensor.", got=type(output).__name__
            )
        return output

    def _tensor(self, block: NDArray[Any]) -> Any:
        torch = require("torch", "torch", "A torch model")
        parameter = next(self.module.parameters(), None)
        if parameter is None:
            parameter = next(self.module.buffers(), None)
        dtype = torch.float32
        if parameter is not None and parameter.dtype.is_floating_point:
            dtype = parameter.dtype
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
                self._modes = [(m, True) for m in self.module.modules() if m.training]
                if self._modes:
                    self.module.eval()
            self._eval_depth += 1
        try:
            with one_thread():
                yield
        finally:
            with self._lock:
                self._eval_depth -= 1
                if self._eval_depth == 0:
                    for module, training in self._modes:
                        module.training = training
                    self._modes = []

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        state.update(_eval_depth=0, _modes=[])
        return state

    def _content_hash(self) -> str:
        return module_fingerprint(self.module)

    def _described(self) -> str:
        return type(self.module).__name__


class TorchClassifier(TorchLabels):
    """A torch module that returns logits or probabilities, with gradients.

    For a module that returns probabilities p, log p takes the place of the logits.
    """

    @property
    def gradient_queries(self) -> int:
        """Rows sent through a backward pass so far."""
        return self._counts["gradient_queries"]

    def logits(self, X: ArrayLike) -> FloatArray:
        """Scores before the softmax, shape ``(n, k)``."""
        return self._in_blocks(self._logits_of_block, self._checked_input(X))[0]

    def loss_gradient(
        self, X: ArrayLike, y: Sequence[int] | NDArray[np.int64]
    ) -> tuple[FloatArray, NDArray[Any]]:
        """Logits ``(n, k)`` and the gradient of the cross-entropy to class *index* ``y``, shape of X."""
        return self._loss_gradient(X, y, temperature=1.0)

    def _loss_gradient(
        self, X: ArrayLike, y: Sequence[int] | NDArray[np.int64], temperature: float
    ) -> tuple[FloatArray, NDArray[Any]]:
        """As ``loss_gradient``, for the softmax of the logits divided by the temperature."""
        rows = self._checked_input(X)
        columns = checked_columns(np.asarray(y)[:, None] if np.ndim(y) == 1 else y, len(rows), 1)

        def gradient(block: NDArray[Any], target: NDArray[Any]) -> tuple[NDArray[Any], ...]:
            torch = require("torch", "torch", "A torch model")
            with self._quiet(), torch.enable_grad():
                inputs, scores = self._scores_with_graph(block)
                self._check_targets(target, scores)
                index = torch.from_numpy(target[:, 0]).to(scores.device)
                loss = torch.nn.functional.cross_entropy(
                    scores / temperature, index, reduction="sum"
                )
                (slope,) = torch.autograd.grad(loss, inputs)
                return self._settled(scores), self._numpy(slope).astype(block.dtype, copy=False)

        logits, gradients = self._in_blocks(gradient, rows, columns, gradients_per_row=1)
        return logits, gradients

    def logit_gradients(
        self, X: ArrayLike, columns: NDArray[np.int64]
    ) -> tuple[FloatArray, NDArray[Any]]:
        """Logits ``(n, k)`` and the gradients ``(n, m, *X.shape[1:])`` of the chosen logits."""
        rows = self._checked_input(X)
        chosen = checked_columns(columns, len(rows), None)
        n_columns = chosen.shape[1]

        def gradient(block: NDArray[Any], wanted: NDArray[Any]) -> tuple[NDArray[Any], ...]:
            torch = require("torch", "torch", "A torch model")
            with self._quiet(), torch.enable_grad():
                inputs, scores = self._scores_with_graph(block)
                self._check_targets(wanted, scores)
                index = torch.from_numpy(wanted).to(scores.device)
                slopes = np.empty((len(block), n_columns, *block.shape[1:]), dtype=block.dtype)
                for column in range(n_columns):
                    picked = scores.gather(1, index[:, column : column + 1]).sum()
                    (slope,) = torch.autograd.grad(
                        picked, inputs, retain_graph=column + 1 < n_columns
                    )
                    slopes[:, column] = self._numpy(slope)
                return self._settled(scores), slopes

        logits, gradients = self._in_blocks(gradient, rows, chosen, gradients_per_row=n_columns)
        return logits, gradients

    def _logits_of_block(self, block: NDArray[Any]) -> tuple[FloatArray]:
        torch = require("torch", "torch", "A torch model")
        with self._quiet(), torch.no_grad():
            return (self._settled(self._as_logits(self._forward(self._tensor(block)))),)

    def _scores_with_graph(self, block: NDArray[Any]) -> tuple[Any, Any]:
        inputs = self._tensor(block).requires_grad_(True)
        scores = self._as_logits(self._forward(inputs))
        if not scores.requires_grad:
            raise ModelError(
                "The module's answer must be differentiable with respect to its input.",
                got="an answer without a gradient",
                do="Remove detach(), no_grad() or argmax from the module's forward.",
            )
        return inputs, scores

    def _as_logits(self, output: Any) -> Any:
        if self.output == "logits":
            return output
        torch = require("torch", "torch", "A torch model")
        # Checked as probabilities first: the logarithm of logits would be silent nonsense.
        self._checked_probabilities(self._numpy(output))
        return torch.log(output.clamp_min(torch.finfo(output.dtype).tiny))

    def _checked_probabilities(self, array: NDArray[Any]) -> None:
        answers.probabilities(
            array,
            output="probabilities",
            n=len(array),
            classes=self._classes,
            first_row=getattr(self._local, "first_row", 0),
        )

    def _settled(self, scores: Any) -> FloatArray:
        array = self._numpy(scores)
        logits = answers.checked_logits(
            array,
            n=len(array),
            n_classes=None if self._classes is None else len(self._classes),
            first_row=getattr(self._local, "first_row", 0),
        )
        self._settle_classes(logits.shape[1])
        return logits

    @staticmethod
    def _check_targets(columns: NDArray[Any], scores: Any) -> None:
        if columns.max() >= scores.shape[1]:
            raise DataError(
                f"Class indices must be between 0 and {scores.shape[1] - 1}.",
                got=f"{int(columns.max())}",
            )


def checked_columns(columns: Any, n: int, width: int | None) -> NDArray[np.int64]:
    """Class indices of shape ``(n, m)``, m >= 1."""
    array = np.asarray(columns)
    ok = array.ndim == 2 and len(array) == n and array.shape[1] > 0 and array.dtype.kind in "iu"
    if not ok or (width is not None and array.shape[1] != width) or (array < 0).any():
        raise DataError(
            f"Class indices must be integers >= 0 for each of the {n} rows.",
            got=f"{array.dtype} of shape {array.shape}",
            do="Pass positions in model.classes, not the labels themselves.",
        )
    return array.astype(np.int64)


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


def _on_device(module: Any, device: str) -> Any:
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
