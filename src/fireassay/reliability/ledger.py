"""The assumption ledger: what each number depends on, and what the data says about it."""

from dataclasses import dataclass

import numpy as np

from fireassay.core import Assumption, generator
from fireassay.core.arrays import FloatArray, IntArray, largest
from fireassay.core.groups import largest_group
from fireassay.core.lazy import stats
from fireassay.core.words import p_text, percent
from fireassay.reliability.cells import CROSS_BOUNDARY, EMPTY, Grid
from fireassay.reliability.drift import classifier_two_sample_p
from fireassay.reliability.inputs import Inputs
from fireassay.reliability.measures import LARGEST, RARE
from fireassay.reliability.problem import Problem
from fireassay.reliability.profile import KdeProfile, Profile
from fireassay.reliability.result import NO_CELLS
from fireassay.reliability.separation import Separation, r_separation, rows_for_separation
from fireassay.reliability.weighted_cells import CentreDensity, WeightedCells
from fireassay.statistics import ExactCopies, clopper_pearson, exact_copies
from fireassay.statistics.groups.group_counts import GroupCounts
from fireassay.statistics.independence import ErrorRuns, error_runs, intraclass_test
from fireassay.statistics.kde import leave_one_out_bandwidth, product_cell_mass

_LEVEL = 0.01
_LEAST_ERRORS = 5
_LEAST_ROWS = 20
_MOST_COLUMNS = 20
_STATEMENTS = {
    "labels-from-the-field": ("The labelled rows are drawn like the inputs in the field."),
    "independent-rows": "Inputs are independent of each other.",
    "independent-groups": "Groups are drawn independently of each other.",
    LARGEST: "No group is larger than the largest one that was declared, or seen.",
    RARE: "No rare group is far worse than those seen.",
    "independent-cells": "Unastuteness and mass of cells are independent.",
    "r-separated": "Classes are r-separated, and r can be estimated.",
    "one-label-per-cell": "All inputs in a cell share one true label.",
    "vote-is-right": "In cells without labels the model's vote is right.",
    "uniform-in-cells": "Inputs are uniformly distributed inside a cell.",
    "profile-fits": "The kernel density fits the operational profile.",
    "weights-right": "The weights are the true ratio of profile to label density, and bounded.",
    "surrogate-unseen-labels": "The surrogate has not seen these labels.",
    "labels-right": "The labels are right.",
}

_WEIGHTS = {
    "given": "Weights were given; if they are estimates, the bound is not a finite-sample claim.",
    "unbounded": "The largest possible weight was not given: no finite-sample claim is made.",
    "estimated": "Weights were estimated from the rows: no finite-sample claim is made.",
}


def full_ledger(
    problem: Problem,
    *,
    cells: WeightedCells | None = None,
    side: float | None = None,
    weights: str | None = None,
    mixed: tuple[int, int] | None = None,
) -> tuple[Assumption, ...]:
    """The paper's six assumptions, and the rest; ``mixed``: cells with two labels, of how many."""
    X = problem.labelled.X
    labels_right = _untestable("labels-right", "A wrong label counts as an error of the model.")
    if problem.recorded:
        return (labels_from_profile(None, weights), *independence(problem), labels_right)
    if cells is not None:
        kind = cells.labels.kind
        mixed = int((kind == CROSS_BOUNDARY).sum()), int((kind != EMPTY).sum())
    return (
        independent_cells(cells),
        separation_found(separation_of(problem), side),
        labels_from_profile(_drift(problem), weights),
        one_label_per_cell(mixed),
        vote_is_right(cells, X, problem.y),
        uniform_in_cells(None if cells is None else cells.grid, X),
        *independence(problem),
        labels_right,
    )


def separation_of(problem: Problem) -> Separation | None:
    """r-separation of the labelled rows (of the first ones, where there are many features)."""
    X, y = problem.labelled.X, problem.y
    most = rows_for_separation(X.shape[1])
    if len(np.unique(y)) < 2 or (len(X) > most and X.shape[1] > 15):
        X, y = X[:most], y[:most]
    return r_separation(X, y) if len(np.unique(y)) > 1 else None


def _drift(problem: Problem) -> "Drift | None":
    field, labelled = problem.operational, problem.labelled
    if problem.groups is not None:
        # Rows of one group are no evidence of their own: one of each, drawn by lot.
        order = generator(problem.seed, "one of each group").permutation(len(labelled))
        _, first = np.unique(np.asarray(problem.groups)[order], return_index=True)
        labelled = labelled.take(np.sort(order[first]))
    if field is None or len(field) < 5 or len(labelled) < 5:
        return None
    return same_distribution(labelled, field, problem.seed)


@dataclass(frozen=True)
class Drift:
    """Whether two samples look alike, by column (corrected for their number) and all together."""

    p_columns: float
    p_classifier: float
    columns: int

    @property
    def p_value(self) -> float:
        """Of both tests: twice the smaller one."""
        return min(1.0, 2 * min(self.p_columns, self.p_classifier))


