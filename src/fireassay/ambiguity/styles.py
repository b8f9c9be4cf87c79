"""A style that two classes share (slant, width, brightness): the height of the latent plane."""

from collections.abc import Sequence

import torch

from fireassay.ambiguity.batches import PairRows

_SMALL = 1e-6


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
