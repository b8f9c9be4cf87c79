"""From rows to judged autoencoders: hold out, train in stacks, judge, share out to splits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import cycle
from typing import Any

import numpy as np
import torch

from fireassay.ambiguity.acceptance import Judgement, judge, pair_summary, untrainable
from fireassay.ambiguity.pairs import Pair
from fireassay.ambiguity.preset import Preset
from fireassay.ambiguity.scaling import (
    EncoderInputs,
    ReducedTargets,
    plain_inputs,
    principal_inputs,
)
from fireassay.ambiguity.stacked_networks import PairAutoencoders, PairClassifiers, PairRows
from fireassay.ambiguity.training import train_groups
from fireassay.core.arrays import BoolArray, Float32Array, IntArray
from fireassay.core.errors import NotEnoughEvidenceError
from fireassay.core.lazy import pd
from fireassay.core.seeds import generator
from fireassay.core.threads import one_blas_thread, one_torch_thread
from fireassay.engine import Executor

LEAST_ROWS = 20


@dataclass(frozen=True, eq=False)
class FittedPairs:
    """Trained autoencoders with what they were judged by."""

    stacks: tuple[PairAutoencoders, ...]
    places: tuple[tuple[int, int], ...]
    pairs: tuple[Pair, ...]
    splits: tuple[str, ...]
    report: pd.DataFrame
    autoencoders: pd.DataFrame
    inputs: torch.Tensor
    targets: torch.Tensor
    reduced: ReducedTargets
    encoder_inputs: EncoderInputs
    y_index: IntArray
    held_out: BoolArray
    preset: Preset

    def members(self, split: str) -> list[int]:
        """Numbers of the accepted autoencoders of a split."""
        return [i for i, own in enumerate(self.splits) if own and (split == "any" or own == split)]

    def net(self, member: int) -> PairAutoencoders:
        """One autoencoder as a stack of one."""
        stack, place = self.places[member]
        return self.stacks[stack].subset([place])


def fit_pairs(
    flat: Float32Array,
    y_index: IntArray,
    held_out: BoolArray,
    pairs: Sequence[Pair],
    classes: Sequence[Any],
    tries: int,
    preset: Preset,
    seed: int,
    executor: Executor,
) -> FittedPairs:
    """Train and judge ``tries`` autoencoders for each pair that can be trained."""
    used = np.isin(y_index, np.unique(np.asarray(pairs))) & ~held_out
    with one_blas_thread():
        encoder_inputs = (
            plain_inputs(flat)
            if preset.components is None
            else principal_inputs(flat[used], preset.components, seed)
        )
        inputs = torch.from_numpy(encoder_inputs(flat))
        reduced = ReducedTargets.of(flat, encoder_inputs)
        decoded = reduced.reduced(flat)
    targets = torch.from_numpy(flat)
    learn = [_rows(y_index, pair, ~held_out) for pair in pairs]
    check = [_rows(y_index, pair, held_out) for pair in pairs]
    both = zip(learn, check, strict=True)
    problems = [untrainable(rows, held, targets, LEAST_ROWS) for rows, held in both]
    trainable = [i for i, problem in enumerate(problems) if not problem]
    if not trainable:
        raise NotEnoughEvidenceError(
            "Ambiguity needs at least one pair of classes that can be trained.",
            got=f"{classes[pairs[0][0]]!r} and {classes[pairs[0][1]]!r}: {problems[0]}"
            + (f" (and {len(pairs) - 1} other pairs)" if len(pairs) > 1 else ""),
        )
    members = [(i, attempt) for attempt in range(tries) for i in trainable]
    with one_torch_thread():
        stacks, places = train_groups(
            inputs.numpy(), decoded, learn, members, pairs, preset, seed, executor,
        )  # fmt: skip
        references = _references(inputs, learn, check, trainable, pairs, preset, seed)
        judgements = []
        for (i, attempt), (stack, place) in zip(members, places, strict=True):
            net, rng = stacks[stack].subset([place]), generator(seed, "judge", *pairs[i], attempt)
            reached = references.get(i, float("nan"))
            judgements.append(judge(net, inputs, targets, reduced, check[i], reached, preset, rng))
    splits = _splits(members, judgements)
    return FittedPairs(
        stacks=tuple(stacks),
        places=tuple(places),
        pairs=tuple(pairs[i] for i, _ in members),
        splits=tuple(splits),
        report=_report(pairs, classes, problems, members, judgements),
        autoencoders=_autoencoder_table(pairs, classes, members, judgements, splits),
        inputs=inputs,
        targets=targets,
        reduced=reduced,
        encoder_inputs=encoder_inputs,
        y_index=y_index,
        held_out=held_out,
        preset=preset,
    )


def _rows(y_index: IntArray, pair: Pair, mask: BoolArray) -> PairRows:
    first, second = (np.flatnonzero((y_index == label) & mask) for label in pair)
    return PairRows(first, second)


def _references(
    inputs: torch.Tensor,
    learn: Sequence[PairRows],
    check: Sequence[PairRows],
    trainable: Sequence[int],
    pairs: Sequence[Pair],
    preset: Preset,
    seed: int,
) -> dict[int, float]:
    """What a pair classifier reaches on the held-out rows of each pair, if that is asked for."""
    if not preset.relative_acceptance:
        return {}
    rngs = [generator(seed, "reference", *pairs[i]) for i in trainable]
    classifiers = PairClassifiers(inputs, [learn[i] for i in trainable], rngs)
    accuracies = classifiers.accuracies(inputs, [check[i] for i in trainable])
    return dict(zip(trainable, accuracies, strict=True))


def _splits(members: Sequence[tuple[int, int]], judgements: Sequence[Judgement]) -> list[str]:
    """The accepted tries of a pair go to test and train by turns: test first."""
    turns: dict[int, Iterator[str]] = {}
    return [
        next(turns.setdefault(i, cycle(("test", "train")))) if judgement.accepted else ""
        for (i, _), judgement in zip(members, judgements, strict=True)
    ]


def _report(
    pairs: Sequence[Pair],
    classes: Sequence[Any],
    problems: Sequence[str],
    members: Sequence[tuple[int, int]],
    judgements: Sequence[Judgement],
) -> pd.DataFrame:
    rows = []
    for i, (first, second) in enumerate(pairs):
        own = [j for (k, _), j in zip(members, judgements, strict=True) if k == i]
        row = pair_summary(own)
        row["reason"] = problems[i] or row["reason"]
        rows.append({"first": classes[first], "second": classes[second], **row})
    return pd.DataFrame(rows)


def _autoencoder_table(
    pairs: Sequence[Pair],
    classes: Sequence[Any],
    members: Sequence[tuple[int, int]],
    judgements: Sequence[Judgement],
    splits: Sequence[str],
) -> pd.DataFrame:
    rows = []
    for (i, attempt), judgement, split in zip(members, judgements, splits, strict=True):
        first, second = (classes[label] for label in pairs[i])
        row = {"first": first, "second": second, "try": attempt, "split": split}
        rows.append(row | asdict(judgement))
    return pd.DataFrame(rows)
