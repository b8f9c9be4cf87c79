"""Numbers of the probabilities: ranking, Brier score, log loss, calibration, net benefit."""

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from fireassay.core.arrays import BoolArray, FloatArray
from fireassay.core.estimate import Estimate
from fireassay.core.lazy import special
from fireassay.statistics.auc import auc_score_interval, delong_interval
from fireassay.statistics.clustered_auc import clustered_auc
from fireassay.statistics.counts import clopper_pearson
from fireassay.statistics.numbers.judged_rows import JudgedRows
from fireassay.statistics.numbers.logistic_newton import newton
from fireassay.statistics.numbers.standard_intervals import (
    Ends,
    jackknife,
    mean_ends,
    not_estimable,
    share_ends,
)
from fireassay.statistics.rank_tests import average_ranks

_MANY_GROUPS = 2_000  # from here on a group's effect is the sum of its rows'
_FEW, _FEW_RANKED = 10, 20
_FEWEST_EVENTS = 5
_START_ON = 20_000
_ONE_SIDED = "there are no rows of this class, or no others"


def auroc(rows: JudgedRows, c: int) -> Estimate:
    """Area under the ROC curve of a class against the rest."""
    part, y, p = _stated(rows, c)
    if not _both(y):
        return not_estimable(_ONE_SIDED, rows.confidence)
    if part.groups is None:
        found = delong_interval(p, y, rows.confidence)
        if min(y.sum(), (~y).sum()) >= _FEW_RANKED:
            return found
        low, high = auc_score_interval(found.value, int(y.sum()), int((~y).sum()), rows.confidence)
        how = f"{found.method}; few rows of a class: Newcombe's ends within"
        return replace(found, low=min(low, found.low), high=max(high, found.high), method=how)
    if part.n_units < 3:
        return not_estimable("an AUROC needs at least three groups", rows.confidence)
    if part.n_units > _MANY_GROUPS:
        value, left = _auc_without(y, p)
        return _left_out(part, value, left, "logit")
    ranked = clustered_auc(p, y, part.groups, rows.confidence)
    how = f"jackknife over {part.n_units:,} groups, logit scale, approximate"
    ends = ranked.auc, ranked.low, ranked.high
    return Estimate.around(*ends, confidence=rows.confidence, n=len(part), method=how)


def auroc_macro(rows: JudgedRows) -> Estimate:
    """Mean over the classes of the AUROC of each against the rest."""
    found = []
    for c in range(rows.n_classes):
        part, y, p = _stated(rows, c)
        if not _both(y):
            return not_estimable("a class has no row, or all rows", rows.confidence)
        found.append(_auc_without(y, p))
    value = float(np.mean([auc for auc, _ in found]))
    left = np.mean([each for _, each in found], axis=0)
    among = None
    if min(int((part.truth == c).sum()) for c in range(rows.n_classes)) < _FEW:
        single = [auroc(rows, c) for c in range(rows.n_classes)]
        if any(math.isnan(each.value) for each in single):
            return next(each for each in single if math.isnan(each.value))
        low, high = (float(np.mean([getattr(e, end) for e in single])) for end in ("low", "high"))
        among = (low, high)
    return _left_out(part, value, left, "logit", among)


