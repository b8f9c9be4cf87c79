"""Attack a model and note, sample by sample, between which two queries it failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.attacks import ATTACKS, AttackResult, AttackRow, in_blocks, make, suite
from fireassay.attacks.inputs import check_clip_range
from fireassay.attacks.registry import Attack, PreparedAttack
from fireassay.attacks.result import FOUND
from fireassay.attacks.spaced import SpacedClassifier
from fireassay.classifiers import as_classifier
from fireassay.core import NotEnoughEvidenceError, ParameterError, generator, sha256
from fireassay.core.arrays import IntArray
from fireassay.core.lazy import pd
from fireassay.core.threads import one_thread
from fireassay.core.validation import check_class_indices, check_features, check_integer, check_real
from fireassay.engine import Executor
from fireassay.statistics import share
from fireassay.survival.attacker_checks import DRAWS, adaptive, check_gradients
from fireassay.survival.defences import Defence, DefendedClassifier, GaussOut, defend, make_defence
from fireassay.survival.observations import Observations
from fireassay.survival.rows import BUDGET, GRADIENT_COST

AttackSpec = str | Attack | tuple[str | Attack, Mapping[str, Any]]
_MOST_COLUMNS = 200  # a table of more would not be read
_COLUMNS = (
    "sample",
    "attack",
    "made_by",
    "norm",
    "eps",
    "lower",
    "upper",
    "success",
    "distance",
    "queries",
    "gradient_queries",
)


def observe(
    model: Any,
    X: ArrayLike,
    y: ArrayLike,
    attacks: Sequence[AttackSpec] | str | None = None,
    budget: int = BUDGET,
    seed: int = 0,
    *,
    samples: int | None = None,
    mask: ArrayLike | None = None,
    defence: Defence | tuple[str, float] | None = None,
    gradient_cost: float = GRADIENT_COST,
    eps_scale: float = 1.0,
    draws: int = DRAWS,
    model_id: str | None = None,
    empty_ok: bool = False,
    keep_adversarial: bool = False,
    confidence: float = 0.95,
    executor: Executor | None = None,
    workers: int = 1,
    cluster: Any = None,
) -> Observations:
    """One row per sample that the model gets right and per attack: when did it fail?

    Args:
        model: A classifier, or anything `as_classifier` makes one of.
        X, y: Test samples with labels.
        attacks: Each a name of `fireassay.attacks.ATTACKS`, an attack function, or one of them with
            its parameters as (attack, parameters); ``eps`` is the largest allowed perturbation ε*,
            in the attack's norm. ``"art:PixelAttack"`` and the like come from ART. By default, and
            with ``"auto"``, what `fireassay.attacks.suite` says: the strongest that this model
            allows, in turn and within one budget, up to a tenth of its range.
        budget: Forward-equivalent queries per sample and attack at which watching ends, at least 1;
            the attacks of ``"auto"`` share one.
        samples: How many rows, drawn by the seed, are attacked (default: all).
        mask: Booleans, True for features that an attack may change (default: all).
        defence: A defence of `fireassay.survival.defences`, or (name, value).
        gradient_cost: Forward-equivalents of one gradient query, besides its forward pass.
        eps_scale: What ε = 1 means, e.g. the standard deviation of the training data.
        draws: With a random answer (Gauss-out), a sample is right, or has fallen, by the majority
            of so many draws.
        model_id: Name of the model for ``groups="model_id"``, by default a part of its content
            hash.
        empty_ok: Return a table without rows, not an error, if the model gets no sample right.
        keep_adversarial: Keep the inputs that fooled the model in ``adversarial``.
        executor: Where the attacks run, with a store if they are to be journalled; or
        workers, cluster: processes on this machine, or the address of a Dask scheduler; the rows
            are the same.
        seed, confidence: Of draws and attacks; of all intervals.

    Raises:
        NotEnoughEvidenceError: If the model gets no sample right.
        DataError: If X does not use the range in which the attack is allowed to move.

    Time is forward queries + ``gradient_cost`` × gradient queries. A failure is known to lie
    between the last check that was right (lower) and the first that was wrong (upper). A sample
    that stands is right-censored at the budget, also if the attack has an end and gave up before.

    >>> rows = np.linspace(0.0, 1.0, 41)[:, None]
    >>> found = observe(lambda X: np.hstack([1 - X, X]), rows, (rows[:, 0] > 0.5).astype(int),
    ...     [("boundary", {"eps": 0.19})], budget=50)
    >>> int(found.frame()["success"].sum()), len(found)
    (15, 41)
    """
    budget = check_integer(budget, "budget", low=1)
    check_real(gradient_cost, "gradient_cost", low=0.0, inclusive="low")
    check_real(eps_scale, "eps_scale", low=0.0)
    check_integer(draws, "draws", low=1)
    target, shield = _defended(model, defence, seed)
    everything = check_features(X)
    check_clip_range(everything, target.bounds)
    drawn = _drawn(len(everything), samples, seed)
    features = everything[drawn]
    with one_thread():
        probabilities = target.predict_proba(features)
    goal = check_class_indices(y, target.classes, n=len(everything))[drawn]
    labels = np.asarray(y)[drawn]
    withheld = shield.rejected(probabilities)
    right = (probabilities.argmax(axis=1) == goal) & ~withheld
    if isinstance(shield, GaussOut):
        right = target.wrong_share(features, goal, first=1, count=draws) <= 0.5
    if not right.any() and not empty_ok:
        raise NotEnoughEvidenceError(
            "At least one sample must be classified correctly before the attack.",
            got=f"0 of {len(features)}",
            do="Survival of a model that is wrong everywhere is zero: there is nothing to watch.",
        )
    chosen = suite(target) if attacks is None or attacks == "auto" else attacks
    listed = _prepared(chosen, eps_scale, budget, gradient_cost)
    parts, fooling, missed = [], [features[:0]], dict[str, None]()
    untouched, checked = [features[:0]], None
    if right.any():
        attacked, rows = adaptive(target, draws), (features[right], labels[right])
        space = getattr(attacked, "space", None)
        prepared = {label: attack for label, _, attack in listed}
        place = executor or Executor(workers=workers, cluster=cluster)
        results = in_blocks(prepared, attacked, *rows, mask=mask, seed=seed, executor=place)
        for label, eps, _ in listed:
            found = results[label]
            if label == "auto" and (space is None or space.reals.any()):
                checked = check_gradients(
                    attacked, *rows, norm=found.norm, eps=eps, seed=seed, executor=executor
                )
            part = _rows(found, drawn[right], label, eps, budget, gradient_cost)
            kept = np.ones(len(part), dtype=np.bool_)
            if isinstance(shield, GaussOut):
                kept = _confirm_over_draws(part, found, target, goal[right], draws)
            parts.append(part[kept])
            missed |= dict.fromkeys(found.not_tried)
            fell = part["success"].to_numpy(dtype=np.bool_) & kept
            fooling.append(found.adversarial[fell])
            untouched.append(rows[0][fell])
    table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=_COLUMNS)
    space, fooled = getattr(target, "space", None), np.concatenate(fooling)
    largest = max(eps for _, eps, _ in listed)
    table["model_id"] = model_id or target.sha256[:12]
    table["defence"] = shield.name
    table["defence_value"] = float(shield.value)
    table.attrs["time_unit"] = "queries"
    return Observations(
        table=table,
        budget=budget,
        gradient_cost=gradient_cost,
        benign_accuracy=share(int(right.sum()), len(features), confidence),
        benign_rejection_rate=share(int(withheld.sum()), len(features), confidence),
        confidence=confidence,
        seed=seed,
        model_sha256=(target.model if isinstance(target, SpacedClassifier) else target).sha256,
        data_sha256=sha256(np.ascontiguousarray(features), labels),
        adversarial=fooled if keep_adversarial else None,
        not_tried=tuple(missed),
        gradient_check=checked,
        moved=_moved(target, np.concatenate(untouched), fooled, largest),
        eps_words="" if space is None else space.eps_words,
    )


def _moved(
    target: Any, before: NDArray[Any], after: NDArray[Any], eps: float
) -> tuple[tuple[str, str, int], ...] | None:
    """Columns with their rule and how many fooling inputs differ in them; None: all are free."""
    space = getattr(target, "space", None)
    if space is None or len(space.names) > _MOST_COLUMNS:
        return None
    counts = space.moved(space.outside(before), space.outside(after))
    rules = space.rules(eps)
    return tuple((name, rules[name], counts.get(name, 0)) for name in space.names)


def _drawn(n: int, samples: int | None, seed: int) -> IntArray:
    """Positions of the rows that are attacked, in the order of X."""
    if samples is None:
        return np.arange(n)
    check_integer(samples, "samples", low=1)
    return np.sort(generator(seed, "attacked rows").permutation(n)[:samples])


def _defended(
    model: Any, defence: Defence | tuple[str, float] | None, seed: int
) -> tuple[Any, Defence]:
    if defence is None:
        classifier = as_classifier(model)
        if isinstance(classifier, DefendedClassifier):
            return classifier, classifier.defence
        return classifier, Defence()
    chosen = defence if isinstance(defence, Defence) else make_defence(*defence, seed=seed)
    return defend(model, chosen), chosen


def _prepared(
    attacks: Sequence[AttackSpec], eps_scale: float, budget: int, gradient_cost: float
) -> list[tuple[str, float, PreparedAttack]]:
    """Label, ε* and the attack itself, within the budget."""
    if isinstance(attacks, str) or not attacks:
        raise ParameterError(
            "The 'attacks' parameter must be a list of attacks or (attack, parameters).",
            got=repr(attacks),
        )
    specs = [spec if isinstance(spec, tuple) else (spec, {}) for spec in attacks]
    names = [name if isinstance(name, str) else _name_of(name) for name, _ in specs]
    listed = []
    for (attack, given), name in zip(specs, names, strict=True):
        parameters = dict(given)
        norm = parameters.get("norm")
        usual = f"{name}-{norm}" if names.count(name) > 1 and norm else name
        label = str(parameters.pop("label", None) or usual)
        if "eps" in parameters:
            parameters["eps"] = parameters["eps"] * eps_scale
        made = _within(attack, parameters, budget, gradient_cost)
        listed.append((label, float(parameters.get("eps", np.inf)), made))
    if len({label for label, _, _ in listed}) < len(listed):
        raise ParameterError(
            "Attacks must have different names; add 'label' to their parameters.",
            got=", ".join(label for label, _, _ in listed),
        )
    return listed


def _name_of(attack: Attack) -> str:
    """What a function is called in the table: as a row of the registry would be."""
    name = getattr(attack, "name", None) or getattr(attack, "__name__", type(attack).__name__)
    return str(name).replace("_", "-")


def _within(
    attack: str | Attack, parameters: dict[str, Any], budget: int, gradient_cost: float
) -> PreparedAttack:
    """An attack that keeps to the budget; norm and ε* of ART's own are for our call of it."""
    if isinstance(attack, str) and attack.startswith("art:"):
        reported = {k: v for k, v in parameters.items() if k in ("norm", "eps")}
        parameters = {k: v for k, v in parameters.items() if k not in reported}
        made = make(attack, **parameters.pop("parameters", {}), **parameters)
        return PreparedAttack(made, reported)
    if isinstance(attack, str):
        row = ATTACKS[attack]
    else:
        row = AttackRow(_name_of(attack), attack, norms=(), summary="a function of the caller's")
    return PreparedAttack(row.function, row.within(budget, gradient_cost, parameters))


