"""The likelihood of a share that never falls and a Weibull law for the others, row by row."""

import math

import numpy as np

from fireassay.core.arrays import AnyArray
from fireassay.survival.times import Times

_LEAST = 1e-12
_LARGEST_LOG = 300.0
_STEP = 1e-5


class CureLikelihood:
    """Of S(t) = π + (1 − π) exp(−H), H = (t/b)^a, with parameters π, log b, log a.

    >>> times = Times(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, np.inf]))
    >>> value, slope = CureLikelihood(times).loss(np.zeros(2), 0.2)
    >>> round(value, 3), slope.shape
    (4.874, (2,))
    """

    def __init__(self, times: Times) -> None:
        self.times = times
        self.exact = times.exact & times.failed
        self.between = times.failed & ~self.exact
        self.standing = ~times.failed

    def rows(self, parameters: AnyArray) -> tuple[AnyArray, AnyArray]:
        """Each row's log likelihood, and its slopes: shapes (n,) and (n, 3)."""
        share, log_scale, log_shape = (float(value) for value in parameters)
        value, slopes = np.zeros(len(self.times)), np.zeros((len(self.times), 3))
        value[self.times.failed] = math.log(max(1.0 - share, _LEAST))
        slopes[self.times.failed, 0] = -1.0 / max(1.0 - share, _LEAST)
        shape = math.exp(min(log_shape, 20.0))

        def hazard(at: AnyArray) -> tuple[AnyArray, AnyArray, AnyArray]:
            with np.errstate(divide="ignore"):
                log = np.minimum(shape * (np.log(at) - log_scale), _LARGEST_LOG)
            total = np.exp(log)
            # d H / d log a is H log H, which goes to 0 with H.
            by_shape = total * np.where(total > 0, log, 0.0)
            return log, total, np.column_stack([-shape * total, by_shape])

        log, total, slope = hazard(self.times.upper[self.exact])
        value[self.exact] += log_shape + log - np.log(self.times.upper[self.exact]) - total
        slopes[self.exact, 1] = shape * (total - 1.0)
        slopes[self.exact, 2] = 1.0 + log * (1.0 - total)
        early, late = (hazard(t[self.between]) for t in (self.times.lower, self.times.upper))
        fallen = np.maximum(np.exp(-early[1]) - np.exp(-late[1]), _LEAST)
        value[self.between] += np.log(fallen)
        slopes[self.between, 1:] = (
            np.exp(-late[1])[:, None] * late[2] - np.exp(-early[1])[:, None] * early[2]
        ) / fallen[:, None]
        log, total, slope = hazard(self.times.lower[self.standing])
        not_yet = np.exp(-total)
        alive = np.maximum(share + (1.0 - share) * not_yet, _LEAST)
        value[self.standing] = np.log(alive)
        slopes[self.standing, 0] = (1.0 - not_yet) / alive
        slopes[self.standing, 1:] = -((1.0 - share) * not_yet / alive)[:, None] * slope
        return value, slopes

    def loss(self, law: AnyArray, share: float) -> tuple[float, AnyArray]:
        """Minus the log likelihood at a share, and its slopes by log b and log a."""
        value, slopes = self.joint_loss(np.array([share, *law]))
        return value, slopes[1:]

    def joint_loss(self, parameters: AnyArray) -> tuple[float, AnyArray]:
        """Minus the log likelihood, and its slopes by all three parameters."""
        value, slopes = self.rows(parameters)
        return -float(value.sum()), -slopes.sum(axis=0)

    def flattening(self, place: AnyArray, groups: AnyArray) -> float:
        """The variance of π that groups show, over the one that rows would give it; at least 1.

        Infinite where the likelihood is too flat to tell.
        """
        many = int(groups.max()) + 1

        def by_group(slopes: AnyArray) -> AnyArray:
            return np.stack([np.bincount(groups, s, minlength=many) for s in slopes.T], axis=1)

        curvature = np.zeros((many, 3, 3))
        for i in range(3):
            step = _STEP * np.eye(3)[i]
            # The share may be 0: its step goes inwards only.
            back = step * (i > 0)
            rise = self.rows(place + step)[1] - self.rows(place - back)[1]
            curvature[:, i] = -by_group(rise) / float((step + back).sum())
        curvature = (curvature + curvature.transpose(0, 2, 1)) / 2.0
        whole = curvature.sum(axis=0)
        left = whole - curvature
        if min(np.linalg.eigvalsh(whole).min(), np.linalg.eigvalsh(left).min()) <= 0:
            return math.inf
        scores = by_group(self.rows(place)[1])
        steps = np.linalg.solve(left, scores[:, :, None])[:, 0, 0]
        spread = (many - 1) / many * float(np.square(steps - steps.mean()).sum())
        return max(1.0, spread / float(np.linalg.inv(whole)[0, 0]))
