"""What a competent user writes in twenty lines of numpy: the rivals that deserve the name."""

import numpy as np
from scipy import interpolate, signal, sparse, stats


def dsa(train, known, test, predicted):
    """DSA by float32 products, each training row that is met measured once."""
    result = np.empty(len(test))
    for label in np.unique(predicted):
        rows, own, other = predicted == label, train[known == label], train[known != label]
        x = test[rows]
        at = (np.einsum("ij,ij->i", own, own) - 2 * (x @ own.T)).argmin(axis=1)
        met, where = np.unique(at, return_inverse=True)
        near = own[met]
        b = other[(np.einsum("ij,ij->i", other, other) - 2 * (near @ other.T)).argmin(axis=1)]
        to_other = np.linalg.norm(near - b, axis=1)[where]
        result[rows] = np.linalg.norm(x - own[at], axis=1) / to_other
    return result


def label_model(votes, seed=1):
    """Snorkel's label model for two classes: sparse moments, a hundred steps, naive Bayes."""
    n, m = votes.shape
    hot = np.stack([votes == 0, votes == 1], axis=2).reshape(n, 2 * m)
    hot = sparse.csr_matrix(hot, dtype=np.float32)
    moments = (hot.T @ hot).toarray() / n
    marginal, column = np.diag(moments).copy(), np.arange(2 * m)
    off = (column[:, None] // 2 != column // 2).astype(np.float32)
    p = np.zeros((2 * m, 2), dtype=np.float32)
    p[column, column % 2] = np.clip(1.4 * marginal, 0, 1)
    p *= np.float32(np.random.RandomState(seed).random_sample())
    velocity = np.zeros_like(p)
    for _ in range(100):
        w = 0.5 * p
        missing = np.outer(w.sum(axis=1) - marginal, [0.5, 0.5])
        velocity = 0.9 * velocity - 4 * ((moments - w @ p.T) * off) @ w + 2 * missing
        p = p - 0.01 * velocity
    smallest = min(0.01, 10.0 ** -np.ceil(np.log10(n)))
    evidence = np.asarray(hot @ np.log(np.clip(p, smallest, 1 - smallest)), dtype=np.float64)
    evidence = np.exp(evidence - evidence.max(axis=1, keepdims=True))
    return evidence / evidence.sum(axis=1, keepdims=True)


def majority_verdict(votes, y):
    """Majority labels, a lower bound of their softmax as the score, the test of an order by it."""
    ones = (votes == 1).sum(axis=1, dtype=np.int8)
    zeros = (votes == 0).sum(axis=1, dtype=np.int8)
    m = votes.shape[1] + 1
    a, b = np.divmod(np.arange(m * m), m)
    n = a + b
    hits = n / (1 + np.exp(-np.abs(a - b)))
    bound = stats.beta.ppf(0.025, np.maximum(hits, 1e-9), np.maximum(n - hits + 1, 1e-9))
    bound = np.where(n > 0, bound, 0.0).round(9)
    score = bound[ones * np.int32(m) + zeros]
    right = (ones > zeros) == y
    order = np.argsort(-score, kind="stable")
    sizes = np.linspace(0, len(y), 11)[1:].astype(int)
    accuracy = np.cumsum(right[order])[sizes - 1] / sizes
    test = stats.mannwhitneyu(score[right], score[~right], method="asymptotic")
    return test.statistic / right.sum() / (~right).sum(), accuracy


def weibull(X, duration, event):
    """A Weibull accelerated failure time model by Newton's method with halved steps."""
    X = np.column_stack([np.ones(len(X)), X])
    y, p = np.log(duration), X.shape[1]

    def at(theta):
        z = (y - X @ theta[:p]) * np.exp(-theta[p])
        e = np.exp(z)
        return z, e, event @ (z - theta[p]) - e.sum()

    beta = np.linalg.lstsq(X, y, rcond=None)[0]
    theta = np.append(beta, np.log(np.std(y - X @ beta)))
    z, e, value = at(theta)
    for _ in range(50):
        inverse, hessian = np.exp(-theta[p]), np.empty((p + 1, p + 1))
        gradient = np.append(X.T @ (e - event) * inverse, z @ (e - event) - event.sum())
        hessian[:p, :p] = (X * (e * inverse**2)[:, None]).T @ X
        hessian[:p, p] = hessian[p, :p] = X.T @ (e - event + z * e) * inverse
        hessian[p, p] = z @ (e - event) + (z * z) @ e
        step = np.linalg.solve(hessian, gradient)
        while not (new := at(theta + step))[2] >= value - 1e-9:
            step /= 2
        theta, (z, e, value) = theta + step, new
        if np.abs(step).max() < 1e-8:
            break
    return theta[:p], np.linalg.inv(hessian)


def binned_density(X, bandwidth, cells):
    """A Gaussian kernel density at the centres of a square grid: linear binning, convolution."""
    place = X * cells - 0.5
    low = np.floor(place).astype(np.int64)
    share = place - low
    pad = int(np.ceil(5 * bandwidth * cells))
    side = cells + 2 * pad
    mass = np.zeros(side * side)
    for dx in (0, 1):
        for dy in (0, 1):
            weight = np.abs(1 - dx - share[:, 0]) * np.abs(1 - dy - share[:, 1])
            cell = (low[:, 0] + dx + pad) * side + low[:, 1] + dy + pad
            mass += np.bincount(cell, weight, side * side)
    kernel = stats.norm.pdf(np.arange(-pad, pad + 1) / cells, scale=bandwidth)
    dense = signal.oaconvolve(mass.reshape(side, side), kernel[:, None], mode="same", axes=0)
    dense = signal.oaconvolve(dense, kernel[None], mode="same", axes=1)
    return dense[pad:-pad, pad:-pad] / len(X)


def interpolated_lowess(x, y, span=0.1, iterations=3, vertices=128):
    """R's way: local lines at some points, cubic Hermite pieces between them."""
    order = np.argsort(x)
    x, y = x[order], y[order]
    k = int(span * len(x))
    at = np.unique(np.concatenate([x[:: len(x) // vertices], x[-1:]]))
    robust = np.ones_like(y)
    for turn in range(iterations + 1):
        values, slopes = np.empty_like(at), np.empty_like(at)
        for i, centre in enumerate(at):
            place = np.searchsorted(x, centre)
            start = max(0, min(place - k // 2, len(x) - k))
            while start > 0 and centre - x[start - 1] < x[start + k - 1] - centre:
                start = max(0, start - max(1, k // 200))
            while start + k < len(x) and x[start + k] - centre < centre - x[start]:
                start = min(len(x) - k, start + max(1, k // 200))
            near = slice(start, start + k)
            gap = x[near] - centre
            w = (1 - (np.abs(gap) / np.abs(gap).max()) ** 3) ** 3 * robust[near]
            total, first, second = w.sum(), w @ gap, (w * gap) @ gap
            level, cross = w @ y[near], (w * gap) @ y[near]
            bottom = total * second - first**2
            values[i] = (second * level - first * cross) / bottom
            slopes[i] = (total * cross - first * level) / bottom
        fitted = interpolate.CubicHermiteSpline(at, values, slopes)(x)
        if turn < iterations:
            rest = y - fitted
            robust = np.clip(1 - (rest / (6 * np.median(np.abs(rest)))) ** 2, 0, None) ** 2
    result = np.empty_like(fitted)
    result[order] = fitted
    return result
