"""Drawing a set: cells between two classes, a quota per pair, soft and hard labels, controls."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.random import Generator

from fireassay.ambiguity.ambiguous_set import AmbiguousSet, ControlSet
from fireassay.ambiguity.fitting import FittedPairs
from fireassay.ambiguity.scaling import FeatureScaling
from fireassay.ambiguity.stacked_networks import CELLS, PairAutoencoders, confined_anchors
from fireassay.core.arrays import AnyArray, Float32Array, FloatArray, IntArray
from fireassay.core.errors import NotEnoughEvidenceError
from fireassay.core.seeds import generator
from fireassay.core.threads import one_torch_thread

_FINEST = 32


@dataclass(frozen=True, eq=False)
class LatentGrid:
    """Cells of the latent plane of one autoencoder whose anchor is ambiguous enough."""

    anchors: FloatArray
    size: FloatArray
    weights: FloatArray

    def draw(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Points: a cell by its weight, then a place in it uniformly."""
        cells = rng.choice(len(self.weights), n, p=self.weights)
        return self.anchors[cells] + (rng.random((n, 2)) - 0.5) * self.size


def latent_grid(
    net: PairAutoencoders, delta_max: float, latent_sd: float, *, weighted: bool = True
) -> LatentGrid:
    """Latent cells of one autoencoder whose class probabilities differ by <= delta_max."""
    # A cell's weight is the norm of the decoder's Jacobian: where images change fast, more samples.
    # For a small delta_max the columns are halved until some anchor is ambiguous enough.
    columns = CELLS
    while True:
        anchors, size = confined_anchors(latent_sd, columns)
        codes = torch.from_numpy(anchors.astype(np.float32))[None]
        with torch.no_grad():
            second = net.second_class_probability(codes)[0].numpy()
        near = np.abs(2.0 * second - 1.0) <= delta_max
        if near.any() or columns >= CELLS * _FINEST:
            break
        columns *= 2
    weights = jacobian_norms(net, codes[:, near]) if weighted else np.ones(int(near.sum()))
    if weights.sum() <= 0.0:
        weights = np.ones(len(weights))
    return LatentGrid(anchors[near], size, weights / max(weights.sum(), 1e-300))


def jacobian_norms(net: PairAutoencoders, codes: torch.Tensor) -> FloatArray:
    """Frobenius norm of the decoder's Jacobian at codes ``[1, rows, 2]``, by two forward passes."""
    if codes.shape[1] == 0:
        return np.zeros(0)
    total = torch.zeros(codes.shape[1], dtype=torch.float64)
    with torch.no_grad():
        for axis in range(2):
            direction = torch.zeros_like(codes)
            direction[..., axis] = 1.0
            logits, slope = net.decoder.push_forward(codes, direction)
            value = torch.sigmoid(logits)
            slope = slope * value * (1.0 - value)
            total += slope[0].double().square().sum(dim=1)
    return np.asarray(total.sqrt().numpy())


_ROUNDS = 200
# Probabilities are kept to 40 bits: then p and 1 - p are exact, and their sum is exactly one.
_PROBABILITY_STEPS = 2.0**40


def draw_set(
    fitted: FittedPairs,
    members: Sequence[int],
    *,
    seed: int,
    classes: tuple[Any, ...],
    scaling: FeatureScaling,
    labels: AnyArray,
    manifest: dict[str, Any],
) -> AmbiguousSet:
    """The ambiguous inputs that the manifest asks for, drawn from the given autoencoders."""
    asked = ("n", "delta_max", "split", "weighted")
    n, delta_max, split, weighted = (manifest[name] for name in asked)
    key = (split, repr(delta_max), n, int(weighted))
    quotas = member_quotas([fitted.pairs[m] for m in members], n, generator(seed, "quota", *key))
    codes, images, second, origin = [], [], [], []
    with one_torch_thread():
        for member, quota in zip(members, quotas, strict=True):
            if quota == 0:
                continue
            net = fitted.net(member)
            rng = generator(seed, "sample", *key, member)
            points, probability = ambiguous_points(
                net, quota, delta_max, fitted.preset.latent_sd, rng, weighted=weighted
            )
            codes.append(points)
            second.append(probability)
            images.append(fitted.reduced.restored(decoded(net, points)))
            origin.append(np.full(quota, member, dtype=np.int64))
        control = _control(fitted, members, n, generator(seed, "control", *key), scaling, labels)
    order = generator(seed, "order", *key).permutation(n)
    from_member = np.concatenate(origin)[order]
    pairs = np.asarray([fitted.pairs[m] for m in from_member], dtype=np.int64)
    soft = soft_labels(pairs, np.concatenate(second)[order], len(classes))
    drawn = _draw_labels(pairs, soft, generator(seed, "labels", *key))
    names = np.asarray(classes)
    return AmbiguousSet(
        X=scaling.restored(np.concatenate(images)[order]),
        soft_labels=soft,
        labels=names[drawn],
        pairs=names[pairs],
        classes=classes,
        autoencoders=from_member,
        codes=np.concatenate(codes)[order],
        control=control,
        report=fitted.report,
        manifest=manifest,
    )


