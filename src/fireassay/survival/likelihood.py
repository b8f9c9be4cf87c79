"""The censored log-likelihood of an accelerated failure time model, with exact derivatives.

Log time is η + σ W with η = x'β. A row with failure in (lower, upper] adds
log(S(a) − S(b)), an exact one log f(z) − log σ − log t, where a, b and z are standardised log
times. First and second derivatives in η and log σ are analytic; in the shape of the generalised
gamma, whose incomplete gamma function has no closed derivative, they are central differences.
"""

from dataclasses import dataclass

import numpy as np

from fireassay.core.arrays import AnyArray, IntArray
from fireassay.survival.design_matrix import DesignMatrix, HeldDesignMatrix
from fireassay.survival.families import AftFamily, ErrorDistribution
from fireassay.survival.times import Times

Blocks = DesignMatrix | HeldDesignMatrix
_SHAPE_STEP = 1e-4
_SMALL_PRODUCT = 1_000_000  # multiplications


@dataclass(frozen=True)
class LogTimes:
    """Logarithms of the ends, with rows sorted by how much is known about them."""

    lower: AnyArray
    upper: AnyArray
    exact: IntArray
    right: IntArray
    left: IntArray
    between: IntArray

    @classmethod
    def of(cls, times: Times) -> "LogTimes":
        """From times; a row that is known to lie in (0, ∞) carries no information."""
        exact, failed = times.exact, times.failed
        with np.errstate(divide="ignore"):
            lower, upper = np.log(times.lower), np.log(times.upper)
        return cls(
            lower,
            upper,
            np.flatnonzero(exact),
            np.flatnonzero(~failed & (times.lower > 0)),
            np.flatnonzero(failed & ~exact & (times.lower <= 0)),
            np.flatnonzero(failed & ~exact & (times.lower > 0)),
        )


@dataclass(frozen=True)
class RowTerms:
    """Each row's log-likelihood and its derivatives in η (e) and log σ (s)."""

    value: AnyArray
    e: AnyArray
    s: AnyArray
    ee: AnyArray
    es: AnyArray
    ss: AnyArray

    def set_one_end(
        self,
        i: IntArray,
        value: AnyArray,
        z: AnyArray,
        slope: AnyArray,
        bend: AnyArray,
        inverse: float,
    ) -> None:
        """Set rows of which one end is known, from the value and its derivatives in z."""
        self.value[i] = value
        self.e[i] = -inverse * slope
        self.s[i] = -z * slope
        self.ee[i] = inverse**2 * bend
        self.es[i] = inverse * (slope + z * bend)
        self.ss[i] = z * (z * bend + slope)


def row_terms(law: ErrorDistribution, times: LogTimes, eta: AnyArray, log_scale: float) -> RowTerms:
    """The rows' terms at linear predictor ``eta`` and scale exp(``log_scale``)."""
    terms = RowTerms(*(np.zeros(len(eta)) for _ in range(6)))
    inverse = np.exp(-log_scale)
    if len(i := times.exact):
        z = (times.lower[i] - eta[i]) * inverse
        log_density, score, curvature = law.at_failure(z)
        value = log_density - log_scale - times.lower[i]
        terms.set_one_end(i, value, z, score, curvature, inverse)
        terms.s[i] -= 1.0
    if len(i := times.right):
        z = (times.lower[i] - eta[i]) * inverse
        log_survival, hazard, score = law.at_censoring(z)
        terms.set_one_end(i, log_survival, z, -hazard, -hazard * (score + hazard), inverse)
    if len(i := times.left):
        z = (times.upper[i] - eta[i]) * inverse
        log_failure = law.log_failure(z)
        slope = np.exp(np.minimum(law.log_density(z) - log_failure, 100.0))
        terms.set_one_end(i, log_failure, z, slope, slope * (law.score(z) - slope), inverse)
    if len(i := times.between):
        a = (times.lower[i] - eta[i]) * inverse
        b = (times.upper[i] - eta[i]) * inverse
        log_mass, weight_a, weight_b, score_a, score_b = law.at_interval(a, b)
        # First and second derivatives in a and b; in log σ each end moves by itself times −1.
        bend_aa = -weight_a * (score_a + weight_a)
        bend_bb = weight_b * (score_b - weight_b)
        bend_ab = weight_a * weight_b
        slope = weight_b - weight_a
        turn = b * weight_b - a * weight_a
        along_a, along_b = bend_aa + bend_ab, bend_bb + bend_ab
        terms.value[i] = log_mass
        terms.e[i] = -inverse * slope
        terms.s[i] = -turn
        terms.ee[i] = inverse**2 * (along_a + along_b)
        terms.es[i] = inverse * (slope + a * along_a + b * along_b)
        terms.ss[i] = a * (a * bend_aa + 2.0 * b * bend_ab) + b * b * bend_bb + turn
    return terms


