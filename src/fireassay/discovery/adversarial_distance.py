"""Adversarial distance: is a prediction easier to overturn than others of the same confidence?"""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fireassay import attacks
from fireassay.classifiers import as_classifier
from fireassay.core.arrays import FloatArray, largest
from fireassay.core.errors import DataError
from fireassay.core.sample import Sample
from fireassay.core.validation import check_features, check_integer, check_lengths
from fireassay.data.shown import png_uri, signed_picture
from fireassay.statistics.loess import loess


class FewDistancesError(DataError):
    """The attack overturned too few predictions to compare their distances."""


def adversarial_distance(
    *, log_mae: ArrayLike, confidence: ArrayLike, span: float = 0.1, iterations: int = 3
) -> FloatArray:
    """How much smaller or larger a perturbation is than usual at this confidence; low = suspicious.

    Args:
        log_mae: Logarithm of the mean absolute perturbation that changes the prediction; inf: none.
        confidence: (Calibrated) confidence of each prediction.
        span, iterations: Of the LOESS curve of ``log_mae`` on ``confidence``.

    Returns:
        array of shape (n,): ``log_mae`` minus the curve; inf, so last, without a perturbation.

    Bennette, Maurer and Sisti 2021, Eq. 5, on the logarithm, as in their Figure 1.

    >>> same = adversarial_distance(log_mae=[-2.0] * 20, confidence=np.linspace(0.7, 0.9, 20))
    >>> bool(np.allclose(same, 0))  # nobody is easier to overturn than usual
    True
    """
    logs = np.asarray(log_mae, dtype=np.float64).ravel()
    stated = np.asarray(confidence, dtype=np.float64).ravel()
    check_lengths(log_mae=len(logs), confidence=len(stated))
    if np.isnan(logs).any() or np.isneginf(logs).any():
        raise DataError(
            "log_mae must be numbers, or +inf where no perturbation was found.",
            got="NaN or -inf (a perturbation of length 0)",
            do="Attack away from the predicted class: then no distance is 0.",
        )
    found = np.isfinite(logs)
    scores = np.full(len(logs), np.inf)
    if found.sum() < 3:
        raise FewDistancesError(
            "At least 3 predictions must have been overturned to compare distances.",
            got=f"{int(found.sum())} of {len(logs)}",
            do="Raise max_queries, or give a pool to start from.",
        )
    curve = loess(stated[found], logs[found], span=span, iterations=iterations)
    scores[found] = logs[found] - curve.predict(stated[found])
    return scores


def log_mae(X: ArrayLike, adversarial: ArrayLike, bounds: tuple[float, float]) -> Any:
    """Logarithm of the mean absolute difference of each pair, as a share of the input range.

    Args:
        X, adversarial: Rows, and what an attack made of them.
        bounds: Smallest and largest input value.

    >>> float(log_mae([[0.0, 0.0]], [[1.0, 1.0]], bounds=(0, 1))[0])
    0.0
    """
    before = np.asarray(X, dtype=np.float64)
    difference = np.abs(np.asarray(adversarial, dtype=np.float64) - before)
    flat = difference.reshape(len(before), math.prod(before.shape[1:]))  # also of no rows
    mean = flat.mean(axis=1) / (bounds[1] - bounds[0])
    with np.errstate(divide="ignore"):
        return np.log(mean)


def measure_log_mae(
    model: Any,
    X: ArrayLike,
    attack: str = "hopskipjump",
    max_queries: int = 500,
    seed: int = 0,
    **parameters: Any,
) -> FloatArray:
    """Attack each row away from its predicted class and measure the perturbation; inf: none found.

    Args:
        model, X: A model with bounds, and rows.
        attack: A name of `fireassay.attacks.ATTACKS`.
        max_queries: Hard limit per row.
        seed: Of the attack.
        parameters: Further ones of the attack, ``pool`` and ``subspace`` for example.

    >>> model = as_classifier(lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]), bounds=(0, 1))
    >>> found = measure_log_mae(model, np.array([[0.9], [0.6]]), max_queries=100)
    >>> bool(found[0] > found[1])  # 0.9 is farther from the boundary at 0.5
    True
    """
    classifier = as_classifier(model)
    out = attacks.make(attack, max_queries=max_queries, seed=seed, **parameters)(classifier, X)
    bounds = classifier.bounds or (float(np.min(X)), float(np.max(X)))
    found = np.full(len(out.distance), np.inf)
    ok = out.status == "found"
    found[ok] = log_mae(np.asarray(X)[ok], out.adversarial[ok], bounds)
    return found


