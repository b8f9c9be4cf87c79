"""The assumption ledger: what each number depends on, and what the data says about it."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import binomtest, ks_2samp, kstest

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.evidence import Assumption, AssumptionStatus
from fireassay.core.seeds import generator
from fireassay.reliability.cells import EMPTY, Grid
from fireassay.reliability.profile import KdeProfile, Profile
from fireassay.reliability.ram import CentreDensity, Ram
from fireassay.reliability.separation import Separation
from fireassay.reliability.surrogate import Inputs
from fireassay.statistics.clopper_pearson import clopper_pearson
from fireassay.statistics.kde import leave_one_out_bandwidth, product_cell_mass

_LEVEL = 0.01
_MOST_COLUMNS = 20


@dataclass(frozen=True)
class Drift:
    """Whether two samples look alike: the smallest p-value, corrected for the columns tried."""

    p_value: float
    columns: int


def same_distribution(labelled: Inputs, other: Inputs) -> Drift:
    """Compare labelled and operational rows: Kolmogorov-Smirnov on features and on the doubt.

    With many features their leading principal components are compared instead.
    """
    a, b = labelled.X, other.X
    if a.shape[1] > _MOST_COLUMNS:
        centre = b.mean(axis=0)
        _, _, axes = np.linalg.svd(b[:2000] - centre, full_matrices=False)
        a, b = (a - centre) @ axes[:_MOST_COLUMNS].T, (b - centre) @ axes[:_MOST_COLUMNS].T
    columns = [*zip(a.T, b.T, strict=True), (labelled.doubt, other.doubt)]
    # Above some thousand rows the asymptotic distribution is used: exact enough, and fast.
    smallest = min(float(ks_2samp(x, y, method="asymp").pvalue) for x, y in columns)
    return Drift(min(1.0, smallest * len(columns)), len(columns))


def labels_from_profile(drift: Drift | None, weights: str | None) -> Assumption:
    """Assumption 3: the labelled rows are drawn from the operational profile."""
    statement = "The labelled rows are drawn from the operational profile (paper's assumption 3)."
    if weights == "given":
        return Assumption(
            "The given weights are the true ratio of profile to label density, and bounded.",
            "untestable",
            "Weights were given; if they are estimates, the bound is not a finite-sample claim.",
        )
    if weights == "estimated":
        return Assumption(
            "The estimated weights are the true ratio of profile to label density.",
            "untestable",
            "Weights were estimated from the rows: no finite-sample claim is made.",
        )
    if drift is None:
        return Assumption(statement, "untestable", "No operational rows were given to compare.")
    status: AssumptionStatus = "contradicted" if drift.p_value < _LEVEL else "supported"
    check = f"Two-sample test over {drift.columns} columns: p = {drift.p_value:.2g}."
    if status == "contradicted":
        check += " The bound does not hold for this profile: draw labels from it, or give weights."
    return Assumption(statement, status, check)


def independent_inputs(wrong: FloatArray) -> Assumption:
    """Errors in the order given must not come in runs."""
    statement = "Inputs are independent of each other."
    n, errors = len(wrong), int(wrong.sum())
    if min(errors, n - errors) < 5:
        return Assumption(
            statement, "untestable", f"Only {errors} errors in {n} rows: too few to see runs."
        )
    together = int((wrong[1:] * wrong[:-1]).sum())
    rate = (errors - 1) / (n - 1)
    p = binomtest(together, errors, min(1.0, rate), alternative="greater").pvalue
    status: AssumptionStatus = "contradicted" if p < _LEVEL else "supported"
    check = f"{together} of {errors} errors follow an error at once: p = {p:.2g}."
    return Assumption(statement, status, check)


def independent_cells(ram: Ram | None) -> Assumption:
    """Assumption 1: unastuteness and mass of all cells are independent."""
    statement = "Unastuteness and mass of all cells are independent (paper's assumption 1)."
    if ram is None:
        return Assumption(statement, "untestable", "Not used by this mode: no cells are weighed.")
    if not ram.std_covariances > 0:
        return Assumption(statement, "untestable", "The profile is given, not estimated.")
    ratio = ram.std_covariances / ram.std if ram.std else float("inf")
    status: AssumptionStatus = "contradicted" if ratio > 2 else "supported"
    check = f"With covariances kept, the standard deviation is {ratio:.1f} times the published one."
    return Assumption(statement, status, check)


def separation_found(separation: Separation | None, side: float | None) -> Assumption:
    """Assumption 2: there is an r-stable ground truth, and the data shows r."""
    statement = "Classes are r-separated, and r can be estimated (paper's assumption 2)."
    if separation is None:
        return Assumption(
            statement, "untestable", "Not used by this mode; one class only, or skipped."
        )
    text = f"Smallest half-distance between classes: {separation.r:.4g}"
    if separation.n_contradictions:
        equal = separation.n_contradictions
        return Assumption(statement, "contradicted", f"{equal} equal rows have different labels.")
    if side is None:
        return Assumption(statement, "untestable", f"{text}; it shrinks as rows are added.")
    status: AssumptionStatus = "supported" if separation.r >= side else "contradicted"
    return Assumption(statement, status, f"{text}, cell side {side:.4g}.")


def one_label_per_cell(ram: Ram | None) -> Assumption:
    """Assumption 4: a cell has one true label."""
    statement = "All inputs in a cell share one true label (paper's assumption 4)."
    if ram is None:
        return Assumption(statement, "untestable", "Not used by this mode: there are no cells.")
    crossing = int((ram.labels.kind == 2).sum())
    seen = int((ram.labels.kind != EMPTY).sum())
    status: AssumptionStatus = "contradicted" if crossing else "supported"
    return Assumption(statement, status, f"{crossing} of {seen} cells with rows hold two labels.")


def vote_is_right(ram: Ram | None, X: FloatArray, y: IntArray) -> Assumption:
    """Assumption 5: in empty cells the model's own vote is the true label.

    Rows that are alone in their cell are taken away in thought: would the vote have been right?
    """
    statement = "In cells without labels the model's majority is right (paper's assumption 5)."
    if ram is None:
        return Assumption(statement, "untestable", "Not used by this mode: no vote is taken.")
    where = ram.grid.index(X)
    inside = where >= 0
    counts = np.bincount(where[inside], minlength=ram.grid.n_cells)
    alone = inside & (counts[np.where(inside, where, 0)] == 1)
    if not alone.any():
        return Assumption(statement, "untestable", "No row is alone in its cell.")
    vote = ram.shares.shares[where[alone]].argmax(axis=1)
    wrong = int((vote != y[alone]).sum())
    n = int(alone.sum())
    low, high = clopper_pearson(wrong, n, 0.95)
    status: AssumptionStatus = "supported" if wrong == 0 else "contradicted"
    mass = float(ram.mass[ram.labels.kind == EMPTY].sum())
    return Assumption(
        statement,
        status,
        f"On {n} rows alone in their cell the vote is wrong {wrong} times "
        f"({wrong / n:.2%}, 95 % interval {float(low):.2%} to {float(high):.2%}); "
        f"{mass:.1%} of the mass is in such cells.",
    )


def uniform_in_cells(grid: Grid | None, X: FloatArray) -> Assumption:
    """Assumption 6: inputs are uniform inside cells."""
    statement = "Inputs are uniformly distributed inside a cell (paper's assumption 6)."
    if grid is None:
        return Assumption(statement, "untestable", "Not used by this mode: there are no cells.")
    inside = X[grid.index(X) >= 0]
    position = ((inside - grid.low) / grid.side) % 1.0
    p = min(1.0, position.shape[1] * min(kstest(c, "uniform").pvalue for c in position.T))
    status: AssumptionStatus = "contradicted" if p < _LEVEL else "supported"
    return Assumption(
        statement, status, f"Positions of {len(inside)} rows in their cells: p = {p:.2g}."
    )


def profile_fits(profile: "CentreDensity | Profile", grid: Grid, seed: int) -> Assumption:
    """The kernel density should fit the rows, and stay where inputs can be."""
    statement = "The kernel density fits the operational profile."
    points = getattr(profile, "points", getattr(profile, "sample_", None))
    if points is None or len(np.unique(points, axis=0)) < 3:
        return Assumption(statement, "untestable", "The profile is given, or has too few rows.")
    width = float(getattr(profile, "bandwidth", 0) if hasattr(profile, "points") else 0)
    width = width or float(getattr(profile, "bandwidth_", 1.0))
    best = leave_one_out_bandwidth(points, max_rows=200, rng=generator(seed, "profile-fit"))
    corners = np.stack([grid.low]), np.stack([grid.high])
    outside = 1 - float(product_cell_mass(points, *corners, width)[0])
    folded = isinstance(profile, KdeProfile) and profile.limits_ is not None
    leaks = outside > (0.5 if folded else 0.05)
    fits = 0.5 < width / best < 2
    status: AssumptionStatus = "supported" if fits and not leaks else "contradicted"
    where = "folded back at" if folded else "beyond"
    return Assumption(
        statement,
        status,
        f"Bandwidth {width:.3g}, leave-one-out likelihood picks {best:.2g}; {outside:.0%} of the "
        f"mass is {where} the borders.",
    )


def labels_are_right() -> Assumption:
    """Every bound counts disagreements with the labels."""
    return Assumption(
        "The labels are right.", "untestable", "A wrong label counts as an error of the model."
    )
