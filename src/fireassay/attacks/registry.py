"""The table of attacks: adding one is one file and one row."""

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

from fireassay.attacks.apgd import apgd
from fireassay.attacks.art import art
from fireassay.attacks.auto import auto
from fireassay.attacks.boundary import boundary, hopskipjump
from fireassay.attacks.deepfool import deepfool, fmn
from fireassay.attacks.discrete import discrete
from fireassay.attacks.evolution import pixel, threshold
from fireassay.attacks.gradient_steps import bim, fgm, pgd
from fireassay.attacks.result import AttackResult
from fireassay.attacks.square import square
from fireassay.core.errors import ParameterError
from fireassay.core.hashing import sha256
from fireassay.core.registry import Registry
from fireassay.engine.journal_tables import function_identity

Attack = Callable[..., AttackResult]
_SUITE_NORM = "linf"
_SUITE_SHARE = 0.1


@dataclass(frozen=True)
class AttackRow:
    """What a caller needs to know to choose an attack, and to keep it within a budget.

    Attributes:
        name, function, summary: How people choose it, what runs, and what it does in a few words.
        norms: In which it can measure.
        needs_gradients: Whether answers alone are not enough.
        needs_scores: Whether decisions alone are not enough: it compares probabilities or logits.
        fixed_size: Whether it goes to the whole size ``eps``, however near the boundary is.
        most_queries: Forward queries of the whole attack, where that is known.

    >>> sorted(name for name, row in ATTACKS.items() if not row.needs_gradients)
    ['auto', 'boundary', 'discrete', 'hopskipjump', 'pixel', 'square', 'threshold']
    >>> ATTACKS["pgd"].within(budget=300, gradient_cost=2.0, given={})  # 10 steps of 1 + 2 each
    {'max_queries': 102, 'restarts': 10}
    """

    name: str
    function: Attack
    norms: tuple[str, ...]
    summary: str
    needs_gradients: bool = False
    needs_scores: bool = False
    fixed_size: bool = False
    most_queries: int | None = None

    @property
    def facts(self) -> dict[str, str]:
        """What the table of attacks shows besides the summary."""
        needs = "scores" if self.needs_scores else "decisions"
        needs = "gradients" if self.needs_gradients else needs
        return {"needs": needs, "norms": ", ".join(self.norms)}

    def within(self, budget: int, gradient_cost: float, given: Mapping[str, Any]) -> dict[str, Any]:
        """Settings with which it uses a budget, and no more than a check beyond it.

        ``budget`` is in forward-equivalents, of which a gradient costs ``gradient_cost``. What was
        given stays; an attack that takes no limit runs as long as it does.
        """
        settings = dict(given)
        step = 1.0 + gradient_cost if self.needs_gradients else 1.0
        if accepts(self.function, "budget"):
            settings.setdefault("budget", budget)
            settings.setdefault("gradient_cost", gradient_cost)
        elif accepts(self.function, "max_queries"):
            limit = math.ceil(budget / step) + 2 * self.needs_gradients
            settings.setdefault("max_queries", limit)
        if accepts(self.function, "restarts"):
            usual = inspect.signature(self.function).parameters["steps"].default
            steps = settings.get("steps", usual)
            settings.setdefault("restarts", max(1, math.ceil(budget / (steps * step))))
        return settings


