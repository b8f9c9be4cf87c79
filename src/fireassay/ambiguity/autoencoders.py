"""Regularised adversarial autoencoders of class pairs, all in one stack."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from fireassay.ambiguity.preset import Preset
from fireassay.ambiguity.stacked_mlp import StackedMlp

CLASS_MEAN = 3.0
LATENT = 2


class PairAutoencoders(torch.nn.Module):
    """Encoder, decoder and discriminator of every pair and try.

    In the latent plane the first class of a pair is to lie around (-3, 0) and the second around
    (3, 0), each with unit variance. The side, 0 or 1, says which of the two a row belongs to.
    """

    def __init__(
        self,
        inputs: int,
        outputs: int,
        preset: Preset,
        generators: Sequence[np.random.Generator],
    ) -> None:
        super().__init__()
        self.odds_are_posteriors = preset.mismatch_negatives
        width = preset.units(outputs)
        hidden = (width, width)
        self.encoder = StackedMlp((inputs, *hidden, LATENT), generators, preset.dropout)
        self.decoder = StackedMlp((LATENT, *hidden, outputs), generators, preset.dropout)
        judging = (preset.discriminator_hidden, preset.discriminator_hidden)
        self.discriminator = StackedMlp((LATENT + 2, *judging, 1), generators, preset.dropout)

    @classmethod
    def of_weights(
        cls, inputs: int, outputs: int, preset: Preset, arrays: Sequence[NDArray[np.float32]]
    ) -> "PairAutoencoders":
        """The trained networks that `weight_arrays` describes, ready to use."""
        nets = cls(inputs, outputs, preset, [])
        left = iter(arrays)
        for part in (nets.encoder, nets.decoder, nets.discriminator):
            for group in (part.weights, part.biases):
                for i in range(len(group)):
                    group[i] = torch.nn.Parameter(torch.from_numpy(next(left)))
        return nets.eval()

    def weight_arrays(self) -> list[NDArray[np.float32]]:
        """Weights and biases of encoder, decoder and discriminator, to be sent or kept."""
        return [
            value.detach().numpy()
            for part in (self.encoder, self.decoder, self.discriminator)
            for group in (part.weights, part.biases)
            for value in group
        ]

    def judge(
        self, codes: torch.Tensor, side: torch.Tensor, noise: torch.Generator | None = None
    ) -> torch.Tensor:
        """Logits ``[stack, rows]`` that a code was drawn from the prior of its side."""
        one_hot = torch.stack([1.0 - side, side], dim=-1)
        logits: torch.Tensor = self.discriminator(torch.cat([codes, one_hot], dim=-1), noise)
        return logits[..., 0]

    def decode(self, codes: torch.Tensor, noise: torch.Generator | None = None) -> torch.Tensor:
        """Features in [0, 1] of codes ``[stack, rows, 2]``."""
        return torch.sigmoid(self.decoder(codes, noise))

    def second_class_probability(self, codes: torch.Tensor) -> torch.Tensor:
        """P(second class) of codes, in double precision.

        Trained with mismatch negatives, the odds the discriminator gives to a side are twice the
        posterior of that side once codes follow the prior, so the odds are normalised. Without,
        the paper's rule: its two outputs are normalised.
        """
        first = self.judge(codes, torch.zeros(codes.shape[:-1])).double()
        second = self.judge(codes, torch.ones(codes.shape[:-1])).double()
        if self.odds_are_posteriors:
            return torch.sigmoid(second - first)
        return torch.sigmoid(second) / (torch.sigmoid(first) + torch.sigmoid(second))

    def subset(self, members: Sequence[int]) -> "PairAutoencoders":
        """The chosen autoencoders as a stack of their own, ready to use."""
        smaller = PairAutoencoders.__new__(PairAutoencoders)
        torch.nn.Module.__init__(smaller)
        smaller.odds_are_posteriors = self.odds_are_posteriors
        smaller.encoder = self.encoder.subset(members)
        smaller.decoder = self.decoder.subset(members)
        smaller.discriminator = self.discriminator.subset(members)
        return smaller.eval()


def prior_means(side: torch.Tensor) -> torch.Tensor:
    """The mean of the prior for each side, ``[..., 2]``."""
    x = (2.0 * side - 1.0) * CLASS_MEAN
    return torch.stack([x, torch.zeros_like(x)], dim=-1)


def analytic_probability(x: np.ndarray) -> np.ndarray:
    """P(second class) if the codes follow the prior exactly: sigmoid(6 x)."""
    return np.asarray(1.0 / (1.0 + np.exp(-2.0 * CLASS_MEAN * x)))
