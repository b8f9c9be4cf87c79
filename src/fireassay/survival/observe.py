"""Attack a model and note, sample by sample, between which two queries it failed."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fireassay.attacks import TABLE, in_blocks, make
from fireassay.attacks.clip_range import check_clip_range
from fireassay.attacks.registry import Attack
from fireassay.attacks.result import FOUND, AttackResult
from fireassay.classifiers import as_classifier
from fireassay.core.errors import NotEnoughEvidenceError, ParameterError
from fireassay.core.estimate import Estimate
from fireassay.core.hashing import sha256
from fireassay.core.threads import one_thread
from fireassay.core.validation import (
    check_class_indices,
    check_features,
    check_integer,
    check_real,
)
from fireassay.statistics import clopper_pearson
from fireassay.survival.defences import (
    Defence,
    DefendedClassifier,
    GaussOut,
    defend,
    make_defence,
)
from fireassay.survival.observations import Observations

AttackSpec = str | tuple[str, Mapping[str, Any]]
_PGD_STEPS = 10
_COLUMNS = (
    "sample",
    "attack",
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
    attacks: Sequence[AttackSpec] = (("pgd", {"norm": "linf", "eps": 0.1}),),
    budget: int = 200,
    seed: int = 0,
    *,
    defence: Defence | tuple[str, float] | None = None,
    gradient_cost: float = 2.0,
    eps_scale: float = 1.0,
    draws: int = 5,
    model_id: str | None = None,
    empty_ok: bool = False,
    confidence: float = 0.95,
    workers: int = 1,
    cluster: Any = None,
) -> Observations:
    """One row per sample that the model gets right and per attack: when did it fail?

    Parameters
    ----------
    model
        A classifier, or anything `as_classifier` makes one of.
    X, y
        Test samples with labels.
    attacks
        Names or (name, parameters); ``eps`` is the largest allowed perturbation ε*, in the
        attack's norm. ``"art:PixelAttack"`` and the like come from ART.
    budget
        Forward-equivalent queries per sample at which watching ends, at least 1.
    defence
        A defence of `fireassay.survival.defences`, or (name, value).
    gradient_cost
        Forward-equivalents of one gradient query, besides its forward pass: a backward pass does
        about twice the work of a forward one.
    eps_scale
        What ε = 1 means, e.g. the standard deviation of the training data.
    draws
        With a random answer (Gauss-out), a success counts if most of so many draws are wrong.
    model_id
        Name of the model for ``cluster="model_id"``, by default a part of its content hash.
    empty_ok
        Return a table without rows, not an error, if the model gets no sample right.
    workers, cluster
        Processes on this machine, or the address of a Dask scheduler; the rows are the same.

    Returns
    -------
    Observations
        Columns: sample, attack, norm, eps, lower, upper, success, distance, queries,
        gradient_queries, model_id, defence, defence_value.

    Raises
    ------
    NotEnoughEvidenceError
        If the model gets no sample right.
    DataError
        If X does not use the range in which the attack is allowed to move.

    Notes
    -----
    Time is forward queries + ``gradient_cost`` × gradient queries. A failure is known to lie
    between the last check that was right (lower) and the first that was wrong (upper). A sample
    that stands is right-censored at the budget, also if the attack has an end and gave up before.
    """
    budget = check_integer(budget, "budget", low=1)
    check_real(gradient_cost, "gradient_cost", low=0.0, inclusive="low")
    check_real(eps_scale, "eps_scale", low=0.0)
    check_integer(draws, "draws", low=1)
    target, shield = _defended(model, defence, seed)
    features = check_features(X)
    check_clip_range(features, target.bounds)
    with one_thread():
        probabilities = target.predict_proba(features)
    goal = check_class_indices(y, target.classes, n=len(features))
    withheld = shield.rejected(probabilities)
    right = (probabilities.argmax(axis=1) == goal) & ~withheld
    if not right.any() and not empty_ok:
        raise NotEnoughEvidenceError(
            "At least one sample must be classified correctly before the attack.",
            got=f"0 of {len(features)}",
            do="Survival of a model that is wrong everywhere is zero: there is nothing to watch.",
        )
    kept = np.flatnonzero(right)
    labels = np.asarray(y)[kept]
    labelled = _labelled(attacks, eps_scale)
    made = {
        label: _attack(name, parameters, budget, gradient_cost)
        for label, name, parameters in labelled
    }
    parts = []
    if len(kept):
        results = in_blocks(
            made, target, features[kept], labels, seed=seed, workers=workers, cluster=cluster
        )
        for label, _, parameters in labelled:
            part = _rows(results[label], kept, label, parameters, budget, gradient_cost)
            if isinstance(shield, GaussOut):
                _confirm_over_draws(part, results[label], target, goal[kept], shield, draws)
            parts.append(part)
    table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=_COLUMNS)
    table["model_id"] = model_id or target.sha256[:12]
    table["defence"] = shield.name
    table["defence_value"] = float(shield.value)
    table.attrs["time_unit"] = "queries"
    return Observations(
        table=table,
        budget=budget,
        gradient_cost=gradient_cost,
        benign_accuracy=_share(int(right.sum()), len(features), confidence),
        benign_rejection_rate=_share(int(withheld.sum()), len(features), confidence),
        confidence=confidence,
        seed=seed,
        model_sha256=target.sha256,
        data_sha256=sha256(np.ascontiguousarray(features), labels),
    )


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


def _labelled(
    attacks: Sequence[AttackSpec], eps_scale: float
) -> list[tuple[str, str, dict[str, Any]]]:
    if isinstance(attacks, str) or not attacks:
        raise ParameterError(
            "The 'attacks' parameter must be a list of names or (name, parameters).",
            got=repr(attacks),
        )
    listed = []
    for spec in attacks:
        name, parameters = (spec, {}) if isinstance(spec, str) else (spec[0], dict(spec[1]))
        if "eps" in parameters:
            parameters["eps"] = parameters["eps"] * eps_scale
        listed.append((name, parameters))
    names = [name for name, _ in listed]
    labelled = []
    for name, parameters in listed:
        label = parameters.pop("label", None)
        if label is None:
            norm = parameters.get("norm")
            label = f"{name}-{norm}" if names.count(name) > 1 and norm else name
        labelled.append((str(label), name, parameters))
    if len({label for label, _, _ in labelled}) < len(labelled):
        raise ParameterError(
            "Attacks must have different names; add 'label' to their parameters.",
            got=", ".join(label for label, _, _ in labelled),
        )
    return labelled


def _attack(name: str, parameters: dict[str, Any], budget: int, gradient_cost: float) -> Attack:
    """An attack with its parameters; ART's own go to ART, norm and ε* to the call."""
    settings = _with_limits(name, parameters, budget, gradient_cost)
    if not name.startswith("art:"):
        return make(name, **settings)
    reported = {key: settings.pop(key) for key in ("norm", "eps") if key in settings}
    return partial(make(name, **settings.pop("parameters", {}), **settings), **reported)


