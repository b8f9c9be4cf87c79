"""Corrupted and adversarial sets on which supervisors are compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay import attacks as attack_table
from fireassay.attacks.result import ALREADY_WRONG, FOUND
from fireassay.classifiers import GradientClassifier, as_classifier
from fireassay.core.arrays import AnyArray, FloatArray, IntArray
from fireassay.core.errors import ModelError, NotEnoughEvidenceError, ParameterError
from fireassay.core.lazy import pd
from fireassay.core.result import Result
from fireassay.core.seeds import generator
from fireassay.core.validation import check_class_indices, check_features, check_integer, check_real
from fireassay.data import corrupt, corruption_kinds
from fireassay.data.pixel_range import image_layout


@dataclass(frozen=True)
class CorruptedSet(Result):
    """Corrupted rows, and which kind each of them has: ``compare(..., kinds={name: kind})``.

    Attributes:
        X: The corrupted rows.
        kind, severity: Corruption of each row, and how strong it is.
    """

    X: AnyArray
    kind: NDArray[np.str_]
    severity: int

    def __len__(self) -> int:
        return len(self.X)

    def summary(self) -> str:
        """How many rows, of how many kinds."""
        kinds = len(set(self.kind))
        return f"{len(self)} corrupted rows of {kinds} kinds, severity {self.severity}"

    def frame(self) -> pd.DataFrame:
        """One row per corrupted row."""
        return pd.DataFrame({"kind": self.kind, "severity": self.severity})


def corrupted_set(
    X: ArrayLike,
    severity: int = 3,
    kinds: Sequence[str] | None = None,
    seed: int = 0,
    *,
    bounds: tuple[float, float] | None = None,
) -> CorruptedSet:
    """Corrupt each row with one kind, all kinds in equal shares; rows keep their order.

    Args:
        X: Images (n, H, W), (n, H, W, C) or (n, C, H, W) in [0, 1], or a table (n, d).
        severity: 1 to 5.
        kinds: Default: all that fit the shape of X.
        bounds: Smallest and largest value that the model allows: what lies beyond is cut off.
        seed: Of the corruptions.

    Returns:
        CorruptedSet: ``compare(..., sets={"corrupted": made.X}, kinds={"corrupted": made.kind})``.

    >>> corrupted_set(np.eye(8), kinds=["swap"]).kind[0]
    np.str_('swap')
    """
    rows = check_features(X)
    if kinds is None:
        kinds = corruption_kinds("tables" if rows.ndim == 2 else "images")
    if not kinds:
        raise ParameterError("The 'kinds' must be at least one.", got="none")
    images = np.moveaxis(rows, 1, -1) if channels_first(rows) else rows
    share = generator(seed, "corrupted-set").permutation(len(rows)) % len(kinds)
    changed = images.copy()
    for i, kind in enumerate(kinds):
        chosen = np.flatnonzero(share == i)
        if len(chosen):
            changed[chosen] = corrupt(images[chosen], kind, severity, seed)
    changed = np.moveaxis(changed, -1, 1) if channels_first(rows) else changed
    if bounds is not None:
        changed = changed.clip(*bounds)
    return CorruptedSet(changed, np.array(kinds)[share], severity)


def channels_first(X: AnyArray) -> bool:
    """Whether images are (n, C, H, W), as torch has them."""
    return image_layout(X.shape) == "CHW"


Rows = AnyArray
Index = IntArray
ATTACKS = ("fgm", "bim", "pgd", "deepfool")


@dataclass(frozen=True)
class AdversarialSet(Result):
    """Misclassified rows, each made from a row that was classified correctly.

    Attributes:
        X: The adversarial rows; every one of them is misclassified and differs from its origin.
        y: True class index of each row.
        row: Position of the original in the rows that were attacked.
        attack: Which attack made it.
        epsilon: Its largest change of a feature.
        confidence: The model's probability of its wrong answer.
        tried: How many rows each attack tried (rows that were wrong already are left out).
    """

    X: AnyArray
    y: IntArray
    row: IntArray
    attack: NDArray[np.str_]
    epsilon: FloatArray
    confidence: FloatArray
    tried: dict[str, int]

    def __len__(self) -> int:
        return len(self.X)

    def summary(self) -> str:
        """How many rows fell to each attack."""
        parts = [f"{name} {(self.attack == name).sum()} of {n}" for name, n in self.tried.items()]
        return f"{len(self)} adversarial rows: {', '.join(parts)}"

    def frame(self) -> pd.DataFrame:
        """One row per adversarial row."""
        columns = ("row", "y", "attack", "epsilon", "confidence")
        return pd.DataFrame({name: getattr(self, name) for name in columns})


def adversarial_set(
    model: Any,
    X: ArrayLike,
    y: ArrayLike,
    attacks: Sequence[str] = ATTACKS,
    *,
    max_epsilon: float = 0.5,
    steps: int = 6,
    min_confidence: float | None = None,
    seed: int = 0,
) -> AdversarialSet:
    """Attack rows and keep the smallest success of each attack on each row.

    Args:
        model: A model with gradients, or anything `as_classifier` makes one of; needs bounds.
        X, y: Rows and true labels; rows that are wrong already are left out.
        attacks: Of "fgm", "bim", "pgd" (largest change of a feature, found by bisection) and
            "deepfool".
        max_epsilon, steps: Largest perturbation tried, and bisection steps: epsilon is exact to
            ``max_epsilon / 2**steps``.
        min_confidence: If given, each success is pushed on, within ``max_epsilon``, until the model
            gives its wrong answer with at least this probability; other rows are left out. Minimal
            perturbations sit on the decision boundary and so flatter softmax scores.
        seed: Of the random starts.

    Raises:
        NotEnoughEvidenceError: If no row fell to any attack.

    >>> import torch
    >>> net = torch.nn.Linear(1, 2)  # the boundary is put at 0.5
    >>> cut = {"weight": torch.tensor([[-1.0], [1.0]]), "bias": torch.tensor([0.5, -0.5])}
    >>> _ = net.load_state_dict(cut)
    >>> model = as_classifier(net, output="logits", classes=[0, 1], bounds=(0, 1))
    >>> found = adversarial_set(model, [[0.3], [0.4], [0.9]], [0, 0, 0], ["fgm"], steps=10)
    >>> found.row.tolist(), found.epsilon.round(2).tolist()  # the third was wrong already
    ([0, 1], [0.2, 0.1])
    """
    classifier: Any = as_classifier(model)
    if not isinstance(classifier, GradientClassifier):
        raise ModelError("Adversarial sets need a model with gradients.", got=repr(classifier))
    unknown = [name for name in attacks if name not in ATTACKS]
    if unknown or not attacks:
        raise ParameterError(f"The 'attacks' must be among {ATTACKS}.", got=repr(list(attacks)))
    largest = check_real(max_epsilon, "max_epsilon", low=0)
    check_integer(steps, "steps", low=1, high=20)
    rows = check_features(X)
    labels = check_class_indices(y, classifier.classes, n=len(rows))
    found: list[AdversarialSet] = []
    tried = {}
    for attack in attacks:
        points, fell, tried[attack] = _smallest(
            classifier, rows, np.asarray(y), attack, largest, steps, seed
        )
        if min_confidence is not None and len(fell):
            points, fell = _pushed(classifier, rows, points, fell, largest, min_confidence)
        if len(fell):
            found.append(_collected(classifier, rows, labels, points, fell, attack))
    if not found:
        raise NotEnoughEvidenceError(
            "At least one attack must succeed on one row.",
            got=f"none of {sum(tried.values())} tries within {largest:g}",
            do="Raise max_epsilon.",
        )
    names = ("X", "y", "row", "attack", "epsilon", "confidence")
    arrays = {name: np.concatenate([getattr(part, name) for part in found]) for name in names}
    return AdversarialSet(**arrays, tried=tried)


def _smallest(
    model: Any, X: Rows, y: Rows, attack: str, largest: float, steps: int, seed: int
) -> tuple[Rows, Index, int]:
    """Adversarial points, the rows they belong to, and how many rows were tried."""
    if attack == "deepfool":
        result = attack_table.deepfool(model, X, y, norm="l2", seed=seed)
        gaps = np.abs(result.adversarial - X).reshape(len(X), -1).max(axis=1)
        fell = np.flatnonzero((result.status == FOUND) & (gaps <= largest))
        return result.adversarial[fell], fell, int((result.status != ALREADY_WRONG).sum())
    run = attack_table.make(attack)
    best = X.copy()
    result = run(model, X, y, norm="linf", eps=largest, seed=seed)
    tried = int((result.status != ALREADY_WRONG).sum())
    fell = np.flatnonzero(result.status == FOUND)
    best[fell] = result.adversarial[fell]
    low, high = np.zeros(len(X)), np.full(len(X), largest)
    for _ in range(steps):
        middle = (low + high) / 2
        # Rows whose bisections went the same way share their epsilon, and one call.
        for epsilon in np.unique(middle[fell]):
            group = fell[middle[fell] == epsilon]
            result = run(model, X[group], y[group], norm="linf", eps=float(epsilon), seed=seed)
            success = result.status == FOUND
            best[group[success]] = result.adversarial[success]
            high[group[success]] = epsilon
            low[group[~success]] = epsilon
    return best[fell], fell, tried


def _pushed(
    model: Any, X: Rows, points: Rows, rows: Index, largest: float, min_confidence: float
) -> tuple[Rows, Index]:
    """Walk on towards the wrong class, inside the box around the original."""
    check_real(min_confidence, "min_confidence", low=0, high=1)
    low, high = model.bounds if model.bounds is not None else (-np.inf, np.inf)
    goal = model.predict_proba(points).argmax(axis=1)
    points = points.copy()
    active = np.arange(len(points))
    for _ in range(40):
        sure = model.predict_proba(points[active])[np.arange(len(active)), goal[active]]
        active = active[sure < min_confidence]
        if not len(active):
            break
        _, slope = model.loss_gradient(points[active], goal[active])
        moved = points[active] - largest / 10 * np.sign(slope)
        centre = X[rows[active]]
        moved = np.clip(np.clip(moved, centre - largest, centre + largest), low, high)
        points[active] = moved.astype(points.dtype)
    sure = model.predict_proba(points)[np.arange(len(points)), goal]
    kept = sure >= min_confidence
    return points[kept], rows[kept]


def _collected(
    model: Any, X: Rows, labels: Index, points: Rows, rows: Index, attack: str
) -> AdversarialSet:
    probabilities = model.predict_proba(points)
    wrong = probabilities.argmax(axis=1) != labels[rows]
    points, rows, probabilities = points[wrong], rows[wrong], probabilities[wrong]
    gaps = np.abs(points.astype(np.float64) - X[rows]).reshape(len(rows), -1)
    return AdversarialSet(
        X=points,
        y=labels[rows],
        row=rows,
        attack=np.full(len(rows), attack, dtype="<U10"),
        epsilon=gaps.max(axis=1, initial=0.0),
        confidence=probabilities.max(axis=1, initial=0.0).astype(np.float64),
        tried={},
    )
