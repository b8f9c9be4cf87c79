"""Adam without ``torch.optim``, whose first optimiser loads a compiler: a second and 70 MB."""

from collections.abc import Iterable, Mapping
from typing import Any

import torch


class Adam:
    """The same steps, to the byte, as ``torch.optim.Adam(..., fused=True)``, with its arguments."""

    def __init__(
        self,
        groups: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        weight_decay: float = 0.0,
    ) -> None:
        listed = list(groups)
        given = listed if isinstance(listed[0], Mapping) else [{"params": listed}]
        self.param_groups = [{"lr": lr, **group} for group in given]
        self.betas, self.weight_decay = betas, weight_decay
        self._state: dict[torch.Tensor, tuple[torch.Tensor, torch.Tensor, torch.Tensor]] = {}

    def zero_grad(self) -> None:
        """Forget the gradients."""
        for parameter in (p for group in self.param_groups for p in group["params"]):
            parameter.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """One step along the gradients of those parameters that have one."""
        for group in self.param_groups:
            moved = [p for p in group["params"] if p.grad is not None]
            for p in moved:
                if p not in self._state:
                    count = torch.zeros((), dtype=torch.float32)
                    self._state[p] = torch.zeros_like(p), torch.zeros_like(p), count
            if not moved:
                continue
            states = [self._state[p] for p in moved]
            firsts, seconds, counts = (list(some) for some in zip(*states, strict=True))
            torch._foreach_add_(counts, 1)
            torch._fused_adam_(
                moved, [p.grad for p in moved], firsts, seconds, [], counts, lr=group["lr"],
                beta1=self.betas[0], beta2=self.betas[1], weight_decay=self.weight_decay, eps=1e-8,
                amsgrad=False, maximize=False,
            )  # fmt: skip
