"""Charts of curation: accuracy along the datasets, functions, scores, stability, calibration."""

from typing import TYPE_CHECKING, Any

import numpy as np

from fireassay.core import Chart
from fireassay.core.drawing import IntervalRow, Spec, axis, bars, curves, diagram, intervals, matrix
from fireassay.core.percent import percent

if TYPE_CHECKING:
    from fireassay.core.arrays import FloatArray
    from fireassay.curation.curate import Curation
    from fireassay.curation.label_calibration import LabelCalibration
    from fireassay.curation.robustness import Robustness
    from fireassay.curation.stability import Stability
    from fireassay.curation.trend import Trend

_FEW_PAIRS, _MOST_FUNCTIONS = 15, 40
_VERDICTS = ("decreasing", "none", "increasing")


def accuracy_chart(trend: "Trend") -> Chart:
    """Accuracy of the weak labels in D_1 … D_N (the paper's Figure 3)."""
    spec = _along(trend.accuracy, trend.exact_interval, "accuracy of the weak labels")
    return Chart(
        spec,
        "How often the weak labels are right in each dataset, from easy to hard, with exact 95 % "
        "intervals.",
        "A line of accuracy along the datasets, with a band.",
    )


def robustness_chart(found: "Robustness") -> Chart:
    """Agreement of a classifier with the weak labels along the datasets."""
    spec = _along(found.agreement, found.agreement_interval, "agreement with the weak labels")
    return Chart(
        spec,
        "How often the classifier says what the weak labels say, from easy to hard.",
        "A line of agreement along the datasets, with a band.",
    )


def _along(values: "FloatArray", ends: "FloatArray", title: str) -> Spec:
    numbers = np.arange(1, len(values) + 1)
    return curves(
        {title: (numbers, values)},
        {"axis": axis("dataset, from easy to hard", tickMinStep=1), "scale": {"zero": False}},
        {"axis": axis(title, "share"), "scale": {"domain": [_tenth_below(ends), 1]}},
        bands={title: (ends[:, 0], ends[:, 1])},
        points=True,
        height=220,
    )


def _tenth_below(ends: "FloatArray") -> float:
    """Where an axis of shares starts that has room for the lowest end."""
    return max(0.0, float(np.floor(10 * np.nanmin(ends) - 1e-9)) / 10)


def dependence_chart(result: "Curation") -> Chart | None:
    """Labelling functions whose votes go together: a list of pairs, or a matrix of many.

    None where no two do.
    """
    from fireassay.curation.labelling import dependence_graph

    threshold = result.settings.prune if result.settings.prune is not None else 0.5
    correlation = np.nan_to_num(result.table.pruning.correlation)
    pairs = sorted(
        dependence_graph(result.table.pruning.correlation, threshold).edges,
        key=lambda pair: -abs(correlation[pair]),
    )
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


def score_chart(result: "Curation") -> Chart:
    """Score along the order, with the ends of the datasets."""
    places = np.unique(np.linspace(0, result.n - 1, min(result.n, 400)).astype(np.int64))
    name = result.settings.order_by.replace("_", " ")
    spec = curves(
        {name: (places + 1, result.score[result.order[places]])},
        {"axis": axis("samples, from easy to hard")},
        {"axis": axis(name)},
        steps=True,
        height=200,
    )
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


def stability_chart(stability: "Stability") -> Chart:
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
    cells: list[tuple[str, str, Any]] = [
        (str(n), verdict, float((own[n]["verdict"] == verdict).mean()))
        for n in labelers
        for verdict in _VERDICTS
    ]
    return Chart(
        matrix(cells, title="share of seeds", order=[str(n) for n in labelers], columns=_VERDICTS),
        "What other label models and seeds say about the order.",
        "A matrix of verdicts by label model.",
    )


def calibration_chart(calibration: "LabelCalibration") -> Chart:
    """Reliability diagram of the weak confidences."""
    curve = calibration.curve
    return Chart(
        diagram(
            curve.mean_confidence,
            curve.accuracy,
            curve.low,
            curve.high,
            across="stated confidence",
        ),
        f"Stated confidence of the weak labels against how often they are right "
        f"(off by {percent(float(calibration.ece), 1)} on average).",
        "A reliability diagram with intervals.",
    )
