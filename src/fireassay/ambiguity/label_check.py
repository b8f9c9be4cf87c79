"""Do the soft labels agree with classifiers of the two classes? A report, never a filter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from fireassay.ambiguity.ambiguous_set import AmbiguousSet
from fireassay.ambiguity.measures import MEASURES
from fireassay.ambiguity.scaling import (
    EncoderInputs,
    FeatureScaling,
    check_inputs,
    principal_inputs,
)
from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.errors import DataError
from fireassay.core.estimate import Estimate
from fireassay.core.evidence import Assumption, Evidence, Provenance, Table
from fireassay.core.lazy import pd, require
from fireassay.core.result import Answer
from fireassay.core.seeds import generator
from fireassay.core.threads import one_torch_thread
from fireassay.core.validation import check_class_indices, check_integer
from fireassay.statistics import betting_interval, spearman

if TYPE_CHECKING:
    from fireassay.ambiguity.stacked_networks import PairRows

_COMPONENTS = 64


@dataclass(frozen=True, eq=False)
class LabelCheck(Answer):
    """Soft labels against an ensemble of pair classifiers.

    Attributes:
        label_error: Mean absolute difference of P(second class) between label and ensemble.
        disagreement: Mean spread (standard deviation) of the ensemble itself: the floor of what can
            be expected.
        rank_correlation: Spearman's rho between label and ensemble.
        ensemble, soft: P(second class) of each row by the ensemble and by its soft label.
        by_pair: The difference and its sign per pair.
    """

    label_error: Estimate
    disagreement: float
    rank_correlation: float
    ensemble: FloatArray
    soft: FloatArray
    by_pair: pd.DataFrame
    provenance: Provenance

    def frame(self) -> pd.DataFrame:
        """Per pair: mean absolute difference, mean difference, spread of the ensemble."""
        return self.by_pair

    def evidence(self) -> Evidence:
        """The agreement as evidence."""
        return Evidence(
            question="ambiguity",
            headline=f"Soft labels differ from pair classifiers by {self.label_error} on average.",
            measures=MEASURES,
            estimates={"label_error": self.label_error},
            assumptions=(
                Assumption(
                    "Pair classifiers are a fair judge of inputs unlike their training data.",
                    "untestable",
                    f"The ensemble's own spread is {self.disagreement:.3f}.",
                    id="fair-pair-classifiers",
                ),
            ),
            tables={"pairs": Table.from_frame(self.by_pair, "Labels per pair", index=False)},
            limits=("Reported only: no sample was dropped or relabelled.",),
            provenance=self.provenance,
        )


def check_soft_labels(
    amb: AmbiguousSet,
    X: ArrayLike,
    y: ArrayLike,
    members: int = 5,
    seed: int = 0,
    *,
    confidence: float = 0.95,
) -> LabelCheck:
    """Compare soft labels with small classifiers trained on the two classes of each pair.

    Args:
        amb: The set to check; it is not changed.
        X, y: Nominal rows of the same classes, best ones the generator has not seen.
        members: Classifiers per pair, each trained on its own bootstrap sample.
        confidence: Of the interval of the label error.
        seed: Of the bootstrap samples and the training.

    Raises:
        DataError: If a class of the set has fewer than two rows in X.

    >>> from fireassay.ambiguity import AmbiguityGenerator
    >>> from fireassay.data import digits
    >>> data = digits()
    >>> amb = AmbiguityGenerator([(3, 8)], tries=1).fit(data.X, data.y).sample(40)
    >>> found = check_soft_labels(amb, data.X, data.y, members=2)
    >>> 0 <= found.label_error.value <= 1
    True
    """
    torch = require("torch", "torch", "Pair classifiers")
    check_integer(members, "members", low=2)
    array = check_inputs(X)
    index = check_class_indices(y, amb.classes, n=len(array))
    scaling = FeatureScaling.of(np.concatenate([array, amb.X.astype(array.dtype)]))
    flat = scaling.flat(array)
    from fireassay.ambiguity.stacked_networks import PairClassifiers

    inputs = principal_inputs(flat, _COMPONENTS, seed)
    place = amb.classes.index
    pairs = [(place(first), place(second)) for first, second in amb.unique_pairs]
    named = [(*pair, member) for pair in pairs for member in range(members)]
    drawing = [generator(seed, "calibration rows", *name) for name in named]
    both = zip(named, drawing, strict=True)
    rows = [_bootstrap(index, name[:2], amb.classes, rng) for name, rng in both]
    rngs = [generator(seed, "calibration", *name) for name in named]
    with one_torch_thread():
        classifiers = PairClassifiers(torch.from_numpy(inputs(flat)), rows, rngs)
        votes = _votes(classifiers, inputs, scaling, amb, pairs, members)
    second = amb.soft_labels[np.arange(len(amb)), amb.pair_positions[:, 1]]
    ensemble, spread = votes.mean(axis=0), votes.std(axis=0)
    gap = np.abs(ensemble - second)
    low, high = map(float, betting_interval(gap, confidence))
    label_error = Estimate.around(
        float(gap.mean()), low, high, confidence=confidence, n=len(gap), method="betting",
        rests_on=("fair-pair-classifiers",),
    )  # fmt: skip
    return LabelCheck(
        label_error=label_error,
        disagreement=float(spread.mean()),
        rank_correlation=float(spearman(ensemble, second)[0]) if len(gap) > 2 else float("nan"),
        ensemble=ensemble,
        soft=second,
        by_pair=_by_pair(
            amb, label_error=gap, towards_second=ensemble - second, ensemble_spread=spread
        ),
        provenance=Provenance(seed=seed, data_sha256=amb.sha256),
    )


def _bootstrap(
    index: IntArray, pair: tuple[int, int], classes: tuple[Any, ...],
    rng: np.random.Generator,
) -> PairRows:  # fmt: skip
    from fireassay.ambiguity.stacked_networks import PairRows

    parts = []
    for label in pair:
        own = np.flatnonzero(index == label)
        if len(own) < 2:
            raise DataError(
                "The check needs at least two nominal rows of every class of the set.",
                got=f"{len(own)} of class {classes[label]!r}",
            )
        parts.append(rng.choice(own, len(own)))
    return PairRows(*parts)


def _votes(
    classifiers: Any,
    inputs: EncoderInputs,
    scaling: FeatureScaling,
    amb: AmbiguousSet,
    pairs: list[tuple[int, int]],
    members: int,
) -> FloatArray:
    import torch

    votes = np.empty((members, len(amb)))
    positions = amb.pair_positions
    for i, pair in enumerate(pairs):
        own = np.flatnonzero((positions == pair).all(axis=1))
        seen = torch.from_numpy(inputs(scaling.flat(amb.X[own])))
        for member in range(members):
            votes[member, own] = classifiers.second_class_probability(i * members + member, seen)
    return votes


def _by_pair(amb: AmbiguousSet, **means_of: FloatArray) -> pd.DataFrame:
    rows = []
    for first, second in amb.unique_pairs:
        own = amb.of_pair(first, second)
        means = {name: float(values[own].mean()) for name, values in means_of.items()}
        rows.append({"first": first, "second": second, "n": len(own), **means})
    return pd.DataFrame(rows)
