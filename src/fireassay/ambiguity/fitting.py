"""From rows to judged autoencoders: hold out, train in stacks, judge, share out to splits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import cycle
from typing import Any

import numpy as np
import torch

from fireassay.ambiguity.pairs import Pair
from fireassay.ambiguity.preset import Preset
from fireassay.ambiguity.scaling import (
    EncoderInputs,
    ReducedTargets,
    plain_inputs,
    principal_inputs,
)
from fireassay.ambiguity.stacked_networks import (
    PairAutoencoders,
    PairClassifiers,
    PairRows,
    analytic_probability,
    balanced_accuracy,
    confined_anchors,
    prior_means,
)
from fireassay.ambiguity.training import train_groups
from fireassay.core.arrays import BoolArray, Float32Array, IntArray
from fireassay.core.errors import NotEnoughEvidenceError
from fireassay.core.lazy import pd
from fireassay.core.seeds import generator
from fireassay.core.threads import one_blas_thread, one_torch_thread
from fireassay.engine import Executor

LABEL_ACCURACY = 0.9
REAL_FAKE = (0.4, 0.6)
REFERENCE_MARGIN = 0.05
INDISTINGUISHABLE = 0.6
_PRIOR_SAMPLES = 2000


@dataclass(frozen=True)
class Judgement:
    """One autoencoder on held-out rows."""

    label_accuracy: float
    real_fake_accuracy: float
    reference_accuracy: float
    analytic_gap: float
    reconstruction_rmse: float
    reason: str

    @property
    def accepted(self) -> bool:
        """Whether samples may be drawn from it."""
        return not self.reason


def judge(
    net: PairAutoencoders,
    inputs: torch.Tensor,
    targets: torch.Tensor,
    reduced: ReducedTargets,
    held_out: PairRows,
    reference: float,
    preset: Preset,
    rng: np.random.Generator,
) -> Judgement:
    """Judge one autoencoder (a stack of one) on rows it has not seen."""
    rows = torch.from_numpy(held_out.both)
    side = torch.from_numpy(held_out.side)[None]
    prior_side = torch.arange(_PRIOR_SAMPLES)[None] % 2.0
    offsets = rng.standard_normal((1, _PRIOR_SAMPLES, 2), dtype=np.float32)
    anchors, _ = confined_anchors(preset.latent_sd)
    with torch.no_grad():
        codes = net.encoder(inputs[rows][None])
        second = net.second_class_probability(codes)[0].numpy()
        taken_for_real = (net.judge(codes, side) > 0.0).double().mean().item()
        prior = prior_means(prior_side) + torch.from_numpy(offsets)
        known_as_real = (net.judge(prior, prior_side) > 0.0).double().mean().item()
        seen = torch.from_numpy(reduced.restored(net.decode(codes)[0].numpy()))
        error = (seen - targets[rows]).square().mean().sqrt().item()
        points = torch.from_numpy(anchors.astype(np.float32))[None]
        labels = net.second_class_probability(points)[0].numpy()
    label_accuracy = balanced_accuracy(second, held_out.side)
    real_fake = (1.0 - taken_for_real + known_as_real) / 2.0
    return Judgement(
        label_accuracy=label_accuracy,
        real_fake_accuracy=real_fake,
        reference_accuracy=reference,
        analytic_gap=float(np.abs(labels - analytic_probability(anchors[:, 0])).mean()),
        reconstruction_rmse=error,
        reason=_reason(label_accuracy, real_fake, reference),
    )


def required_label_accuracy(reference: float) -> float:
    """0.9, or less where even a pair classifier does not reach 0.95."""
    if np.isnan(reference):
        return LABEL_ACCURACY
    return min(LABEL_ACCURACY, reference - REFERENCE_MARGIN)


def allowed_real_fake(reference: float) -> tuple[float, float]:
    """Allowed accuracy of real against fake codes: 0.4 to 0.6, wider where classes overlap."""
    # The encoder does not see the class. Rows of either class (twice a pair classifier's error) lie
    # between the two priors; a discriminator tells them from prior samples, which adds half of
    # their share to its accuracy.
    low, high = REAL_FAKE
    if np.isnan(reference):
        return low, high
    return low, high + max(0.0, 1.0 - REFERENCE_MARGIN - reference)


def _reason(label_accuracy: float, real_fake: float, reference: float) -> str:
    required = required_label_accuracy(reference)
    reasons = []
    if reference < INDISTINGUISHABLE:
        reasons.append(
            f"the two classes cannot be told apart: a pair classifier reaches {reference:.2f}"
        )
    elif not label_accuracy >= required:
        reasons.append(f"label accuracy {label_accuracy:.3f} is below {required:.3f}")
    low, high = allowed_real_fake(reference)
    if not low < real_fake < high:
        reasons.append(f"real/fake accuracy {real_fake:.3f} is outside ({low:.3g}, {high:.3g})")
    return "; ".join(reasons)


def untrainable(rows: PairRows, held_out: PairRows, targets: torch.Tensor, least: int) -> str:
    """Why no autoencoder can be trained for a pair; empty if one can."""
    smallest = min(len(rows.first) + len(held_out.first), len(rows.second) + len(held_out.second))
    if smallest < least:
        return f"too few samples: {smallest} of one class, at least {least} are needed"
    first, second = (_varies(targets, part) for part in (rows.first, rows.second))
    if not first and not second:
        return "constant: within each of the two classes all rows are the same"
    if not first or not second:
        return f"constant: all rows of the {'second' if first else 'first'} class are the same"
    return ""


def _varies(targets: torch.Tensor, rows: IntArray) -> bool:
    """Whether two rows differ; looks at few rows first, since most data differ at once."""
    for most in (8, len(rows)):
        values = targets[torch.from_numpy(rows[:most])]
        if bool((values != values[0]).any()):
            return True
    return False


def pair_summary(judgements: Sequence[Judgement]) -> dict[str, float | int | str]:
    """One row of the report: the tries of one pair together."""
    accepted = [judgement for judgement in judgements if judgement.accepted]
    shown = accepted or judgements
    reasons = [f"try {i}: {j.reason}" for i, j in enumerate(judgements) if j.reason]
    return {
        "accepted": len(accepted),
        "tries": len(judgements),
        "label_accuracy": _mean([j.label_accuracy for j in shown]),
        "real_fake_accuracy": _mean([j.real_fake_accuracy for j in shown]),
        "reference_accuracy": _mean([j.reference_accuracy for j in shown]),
        "analytic_gap": _mean([j.analytic_gap for j in shown]),
        "reason": "; ".join(reasons),
    }


def _mean(values: list[float]) -> float:
    return float(np.mean(values)) if values else float("nan")


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
        encoder_inputs = plain_inputs(flat)
        if preset.components is not None:
            encoder_inputs = principal_inputs(flat[used], preset.components, seed)
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
