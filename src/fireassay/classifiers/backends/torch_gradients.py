"""Forward pass of a torch module, and gradients with respect to its input."""

import copy
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.classifiers import answers
from fireassay.classifiers.base import BaseClassifier
from fireassay.classifiers.blocks import Call
from fireassay.classifiers.fingerprint import fingerprint
from fireassay.classifiers.protocol import Weigh
from fireassay.core.arrays import FloatArray
from fireassay.core.errors import DataError, ModelError
from fireassay.core.lazy import torch
from fireassay.core.threads import one_torch_thread


class TorchForward(BaseClassifier):
    """A torch module read through its forward pass alone: evaluation mode, no gradients kept."""

    # On one thread, in the module's own float type and device; training flags are put back.

    may_be_trained = True

    def __init__(self, module: Any, *, device: str | None = None, **options: Any) -> None:
        super().__init__(**options)
        self._need_classes("module")
        self.device = device
        self.module = module if device is None else self._moved(module, device)
        names = {type(part).__name__ for part in self.module.modules()}
        self.takes_integers = bool(names & {"Embedding", "EmbeddingBag"})  # tokens
        self._eval_depth = 0
        self._modes: list[tuple[Any, bool]] = []

    def _raw(self, block: NDArray[Any]) -> Any:
        with self._quiet(), torch.no_grad():
            answer, kind = self._answer(self._tensor(block))
            array = self._numpy(answer)
            return {"logits": array} if kind == "logits" != self.output else array

    # Inside one call ------------------------------------------------------------------------

    def _answer(self, inputs: Any) -> tuple[Any, str]:
        """The module's tensor, and what it is; one column of a binary model becomes two."""
        output, kind = self.module(inputs), self.output
        if isinstance(output, Mapping):
            form = answers.wrapped_array(output, self.output)
            if form is not None:
                output, kind = form.array, form.output
        if not hasattr(output, "detach"):
            opened = answers.opened(output, self.output, len(inputs))
            answers.as_array(opened.array)  # says what came instead of a tensor, if it has a name
            raise ModelError(
                "A torch classifier must return one tensor.", got=type(output).__name__
            )
        single = output.ndim == 1 or (output.ndim == 2 and output.shape[1] == 1)
        if single and output.dtype.is_floating_point and kind != "labels":
            answers.two_columns(self._numpy(output), kind, None)  # refuses what is neither
            column = output.reshape(-1)
            first = torch.zeros_like(column) if kind == "logits" else 1 - column
            output = torch.stack([first, column], dim=1)
        return output, kind

    def _tensor(self, block: NDArray[Any]) -> Any:
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