def _rows(
    found: AttackResult,
    samples: NDArray[np.int64],
    label: str,
    eps: float,
    budget: int,
    gradient_cost: float,
) -> pd.DataFrame:
    before = found.queries_before_failure + gradient_cost * found.gradient_queries_before_failure
    failed = found.queries_to_failure + gradient_cost * np.where(
        np.isfinite(found.queries_to_failure), found.gradient_queries_to_failure, 0.0
    )
    fell = (found.status == FOUND) & (failed <= budget)
    return pd.DataFrame(
        {
            "sample": samples,
            "attack": label,
            "made_by": np.where(fell, label if found.made_by is None else found.made_by, ""),
            "norm": found.norm,
            "eps": eps,
            "lower": np.where(fell, before, float(budget)),
            "upper": np.where(fell, failed, np.inf),
            "success": fell,
            "distance": np.where(fell, found.distance, np.inf),
            "queries": found.queries,
            "gradient_queries": found.gradient_queries,
        }
    )


def _confirm_over_draws(
    part: pd.DataFrame, found: AttackResult, target: Any, goal: NDArray[np.int64], draws: int
) -> NDArray[np.bool_]:
    """Undo failures that most new draws do not repeat; returns the rows that were right before."""
    fell = part["success"].to_numpy().copy()
    rows = np.flatnonzero(fell)
    if not len(rows):
        return ~fell
    wrong = target.wrong_share(found.adversarial[rows], goal[rows], first=1 + draws, count=draws)
    unconfirmed = rows[wrong <= 0.5]
    part.loc[unconfirmed, "lower"] = part.loc[unconfirmed, "upper"]
    part.loc[unconfirmed, "upper"] = np.inf
    part.loc[unconfirmed, "success"] = False
    part.loc[unconfirmed, "made_by"] = ""
    part.loc[unconfirmed, "distance"] = np.inf
    return np.asarray(part["distance"].to_numpy() > 0)
