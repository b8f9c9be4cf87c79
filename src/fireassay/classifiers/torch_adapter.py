"""torch modules: probabilities, gradients with respect to the input, hidden layers."""

import threading
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.classifiers.torch_forward import TorchForward
from fireassay.classifiers.torch_gradients import TorchGradients
from fireassay.core.errors import ModelError, ParameterError
from fireassay.core.extras import require


class TorchLabels(TorchForward):
    """A torch module that returns labels: nothing to derive, but submodules' outputs to read."""

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
        call = partial(self._activations_of_block, names=names)
        joined = self._in_blocks(None, call, self._checked_input(X))
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
