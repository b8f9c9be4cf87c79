"""Which answer is acted on, and what each kind of mistake costs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fireassay.classifiers import Classifier, Decided
from fireassay.core import ParameterError
from fireassay.core.arrays import FloatArray

ARROW, ANY = "->", "*"


@dataclass(frozen=True)
class Decision:
    """A cost for each kind of mistake, and the operating rule.

    Attributes
    ----------
    costs
        By ``"truth -> answer"``; ``*`` stands for any class, and the more exact name wins. Empty:
        mistakes are counted, not weighed.
    threshold
        By class: it is answered from this probability on. Empty: the most probable class is.

    >>> Decision({"* -> *": 1, "sepsis -> *": 50}).matrix(["well", "sepsis"]).tolist()
    [[0.0, 1.0], [50.0, 0.0]]
    """

    costs: Mapping[str, float] = field(default_factory=dict)
    threshold: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(
        cls, costs: Mapping[str, float] | None, threshold: str | Mapping[Any, float] | None
    ) -> "Decision":
        """From what a user gave: ``"argmax"`` and None are the most probable class."""
        if isinstance(threshold, str) and threshold != "argmax":
            raise ParameterError(
                "The threshold is 'argmax', or a probability by class.",
                got=repr(threshold),
                do='Try threshold={"sepsis": 0.2}.',
            )
        by_class = {} if threshold is None or isinstance(threshold, str) else dict(threshold)
        decision = cls(
            {str(name): float(cost) for name, cost in (costs or {}).items()},
            {str(name): float(least) for name, least in by_class.items()},
        )
        for name, cost in decision.costs.items():
            _pair(name)
            if not 0.0 <= cost < float("inf"):
                raise ParameterError(f"The cost of '{name}' must be at least 0.", got=f"{cost:g}")
        return decision

    def applied(self, model: Classifier) -> Classifier:
        """The classifier whose answer is the decision; the model itself without a threshold."""
        return Decided(model, self.threshold) if self.threshold else model

    def matrix(self, classes: Sequence[Any]) -> FloatArray:
        """What each answer (column) costs for each truth (row).

        Raises
        ------
        ParameterError
            For a class that the model does not have, and for mistakes without a cost.
        """
        names = [str(name) for name in classes]
        found = np.full((len(names), len(names)), np.nan)
        # Names with more stars first, so that exact ones come last and stay.
        for name in sorted(self.costs, key=lambda key: -_pair(key).count(ANY)):
            truth, answer = _pair(name)
            for side in (truth, answer):
                if side not in (*names, ANY):
                    raise ParameterError(
                        f"The cost of '{name}' must name classes of the model: "
                        f"{', '.join(names[:12])}.",
                        got=repr(side),
                    )
            rows = slice(None) if truth == ANY else names.index(truth)
            columns = slice(None) if answer == ANY else names.index(answer)
            found[rows, columns] = self.costs[name]
        np.fill_diagonal(found, 0.0)
        if np.isnan(found).any():
            i, j = np.argwhere(np.isnan(found))[0]
            raise ParameterError(
                "Every kind of mistake needs a cost.",
                got=f"none for '{names[i]} -> {names[j]}'",
                do='Add it, or one for all that are not named: "* -> *" = 1.',
            )
        return found


def _pair(name: str) -> tuple[str, str]:
    truth, arrow, answer = name.partition(ARROW)
    if not arrow or not truth.strip() or not answer.strip():
        raise ParameterError(
            "A cost is named by what is true and what is answered.",
            got=repr(name),
            do='Try "sepsis -> no sepsis" = 50.',
        )
    return truth.strip(), answer.strip()
