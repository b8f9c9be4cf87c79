"""Gradients of a torch module with respect to its input."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.classifiers import answers
from fireassay.classifiers.block_ladder import Call
from fireassay.classifiers.score_gradient import Weigh
from fireassay.classifiers.torch_forward import TorchForward
from fireassay.core.arrays import FloatArray
from fireassay.core.errors import DataError, ModelError
from fireassay.core.extras import require


class TorchGradients(TorchForward):
    """A torch module that returns logits or probabilities, with gradients.

    For a module that returns probabilities p, log p takes the place of the logits.
    """

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
        logits, slopes = self._in_blocks(
            "logit gradients",
            self._logit_gradients_of_block,
            rows,
            chosen,
            gradients_per_row=chosen.shape[1],
        )
        return logits, slopes

    def score_gradient(
        self, X: ArrayLike, columns: NDArray[np.int64], weigh: Weigh
    ) -> tuple[FloatArray, NDArray[Any]]:
        """Logits, and the gradient of their sum weighted by ``weigh(logits, columns)``, as X.

        One backward pass for any loss of the logits: the weights are its derivative by them.
        """
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
        torch = require("torch", "torch", "A torch model")
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
        torch = require("torch", "torch", "A torch model")
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
        torch = require("torch", "torch", "A torch model")
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
        torch = require("torch", "torch", "A torch model")
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
