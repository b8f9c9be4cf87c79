"""Accuracy and coverage of each labelling function, why it was pruned, and the charts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fireassay.core import Chart
from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.drawing import IntervalRow, Spec, axis, bars, curves, diagram, intervals, matrix
from fireassay.core.lazy import pd
from fireassay.core.validation import check_labels
from fireassay.core.words import percent
from fireassay.curation.labelers.labeler import vote_counts
from fireassay.curation.labelling import Pruning, coverage, dependent_pairs, prune
from fireassay.curation.votes import (
    ABSTAIN,
    VotePatterns,
    check_n_classes,
    check_votes,
    lf_names,
    unique_patterns,
)
from fireassay.statistics import clopper_pearson

if TYPE_CHECKING:
    from fireassay.curation.curate import Curation
    from fireassay.curation.label_calibration import LabelCalibration
    from fireassay.curation.robustness import Robustness
    from fireassay.curation.stability import Stability
    from fireassay.curation.trend import Trend


def analyse(
    votes: Any,
    n_classes: int = 2,
    y: Any = None,
    *,
    names: Any = None,
    threshold: float | None = 0.5,
    drop_silent: bool = True,
) -> pd.DataFrame:
    """One row per labelling function, from votes alone or with true labels.

    Columns: coverage (share of samples it votes on), overlap (it and another vote), conflict (it
    and another disagree), polarity (the classes it votes for), accuracy with its 95 % interval
    where it votes (if labels are given), the strongest correlation and with whom, whether it is
    kept, and the reason.

    Args:
        votes, n_classes, names, drop_silent: As for `curate`.
        y: The true class of each sample, if known.
        threshold: As ``prune`` of `curate`.

    >>> analyse([[0, 0, -1], [1, 1, 1], [0, 0, 1]], names=["a", "b", "c"])["reason"].tolist()
    ['stands for b', 'depends on a: correlation +1.00, beyond ±0.5', 'independent of the others']
    """
    k = check_n_classes(n_classes)
    checked = check_votes(votes)
    patterns = unique_patterns(checked, k)
    named = lf_names(votes if hasattr(votes, "shape") else checked, names)
    pruning = prune(patterns, threshold, drop_silent=drop_silent)
    return analysis_table(
        patterns, pruning, named, threshold, labelled=None if y is None else (patterns, y)
    )


def analysis_table(
    patterns: VotePatterns,
    pruning: Pruning,
    names: tuple[str, ...],
    threshold: float | None,
    labelled: tuple[VotePatterns, Any] | None = None,
) -> pd.DataFrame:
    """The table of `analyse` from patterns and a finished pruning."""
    counts = patterns.counts.astype(np.float64)
    n = counts.sum()
    voted = patterns.votes != ABSTAIN
    per_class = vote_counts(patterns.votes, patterns.n_classes)
    with_me = np.take_along_axis(per_class, np.maximum(patterns.votes, 0).astype(np.int64), axis=1)
    total, each = voted.sum(axis=1, keepdims=True), patterns.votes.T
    table = pd.DataFrame(
        {
            "name": list(names),
            "coverage": coverage(patterns),
            "overlap": counts @ (voted & (total > 1)) / n,
            "conflict": counts @ (voted & (with_me < total)) / n,
            "polarity": [" ".join(str(v) for v in np.unique(own) if v != ABSTAIN) for own in each],
        }
    )
    if labelled is not None:
        table = pd.concat([table, _accuracy(*labelled)], axis=1)
    partner, strength = _strongest(pruning.correlation)
    table["strongest_correlation"] = strength
    table["correlated_with"] = [names[p] if p >= 0 else "" for p in partner]
    kept = np.zeros(len(names), dtype=bool)
    kept[pruning.kept] = True
    table["kept"] = kept
    table["reason"] = [_reason(lf, pruning, names, threshold) for lf in range(len(names))]
    return table


def _reason(lf: int, pruning: Pruning, names: tuple[str, ...], threshold: float | None) -> str:
    by = int(pruning.removed_by[lf])
    if by >= 0:
        value = pruning.correlation[lf, by]
        return f"depends on {names[by]}: correlation {value:+.2f}, beyond ±{threshold:g}"
    if lf in pruning.silent:
        return "never votes" if lf not in pruning.kept else "never votes, kept as asked"
    freed = [names[i] for i in np.flatnonzero(pruning.removed_by == lf)]
    return f"stands for {', '.join(freed)}" if freed else "independent of the others"


def _strongest(correlation: FloatArray) -> tuple[IntArray, FloatArray]:
    size = np.abs(np.nan_to_num(correlation))
    np.fill_diagonal(size, -1.0)
    partner = size.argmax(axis=1)
    rows = np.arange(len(size))
    none = size[rows, partner] <= 0
    strength = np.where(none, 0.0, np.nan_to_num(correlation)[rows, partner])
    return np.where(none, -1, partner), strength


def _accuracy(patterns: VotePatterns, y: Any) -> pd.DataFrame:
    truth = check_labels(y, n=len(patterns.of_row))
    k = patterns.n_classes
    classes = np.where((truth >= 0) & (truth < k), truth, k).astype(np.int64)
    joint = np.zeros((len(patterns.votes), k + 1))
    np.add.at(joint, (patterns.of_row, classes), 1.0)
    hits = np.zeros(patterns.votes.shape[1])
    for label in range(k):
        hits += joint[:, label] @ (patterns.votes == label)
    voted = joint.sum(axis=1) @ (patterns.votes != ABSTAIN)
    low, high = clopper_pearson(hits, voted)
    accuracy = np.divide(hits, voted, out=np.full(len(hits), np.nan), where=voted > 0)
    return pd.DataFrame({"accuracy": accuracy, "accuracy_low": low, "accuracy_high": high})


_FEW_PAIRS, _MOST_FUNCTIONS = 15, 40
_VERDICTS = ("decreasing", "none", "increasing")


def accuracy_chart(trend: Trend) -> Chart:
    """Accuracy of the weak labels in D_1 … D_N (the paper's Figure 3), and of what each adds."""
    _, added, ends = trend.added
    more = {"of the rows added": (added, ends)}
    title = "accuracy of the weak labels"
    return Chart(
        _along(trend.accuracy, trend.exact_interval, title, more),
        "How often the weak labels are right in each dataset, from easy to hard, and in the rows "
        "that it adds to the one before, with exact 95 % intervals.",
        "Two lines of accuracy along the datasets, with bands.",
    )


def robustness_chart(found: Robustness) -> Chart:
    """Agreement of a classifier with the weak labels along the datasets."""
    return Chart(
        _along(found.agreement, found.agreement_interval, "agreement with the weak labels"),
        "How often the classifier says what the weak labels say, from easy to hard.",
        "A line of agreement along the datasets, with a band.",
    )


def _along(
    values: FloatArray,
    ends: FloatArray,
    title: str,
    more: dict[str, tuple[FloatArray, FloatArray]] | None = None,
) -> Spec:
    numbers, lines = np.arange(1, len(values) + 1), {title: (values, ends), **(more or {})}
    lowest = float(np.nanmin(np.concatenate([own for _, own in lines.values()])))
    start = max(0.0, float(np.floor(10 * lowest - 1e-9)) / 10)  # the tenth below
    return curves(
        {name: (numbers, own) for name, (own, _) in lines.items()},
        {"axis": axis("dataset, from easy to hard", tickMinStep=1), "scale": {"zero": False}},
        {"axis": axis(title, "share"), "scale": {"domain": [start, 1]}},
        bands={name: (own[:, 0], own[:, 1]) for name, (_, own) in lines.items()},
        points=True,
        height=220,
    )


def dependence_chart(result: Curation) -> Chart | None:
    """Chart of correlated labelling functions (pairs, or a matrix of many), or None."""
    threshold = result.settings.prune if result.settings.prune is not None else 0.5
    correlation = np.nan_to_num(result.table.pruning.correlation)
    found = dependent_pairs(result.table.pruning.correlation, threshold)
    pairs = sorted(found, key=lambda pair: -abs(correlation[pair]))
    if not pairs:
        return None
    kept = set(result.kept_lfs.tolist())
    names = [n if i in kept else f"{n} (dropped)" for i, n in enumerate(result.lf_names)]
    caption = f"Labelling functions whose votes correlate more than {threshold:g}."
    if len(pairs) <= _FEW_PAIRS:
        rows = [(f"{names[i]} – {names[j]}", abs(float(correlation[i, j]))) for i, j in pairs]
        return Chart(bars(rows, "correlation of votes"), caption, "A bar for each such pair.")
    strongest = np.abs(correlation - np.diag(np.diag(correlation))).max(axis=1)
    chosen = np.sort(np.argsort(-strongest, kind="stable")[:_MOST_FUNCTIONS])
    cells = [
        (names[i], names[j], abs(float(correlation[i, j]))) for i in chosen for j in chosen if j < i
    ]
    return Chart(
        matrix(cells, title="correlation of votes", unit="number"),
        f"{caption} Of {len(names)} functions the {len(chosen)} that depend most.",
        "A triangle of correlations by labelling function.",
    )


def score_chart(result: Curation) -> Chart:
    """Score along the order, with the ends of the datasets."""
    places = np.unique(np.linspace(0, result.n - 1, min(result.n, 400)).astype(np.int64))
    name = result.settings.order_by.replace("_", " ")
    lines = {name: (places + 1, result.score[result.order[places]])}
    across, up = {"axis": axis("samples, from easy to hard")}, {"axis": axis(name)}
    spec = curves(lines, across, up, steps=True, height=200)
    ends = {
        "data": {"values": [{"end": int(size)} for size in result.sizes]},
        "mark": {"type": "rule", "style": "guide", "strokeDash": [2, 4]},
        "encoding": {"x": {"field": "end", "type": "quantitative"}},
    }
    spec["layer"].insert(0, ends)
    return Chart(
        spec,
        "Score of the samples along the order; dashed lines are the ends of the datasets.",
        "A falling step line.",
    )


def stability_chart(stability: Stability) -> Chart:
    """Share of each verdict by labeler, or of equal labels without true labels."""
    panel = stability.panel
    labelers = list(dict.fromkeys(panel["labeler"]))
    own = {name: panel[panel["labeler"] == name] for name in labelers}
    if "verdict" not in panel:
        rows = [IntervalRow(str(n), float(own[n]["same_labels"].mean())) for n in labelers]
        return Chart(
            intervals(rows, "share of equal labels", domain=(0, 1)),
            "How many labels other label models and seeds give alike.",
            "A dot for each label model.",
        )
    order = [str(name) for name in labelers]
    cells: list[tuple[str, str, Any]] = [
        (n, v, float((own[n]["verdict"] == v).mean())) for n in order for v in _VERDICTS
    ]
    return Chart(
        matrix(cells, title="share of seeds", order=order, columns=_VERDICTS),
        "What other label models and seeds say about the order.",
        "A matrix of verdicts by label model.",
    )


def calibration_chart(calibration: LabelCalibration) -> Chart:
    """Reliability diagram of the weak confidences."""
    curve = calibration.curve
    return Chart(
        diagram(
            curve.mean_confidence, curve.accuracy, curve.low, curve.high, across="stated confidence"
        ),
        f"Stated confidence of the weak labels against how often they are right "
        f"(off by {percent(float(calibration.ece), 1)} on average).",
        "A reliability diagram with intervals.",
    )
