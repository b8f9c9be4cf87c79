"""Numbers of the confusion matrix, each with its interval."""

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from fireassay.core.arrays import FloatArray
from fireassay.core.estimate import Estimate
from fireassay.statistics.numbers.judged_rows import JudgedRows, Margins
from fireassay.statistics.numbers.standard_intervals import (
    Ends,
    jackknife,
    method_of_share,
    not_estimable,
    share_ends,
)

_FEW = 10  # errors, below which their spread says little
_NO_ROWS = {
    "sensitivity": "no row is of this class",
    "specificity": "every row is of this class",
    "ppv": "this class is never answered",
    "npv": "no other class is ever answered",
    "jaccard": "this class is neither true nor answered in any row",
}


def class_share(rows: JudgedRows, name: str, c: int, confidence: float | None = None) -> Estimate:
    """Sensitivity, specificity, ppv, npv or jaccard of one class."""
    hits, sizes = (float(part[c]) for part in rows.margins.shares(name))
    level = rows.confidence if confidence is None else confidence
    if not sizes:
        return not_estimable(_NO_ROWS[name], level)
    if rows.groups is None:
        return _share(rows, hits, sizes, None, level)
    per_group = rows.of_groups.shares(name)
    return _share(rows, hits, sizes, (per_group[0][:, c], per_group[1][:, c]), level)


def f1(rows: JudgedRows, c: int) -> Estimate:
    """F1 of a class: 2 J / (1 + J), J being the share of right ones among rows true or answered."""
    found = class_share(rows, "jaccard", c)
    value, low, high = (2 * j / (1 + j) for j in (found.value, found.low, found.high))
    return Estimate(value, low, high, found.confidence, found.n, found.method)


def accuracy(rows: JudgedRows) -> Estimate:
    """Share of rows whose answer is the truth; an indeterminate answer is not."""
    return _whole_share(rows, lambda m: m.right.sum(axis=-1))


def error(rows: JudgedRows) -> Estimate:
    """Share of rows whose answer is not the truth."""
    return _whole_share(rows, lambda m: m.n - m.right.sum(axis=-1))


def off_by_two(rows: JudgedRows) -> Estimate:
    """Ordered classes: share of answers that are two or more classes away."""
    return _whole_share(rows, lambda m: m.far)


def balanced_accuracy(rows: JudgedRows) -> Estimate:
    """Mean of the sensitivities of the classes that occur."""
    present = np.flatnonzero(rows.margins.own)

    def of(m: Margins) -> FloatArray:
        return np.asarray((m.right[..., present] / m.own[..., present]).mean(axis=-1))

    if not len(present):
        return not_estimable("there are no rows", rows.confidence)
    value = _value(rows, of)
    if rows.groups is not None and not _few(rows):
        return _left_out(rows, of, "logit")
    single = [class_share(rows, "sensitivity", int(c)) for c in present]
    ends = _combined(value, single, [1.0 / len(single)] * len(single), linear=False)
    if rows.groups is None:
        how = "Clopper-Pearson of each class, combined by squared widths"
        return Estimate.around(value, *ends, confidence=rows.confidence, n=len(rows), method=how)
    return _left_out(rows, of, "logit", ends)


def f1_macro(rows: JudgedRows) -> Estimate:
    """Mean F1 of the classes that are true or answered in some row."""
    return _mean_f1(rows, weighted=False)


def f1_weighted(rows: JudgedRows) -> Estimate:
    """Mean F1 of the classes, weighted by their rows."""
    return _mean_f1(rows, weighted=True)


def kappa(rows: JudgedRows) -> Estimate:
    """Cohen's kappa of truth and answer."""

    def of(m: Margins) -> FloatArray:
        chance = (m.own * m.said).sum(axis=-1) / m.n**2
        return np.asarray((m.right.sum(axis=-1) / m.n - chance) / (1.0 - chance))

    return _agreement(rows, of, error)


def kappa_quadratic(rows: JudgedRows) -> Estimate:
    """Ordered classes: Cohen's kappa with squared distances as weights."""
    k = rows.n_classes
    apart = (np.subtract.outer(np.arange(k), np.arange(k)) / max(1, k - 1)) ** 2

    def of(m: Margins) -> FloatArray:
        blanks = m.blank.sum(axis=-1)
        expected = ((m.own @ apart * m.said).sum(axis=-1) + m.n * blanks) / m.n
        return np.asarray(1.0 - m.apart / expected)

    return _agreement(rows, of, partial(_whole_share, hits=lambda m: m.apart))


def mcc(rows: JudgedRows) -> Estimate:
    """Matthews correlation coefficient of truth and answer, for any number of classes."""

    def of(m: Margins) -> FloatArray:
        n, blanks = m.n, m.blank.sum(axis=-1)
        said = n**2 - (m.said**2).sum(axis=-1) - blanks**2
        own = n**2 - (m.own**2).sum(axis=-1)
        above = m.right.sum(axis=-1) * n - (m.own * m.said).sum(axis=-1)
        return np.asarray(above / np.sqrt(said * own))

    return _agreement(rows, of, error)


def likelihood_ratio(rows: JudgedRows, c: int, *, positive: bool) -> Estimate:
    """LR+ or LR− of a class, from joint ends of sensitivity and specificity."""
    if positive:
        return _of_both(rows, c, lambda se, sp: _over(se, 1.0 - sp))
    return _of_both(rows, c, lambda se, sp: _over(1.0 - se, sp))


