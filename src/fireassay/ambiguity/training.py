"""Training of pair autoencoders, in groups of fixed size."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from fireassay.ambiguity.pairs import Pair
from fireassay.ambiguity.preset import Preset
from fireassay.ambiguity.stacked_networks import (
    PairAutoencoders,
    PairBatches,
    PairRows,
    prior_means,
)
from fireassay.core.arrays import Float32Array, IntArray
from fireassay.core.seeds import generator
from fireassay.core.threads import one_torch_thread
from fireassay.engine import Executor, track
from fireassay.networks.training import Adam

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
    """Train one autoencoder per entry of ``rows``, each with its own generator."""
    # A step reconstructs, teaches the discriminator, then has the encoder fool it. Losses are
    # summed over the stack and averaged over rows: with Adam every network learns as if it were
    # alone.
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

    def _adam(self, *parts: tuple[torch.nn.Module, float]) -> Adam:
        groups = [{"params": [*net.parameters()], "lr": rate, "peak": rate} for net, rate in parts]
        return Adam(groups, betas=(self.preset.beta1, 0.999))

    def set_rates(self, step: int) -> None:
        """Full steps for a third of the training, then a straight line to zero."""
        if not self.preset.decay:
            return
        factor = min(1.0, 1.5 * (1.0 - step / self.steps))
        for adam in (self.reconstruct, self.discriminate, self.fool):
            for group in adam.param_groups:
                group["lr"] = group["peak"] * factor


def _step(optimizer: Adam, loss: torch.Tensor) -> None:
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()


def shared_styles(inputs: torch.Tensor, rows: Sequence[PairRows]) -> torch.Tensor:
    """Each row's position on a pair's main within-class direction, ``[pairs, n]``; else 0."""
    # Each class has mean 0 and variance 1, so a slanted 1 and a slanted 7 get like values, and a
    # point between the classes is between two things of one style.
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


Member = tuple[int, int]
"""A pair's number, and the number of the try."""

_GROUP = 24
_GROUP_WEIGHTS = 16_000_000


def train_groups(
    inputs: Float32Array,
    targets: Float32Array,
    learn: Sequence[PairRows],
    members: Sequence[Member],
    pairs: Sequence[Pair],
    preset: Preset,
    seed: int,
    executor: Executor,
) -> tuple[list[PairAutoencoders], list[tuple[int, int]]]:
    """Train all members, a stack of networks per group."""
    groups = _groups(members, inputs.shape[1], targets.shape[1], preset)
    shared: dict[str, Any] = {"inputs": inputs, "targets": targets, "pairs": list(pairs)}
    shared["learn"] = [(rows.first, rows.second) for rows in learn]
    shared |= {"preset": preset, "seed": seed, "watched": executor.is_alone}
    each = 0.17 if targets.shape[1] <= 256 else 0.9 + 9e-4 * targets.shape[1]
    seconds = each * len(members)
    weights = executor.map(
        train_group, groups, shared, name="training autoencoders", seconds=seconds
    )
    sizes = inputs.shape[1], targets.shape[1]
    stacks = [PairAutoencoders.of_weights(*sizes, preset, own) for own in weights]
    places = [(i, place) for i, group in enumerate(groups) for place in range(len(group))]
    return stacks, places


def train_group(
    group: Sequence[Member],
    inputs: Float32Array,
    targets: Float32Array,
    learn: Sequence[tuple[IntArray, IntArray]],
    pairs: Sequence[Pair],
    preset: Preset,
    seed: int,
    watched: bool,
) -> list[Float32Array]:
    """Train one group as a stack, and return its weights."""
    rows = [PairRows(*learn[i]) for i, _ in group]
    rngs = [generator(seed, "train", *pairs[i], attempt) for i, attempt in group]
    with one_torch_thread():
        nets = train(
            torch.from_numpy(inputs), torch.from_numpy(targets), rows, preset, rngs, watched=watched
        )
    return nets.weight_arrays()


def _groups(
    members: Sequence[Member], inputs: int, outputs: int, preset: Preset
) -> list[list[Member]]:
    """Equal parts of the members, small enough for memory; they do not depend on the workers."""
    hidden = preset.units(outputs)
    weights = hidden * (inputs + outputs + 2 * hidden)
    most = min(_GROUP, max(1, _GROUP_WEIGHTS // weights))
    parts = np.array_split(np.arange(len(members)), -(-len(members) // most))
    return [[members[i] for i in part] for part in parts]