@dataclass(frozen=True)
class Totals:
    """Log-likelihood, gradient and Hessian summed over rows; per group where asked."""

    value: float
    gradient: AnyArray
    hessian: AnyArray
    group_gradients: AnyArray | None = None
    group_hessians: AnyArray | None = None


def _block_times(times: LogTimes, rows: slice) -> LogTimes:
    def within(index: IntArray) -> IntArray:
        start, stop = np.searchsorted(index, (rows.start, rows.stop))
        return np.asarray(index[start:stop] - rows.start)

    return LogTimes(
        times.lower[rows],
        times.upper[rows],
        within(times.exact),
        within(times.right),
        within(times.left),
        within(times.between),
    )


def value_at(
    theta: AnyArray, family: AftFamily, times: LogTimes, design: Blocks, ridge: float
) -> float:
    """The penalised log-likelihood alone, for the line search."""
    beta, log_scale, shape = split(theta, family, len(design.names))
    law = family.law(shape)
    total = -penalty(beta, ridge, len(design))
    for rows, block in design.blocks():
        total += float(
            row_terms(law, _block_times(times, rows), block @ beta, log_scale).value.sum()
        )
    return total


def penalty(beta: AnyArray, ridge: float, n: int) -> float:
    """n ridge/2 Σ β² over standardised slopes; the intercept is free."""
    return 0.5 * n * ridge * float(beta[1:] @ beta[1:])


def split(theta: AnyArray, family: AftFamily, width: int) -> tuple[AnyArray, float, float]:
    """β, log σ and shape out of the parameter vector."""
    log_scale = float(theta[width]) if family.has_scale else 0.0
    shape = float(theta[width + 1]) if family.has_shape else 0.0
    return theta[:width], log_scale, shape


def totals_at(
    theta: AnyArray,
    family: AftFamily,
    times: LogTimes,
    design: Blocks,
    ridge: float,
    groups: IntArray | None = None,
) -> Totals:
    """Penalised value and derivatives, block by block; unpenalised ones per group if asked."""
    width, size = len(design.names), len(theta)
    beta = theta[:width]
    value = -penalty(beta, ridge, len(design))
    gradient, hessian = np.zeros(size), np.zeros((size, size))
    slopes = np.arange(1, width)
    gradient[slopes] -= len(design) * ridge * beta[1:]
    hessian[slopes, slopes] -= len(design) * ridge
    n_groups = int(groups.max()) + 1 if groups is not None else 0
    by_group = np.zeros((n_groups, size)), np.zeros((n_groups, size, size))
    for rows, block in design.blocks():
        part = _block_derivatives(theta, family, _block_times(times, rows), block)
        value += part.value
        part.add_to(gradient, hessian)
        if groups is not None:
            part.add_by_group(groups[rows], *by_group)
    return Totals(value, gradient, hessian, *(() if groups is None else by_group))