def same_distribution(labelled: Inputs, other: Inputs, seed: int = 0) -> Drift:
    """Kolmogorov-Smirnov on columns (or components) and doubt, and a classifier of both samples."""
    a, b = labelled.X, other.X
    if a.shape[1] > _MOST_COLUMNS:
        centre = b.mean(axis=0)
        _, _, axes = np.linalg.svd(b[:2000] - centre, full_matrices=False)
        a, b = (a - centre) @ axes[:_MOST_COLUMNS].T, (b - centre) @ axes[:_MOST_COLUMNS].T
    columns = [*zip(a.T, b.T, strict=True), (labelled.doubt, other.doubt)]
    # Above some thousand rows the asymptotic distribution is used: exact enough, and fast.
    smallest = min(float(stats.ks_2samp(x, y, method="asymp").pvalue) for x, y in columns)
    together = 1.0
    if min(len(a), len(b)) >= _LEAST_ROWS:
        ours, theirs = np.column_stack([a, labelled.doubt]), np.column_stack([b, other.doubt])
        together = classifier_two_sample_p(ours, theirs, seed)
    return Drift(min(1.0, smallest * len(columns)), together, len(columns))


def labels_from_profile(drift: Drift | None, weights: str | None) -> Assumption:
    """Assumption 3: the labelled rows are drawn from the operational profile."""
    if weights is not None:
        return _untestable("weights-right", _WEIGHTS[weights])
    if drift is None:
        return _untestable("labels-from-the-field", "No operational rows were given to compare.")
    alike = not drift.p_value < _LEVEL
    check = (
        f"Two-sample tests: over {drift.columns} columns {p_text(drift.p_columns)}, by a "
        f"classifier {p_text(drift.p_classifier)}."
    )
    if not alike:
        check += " The bound does not hold for this profile: draw labels from it, or give weights."
    return _judged("labels-from-the-field", alike, check)


def unseen_labels(fitted_rows: int | None) -> Assumption:
    """A surrogate that was fitted on these labels makes them look right."""
    if fitted_rows is None:
        check = "The surrogate is a function: what it was fitted on is not in the data."
        return _untestable("surrogate-unseen-labels", check)
    check = f"None of the {fitted_rows} rows it was fitted on is a labelled row."
    return _judged("surrogate-unseen-labels", True, check)


def independence(problem: Problem) -> tuple[Assumption, ...]:
    """Whether rows depend on each other; with groups, whether groups are what to count."""
    X, wrong, groups = problem.labelled.X, problem.wrong, problem.groups
    if groups is None:
        none = ExactCopies(0, 0, 0, 0.0) if problem.recorded else None
        copies = problem.copies or none or exact_copies(X)
        sure = largest(problem.labelled.probabilities)
        runs = error_runs(problem.y, problem.labelled.predicted, sure, problem.seed)
        return (independent_inputs(copies, len(X), runs),)
    counts = GroupCounts.of(wrong, groups)
    check = "How groups were drawn is not in the data."
    return (
        correlated_rows(counts, problem.seed),
        _untestable("independent-groups", check),
        *unseen_groups(counts.sizes, largest_group(groups)),
    )


def correlated_rows(counts: GroupCounts, seed: int) -> Assumption:
    """Rows of one group must not be right or wrong together; the bound by groups allows it."""
    errors, n = int(counts.hits.sum()), int(counts.sizes.sum())
    if min(errors, n - errors) < _LEAST_ERRORS or (counts.sizes == 1).all():
        few = f"{errors} errors in {n} rows of {len(counts.sizes)} groups: too few to see it."
        return _untestable("independent-rows", few)
    correlation, p = intraclass_test(counts, seed)
    check = (
        f"Intra-class correlation of errors in {len(counts.sizes)} groups: {correlation:.2f}, "
        f"{p_text(p)}; numbers that count groups do not need it."
    )
    return _judged("independent-rows", not p < _LEVEL, check)


def unseen_groups(sizes: IntArray, declared: float | None) -> tuple[Assumption, Assumption]:
    """How large a group can be, which bounds must know, and whether a rare one is far worse."""
    rare = f"{len(sizes):,} groups may lack a kind of which there are few. Bounds do not need it."
    if declared is not None:
        known = _judged(LARGEST, True, f"Declared: none has more than {declared:,g} rows.")
        return known, _untestable(RARE, rare)
    check = (
        f"The largest of {len(sizes):,} groups has {sizes.max():,} rows, which is taken for "
        "the largest that exists. If there are larger ones, say [data] largest_group."
    )
    return _untestable(LARGEST, check), _untestable(RARE, rare)


def independent_inputs(copies: ExactCopies, n: int, runs: ErrorRuns) -> Assumption:
    """Rows must not be copies, and errors not come in runs; that neither is seen shows nothing."""
    check = f"{copies} " if copies.rows else ""
    if runs.objects:
        p = max(runs.p_stretch, runs.p_label, runs.p_answer)
        check += f"Errors stand together in the file ({p_text(p)}), as those of one patient do. "
    if runs.objects or copies.object_to(n):
        return _judged("independent-rows", False, check.rstrip())
    check += "Rows of one patient or device would not show: give groups if there are any."
    return _untestable("independent-rows", check)