class TorchGradients(TorchForward):
    """A torch module with gradients; log p takes the place of logits for one that returns p."""

    backward_passes = 1

    @property
    def gradient_queries(self) -> int:
        """Rows sent through a backward pass so far."""
        return self._counts["gradient_queries"]

    def logits(self, X: ArrayLike) -> FloatArray:
        """Scores before the softmax, shape ``(n, k)``."""
        return self._in_blocks("logits", self._logits_of_block, self._checked_input(X))[0]

    def loss_gradient(
        self, X: ArrayLike, y: Sequence[int] | NDArray[np.int64]
    ) -> tuple[FloatArray, NDArray[Any]]:
        """Logits ``(n, k)`` and the gradient of the cross-entropy to class *index* ``y``, as X."""
        return self._loss_gradient(X, y, temperature=1.0)

    def _loss_gradient(
        self, X: ArrayLike, y: Sequence[int] | NDArray[np.int64], temperature: float
    ) -> tuple[FloatArray, NDArray[Any]]:
        """As ``loss_gradient``, for the softmax of the logits divided by the temperature."""
        rows = self._checked_input(X)
        columns = checked_columns(np.asarray(y)[:, None] if np.ndim(y) == 1 else y, len(rows), 1)
        call = partial(self._loss_gradient_of_block, temperature=temperature)
        logits, slope = self._in_blocks("loss gradient", call, rows, columns, gradients_per_row=1)
        return logits, slope

    def logit_gradients(
        self, X: ArrayLike, columns: NDArray[np.int64]
    ) -> tuple[FloatArray, NDArray[Any]]:
        """Logits ``(n, k)`` and the gradients ``(n, m, *X.shape[1:])`` of the chosen logits."""
        rows = self._checked_input(X)
        chosen = checked_columns(columns, len(rows), None)
        call, each = self._logit_gradients_of_block, chosen.shape[1]
        logits, slopes = self._in_blocks(
            "logit gradients", call, rows, chosen, gradients_per_row=each
        )
        return logits, slopes

    def score_gradient(
        self, X: ArrayLike, columns: NDArray[np.int64], weigh: Weigh
    ) -> tuple[FloatArray, NDArray[Any]]:
        """Logits, and the gradient by X of their sum weighted by ``weigh(logits, columns)``."""
        # One backward pass for any loss of the logits: the weights are its derivative by them.
        rows = self._checked_input(X)
        chosen = checked_columns(columns, len(rows), None)
        call = partial(self._score_gradient_of_block, weigh=weigh)
        logits, slope = self._in_blocks("score gradient", call, rows, chosen, gradients_per_row=1)
        return logits, slope

    def _questions(
        self, rows: NDArray[Any], gradients: bool
    ) -> Iterator[tuple[str, Call, tuple[NDArray[Any], ...]]]:
        yield from super()._questions(rows, gradients)
        if gradients:
            targets = np.resize(np.arange(len(self.classes)), (len(rows), 1))
            loss = partial(self._loss_gradient_of_block, temperature=1.0)
            yield "logits", self._logits_of_block, (rows,)
            yield "loss gradient", loss, (rows, targets)
            yield "logit gradients", self._logit_gradients_of_block, (rows, targets)
            score = partial(self._score_gradient_of_block, weigh=_plain_score)
            yield "score gradient", score, (rows, targets)

    def _loss_gradient_of_block(
        self, block: NDArray[Any], target: NDArray[Any], temperature: float
    ) -> tuple[NDArray[Any], ...]:
        with self._quiet(), torch.enable_grad():
            inputs, scores = self._scores_with_graph(block)
            self._check_targets(target, scores)
            index = torch.from_numpy(target[:, 0]).to(scores.device)
            loss = torch.nn.functional.cross_entropy(scores / temperature, index, reduction="sum")
            (slope,) = torch.autograd.grad(loss, inputs)
            return self._settled(scores), self._numpy(slope).astype(block.dtype, copy=False)

    def _score_gradient_of_block(
        self, block: NDArray[Any], columns: NDArray[Any], weigh: Weigh
    ) -> tuple[NDArray[Any], ...]:
        with self._quiet(), torch.enable_grad():
            inputs, scores = self._scores_with_graph(block)
            self._check_targets(columns, scores)
            logits = self._settled(scores)
            weights = torch.from_numpy(weigh(logits, columns)).to(scores)
            (slope,) = torch.autograd.grad(scores, inputs, grad_outputs=weights)
            return logits, self._numpy(slope).astype(block.dtype, copy=False)

    def _logit_gradients_of_block(
        self, block: NDArray[Any], wanted: NDArray[Any]
    ) -> tuple[NDArray[Any], ...]:
        n_columns = wanted.shape[1]
        with self._quiet(), torch.enable_grad():
            inputs, scores = self._scores_with_graph(block)
            self._check_targets(wanted, scores)
            index = torch.from_numpy(wanted).to(scores.device)
            slopes = np.empty((len(block), n_columns, *block.shape[1:]), dtype=block.dtype)
            for column in range(n_columns):
                picked = scores.gather(1, index[:, column : column + 1]).sum()
                (slope,) = torch.autograd.grad(picked, inputs, retain_graph=column + 1 < n_columns)
                slopes[:, column] = self._numpy(slope)
            return self._settled(scores), slopes

    def _logits_of_block(self, block: NDArray[Any]) -> tuple[FloatArray]:
        with self._quiet(), torch.no_grad():
            return (self._settled(self._as_logits(*self._answer(self._tensor(block)))),)

    def _scores_with_graph(self, block: NDArray[Any]) -> tuple[Any, Any]:
        inputs = self._tensor(block).requires_grad_(True)
        scores = self._as_logits(*self._answer(inputs))
        if not scores.requires_grad:
            raise ModelError(
                "The module's answer must be differentiable with respect to its input.",
                got="an answer without a gradient",
                do="Remove detach(), no_grad() or argmax from the module's forward.",
            )
        return inputs, scores

    def _as_logits(self, output: Any, kind: str) -> Any:
        if kind == "logits":
            return output
        # Checked as probabilities first: the logarithm of logits would be silent nonsense.
        self._check_probabilities(self._numpy(output))
        return torch.log(output.clamp_min(torch.finfo(output.dtype).tiny))

    def _check_probabilities(self, array: NDArray[Any]) -> None:
        n, row = len(array), getattr(self._local, "first_row", 0)
        known = self._classes
        answers.probabilities(array, output="probabilities", n=n, classes=known, first_row=row)

    def _settled(self, scores: Any) -> FloatArray:
        array, row = self._numpy(scores), getattr(self._local, "first_row", 0)
        known = None if self._classes is None else len(self._classes)
        logits = answers.checked_logits(array, n=len(array), n_classes=known, first_row=row)
        self._settle_classes(logits.shape[1])
        return logits

    @staticmethod
    def _check_targets(columns: NDArray[Any], scores: Any) -> None:
        if columns.max() >= scores.shape[1]:
            raise DataError(
                f"Class indices must be between 0 and {scores.shape[1] - 1}.",
                got=f"{int(columns.max())}",
            )


def _plain_score(logits: FloatArray, columns: NDArray[np.int64]) -> FloatArray:
    """The weights of the first chosen logit alone."""
    return np.asarray(np.arange(logits.shape[1]) == columns[:, :1], dtype=np.float64)


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
