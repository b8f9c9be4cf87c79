"""The inside of a torch module: last linear layer, activations, dropout samples."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import nn

from fireassay.classifiers.base import without_probes
from fireassay.classifiers.kept_answers import asking_anew
from fireassay.core.arrays import AnyArray, FloatArray, softmax
from fireassay.core.errors import ModelError, ParameterError
from fireassay.core.seeds import generator
from fireassay.core.threads import one_torch_thread
from fireassay.supervision.hidden import FEATURES_WIDEST, PROBE_WIDEST, check_head, grid, spread
from fireassay.supervision.reading import Hidden

_ACTIVATIONS = (
    nn.ReLU, nn.ReLU6, nn.LeakyReLU, nn.PReLU, nn.ELU, nn.SELU, nn.CELU, nn.GELU, nn.SiLU, nn.Mish,
    nn.Tanh, nn.Sigmoid, nn.Softplus, nn.Hardswish, nn.Hardtanh,
)  # fmt: skip
_DROPOUTS = (nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d)
_CHANNEL_DROPOUTS = (nn.Dropout1d, nn.Dropout2d, nn.Dropout3d)
_LOGITS = "logits"


def is_hookable(module: Any) -> bool:
    """Whether submodules are called in a forward pass (not so in exported programs)."""
    return isinstance(module, nn.Module) and not isinstance(module, torch.fx.GraphModule)


class TorchHidden(Hidden):
    """Reads a torch module with hooks, in the same passes that give the probabilities."""

    # The classifier's blocks are fixed in size and filled up: no value depends on the cut of rows.

    def __init__(self, model: Any, inner: Any, layer: str | None) -> None:
        self.model, self.module, self.layer = model, inner.module, layer
        self.output = inner.output
        self.temperature = float(getattr(model, "temperature", 1.0))
        self.names = {name: part for name, part in self.module.named_modules() if name}
        if layer is not None and layer not in self.names:
            raise ParameterError(
                f"The 'layer' must be one of {', '.join(list(self.names)[:30])}.", got=repr(layer)
            )
        linear = [name for name, part in self.names.items() if type(part) is nn.Linear]
        self.head_name = linear[-1] if linear else None
        self.dropouts = {
            name: part for name, part in self.names.items()
            if isinstance(part, _DROPOUTS) and part.p > 0
        }  # fmt: skip

    def missing(self, need: str) -> str | None:
        """None if this field can be read."""
        if need == "dropout":
            return None if self.dropouts else "the torch module has no dropout layer"
        if need == "layers":
            return None if self.probed_layers() else "the torch module has no hidden layer"
        given = (need == "logits" and self.output == "logits") or (
            need == "features" and self.layer is not None
        )
        if given or self.head_name is not None:
            return None
        return "the torch module has no linear layer (torch.nn.Linear)"

    def probed_layers(self) -> list[str]:
        """Outputs of the activation functions; without any, of the layers before the last."""
        leaves = {n: p for n, p in self.names.items() if not list(p.children())}
        found = [name for name, part in leaves.items() if isinstance(part, _ACTIVATIONS)]
        if not found:
            weighted = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)
            found = [
                name for name, part in leaves.items()
                if isinstance(part, weighted) and name != self.head_name
            ]  # fmt: skip
        return spread(found)

    def read(self, X: AnyArray, needs: frozenset[str]) -> dict[str, Any]:
        """Probabilities and the asked fields, in one pass."""
        outputs = self.probed_layers() if "layers" in needs else []
        if "features" in needs and self.layer is not None:
            outputs = [*outputs, self.layer]
        with self._captured(outputs) as blocks:
            found: dict[str, Any] = {"probabilities": self.model.predict_proba(X)}
        n = len(X)
        if needs & {"features", "head", "logits"} and not (
            needs <= {"features", "layers"} and self.layer is not None
        ):
            found |= self._head(blocks, n, found["probabilities"])
        if "layers" in needs:
            found["layers"] = {name: _joined(blocks, name, n) for name in self.probed_layers()}
        if "features" in needs and self.layer is not None:
            found["features"] = _joined(blocks, self.layer, n)
        return found

    def _head(
        self, blocks: list[dict[str, Any]], n: int, probabilities: FloatArray
    ) -> dict[str, Any]:
        if self.head_name is None or "head input" not in blocks[0]:
            if self.output == "logits":
                return {"logits": _joined(blocks, _LOGITS, n) / self.temperature}
            raise ModelError(
                "The last linear layer must be called in the forward pass.", got="no call of it"
            )
        features = _joined(blocks, "head input", n)
        weights, bias = self._weights(self.head_name)
        logits = features @ weights.T + bias if features.shape[1] == weights.shape[1] else features
        logits = logits / self.temperature
        check_head(logits, probabilities, f"its last linear layer ({self.head_name!r})")
        return {"features": features, "head": (weights, bias), "logits": logits}

    def layer_names(self) -> tuple[list[str], str | None]:
        """The layers that are probed, and the one whose activations are the features."""
        return self.probed_layers(), self.layer or self.head_name

    def last_layer(self) -> tuple[FloatArray, FloatArray] | None:
        """Weights (k, d) and bias (k,) of the last linear layer, if there is one."""
        return None if self.head_name is None else self._weights(self.head_name)

    def _weights(self, name: str) -> tuple[FloatArray, FloatArray]:
        part = self.names[name]
        weights = part.weight.detach().cpu().numpy().astype(np.float64)
        bias = np.zeros(len(weights)) if part.bias is None else part.bias.detach().cpu().numpy()
        return weights, bias.astype(np.float64)

    @contextmanager
    def _captured(self, outputs: list[str]) -> Iterator[list[dict[str, Any]]]:
        blocks: list[dict[str, Any]] = []

        def begin(_module: Any, _inputs: Any) -> None:
            blocks.append({})

        def end(_module: Any, _inputs: Any, output: Any) -> None:
            blocks[-1][_LOGITS] = _pooled(output, FEATURES_WIDEST)

        def head_input(_module: Any, inputs: Any) -> None:
            blocks[-1]["head input"] = inputs[0].detach().cpu().numpy()

        def keep(name: str) -> Any:
            widest = FEATURES_WIDEST if name == self.layer else PROBE_WIDEST

            def hook(_module: Any, _inputs: Any, output: Any) -> None:
                blocks[-1][name] = _pooled(output, widest)

            return hook

        first, last = self.module.register_forward_pre_hook, self.module.register_forward_hook
        hooks: list[Any] = [first(begin), last(end)]
        if self.head_name is not None:
            hooks.append(self.names[self.head_name].register_forward_pre_hook(head_input))
        hooks += [self.names[name].register_forward_hook(keep(name)) for name in outputs]
        try:
            with asking_anew(self.model), without_probes(self.model):
                yield blocks
        finally:
            for hook in hooks:
                hook.remove()

    # Dropout --------------------------------------------------------------------------------

    def dropout_samples(self, X: AnyArray, n_samples: int, seed: int) -> Iterator[AnyArray]:
        """Probabilities of ``n_samples`` thinned networks; a mask is the same for all rows."""
        # What lies before a dropout layer that feeds the last linear layer is computed once.
        if len(self.dropouts) == 1 and self.head_name is not None:
            name = next(iter(self.dropouts))
            with self._captured([name]) as blocks:
                probabilities = self.model.predict_proba(X)
            if "head input" in blocks[0] and name in blocks[0]:
                features = _joined(blocks, "head input", len(X))
                kept = _joined(blocks, name, len(X))
                if features.shape == kept.shape and np.array_equal(features, kept):
                    head = self._head(blocks, len(X), probabilities)["head"]
                    yield from self._last_layer_samples(name, features, head, n_samples, seed)
                    return
        for sample in range(n_samples):
            with asking_anew(self.model), self._thinned(sample, seed):
                thinned = self.model.predict_proba(X)
            yield thinned

    def _last_layer_samples(
        self, name: str, features: FloatArray, head: Any, n_samples: int, seed: int
    ) -> Iterator[FloatArray]:
        weights, bias = head
        for sample in range(n_samples):
            mask = _mask(self.dropouts[name], name, features.shape[1:], sample, seed)
            yield softmax((features @ (weights * mask).T + bias) / self.temperature)

    @contextmanager
    def _thinned(self, sample: int, seed: int) -> Iterator[None]:
        def thin(name: str, part: Any) -> Any:
            def hook(_module: Any, _inputs: Any, output: Any) -> Any:
                mask = _mask(part, name, tuple(output.shape[1:]), sample, seed)
                return output * torch.as_tensor(mask, dtype=output.dtype, device=output.device)

            return hook

        parts = self.dropouts.items()
        hooks = [part.register_forward_hook(thin(name, part)) for name, part in parts]
        try:
            with one_torch_thread():
                yield
        finally:
            for hook in hooks:
                hook.remove()


def _mask(part: Any, name: str, shape: tuple[int, ...], sample: int, seed: int) -> FloatArray:
    """Zeros with the layer's probability, the rest scaled up."""
    if isinstance(part, _CHANNEL_DROPOUTS):
        shape = (shape[0], *(1 for _ in shape[1:]))
    drawn = generator(seed, "mc-dropout", name, sample).random(shape)
    return (drawn >= part.p) / (1.0 - part.p) if part.p < 1 else np.zeros(shape)


def _pooled(output: Any, widest: int) -> AnyArray:
    if not isinstance(output, torch.Tensor):
        raise ModelError("A layer must give one tensor.", got=type(output).__name__)
    tensor = output.detach()
    if tensor.ndim == 4:
        tensor = nn.functional.adaptive_avg_pool2d(tensor.float(), grid(tensor.shape[1:], widest))
    flat = tensor.reshape(len(tensor), -1)
    if flat.shape[1] > FEATURES_WIDEST:
        flat = nn.functional.adaptive_avg_pool1d(flat[:, None].float(), FEATURES_WIDEST)[:, 0]
    return np.asarray(flat.cpu().float().numpy())


def _joined(blocks: list[dict[str, Any]], name: str, n: int) -> FloatArray:
    if any(name not in block for block in blocks):
        raise ModelError(f"Layer {name!r} must be called in each forward pass.", got="no call")
    rows = np.concatenate([block[name] for block in blocks])[:n]
    return rows.reshape(n, -1).astype(np.float64)
