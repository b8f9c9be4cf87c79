"""Which autoencoders are good enough to generate from, and why the others are not."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from fireassay.ambiguity.latent_grid import confined_anchors
from fireassay.ambiguity.preset import Preset
from fireassay.ambiguity.scaling import ReducedTargets
from fireassay.ambiguity.stacked_networks import (
    PairAutoencoders,
    PairRows,
    analytic_probability,
    balanced_accuracy,
    prior_means,
)
from fireassay.core.arrays import IntArray

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
