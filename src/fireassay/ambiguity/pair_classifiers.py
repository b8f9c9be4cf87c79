"""Small classifiers of two classes, stacked: what a pair can be told apart by."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from fireassay.ambiguity.batches import PairBatches, PairRows
from fireassay.ambiguity.preset import Preset
from fireassay.ambiguity.stacked_mlp import StackedMlp

_SCHEDULE = Preset("pair classifier", batch=64, balanced=True)
_STEPS = 200
_HIDDEN = 64
_RATE = 3e-3


class PairClassifiers:
    """One network with a hidden layer per entry of ``rows``; gives P(second class)."""

    def __init__(
        self,
        inputs: torch.Tensor,
        rows: Sequence[PairRows],
        generators: Sequence[np.random.Generator],
        steps: int = _STEPS,
    ) -> None:
        self.net = StackedMlp((inputs.shape[1], _HIDDEN, 1), generators).train()
        adam = torch.optim.Adam(self.net.parameters(), lr=_RATE, fused=True)
        batches = PairBatches(rows, _SCHEDULE, generators)
        for step in range(steps):
            adam.param_groups[0]["lr"] = _RATE * (1.0 - step / steps)
            picked, side, _ = batches.draw()
            logits = self.net(inputs[torch.from_numpy(picked)])[..., 0]
            loss = functional.binary_cross_entropy_with_logits(
                logits, torch.from_numpy(side), reduction="none"
            )
            adam.zero_grad(set_to_none=True)
            loss.mean(dim=1).sum().backward()  # type: ignore[no-untyped-call]
            adam.step()
        self.net.eval()

    def second_class_probability(self, member: int, inputs: torch.Tensor) -> NDArray[np.float64]:
        """P(second class) by one network of the stack."""
        with torch.no_grad():
            logits = self.net.subset([member])(inputs[None])[0, :, 0]
        return np.asarray(torch.sigmoid(logits.double()).numpy())

    def accuracies(self, inputs: torch.Tensor, rows: Sequence[PairRows]) -> list[float]:
        """Balanced accuracy of each network on the given rows."""
        return [
            balanced_accuracy(
                self.second_class_probability(i, inputs[torch.from_numpy(pair.both)]), pair.side
            )
            for i, pair in enumerate(rows)
        ]


def balanced_accuracy(second: NDArray[np.float64], side: NDArray[np.float32]) -> float:
    """Mean of the two classes' accuracies; an exact tie counts half."""
    right = np.where(second == 0.5, 0.5, (second > 0.5) == (side > 0.5))
    return float((right[side < 0.5].mean() + right[side > 0.5].mean()) / 2.0)
