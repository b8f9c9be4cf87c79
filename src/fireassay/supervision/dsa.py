"""Distance-based surprise adequacy (DSA)."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.errors import DataError
from fireassay.core.seeds import generator
from fireassay.core.validation import check_real
from fireassay.supervision.nearest import nearest
from fireassay.supervision.onnx_graph import GraphBuilder
from fireassay.supervision.per_class import group_rows
from fireassay.supervision.reading import Reading
from fireassay.supervision.row_blocks import as_activations, check_width
from fireassay.supervision.supervisor import Supervisor

_FAR = 1e300
_TINY = np.finfo(np.float64).tiny


def dsa_scores(
    train_activations: ArrayLike,
    train_predictions: ArrayLike,
    activations: ArrayLike,
    predictions: ArrayLike,
) -> FloatArray:
    """DSA of activations, from arrays alone; all training rows are used.

    Parameters
    ----------
    train_activations, activations
        Shape (n, d); further axes are flattened. Arrays on disk (`numpy.memmap`) are read in
        blocks: beside one number per row, memory does not grow with their length.
    train_predictions, predictions
        The model's predicted class of each row.

    Returns
    -------
    array (n,)
        Higher is more surprising.

    Notes
    -----
    Kim, Feldt and Yoo (2019): with the nearest training activation a of the same predicted class,
    and the training activation b of another class nearest to a, DSA = |x − a| / |a − b|. A class
    that no training row was predicted as is compared with all training rows.

    >>> dsa_scores([[0.0], [1.0], [4.0]], [0, 0, 1], [[2.0]], [0])
    array([0.33333333])
    """
    train, known, new, predicted = as_activations(
        train_activations, train_predictions, activations, predictions
    )
    return DsaReference(train, known).scores(new, predicted)


class DsaReference:
    """Training activations by class; the second distance is measured once per nearest point."""

    def __init__(self, activations: FloatArray, predictions: IntArray) -> None:
        self.activations, self.predictions = activations, predictions
        self.by_class = group_rows(predictions)
        if len(self.by_class) < 2:
            raise DataError(
                "DSA needs training rows of at least two predicted classes.",
                got=f"{len(self.by_class)}",
            )
        self._to_other_class = np.full(len(activations), np.nan)

    def scores(self, activations: FloatArray, predictions: IntArray) -> FloatArray:
        """DSA of rows."""
        check_width(activations, self.activations.shape[1])
        to_same = np.empty(len(activations))
        found = np.empty(len(activations), dtype=np.int64)
        for label, rows in group_rows(predictions).items():
            pool = self.by_class.get(label, np.arange(len(self.activations)))
            index, to_same[rows] = nearest(activations, self.activations, rows, pool)
            found[rows] = pool[index]
        self._measure_other_class(np.unique(found))
        to_other = self._to_other_class[found]
        # Two equal activations of different classes: at their own place nothing is surprising.
        scores = np.where(to_same == 0.0, 0.0, to_same / np.maximum(to_other, _TINY))
        return np.minimum(scores, np.finfo(np.float64).max)

    def to_other_class(self) -> FloatArray:
        """Distance of every training row to its nearest row of another class."""
        self._measure_other_class(np.arange(len(self.activations)))
        return self._to_other_class

    def _measure_other_class(self, wanted: IntArray) -> None:
        unknown = wanted[np.isnan(self._to_other_class[wanted])]
        if not len(unknown):
            return
        points = unknown[np.argsort(self.predictions[unknown], kind="stable")]
        others = np.argsort(self.predictions, kind="stable")
        self._to_other_class[points] = nearest(
            self.activations, self.activations, points, others,
            self.predictions[points], self.predictions[others],
        )[1]  # fmt: skip


@dataclass(kw_only=True, eq=False)
class Dsa(Supervisor):
    """Distance to the nearest training activation of the class, over that one's to another class.

    Kim et al. (2019), on a share of the training rows (30 %, as Weiss et al. 2021 propose).
    """

    name: ClassVar[str] = "dsa"
    needs: ClassVar[tuple[str, ...]] = ("features", "probabilities")
    fit_needs: ClassVar[tuple[str, ...]] = ("features", "probabilities")
    subsample: float = 0.3

    def _fit(self, reading: Reading, labels: IntArray | None) -> dict[str, Any]:
        del labels
        check_real(self.subsample, "subsample", low=0, high=1, inclusive="high")
        features, predictions = reading.features, reading.predictions
        n = len(features)
        count = max(1, round(self.subsample * n))
        rows = np.sort(generator(self.seed, "dsa", "subsample").permutation(n)[:count])
        kept, classes = np.asarray(features[rows], dtype=np.float64), predictions[rows]
        self._reference = DsaReference(kept, classes)
        return {"activations": kept, "predictions": classes}

    def _score(self, reading: Reading) -> FloatArray:
        if getattr(self, "_reference", None) is None:
            self._reference = DsaReference(self.state_["activations"], self.state_["predictions"])
        return self._reference.scores(reading.features, reading.predictions)

    def _graph(self, g: GraphBuilder) -> str:
        features = g.input("features")
        reference = DsaReference(self.state_["activations"], self.state_["predictions"])
        classes = g.constant(reference.predictions[None], np.int64)
        is_same = g.op("Equal", g.answer(keep=1), classes)
        has_any = g.max(g.op("Cast", is_same, to=g.onnx.TensorProto.DOUBLE), keep=1)
        is_new = g.op("Equal", has_any, g.constant(0.0))  # a class without training rows: all rows
        gaps = g.squared_gaps(features, reference.activations)
        allowed = g.op("Where", g.op("Or", is_same, is_new), gaps, g.constant(_FAR))
        closest = g.op("ArgMin", allowed, axis=1, keepdims=0)
        points = g.op("Gather", g.constant(reference.activations), closest, axis=0)
        offset = g.minus(features, points)
        to_same = g.op("Sqrt", g.sum(g.times(offset, offset)))
        to_other = np.maximum(reference.to_other_class(), _TINY)
        return g.op("Div", to_same, g.op("Gather", g.constant(to_other), closest, axis=0))
