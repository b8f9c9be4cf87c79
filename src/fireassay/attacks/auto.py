"""The strongest attacks in turn: each gets what is left of a budget, and the rows that stand."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fireassay.attacks.apgd import apgd
from fireassay.attacks.attacked_model import Index
from fireassay.attacks.boundary import hopskipjump
from fireassay.attacks.discrete import discrete
from fireassay.attacks.gradient_steps import pgd
from fireassay.attacks.result import FOUND, NOT_FOUND, AttackResult
from fireassay.attacks.square import square
from fireassay.classifiers import GradientClassifier, as_classifier
from fireassay.classifiers.protocol import backward_passes
from fireassay.core.errors import ParameterError
from fireassay.core.validation import check_features, check_integer, check_lengths, check_real

_EACH_ROW = ("adversarial", "success", "distance", "status")
_COUNTS = (
    "queries_before_failure", "queries_to_failure",
    "gradient_queries_before_failure", "gradient_queries_to_failure",
)  # fmt: skip


@dataclass(frozen=True)
class Member:
    """One attack of the ensemble, and which share of what is left it may spend."""

    name: str
    function: Callable[..., AttackResult]
    parameters: dict[str, Any]
    share: float
    needs: str = "decisions"


# In the order of strength per query. Where there are gradients, what is left for square shows
# whether they hide something.
_WITH_GRADIENTS = (
    Member("pgd", pgd, {"steps": 10}, 0.33, "gradients"),
    Member("apgd", apgd, {"loss": "ce"}, 0.4, "gradients"),
    Member("apgd-targeted", apgd, {"loss": "targeted", "restarts": 9}, 0.85, "gradients"),
    Member("square", square, {}, 1.0, "scores"),
)
_BLACK_BOX = (
    Member("square", square, {}, 0.95, "scores"),
    Member("hopskipjump", hopskipjump, {}, 1.0),
)
# Of a space with integers or categories: the only one that moves them (and reals, too).
_DISCRETE = Member("discrete", discrete, {}, 1.0, "scores")
_EVERY = (*_WITH_GRADIENTS, *_BLACK_BOX)


def members(model: Any) -> tuple[Member, ...]:
    """The attacks that `auto` tries on this model, in order.

    Args:
        model: A classifier.

    >>> from fireassay import as_classifier
    >>> model = as_classifier(lambda X: np.hstack([1 - X, X]), classes=[0, 1], bounds=(0, 1))
    >>> [member.name for member in members(model)]
    ['square', 'hopskipjump']
    """
    space = getattr(model, "space", None)
    if space is not None and not space.reals.any():
        return (_DISCRETE,)
    labels_only = getattr(model, "output", None) == "labels"
    chosen: tuple[Member, ...] = _BLACK_BOX[1:] if labels_only else _BLACK_BOX
    if isinstance(model, GradientClassifier):
        chosen = _WITH_GRADIENTS
    if space is None or not space.discrete.any():
        return chosen
    first = replace(_DISCRETE, share=0.5)
    if isinstance(model, GradientClassifier):
        return (*chosen[:-1], first, *chosen[-1:])
    return (first, *chosen)


def auto(
    model: Any,
    X: ArrayLike,
    y: ArrayLike | None = None,
    norm: str = "linf",
    eps: float = 0.1,
    budget: int = 300,
    *,
    gradient_cost: float = 2.0,
    mask: ArrayLike | None = None,
    max_queries: int | None = None,
    seed: int = 0,
) -> AttackResult:
    """Try the strongest attacks that the model allows, one after another, within one budget.

    Args:
        model, X, y, eps, mask: As in `fgm`; gradients are used where the model has them.
        norm: ``"linf"`` or ``"l2"``.
        budget: Forward-equivalent queries per row for all attacks together, at least 1.
        gradient_cost: Forward-equivalents of one gradient query, besides its forward pass.
        max_queries: Hard limit of forward queries per row for all attacks together.
        seed: Of every attack.

    Returns:
        Counts run over all attacks; ``made_by`` says which of them broke a row, ``not_tried`` which
        were left out, and why.

    With gradients: pgd (10 steps), apgd away from the class, apgd toward the likeliest other
    classes (as many as get twenty steps each), square.
    With probabilities alone: square, then hopskipjump; with labels alone hopskipjump. Where
    integers or categories may change (`AttackSpace`), discrete goes before square; where nothing
    else may change, it is the only one. Each spends a share of what is left for a row, and only
    rows that still stand go on.

    >>> from fireassay import as_classifier
    >>> model = as_classifier(lambda X: np.hstack([1 - X, X]), classes=[0, 1], bounds=(0, 1))
    >>> found = auto(model, [[0.45], [0.3]], [0, 0], eps=0.1, max_queries=60)
    >>> found.success.tolist()  # the boundary is at 0.5
    [True, False]
    """
    if norm not in ("l2", "linf"):
        raise ParameterError("The 'norm' of auto must be 'l2' or 'linf'.", got=repr(norm))
    check_real(eps, "eps", low=0.0)
    check_integer(budget, "budget", low=1)
    check_real(gradient_cost, "gradient_cost", low=0.0, inclusive="low")
    limit = budget if max_queries is None else check_integer(max_queries, "max_queries")
    classifier, features = as_classifier(model), check_features(X)
    labels = None if y is None else np.asarray(y)
    if labels is not None:
        check_lengths(X=len(features), y=len(labels))
    state: AttackResult | None = None
    skipped = []
    chosen = members(classifier)
    if norm == "l2" and _DISCRETE.name in {member.name for member in chosen}:
        chosen = tuple(member for member in chosen if member.name != _DISCRETE.name)
        skipped.append("discrete (integers and categories have no size in l2)")
    if not chosen:
        raise ParameterError(
            "The 'norm' of auto must be 'linf' where only integers and categories may change.",
            got=repr(norm),
        )
    for member in chosen:
        step = 1.0
        if member.needs == "gradients":
            step += gradient_cost * backward_passes(classifier)

        def run(rows: Index, most: int, member: Member = member) -> AttackResult:
            return member.function(
                classifier, features[rows], None if labels is None else labels[rows], norm=norm,
                eps=eps, max_queries=most, mask=mask, seed=seed, **member.parameters,
            )  # fmt: skip

        if state is None:
            # The first one also checks what it is given, and who is wrong already.
            most = max(_most(member.share * budget, step), 1)
            state = _first(run(np.arange(len(features)), min(most, limit)), member.name)
            continue
        left = budget - state.queries - gradient_cost * state.gradient_queries
        allowed = np.array([_most(member.share * some, step) for some in left])
        allowed = np.minimum(allowed, limit - state.queries)
        allowed[state.status != NOT_FOUND] = 0
        for most in np.unique(allowed[allowed >= 2]):
            rows = np.flatnonzero(allowed == most)
            _take_over(state, run(rows, int(most)), rows, member.name)
        if (allowed < 2)[state.status == NOT_FOUND].any():
            skipped.append(f"{member.name} on some rows (budget spent)")
    assert state is not None  # every model allows at least one attack
    return replace(state, attack="auto", not_tried=(*not_tried(classifier), *skipped))


def not_tried(model: Any) -> tuple[str, ...]:
    """Attacks of the whole ensemble that this model does not allow, each with the reason."""
    chosen = {member.name for member in members(model)}
    space = getattr(model, "space", None)
    if space is not None and not space.reals.any():
        return tuple(f"{member.name} (no real column may change)" for member in _WITH_GRADIENTS)
    every = {member.name: member for member in _EVERY}
    reasons = {
        "gradients": "the model gives no gradients",
        "scores": "the model gives labels alone",
        "decisions": "weaker than what gradients allow",
    }
    return tuple(
        f"{name} ({reasons[member.needs]})" for name, member in every.items() if name not in chosen
    )


def _most(share: float, step: float) -> int:
    """Forward queries of an attack whose first takes 1 and whose others take ``step`` at most."""
    return math.floor((share - 1.0) / step) + 1 if share >= 1.0 else 0


def _first(found: AttackResult, name: str) -> AttackResult:
    width = max(len(m.name) for m in (*_EVERY, _DISCRETE))
    made_by = np.where(found.status == FOUND, name, "").astype(f"<U{width}")
    return replace(found, made_by=made_by)


def _take_over(state: AttackResult, found: AttackResult, rows: Index, name: str) -> None:
    """Add what a further attack did to these rows, none of which had fallen before."""
    assert state.made_by is not None
    for field in _EACH_ROW:
        getattr(state, field)[rows] = getattr(found, field)
    for field in _COUNTS:
        spent = state.gradient_queries if field.startswith("gradient") else state.queries
        getattr(state, field)[rows] = spent[rows] + getattr(found, field)
    state.queries[rows] += found.queries
    state.gradient_queries[rows] += found.gradient_queries
    state.made_by[rows[found.status == FOUND]] = name