def average_precision(rows: JudgedRows, c: int) -> Estimate:
    """Mean precision over the recalls of a class, without interpolation."""
    part, y, p = _stated(rows, c)
    if not _both(y):
        return not_estimable(_ONE_SIDED, rows.confidence)
    levels, place = np.unique(-p, return_inverse=True)
    place = place.ravel()
    positives = np.bincount(place[y], minlength=len(levels)).astype(np.float64)
    found, above = np.cumsum(positives), np.cumsum(np.bincount(place)).astype(np.float64)
    total = found[-1]
    value = float((positives * found / above).sum() / total)

    def ratio(part_of: FloatArray) -> FloatArray:
        return np.divide(part_of, above - 1, out=np.zeros_like(above), where=above > 1)

    before = np.concatenate([[0.0], np.cumsum(positives * found / above)[:-1]])
    one_less = _from_here(positives * ratio(found - 1)) - ratio(found - 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        of_positive = (before + one_less) / (total - 1)
    of_negative = (before + _from_here(positives * ratio(found))) / total
    left = np.where(y, of_positive[place], of_negative[place])
    among = None
    if min(total, len(y) - total) < _FEW or value > 1.0 - 1e-12:
        among = _few_positives(part, y, value)
    return _left_out(part, value, left, "logit", among)


def brier(rows: JudgedRows) -> Estimate:
    """Mean squared distance of the probabilities from the truth; two classes: of the second one."""
    part, _, _ = _stated(rows, 0)
    if not len(part) or part.probabilities is None:
        return not_estimable("there are no rows with probabilities", rows.confidence)
    p, n = part.probabilities, len(part)
    own = p[np.arange(n), part.truth].astype(np.float64)
    values = np.einsum("ij,ij->i", p, p, dtype=np.float64) - 2.0 * own + 1.0
    most = 2.0
    if rows.n_classes == 2:
        values, most = values / 2.0, 1.0
    return _bounded_mean(part, values, 0.0, most)


def log_loss(rows: JudgedRows) -> Estimate:
    """Mean negative logarithm of the truth's probability; infinite with an exact zero."""
    part, _, _ = _stated(rows, 0)
    if not len(part) or part.probabilities is None:
        return not_estimable("there are no rows with probabilities", rows.confidence)
    own = part.probabilities[np.arange(len(part)), part.truth].astype(np.float64)
    zeros = int((own <= 0).sum())
    if zeros:
        how = f"infinite: {zeros:,} rows have probability 0 for the truth"
        return Estimate(math.inf, math.inf, math.inf, rows.confidence, len(part), how)
    found = _ratio(part, -np.log(own), np.ones(len(own)))
    if part.probabilities.min() > 0:
        return found
    how = f"{found.method}; some probabilities are exactly 0, so that it may be infinite"
    return replace(found, high=math.inf, method=how)


def oe_ratio(rows: JudgedRows, c: int) -> Estimate:
    """Observed number of rows of a class over the expected one, the sum of its probabilities."""
    part, y, p = _stated(rows, c)
    observed, expected = float(y.sum()), float(p.sum())
    if not len(y) or expected <= 0:
        return not_estimable("no row of this class is expected", rows.confidence)
    among = None
    if min(observed, len(y) - observed) < _FEW:
        low, high = share_ends(*_units(part, y.astype(np.float64)), rows.confidence)
        among = (low / p.mean(), high / p.mean())
    return _ratio(part, y.astype(np.float64), p, among)


def calibration_intercept(rows: JudgedRows, c: int) -> Estimate:
    """Calibration in the large: what the log odds of a class are too low by, in the mean."""
    return _logistic(rows, c, slope=False)


def calibration_slope(rows: JudgedRows, c: int) -> Estimate:
    """How fast the odds of a class rise with the log odds stated; below 1: too extreme."""
    return _logistic(rows, c, slope=True)


def net_benefit(rows: JudgedRows, c: int, threshold: float) -> Estimate:
    """True positives less false ones at the odds of the threshold, per row."""
    part, y, p = _stated(rows, c)
    if not len(y):
        return not_estimable("there are no rows with probabilities", rows.confidence)
    odds = threshold / (1.0 - threshold)
    values = np.where(p >= threshold, np.where(y, 1.0, -odds), 0.0)
    return _bounded_mean(part, values, -odds, 1.0)


def rate_of(rows: JudgedRows, events: FloatArray, exposure: FloatArray) -> Estimate:
    """Events per exposure: Garwood's exact interval for rows, the jackknife over groups."""
    k, total = float(events.sum()), float(exposure.sum())
    tail = (1.0 - rows.confidence) / 2.0
    low = float(special.gammaincinv(k, tail)) / total if k else 0.0
    among = low, float(special.gammainccinv(k + 1.0, tail)) / total
    if rows.groups is not None and k:
        return _ratio(rows, events, exposure, among if k < _FEW else None)
    how = "exact (Poisson)"
    return Estimate.around(k / total, *among, confidence=rows.confidence, n=len(events), method=how)


def decision_curve(rows: JudgedRows, c: int, thresholds: Sequence[float]) -> dict[str, FloatArray]:
    """Net benefit of the model, of treating all and of treating none, at each threshold.

    Args:
        rows: What is judged, with probabilities.
        c: The position of the class that is treated.
        thresholds: In (0, 1).

    >>> rows = JudgedRows.of([0, 1], [0, 1], 2, [[0.9, 0.1], [0.4, 0.6]])
    >>> decision_curve(rows, 1, [0.5])["model"].tolist()
    [0.5]
    """
    _, y, p = _stated(rows, c)
    cuts = np.asarray(thresholds, dtype=np.float64)
    odds, n = cuts / (1.0 - cuts), max(1, len(y))
    hits, alarms = ((len(s) - np.searchsorted(np.sort(s), cuts)) / n for s in (p[y], p[~y]))
    rate = float(y.mean()) if len(y) else math.nan
    return {
        "threshold": cuts,
        "model": hits - odds * alarms,
        "treat all": rate - odds * (1.0 - rate),
        "treat none": np.zeros(len(cuts)),
    }


def at_other(rows: JudgedRows, c: int, least: float, *, sensitivity: bool) -> Estimate:
    """Sensitivity where the specificity is at least this, or the reverse; distribution-free."""
    # The threshold is chosen on the same rows. Its own uncertainty takes half of the level: ends
    # are those of the share at the outermost thresholds that may be the true one.
    part, y, p = _stated(rows, c)
    if not _both(y):
        return not_estimable(_ONE_SIDED, rows.confidence)
    if not sensitivity:  # specificity at a sensitivity: the same with classes and signs turned
        y, p = ~y, -p
    # The other kind's share below t must reach `least`; the value is the share of y at t or above.
    level = 1.0 - (1.0 - rows.confidence) / 2.0
    cuts = np.append(np.unique(p), np.inf)

    def below(t: float) -> Ends:
        hits, sizes = _units(part, (p < t).astype(np.float64), ~y)
        return share_ends(hits, sizes, level, rows.largest_group)

    def above(t: float) -> tuple[float, Ends]:
        hits, sizes = _units(part, (p >= t).astype(np.float64), y)
        ends = share_ends(hits, sizes, level, rows.largest_group)
        return float(np.sum(hits) / np.sum(sizes)), ends

    others = np.sort(p[~y])
    shares = np.searchsorted(others, cuts) / len(others)
    chosen = float(cuts[int((shares >= least - 1e-12).argmax())])
    # The first cut whose lower end reaches `least`, and the first whose upper end does.
    strict = _first(cuts, lambda t: below(t)[0] >= least)
    loose = _first(cuts, lambda t: below(t)[1] >= least)
    value = above(chosen)[0]
    low = 0.0 if strict is None else above(strict)[1][0]
    high = 1.0 if loose is None else above(loose)[1][1]
    side = ("specificity", chosen) if sensitivity else ("sensitivity", -chosen)
    how = f"threshold {side[1]:.4g} chosen on these rows for {side[0]} {least:g}, joint ends"
    return Estimate.around(value, low, high, confidence=rows.confidence, n=int(y.sum()), method=how)


def _first(cuts: FloatArray, reaches: Callable[[float], bool]) -> float | None:
    """The first of rising cuts from which on something holds."""
    at = bisect_left(range(len(cuts)), True, key=lambda i: reaches(float(cuts[i])))
    return float(cuts[at]) if at < len(cuts) else None


def _stated(rows: JudgedRows, c: int) -> tuple[JudgedRows, BoolArray, FloatArray]:
    """The rows with probabilities, which of them are of a class, and its probabilities."""
    if rows.probabilities is None:
        return rows, np.zeros(0, dtype=bool), np.zeros(0)
    if np.isnan(rows.probabilities[:, c]).any():
        rows = rows.keeping(~np.isnan(rows.probabilities[:, c]))
    assert rows.probabilities is not None
    return rows, rows.truth == c, rows.probabilities[:, c].astype(np.float64)


def _both(y: BoolArray) -> bool:
    return bool(y.any() and not y.all())


def _from_here(values: FloatArray) -> FloatArray:
    """The sum of each value and those after it."""
    return np.asarray(np.cumsum(values[::-1])[::-1])


def _units(
    rows: JudgedRows, values: FloatArray, among: BoolArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Sum and number of values: two numbers, or one pair per group."""
    kept = np.ones(len(values), dtype=bool) if among is None else among
    if rows.groups is None:
        return np.asarray(values[kept].sum()), np.asarray(float(kept.sum()))
    sums = np.bincount(rows.groups, weights=values * kept, minlength=rows.n_units)
    sizes = np.bincount(rows.groups, weights=kept, minlength=rows.n_units)
    return sums.astype(np.float64), sizes.astype(np.float64)


def _bounded_mean(rows: JudgedRows, values: FloatArray, low: float, high: float) -> Estimate:
    """The mean of values with known bounds, and an interval that holds for any law of them."""
    sums, sizes, what, most = values, np.ones(len(values)), "rows", None
    if rows.groups is not None:
        (sums, sizes), what, most = _units(rows, values), "groups", rows.largest_group
    ends = mean_ends(sums, sizes, rows.confidence, low, high, most)
    how = f"{'groups-any' if what == 'groups' else 'bound'} over {len(sizes):,} {what}"
    mean, n = float(values.mean()), len(values)
    return Estimate.around(mean, *ends, confidence=rows.confidence, n=n, method=how)


def _ratio(
    rows: JudgedRows, above: FloatArray, below: FloatArray, among: Ends | None = None
) -> Estimate:
    """The jackknife of a ratio of two sums, on the log scale."""
    top, bottom = float(above.sum()), float(below.sum())
    with np.errstate(invalid="ignore", divide="ignore"):
        left = (top - _sums(rows, above)) / (bottom - _sums(rows, below))
    return _knife(rows, top / bottom, left, "log", among)


def _left_out(
    rows: JudgedRows, value: float, left: FloatArray, scale: str, among: Ends | None = None
) -> Estimate:
    """The jackknife over rows, or over groups whose effect is the sum of their rows'."""
    if rows.groups is not None:
        left = value + _sums(rows, left - value)
    return _knife(rows, value, left, scale, among)


def _knife(
    rows: JudgedRows, value: float, left: FloatArray, scale: str, among: Ends | None = None
) -> Estimate:
    what = "rows" if rows.groups is None else "groups"
    blocks, units = [(left, np.ones(len(left)))], rows.n_units
    return jackknife(value, blocks, rows.confidence, len(rows), units, scale, what, among)


def _auc_without(y: BoolArray, p: FloatArray) -> tuple[float, FloatArray]:
    """The AUC, and the AUC without each row."""
    n_positive, n_negative = int(y.sum()), int((~y).sum())
    ranks = average_ranks(p)
    wins = np.empty(len(p))
    wins[y] = ranks[y] - average_ranks(p[y])
    wins[~y] = n_positive - (ranks[~y] - average_ranks(p[~y]))
    total = float(wins[y].sum())
    pairs = np.where(y, (n_positive - 1) * n_negative, n_positive * (n_negative - 1))
    with np.errstate(invalid="ignore", divide="ignore"):
        left = (total - wins) / pairs
    return total / (n_positive * n_negative), left


def _few_positives(rows: JudgedRows, y: BoolArray, value: float) -> Ends:
    """Ends of an average precision of few rows: as many may be misplaced as were not seen."""
    level = 1.0 - (1.0 - rows.confidence) / 2.0
    units = rows.n_units / len(rows)  # rows of one group count as one
    positives, negatives = float(y.sum()) * units, float((~y).sum()) * units
    low, high = clopper_pearson(value * positives, positives, level)
    _, crowd = clopper_pearson(0.0, negatives, level)
    return low * positives / (positives + float(crowd) * negatives), high


def _logistic(rows: JudgedRows, c: int, *, slope: bool) -> Estimate:
    """Logistic regression of the truth on the stated log odds: slope, or intercept at slope 1."""
    part, y, p = _stated(rows, c)
    n = len(y)
    if min(int(y.sum()), n - int(y.sum())) < _FEWEST_EVENTS:
        why = f"calibration needs {_FEWEST_EVENTS} rows of the class and {_FEWEST_EVENTS} others"
        return not_estimable(why, rows.confidence)
    floor = 1.0 / (2.0 * (n + 1))
    certain = int(((p <= 0) | (p >= 1)).sum())
    stated = special.logit(np.where(p <= 0, floor, np.where(p >= 1, 1.0 - floor, p)))
    if slope and np.ptp(stated) < 1e-9:
        return not_estimable("all rows have the same probability", rows.confidence)
    centre = float(stated.mean()) if slope else 0.0
    line = stated - centre
    offset = np.zeros(n) if slope else stated
    columns = [np.ones(n), line] if slope else [np.ones(n)]
    start = np.zeros(len(columns))
    if n > _START_ON:  # some rows tell where to start
        some = slice(None, None, n // _START_ON)
        found = newton([x[some].copy() for x in columns], offset[some].copy(), y[some], start)
        start = start if found is None else found[0]
    found = newton(columns, offset, y, start)
    if found is None:
        return not_estimable("the probabilities separate the classes", rows.confidence)
    beta, mu, curve = found
    weight = mu * (1.0 - mu)
    # One Newton step without each unit; the curvature without it is inverted in closed form.
    summed = [_sums(part, x * (y - mu)) for x in columns]
    own = [_sums(part, a * weight * b) for a in columns for b in columns]
    with np.errstate(invalid="ignore", divide="ignore"):
        if slope:
            a, b, d = curve[0, 0] - own[0], curve[0, 1] - own[1], curve[1, 1] - own[3]
            left = beta[1] - (a * summed[1] - b * summed[0]) / (a * d - b * b)
        else:
            left = beta[0] - summed[0] / (curve[0, 0] - own[0])
    fitted = _knife(part, float(beta[-1]), left, "plain")
    said = f"; {certain:,} probabilities of exactly 0 or 1 taken as {floor:.2g} from it"
    return replace(fitted, method=fitted.method + said) if certain else fitted


def _sums(rows: JudgedRows, values: FloatArray) -> FloatArray:
    """Values summed over each group; as they are where rows stand alone."""
    if rows.groups is None:
        return values
    return np.asarray(np.bincount(rows.groups, weights=values, minlength=rows.n_units))