@dataclass(frozen=True)
class _Block:
    """Derivatives of a block's rows: in η, and in η or log σ or shape with each other."""

    value: float
    matrix: AnyArray
    e: AnyArray
    ee: AnyArray
    slopes: tuple[AnyArray, ...]
    borders: tuple[AnyArray, ...]
    corners: tuple[tuple[AnyArray, ...], ...]

    def add_by_group(self, codes: IntArray, gradients: AnyArray, hessians: AnyArray) -> None:
        """Add the sums of each group's rows, all groups at once."""
        order = np.argsort(codes, kind="stable")
        starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
        which, rows = codes[order][starts], self.matrix[order]
        width = rows.shape[1]

        def summed(weights: AnyArray, values: AnyArray = rows) -> AnyArray:
            return np.asarray(np.add.reduceat(weights[order, None] * values, starts))

        gradients[which, :width] += summed(self.e)
        for j in range(width):
            hessians[which, j, : j + 1] += summed(self.ee * self.matrix[:, j], rows[:, : j + 1])
            hessians[which, :j, j] = hessians[which, j, :j]
        ones = np.ones((len(rows), 1))
        for j, corner in enumerate(self.corners, start=width):
            gradients[which, j] += summed(self.slopes[j - width], ones)[:, 0]
            crossed = summed(self.borders[j - width])
            hessians[which, :width, j] += crossed
            hessians[which, j, :width] += crossed
            for k, part in enumerate(corner, start=width):
                total = summed(part, ones)[:, 0]
                hessians[which, j, k] += total
                if k != j:
                    hessians[which, k, j] += total

    def add_to(self, gradient: AnyArray, hessian: AnyArray) -> None:
        """Add the rows' sums of first and second derivatives."""
        width = self.matrix.shape[1]
        products = _products(self.matrix, self.ee, (self.e, *self.borders))
        gradient[:width] += products[width]
        hessian[:width, :width] += products[:width]
        for j, corner in enumerate(self.corners, start=width):
            gradient[j] += self.slopes[j - width].sum()
            hessian[:width, j] += products[j + 1]
            hessian[j, :width] += products[j + 1]
            for k, part in enumerate(corner, start=width):
                total = float(part.sum())
                hessian[j, k] += total
                if k != j:
                    hessian[k, j] += total


def _products(matrix: AnyArray, weights: AnyArray, more: tuple[AnyArray, ...]) -> AnyArray:
    """X' diag(w) X, then one row v'X for each further v."""
    # In pieces so short that OpenBLAS takes its kernel for small products: twice as fast.
    width = matrix.shape[1]
    step = max(256, _SMALL_PRODUCT // (width * (width + len(more))))
    left = np.empty((width + len(more), min(step, len(matrix))))
    total = np.zeros((width + len(more), width))
    for start in range(0, len(matrix), step):
        rows = slice(start, start + step)
        piece = matrix[rows]
        used = left[:, : len(piece)]
        np.multiply(piece.T, weights[rows], out=used[:width])
        for j, values in enumerate(more, start=width):
            used[j] = values[rows]
        total += used @ piece
    return total


def _block_derivatives(
    theta: AnyArray, family: AftFamily, times: LogTimes, matrix: AnyArray
) -> _Block:
    width = matrix.shape[1]
    beta, log_scale, shape = split(theta, family, width)
    eta = matrix @ beta
    terms = row_terms(family.law(shape), times, eta, log_scale)
    slopes: list[AnyArray] = []
    borders: list[AnyArray] = []
    corners: list[tuple[AnyArray, ...]] = []
    if family.has_scale:
        slopes.append(terms.s)
        borders.append(terms.es)
        corners.append((terms.ss,))
    if family.has_shape:
        above = row_terms(family.law(shape + _SHAPE_STEP), times, eta, log_scale)
        below = row_terms(family.law(shape - _SHAPE_STEP), times, eta, log_scale)
        double = 2.0 * _SHAPE_STEP
        slopes.append((above.value - below.value) / double)
        borders.append((above.e - below.e) / double)
        bend = (above.value - 2.0 * terms.value + below.value) / _SHAPE_STEP**2
        corners.append(((above.s - below.s) / double, bend))
    return _Block(
        float(terms.value.sum()),
        matrix,
        terms.e,
        terms.ee,
        tuple(slopes),
        tuple(borders),
        tuple(corners),
    )
