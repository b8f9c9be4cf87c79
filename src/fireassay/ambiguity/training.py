"""Training a stack of pair autoencoders, every pair and try at once."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch.nn import functional

from fireassay.ambiguity.autoencoders import PairAutoencoders, prior_means
from fireassay.ambiguity.batches import PairBatches, PairRows
from fireassay.ambiguity.preset import Preset
from fireassay.engine import track

_DARKEST = 1e-3
_SMALL = 1e-6


def train(
    inputs: torch.Tensor,
    targets: torch.Tensor,
    rows: Sequence[PairRows],
    preset: Preset,
    generators: Sequence[np.random.Generator],
    *,
    watched: bool = True,
) -> PairAutoencoders:
    """Train one autoencoder per entry of ``rows``.

    Each step reconstructs, then teaches the discriminator, then has the encoder fool it. A loss
    is summed over the stack and averaged over rows, and Adam works weight by weight: every
    network learns as if it were alone.

    Parameters
    ----------
    inputs, targets
        What the encoder sees and what the decoder has to give, float32 ``[n, .]``.
    rows
        The training rows of each autoencoder.
    generators
        One per autoencoder, for first weights, batches and prior samples.
    watched
        Show a progress bar, where a person may see it.
    """
    nets = PairAutoencoders(inputs.shape[1], targets.shape[1], preset, generators).train()
    if preset.start_at_mean:
        _start_at_mean(nets, targets, rows)
    noise = torch.Generator().manual_seed(int(generators[0].integers(2**31)))
    steps = preset.total_steps(max(pair.size for pair in rows), targets.shape[1])
    spread = torch.tensor([preset.code_noise, preset.style_noise])
    styles = shared_styles(inputs, rows) * float(preset.aligned_styles and preset.warm_up > 0)
    adams = _Adams(nets, preset, steps)
    batches = PairBatches(rows, preset, generators)
    for step in track(range(steps), "training autoencoders") if watched else range(steps):
        adams.set_rates(step)
        picked, side, normals = (torch.from_numpy(part) for part in batches.draw())
        x, means = inputs[picked], prior_means(side)
        codes = nets.encoder(x, noise)
        shaken = codes + spread * normals[..., 2:]
        error = functional.mse_loss(nets.decode(shaken, noise), targets[picked], reduction="none")
        _step(adams.reconstruct, error.mean(dim=(1, 2)).sum())
        loss = _discriminator_loss(
            nets, codes.detach(), means + normals[..., :2], side, preset, noise
        )
        _step(adams.discriminate, loss)
        codes = nets.encoder(x, noise)
        if step < preset.warm_up:
            means[..., 1] += styles.gather(1, picked)
            _step(adams.fool, (codes - means).square().mean(dim=(1, 2)).sum())
        else:
            nets.discriminator.requires_grad_(False)
            fooled = functional.softplus(-nets.judge(codes, side, noise))
            _step(adams.fool, fooled.mean(dim=1).sum())
            nets.discriminator.requires_grad_(True)
    return nets.eval()


def _discriminator_loss(
    nets: PairAutoencoders,
    codes: torch.Tensor,
    prior: torch.Tensor,
    side: torch.Tensor,
    preset: Preset,
    noise: torch.Generator,
) -> torch.Tensor:
    """Cross-entropy: prior samples are real; codes, and prior samples mislabelled, are not."""
    points, sides = [prior, codes], [side, side]
    if preset.mismatch_negatives:
        points.append(prior)
        sides.append(1.0 - side)
    logits = nets.judge(torch.cat(points, dim=1), torch.cat(sides, dim=1), noise)
    real, *fakes = logits.chunk(len(points), dim=1)
    lost = functional.softplus(-real).mean(dim=1)
    for fake in fakes:
        lost = lost + functional.softplus(fake).mean(dim=1) / len(fakes)
    return lost.sum()


def _start_at_mean(nets: PairAutoencoders, targets: torch.Tensor, rows: Sequence[PairRows]) -> None:
    with torch.no_grad():
        nets.decoder.weights[-1].zero_()
        for i, pair in enumerate(rows):
            mean = targets[torch.from_numpy(pair.both)].mean(dim=0)
            nets.decoder.biases[-1][i, 0] = torch.logit(mean, eps=_DARKEST)


@dataclass
class _Adams:
    """Three optimisers: reconstruction, discrimination, fooling."""

    nets: PairAutoencoders
    preset: Preset
    steps: int

    def __post_init__(self) -> None:
        preset, nets = self.preset, self.nets
        self.reconstruct = self._adam(
            (nets.encoder, preset.encoder_rate), (nets.decoder, preset.decoder_rate)
        )
        self.discriminate = self._adam((nets.discriminator, preset.discriminator_rate))
        self.fool = self._adam((nets.encoder, preset.fooling_rate))

    def _adam(self, *parts: tuple[torch.nn.Module, float]) -> torch.optim.Adam:
        groups = [{"params": [*net.parameters()], "lr": rate, "peak": rate} for net, rate in parts]
        return torch.optim.Adam(groups, betas=(self.preset.beta1, 0.999), fused=True)

    def set_rates(self, step: int) -> None:
        """Full steps for a third of the training, then a straight line to zero."""
        if not self.preset.decay:
            return
        factor = min(1.0, 1.5 * (1.0 - step / self.steps))
        for adam in (self.reconstruct, self.discriminate, self.fool):
            for group in adam.param_groups:
                group["lr"] = group["peak"] * factor


def _step(optimizer: torch.optim.Adam, loss: torch.Tensor) -> None:
    optimizer.zero_grad(set_to_none=True)
    loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()


def shared_styles(inputs: torch.Tensor, rows: Sequence[PairRows]) -> torch.Tensor:
    """How far each row is along the style of each pair, ``[pairs, n]``; 0 for rows of no class.

    The style of a pair is the direction in which rows vary most *within* their classes, pooled
    over the two; each class is then brought to mean 0 and variance 1. A slanted 1 and a slanted 7
    get like values, so that a point between the classes is between two things of one style.
    """
    styles = torch.zeros(len(rows), len(inputs))
    for i, pair in enumerate(rows):
        first, second = torch.from_numpy(pair.first), torch.from_numpy(pair.second)
        styles[i, torch.cat([first, second])] = _along_style(inputs[first], inputs[second])
    return styles


def _along_style(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    centred = [part - part.mean(dim=0) for part in (first, second)]
    covariance = sum(part.T.double() @ part.double() / len(part) for part in centred)
    axis = torch.linalg.eigh(torch.as_tensor(covariance)).eigenvectors[:, -1].float()
    axis = axis * torch.sign(axis[axis.abs().argmax()])
    scores = [part @ axis for part in centred]
    return torch.cat([part / part.std().clamp_min(_SMALL) for part in scores])