def predictive_value(rows: JudgedRows, c: int, prevalence: float, *, positive: bool) -> Estimate:
    """PPV or NPV of a class where it is as frequent as ``prevalence``, from joint ends."""
    p, q = prevalence, 1.0 - prevalence
    if positive:
        return _of_both(rows, c, lambda se, sp: _over(p * se, p * se + q * (1.0 - sp)))
    return _of_both(rows, c, lambda se, sp: _over(q * sp, q * sp + p * (1.0 - se)))


def _over(above: float, below: float) -> float:
    return above / below if below > 0 else (math.nan if above == 0 else math.inf)


def _of_both(rows: JudgedRows, c: int, of: Callable[[float, float], float]) -> Estimate:
    """A number that is monotone in sensitivity and specificity, from ends that hold together."""
    level = 1.0 - (1.0 - rows.confidence) / 2.0
    se, sp = (class_share(rows, name, c, level) for name in ("sensitivity", "specificity"))
    value = of(se.value, sp.value)
    if math.isnan(value):
        why = next((e.method.partition(": ")[2] for e in (se, sp) if math.isnan(e.value)), None)
        return not_estimable(why or "nothing is ever answered with it", rows.confidence)
    corners = [of(a, b) for a in (se.low, se.high) for b in (sp.low, sp.high)]
    finite = [corner for corner in corners if not math.isnan(corner)]
    low, how = min(finite) if len(finite) == 4 else 0.0, f"joint ends, {se.method}"
    ends = value, low, max(finite)
    return Estimate.around(*ends, confidence=rows.confidence, n=len(rows), method=how)


def _share(
    rows: JudgedRows,
    hits: float,
    sizes: float,
    of_groups: tuple[FloatArray, FloatArray] | None,
    confidence: float,
) -> Estimate:
    k, m = (hits, sizes) if of_groups is None else of_groups
    ends = hits / sizes, *share_ends(k, m, confidence, rows.largest_group)
    how = method_of_share(None if of_groups is None else int((of_groups[1] > 0).sum()))
    return Estimate.around(*ends, confidence=confidence, n=int(sizes), method=how)


def _whole_share(rows: JudgedRows, hits: Callable[[Margins], FloatArray]) -> Estimate:
    if not len(rows):
        return not_estimable("there are no rows", rows.confidence)
    of_groups = None
    if rows.groups is not None:
        of_groups = (hits(rows.of_groups), rows.of_groups.n)
    whole = rows.margins
    return _share(rows, float(hits(whole)), float(whole.n), of_groups, rows.confidence)


def _left_out(
    rows: JudgedRows,
    of: Callable[[Margins], FloatArray],
    scale: str,
    among: Ends | None = None,
) -> Estimate:
    value = _value(rows, of)
    if math.isnan(value):
        return not_estimable("truths or answers are all of one class", rows.confidence)
    with np.errstate(divide="ignore", invalid="ignore"):
        left = [(of(m), times) for m, times in rows.without_each()]
    what, n = "rows" if rows.groups is None else "groups", len(rows)
    return jackknife(value, left, rows.confidence, n, rows.n_units, scale, what, among)


def _value(rows: JudgedRows, of: Callable[[Margins], FloatArray]) -> float:
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(of(rows.margins)) if len(rows) else math.nan


def _few(rows: JudgedRows) -> bool:
    """Whether so few rows are wrong, or so few of a class there are, that spread says little."""
    m = rows.margins
    wrong, own = float(m.n - m.right.sum()), m.own[m.own > 0]
    return wrong < _FEW or float(own.min()) < _FEW


def _agreement(
    rows: JudgedRows,
    of: Callable[[Margins], FloatArray],
    wrong: Callable[[JudgedRows], Estimate],
) -> Estimate:
    """Agreement beyond chance, with the exact ends of the disagreement where errors are few."""
    value = _value(rows, of)
    among = None
    if math.isfinite(value) and value < 1.0 + 1e-12 and _few(rows):
        found = wrong(rows)
        # 1 - value = disagreement / chance: the ends of the disagreement with chance as observed
        m = rows.margins
        beyond = 1.0 - float((m.own * m.said).sum()) / float(m.n) ** 2
        scale = (1.0 - value) / found.value if found.value > 0 else 1.0 / max(beyond, 1e-12)
        among = (max(-1.0, 1.0 - found.high * scale), min(1.0, 1.0 - found.low * scale))
    return _left_out(rows, of, "fisher", among)


def _mean_f1(rows: JudgedRows, *, weighted: bool) -> Estimate:
    whole = rows.margins
    present = np.flatnonzero(whole.own + whole.said)

    def of(m: Margins) -> FloatArray:
        own, both = m.own[..., present], m.own[..., present] + m.said[..., present]
        each = np.where(both > 0, 2 * m.right[..., present] / both, 0.0)
        weights = own / m.n[..., None] if weighted else np.full(len(present), 1.0 / len(present))
        return np.asarray((each * weights).sum(axis=-1))

    if not len(present):
        return not_estimable("there are no rows", rows.confidence)
    among = None
    if _few(rows):
        single = [f1(rows, int(c)) for c in present]
        weights = whole.own[present] / whole.n if weighted else [1.0 / len(present)] * len(single)
        among = _combined(_value(rows, of), single, list(weights), linear=True)
    return _left_out(rows, of, "logit", among)


def _combined(value: float, each: list[Estimate], weights: list[float], *, linear: bool) -> Ends:
    """Ends of a weighted mean of estimates, by their widths or their squared widths."""
    power = 1 if linear else 2
    down = sum((w * (e.value - e.low)) ** power for w, e in zip(weights, each, strict=True))
    up = sum((w * (e.high - e.value)) ** power for w, e in zip(weights, each, strict=True))
    low, high = value - down ** (1 / power), value + up ** (1 / power)
    return max(0.0, float(low)), min(1.0, float(high))
