"""How often the bounds of `reliability` miss the truth, and how wide they are."""

from typing import Any

import numpy as np
from bound_worlds import CONFIGURATIONS, World, lopsided, shifted_labels, trained_on
from scipy.stats import binom

from fireassay import as_classifier, reliability
from fireassay.core.seeds import generator
from fireassay.reliability.betting_bound import RectifiedBound, rectified_bound
from fireassay.reliability.cell_shares import estimator_for
from fireassay.reliability.cells import Grid
from fireassay.reliability.inputs import Inputs
from fireassay.reliability.surrogate import user_risk
from fireassay.reliability.weighted_cells import CellStudy, CentreDensity, assess_cells

ALPHA = 0.025
SHIFTED = "shifted labels"
EVERY = 5  # slower methods run in every fifth world


def coverage(worlds: int, names: list[str]) -> list[dict[str, Any]]:
    rows = []
    for name, (make, n) in CONFIGURATIONS.items():
        if name not in names:
            continue
        rng = generator(0, "coverage", name)
        record: dict[str, list[float]] = {}
        truths = []
        for index in range(worlds):
            world = make(rng)
            X, y = world.draw(n, rng)
            field = world.draw(20 * n, rng)[0]
            found = default_bound(world, X, y, field, index)
            truths.append(world.pmi)
            _put(record, "rectified (default)", found.pmi_upper)
            _put(record, "Clopper-Pearson", found.clopper_pearson_alone)
            _put(record, "normal PPI", found.normal_upper)
            if index % EVERY == 0:
                _other_methods(record, world, X, y, field)
        rows += _coverage_rows(name, record, np.array(truths), worlds)
    if SHIFTED in names:
        rows += shift_coverage(worlds)
    return rows


def default_bound(
    world: World, X: np.ndarray, y: np.ndarray, field: np.ndarray, seed: int
) -> RectifiedBound:
    """The default bound without the ledger; now and then the whole assessment must agree."""
    ask = world.model.predict_proba
    risk = None if world.risk is None else user_risk(world.risk, X.shape[1:])
    found = rectified_bound(
        Inputs(X, ask(X)), y, Inputs(field, ask(field)), alpha=ALPHA, risk=risk, seed=seed
    )
    if seed % 100 == 0:
        method = reliability.Rectified(surrogate=world.risk)
        whole = reliability.assess(world.model, X, y, field, method=method, seed=seed)
        assert abs(whole.pmi_upper - found.pmi_upper) < 1e-9
    return found


def _other_methods(
    record: dict[str, list[float]], world: World, X: np.ndarray, y: np.ndarray, field: np.ndarray
) -> None:
    errors = int((world.model.predict(X) != y).sum())
    worst = reliability.assess(world.model, X, y, operational=field, method="worst-case")
    _put(record, "worst-case", worst.pmi_upper)
    # A prior that is true here: every world's pmi is above 1e-4; half below it is not.
    prior = reliability.ConservativePrior(epsilon=2e-4, theta=0.1, floor=1e-4)
    _put(
        record,
        "conservative-bayes",
        reliability.conservative_upper(errors, len(y), prior, 1 - ALPHA),
    )
    if X.shape[1] == 2:
        model = world.model if hasattr(world.model, "queries") else as_classifier(world.model)
        study = CellStudy(
            predict=lambda rows: model.predict_proba(rows).argmax(axis=1),
            X=X,
            y=y,
            profile=CentreDensity(X, 0.2),
            estimator=estimator_for(model, 100),
            n_classes=2,
            seed=0,
        )
        grid = Grid.regular(250, (0, 1), dimensions=2)
        ram = assess_cells(study, grid, alpha=ALPHA, samples=10_000)
        _put(record, "ram (published)", ram.pmi_upper)


def shift_coverage(worlds: int) -> list[dict[str, Any]]:
    rng = generator(0, "coverage", "shift")
    record: dict[str, list[float]] = {}
    truths, flagged = [], 0
    for index in range(worlds):
        world = trained_on(lopsided, 500, rng)
        X, y, weights = shifted_labels(world, 600, rng)
        field = world.draw(12_000, rng)[0]
        truths.append(world.pmi)
        ask = world.model.predict_proba
        known = rectified_bound(
            Inputs(X, ask(X)),
            y,
            Inputs(field, ask(field)),
            alpha=ALPHA,
            weights=weights,
            weight_bound=5.0,
            seed=index,
        )
        _put(record, "rectified, known weights", known.pmi_upper)
        plain = reliability.assess(world.model, X, y, operational=field, seed=index)
        _put(record, "rectified, weights not given", plain.pmi_upper)
        flagged += plain.labels_from_elsewhere
        if index % EVERY == 0:
            guessed = reliability.assess(
                world.model, X, y, operational=field, weights="estimate", seed=index
            )
            _put(record, "estimated weights (no claim)", guessed.pmi_upper)
            assert not guessed.is_bound
    rows = _coverage_rows(SHIFTED, record, np.array(truths), worlds)
    for row in rows:
        if row["method"] == "rectified, weights not given":
            row["said not to hold"] = f"{flagged} of {worlds}"
    return rows


def _put(record: dict[str, list[float]], method: str, bound: float) -> None:
    record.setdefault(method, []).append(bound)


def _coverage_rows(
    name: str, record: dict[str, list[float]], truths: np.ndarray, worlds: int
) -> list[dict[str, Any]]:
    exact = np.array(record.get("Clopper-Pearson", []))
    base = float((exact - truths).mean()) if len(exact) else float("nan")
    rows = []
    for method, bounds in record.items():
        value = np.array(bounds)
        truth = truths if len(value) == worlds else truths[::EVERY]
        misses = int((value < truth).sum())
        rows.append(
            {
                "world": name,
                "method": method,
                "worlds": len(value),
                "mean pmi": round(float(truth.mean()), 5),
                "misses": misses,
                "allowed": int(binom.ppf(0.999, len(value), ALPHA)),
                "mean bound": round(float(value.mean()), 5),
                "excess / Clopper-Pearson": round(float((value - truth).mean()) / base, 3),
            }
        )
    return rows