def independent_cells(cells: WeightedCells | None) -> Assumption:
    """Assumption 1: unastuteness and mass of all cells are independent."""
    if cells is None:
        return _untestable("independent-cells", NO_CELLS)
    if not cells.std_covariances > 0:
        return _untestable("independent-cells", "The profile is given, not estimated.")
    ratio = cells.std_covariances / cells.std if cells.std else float("inf")
    check = f"With covariances kept, the standard deviation is {ratio:.1f} times the published one."
    return _judged("independent-cells", not ratio > 2, check)


def separation_found(separation: Separation | None, side: float | None) -> Assumption:
    """Assumption 2: there is an r-stable ground truth, and the data shows r."""
    if separation is None:
        return _untestable("r-separated", "There are rows of one class only.")
    text = f"Smallest half-distance between classes: {separation.r:.4g}"
    if separation.n_contradictions:
        equal = separation.n_contradictions
        return _judged("r-separated", False, f"{equal} equal rows have different labels.")
    if side is None:
        return _untestable("r-separated", f"{text}; it shrinks as rows are added.")
    return _judged("r-separated", separation.r >= side, f"{text}, cell side {side:.4g}.")


def one_label_per_cell(mixed: tuple[int, int] | None) -> Assumption:
    """Assumption 4: a cell has one true label."""
    if mixed is None:
        return _untestable("one-label-per-cell", NO_CELLS)
    crossing, seen = mixed
    check = f"{crossing} of {seen} cells with rows hold two labels."
    return _judged("one-label-per-cell", not crossing, check)


def vote_is_right(cells: WeightedCells | None, X: FloatArray, y: IntArray) -> Assumption:
    """Assumption 5: in empty cells the model's vote is the true label, as in cells with one row."""
    if cells is None:
        return _untestable("vote-is-right", NO_CELLS)
    where = cells.grid.index(X)
    inside = where >= 0
    counts = np.bincount(where[inside], minlength=cells.grid.n_cells)
    alone = inside & (counts[np.where(inside, where, 0)] == 1)
    if not alone.any():
        return _untestable("vote-is-right", "No row is alone in its cell.")
    vote = cells.shares.shares[where[alone]].argmax(axis=1)
    wrong = int((vote != y[alone]).sum())
    n = int(alone.sum())
    low, high = clopper_pearson(wrong, n, 0.95)
    mass = float(cells.mass[cells.labels.kind == EMPTY].sum())
    check = (
        f"On {n} rows alone in their cell the vote is wrong {wrong} times "
        f"({percent(wrong / n, 2)}, 95 % interval {percent(float(low), 2)} to "
        f"{percent(float(high), 2)}); {percent(mass, 1)} of the mass is in such cells."
    )
    return _judged("vote-is-right", wrong == 0, check)


def uniform_in_cells(grid: Grid | None, X: FloatArray) -> Assumption:
    """Assumption 6: inputs are uniform inside cells."""
    if grid is None:
        return _untestable("uniform-in-cells", NO_CELLS)
    inside = X[grid.index(X) >= 0]
    position = ((inside - grid.low) / grid.side) % 1.0
    p = min(1.0, position.shape[1] * min(stats.kstest(c, "uniform").pvalue for c in position.T))
    check = f"Positions of {len(inside)} rows in their cells: {p_text(p)}."
    return _judged("uniform-in-cells", not p < _LEVEL, check)


def profile_fits(profile: "CentreDensity | Profile", grid: Grid, seed: int) -> Assumption:
    """The kernel density should fit the rows, and stay where inputs can be."""
    points = getattr(profile, "points", getattr(profile, "sample_", None))
    if points is None or len(np.unique(points, axis=0)) < 3:
        return _untestable("profile-fits", "The profile is given, or has too few rows.")
    width = float(getattr(profile, "bandwidth", 0) if hasattr(profile, "points") else 0)
    width = width or float(getattr(profile, "bandwidth_", 1.0))
    best = leave_one_out_bandwidth(points, max_rows=200, rng=generator(seed, "profile-fit"))
    corners = np.stack([grid.low]), np.stack([grid.high])
    outside = 1 - float(product_cell_mass(points, *corners, width)[0])
    folded = isinstance(profile, KdeProfile) and profile.limits_ is not None
    leaks = outside > (0.5 if folded else 0.05)
    fits = 0.5 < width / best < 2
    where = "folded back at" if folded else "beyond"
    check = (
        f"Bandwidth {width:.3g}, leave-one-out likelihood picks {best:.2g}; {percent(outside)} "
        f"of the mass is {where} the borders."
    )
    return _judged("profile-fits", fits and not leaks, check)


def _untestable(name: str, check: str) -> Assumption:
    return Assumption(_STATEMENTS[name], "untestable", check, name)


def _judged(name: str, holds: bool, check: str) -> Assumption:
    return Assumption(_STATEMENTS[name], "supported" if holds else "contradicted", check, name)