def member_quotas(pairs: Sequence[tuple[int, int]], n: int, rng: Generator) -> list[int]:
    """Equally many samples per pair, and within a pair per autoencoder; the rest by lot."""
    unique = sorted(set(pairs))
    of_pair = dict(zip(unique, _shares(n, len(unique), rng), strict=True))
    quotas = [0] * len(pairs)
    for pair in unique:
        own = [i for i, other in enumerate(pairs) if other == pair]
        for i, share in zip(own, _shares(of_pair[pair], len(own), rng), strict=True):
            quotas[i] = share
    return quotas


def _shares(n: int, parts: int, rng: Generator) -> list[int]:
    shares = np.full(parts, n // parts)
    shares[rng.permutation(parts)[: n % parts]] += 1
    return [int(share) for share in shares]


def ambiguous_points(
    net: PairAutoencoders,
    n: int,
    delta_max: float,
    latent_sd: float,
    rng: Generator,
    *,
    weighted: bool = True,
) -> tuple[FloatArray, FloatArray]:
    """Latent points ``(n, 2)`` and P(second class), each within ``delta_max`` of a draw."""
    grid = latent_grid(net, delta_max, latent_sd, weighted=weighted)
    if len(grid.weights) == 0:
        raise NotEnoughEvidenceError(
            "Some points between two classes must be ambiguous enough.",
            got=f"none where the probabilities of the two differ by at most {delta_max:g}",
            do="Use a larger delta_max ([ambiguity] in fireassay.toml).",
        )
    kept, probabilities, found = [], [], 0
    for _ in range(_ROUNDS):
        points = grid.draw(2 * (n - found) + 16, rng).astype(np.float32)
        with torch.no_grad():
            second = net.second_class_probability(torch.from_numpy(points)[None])[0].numpy()
        second = np.round(second * _PROBABILITY_STEPS) / _PROBABILITY_STEPS
        near = np.flatnonzero(np.abs(second - (1.0 - second)) <= delta_max)[: n - found]
        kept.append(points[near].astype(np.float64))
        probabilities.append(second[near])
        found += len(near)
        if found == n:
            return np.concatenate(kept), np.concatenate(probabilities)
    raise NotEnoughEvidenceError(
        f"Drawing {n} points with |p1 - p2| <= {delta_max} must be possible.",
        got=f"{found} points in {_ROUNDS} rounds",
        do="Use a larger delta_max.",
    )


def decoded(net: PairAutoencoders, codes: FloatArray) -> Float32Array:
    """What a decoder gives for latent points: features, or what stands for them."""
    with torch.no_grad():
        values = net.decode(torch.from_numpy(codes.astype(np.float32))[None])[0]
    return np.asarray(values.numpy())


def soft_labels(pairs: IntArray, second: FloatArray, n_classes: int) -> FloatArray:
    """Rows with two non-zeros that sum to exactly one."""
    soft = np.zeros((len(pairs), n_classes))
    rows = np.arange(len(pairs))
    soft[rows, pairs[:, 0]] = 1.0 - second
    soft[rows, pairs[:, 1]] = second
    return soft


def _draw_labels(pairs: IntArray, soft: FloatArray, rng: Generator) -> IntArray:
    rows = np.arange(len(pairs))
    is_second = rng.random(len(pairs)) < soft[rows, pairs[:, 1]]
    return pairs[rows, is_second.astype(np.int64)]


def _control(
    fitted: FittedPairs,
    members: Sequence[int],
    n: int,
    rng: Generator,
    scaling: FeatureScaling,
    labels: AnyArray,
) -> ControlSet:
    """Held-out nominal rows through the same decoders: what the generator itself does to inputs."""
    members_of: dict[int, list[int]] = {}
    for member in members:
        for label in fitted.pairs[member]:
            members_of.setdefault(label, []).append(member)
    usable = fitted.held_out & np.isin(fitted.y_index, list(members_of))
    rows = np.sort(rng.permutation(np.flatnonzero(usable))[:n])
    able = [members_of[label] for label in fitted.y_index[rows]]
    chosen = np.array([own[rng.integers(len(own))] for own in able], dtype=np.int64)
    flat = np.empty((len(rows), fitted.targets.shape[1]), dtype=np.float32)
    for member in np.unique(chosen):
        net = fitted.net(int(member))
        mine = chosen == member
        with torch.no_grad():
            codes = net.encoder(fitted.inputs[torch.from_numpy(rows[mine])][None])
            flat[mine] = fitted.reduced.restored(net.decode(codes)[0].numpy())
    return ControlSet(scaling.restored(flat), labels[rows], rows, chosen)