def _with_limits(
    name: str, parameters: dict[str, Any], budget: int, gradient_cost: float
) -> dict[str, Any]:
    """Limits that let an attack use the budget and no more than a check beyond it."""
    settings = dict(parameters)
    if name not in TABLE:
        return settings
    needs_gradients = TABLE[name].needs_gradients
    step = 1.0 + gradient_cost if needs_gradients else 1.0
    settings.setdefault("max_queries", int(np.ceil(budget / step)) + 2 * needs_gradients)
    if name == "pgd" and "restarts" not in settings:
        per_start = settings.get("steps", _PGD_STEPS) * step
        settings["restarts"] = max(1, int(np.ceil(budget / per_start)))
    return settings


def _rows(
    found: AttackResult,
    samples: NDArray[np.int64],
    label: str,
    parameters: Mapping[str, Any],
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
            "norm": found.norm,
            "eps": float(parameters.get("eps", np.inf)),
            "lower": np.where(fell, before, float(budget)),
            "upper": np.where(fell, failed, np.inf),
            "success": fell,
            "distance": np.where(fell, found.distance, np.inf),
            "queries": found.queries,
            "gradient_queries": found.gradient_queries,
        }
    )


def _confirm_over_draws(
    part: pd.DataFrame,
    found: AttackResult,
    target: Any,
    goal: NDArray[np.int64],
    shield: GaussOut,
    draws: int,
) -> None:
    """A random answer that was wrong once is no failure: ask again with other noise."""
    fell = part["success"].to_numpy().copy()
    rows = np.flatnonzero(fell)
    if not len(rows):
        return
    wrong = np.zeros(len(rows))
    for draw in range(1, draws + 1):
        again = target.with_defence(draw=shield.draw + draw).predict_proba(found.adversarial[rows])
        wrong += again.argmax(axis=1) != goal[rows]
    unconfirmed = rows[wrong <= draws / 2]
    part.loc[unconfirmed, "lower"] = part.loc[unconfirmed, "upper"]
    part.loc[unconfirmed, "upper"] = np.inf
    part.loc[unconfirmed, "success"] = False
    part.loc[unconfirmed, "distance"] = np.inf


def _share(count: int, n: int, confidence: float) -> Estimate:
    low, high = clopper_pearson(count, n, confidence)
    return Estimate(count / n, float(low), float(high), confidence, n, "Clopper-Pearson")