def measure_adversarial_distance(
    model: Any,
    X: ArrayLike,
    attack: str = "hopskipjump",
    max_queries: int = 500,
    seed: int = 0,
    *,
    span: float = 0.1,
    **parameters: Any,
) -> FloatArray:
    """Attack first, then compare each distance with those of similar confidence.

    Calibrate the model first (`calibrate`): the curve is drawn over its confidence.

    Args:
        model, X, attack, max_queries, seed, parameters: As in `measure_log_mae`.
        span: Share of the rows that the curve looks at around each confidence.

    Returns:
        array of shape (n,): See `adversarial_distance`; at most ``max_queries`` + 1 queries a row.

    >>> model = as_classifier(lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]), bounds=(0, 1))
    >>> measure_adversarial_distance(model, np.linspace(0.6, 0.9, 9)[:, None], max_queries=50).shape
    (9,)
    """
    classifier = as_classifier(model)
    logs = measure_log_mae(classifier, X, attack, max_queries, seed, **parameters)
    confidence = largest(classifier.predict_proba(X))
    return adversarial_distance(log_mae=logs, confidence=confidence, span=span)


def occlusion_saliency(
    model: Any,
    images: ArrayLike,
    patch: int | None = None,
    fill: float | None = None,
    class_index: ArrayLike | None = None,
) -> FloatArray:
    """How much covering each part of an image lowers the probability of a class.

    Args:
        images: Shape (n, height, width) or (n, height, width, channels).
        patch: Side of the covered squares, overlapping by half; a seventh of the image by default.
        fill: What a covered pixel shows; the image's mean by default.
        class_index: Class positions, one per image; the predicted class by default.
        model: A `Classifier`, or anything `as_classifier` takes.

    Returns:
        array of shape (n, height, width): Positive: the model relies on this part; negative: it
            speaks against the class. Costs one query per square and one for the image.

    >>> left = lambda X: np.column_stack([X[:, :, 0].mean(axis=1), 1 - X[:, :, 0].mean(axis=1)])
    >>> image = np.zeros((1, 4, 4)) + np.array([1.0, 0, 0, 0])
    >>> shown = occlusion_saliency(left, image, patch=2, fill=0.0)[0]
    >>> bool(shown[0, 0] > shown[0, 3])  # it looks at the left column
    True
    """
    inputs = check_features(images, name="images")
    if inputs.ndim not in (3, 4):
        raise DataError(
            "images must have shape (n, height, width) or (n, height, width, channels).",
            got=f"shape {inputs.shape}",
        )
    classifier = as_classifier(model)
    height, width = inputs.shape[1:3]
    side = max(1, round(max(height, width) / 7)) if patch is None else patch
    side = check_integer(side, "patch", low=1, high=min(height, width))
    corners = [(i, j) for i in _starts(height, side) for j in _starts(width, side)]
    maps = np.zeros((len(inputs), height, width))
    for n, image in enumerate(inputs):
        colour = float(image.mean()) if fill is None else float(fill)
        covered = np.repeat(image[None], len(corners) + 1, axis=0)
        for k, (i, j) in enumerate(corners):
            covered[k, i : i + side, j : j + side] = colour
        answers = classifier.predict_proba(covered)
        chosen = int(answers[-1].argmax()) if class_index is None else int(
            np.asarray(class_index).ravel()[n]
        )  # fmt: skip
        stated = answers[:, chosen].astype(np.float64)
        counts = np.zeros((height, width))
        for k, (i, j) in enumerate(corners):
            maps[n, i : i + side, j : j + side] += stated[-1] - stated[k]
            counts[i : i + side, j : j + side] += 1
        maps[n] /= counts
    return maps


def insight_samples(
    model: Any, images: ArrayLike, adversarial: ArrayLike, prototype: ArrayLike
) -> tuple[Sample, ...]:
    """Errors, what the model looks at, the changed images, what it looks at then, a prototype."""
    before, after = np.asarray(images), np.asarray(adversarial)
    shown = np.broadcast_to(np.asarray(prototype), before.shape)
    relied, then = occlusion_saliency(model, before), occlusion_saliency(model, after)
    return tuple(
        Sample(
            row,
            "an error, and what an attack makes of it",
            pictures={
                "input": png_uri(before[row]),
                "relied on": signed_picture(relied[row]).uri(),
                "changed": png_uri(after[row]),
                "difference": signed_picture(after[row].astype(np.float64) - before[row]).uri(),
                "relied on then": signed_picture(then[row]).uri(),
                "prototype": png_uri(shown[row]),
            },
        )
        for row in range(len(before))
    )


def _starts(length: int, side: int) -> list[int]:
    step = max(1, side // 2)
    starts = list(range(0, length - side + 1, step))
    return starts if starts[-1] == length - side else [*starts, length - side]