_EVERY = ("l1", "l2", "linf")
ATTACKS: Registry[AttackRow] = Registry(
    "attack",
    [
        AttackRow(
            "auto", auto, ("l2", "linf"), "the strongest that the model allows, in turn, within "
            "one budget", fixed_size=True,
        ),
        AttackRow(
            "fgm", fgm, _EVERY, "one gradient step of size `eps`", needs_gradients=True,
            fixed_size=True, most_queries=2,
        ),
        AttackRow(
            "bim", bim, _EVERY, "gradient steps inside a ball of radius `eps`, from the sample",
            needs_gradients=True, fixed_size=True,
        ),
        AttackRow(
            "pgd", pgd, _EVERY, "gradient steps inside a ball of radius `eps`, from random starts",
            needs_gradients=True, fixed_size=True,
        ),
        AttackRow(
            "apgd", apgd, ("l2", "linf"), "gradient steps that shrink by themselves, with a `loss` "
            "of ce, dlr or targeted", needs_gradients=True, fixed_size=True,
        ),
        AttackRow(
            "deepfool", deepfool, ("l2", "linf"), "steps to the nearest of the `n_classes` most "
            "likely boundaries", needs_gradients=True,
        ),
        AttackRow(
            "fmn", fmn, ("l0", *_EVERY), "the smallest change: gradient steps in a ball that "
            "shrinks and grows", needs_gradients=True,
        ),
        AttackRow(
            "square", square, ("l2", "linf"), "scores alone: random squares of pixels (blocks of "
            "features) inside a ball of radius `eps`", needs_scores=True, fixed_size=True,
        ),
        AttackRow(
            "pixel", pixel, ("l0",), "scores alone: `eps` features of any value, by differential "
            "evolution", needs_scores=True, fixed_size=True,
        ),
        AttackRow(
            "threshold", threshold, ("linf",), "scores alone: every feature within `eps`, by "
            "differential evolution", needs_scores=True, fixed_size=True,
        ),
        AttackRow(
            "discrete", discrete, ("l0", "linf"), "scores alone: integers, categories and ends of "
            "ranges, column by column, then in blocks", needs_scores=True, fixed_size=True,
        ),
        AttackRow(
            "hopskipjump", hopskipjump, ("l2", "linf"),
            "decisions alone: estimates the boundary's normal, walks along it",
        ),
        AttackRow("boundary", boundary, ("l2",), "decisions alone: a random walk on the boundary"),
    ],
)  # fmt: skip


@dataclass(frozen=True)
class PreparedAttack:
    """An attack with its parameters: call it with a model and samples."""

    function: Attack
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, model: Any, X: Any, y: Any = None, **more: Any) -> AttackResult:
        """Attack the samples; what is given here comes before the parameters."""
        return self.function(model, X, y, **{**self.parameters, **more})

    @property
    def sha256(self) -> str:
        """Identifies code and parameters, so that a journal knows a changed attack."""
        plain = isinstance(self.function, FunctionType)
        code = function_identity(self.function) if plain else sha256(self.function)
        return sha256("attack", code, dict(self.parameters))


def make(name: str, **parameters: Any) -> Attack:
    """An attack by name, with its parameters set: ``make("pgd", eps=0.1)(model, X, y, seed=3)``.

    Args:
        name: A name of `ATTACKS`, or ``"art:"`` and the name of an evasion attack of ART.
        parameters: Of the attack.

    Raises:
        ParameterError: For a name that is not in the table.

    >>> make("pgd", eps=0.1)
    PreparedAttack(function=<function pgd at ...>, parameters={'eps': 0.1})
    """
    if name.startswith("art:"):
        return art(name.removeprefix("art:"), **parameters)
    return PreparedAttack(ATTACKS[name].function, parameters)


def accepts(attack: Attack, parameter: str) -> bool:
    """Whether an attack takes a parameter, by its signature.

    >>> accepts(pgd, "max_queries"), accepts(pgd, "pool")
    (True, False)
    """
    inner = attack.function if isinstance(attack, PreparedAttack) else attack
    known = inspect.signature(inner).parameters.values()
    return any(p.name == parameter or p.kind is inspect.Parameter.VAR_KEYWORD for p in known)


def suite(model: Any, eps: float | None = None) -> list[tuple[str, dict[str, Any]]]:
    """What is tried where nobody chose any attack: `auto`, with the model's norm and size.

    `members` names the attacks that it takes in turn.

    Args:
        model: A classifier.
        eps: The largest change of a feature; by default a tenth of the range of the inputs.

    Raises:
        ParameterError: Without ``eps`` for a model whose range is not known.

    >>> import numpy as np
    >>> from fireassay import as_classifier
    >>> model = as_classifier(lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]), bounds=(0, 255))
    >>> [(name, settings["eps"]) for name, settings in suite(model)]  # a tenth of the range
    [('auto', 25.5)]
    """
    space = getattr(model, "space", None)
    if eps is None and space is not None and space.scaled:
        eps = _SUITE_SHARE
    if eps is None:
        if model.bounds is None:
            raise ParameterError(
                "The largest change is a tenth of the range of the inputs: the model's bounds "
                "must be known.",
                got="bounds=None",
                do="Give bounds= to as_classifier, or name the attacks with their eps.",
            )
        low, high = model.bounds
        eps = _SUITE_SHARE * (high - low)
    return [("auto", {"norm": _SUITE_NORM, "eps": eps})]
