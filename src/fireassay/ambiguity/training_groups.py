"""Autoencoders in groups of fixed size: any number of workers trains the same ones."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from fireassay.ambiguity.autoencoders import PairAutoencoders
from fireassay.ambiguity.batches import PairRows
from fireassay.ambiguity.pairs import Pair
from fireassay.ambiguity.preset import Preset
from fireassay.ambiguity.training import train
from fireassay.core.seeds import generator
from fireassay.core.threads import one_torch_thread
from fireassay.engine import Executor

Member = tuple[int, int]
"""A pair's number, and the number of the try."""

_GROUP = 24
_GROUP_WEIGHTS = 16_000_000


def train_groups(
    inputs: NDArray[np.float32],
    targets: NDArray[np.float32],
    learn: Sequence[PairRows],
    members: Sequence[Member],
    pairs: Sequence[Pair],
    preset: Preset,
    seed: int,
    *,
    workers: int = 1,
    cluster: Any = None,
) -> tuple[list[PairAutoencoders], list[tuple[int, int]]]:
    """Train all members, a stack of networks per group.

    Returns
    -------
    stacks, places
        The networks, and for each member its stack and its place there.
    """
    here = workers == 1 and cluster is None
    groups = _groups(members, inputs.shape[1], targets.shape[1], preset)
    shared = {
        "inputs": inputs,
        "targets": targets,
        "learn": [(rows.first, rows.second) for rows in learn],
        "pairs": list(pairs),
        "preset": preset,
        "seed": seed,
        "watched": here,
    }
    executor = Executor(workers=workers, cluster=cluster, progress=False if here else None)
    weights = executor.map(train_group, groups, shared, name="training autoencoders")
    stacks = [
        PairAutoencoders.of_weights(inputs.shape[1], targets.shape[1], preset, own)
        for own in weights
    ]
    places = [(i, place) for i, group in enumerate(groups) for place in range(len(group))]
    return stacks, places


def train_group(
    group: Sequence[Member],
    inputs: NDArray[np.float32],
    targets: NDArray[np.float32],
    learn: Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]],
    pairs: Sequence[Pair],
    preset: Preset,
    seed: int,
    watched: bool,
) -> list[NDArray[np.float32]]:
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
