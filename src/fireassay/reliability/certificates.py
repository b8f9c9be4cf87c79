"""Proofs that a model gives one class on a whole box, found for the models that allow them."""

from typing import Any, Protocol

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.extras import is_installed
from fireassay.reliability.network_bounds import NetworkBounds, network_of
from fireassay.reliability.tree_boxes import trees_of


class Prover(Protocol):
    """Proves that a model is constant on boxes."""

    def proven_class(self, low: FloatArray, high: FloatArray) -> IntArray:
        """For each box, the class index the model gives on all of it, or -1 if not proven."""
        ...


def prover_of(model: Any) -> Prover | None:
    """The prover for a model, or None where only sampling can help.

    Trees and forests are read from the estimator; small torch networks and scikit-learn's
    multilayer perceptrons need the extra ``certificates``.
    """
    estimator = getattr(model, "estimator", model)
    trees = trees_of(estimator)
    if trees is not None:
        return trees
    if not is_installed("bound_propagation"):
        return None
    network = network_of(getattr(model, "module", estimator))
    return None if network is None else NetworkBounds(network)
