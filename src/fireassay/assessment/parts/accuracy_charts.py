"""Pictures of accuracy: confusion matrix, classes, slices, ROC, calibration, decision curve."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from fireassay.core import Estimate
from fireassay.core.arrays import BoolArray, FloatArray
from fireassay.core.chart import Chart
from fireassay.core.drawing import IntervalRow, axis, curves, diagram, histogram, intervals, matrix
from fireassay.core.words import percent
from fireassay.statistics.calibration import stated_curve
from fireassay.statistics.loess import loess
from fireassay.statistics.numbers.confusion_numbers import class_share
from fireassay.statistics.numbers.judged_rows import JudgedRows
from fireassay.statistics.numbers.number_registry import number_of, parse_number, standard_name
from fireassay.statistics.numbers.probability_numbers import decision_curve, net_benefit
from fireassay.statistics.numbers.standard_intervals import share_ends

if TYPE_CHECKING:
    from fireassay.assessment.parts.accuracy_result import AccuracyResult

_MOST_CLASSES, _MOST_LINES = 20, 5
_BAND_POINTS, _MOST_SMOOTHED, _FEW_CELLS = 25, 5_000, 6
_BENEFIT_AT = (0.05, 0.1, 0.2, 0.3, 0.5)
_SIDE = {"scale": {"domain": [0, 1]}}


def accuracy_charts(result: AccuracyResult) -> dict[str, Chart]:
    """The charts by name; those of probabilities only where there are any."""
    rows, names = result.judged, [str(c) for c in result.classes]
    found = {}
    if len(names) <= _MOST_CLASSES:
        found["confusion matrix"] = _confusion(rows, names)
    if len(names) > 2:
        found["sensitivity"] = _sensitivities(rows, names)
    if result.slices.numbers:
        found |= _forests(result)
    if rows.probabilities is not None:
        part = rows.keeping(np.asarray(~np.isnan(rows.probabilities).any(axis=1)))
        found |= _of_probabilities(part, names, result.positive)
    curve = result.curve
    if curve is not None:  # hard labels have no confidences
        found["reliability diagram"] = Chart(
            diagram(curve.mean_confidence, curve.accuracy, curve.low, curve.high),
            "How sure it was against how often it was right; on the dashed line it is as sure "
            "as it should be.",
            "A reliability diagram with intervals.",
        )
    first = ("confusion matrix", "ROC", "calibration", "slices")
    return {
        name: chart.shown_first() if name.startswith(first) else chart
        for name, chart in found.items()
    }


def _confusion(rows: JudgedRows, names: list[str]) -> Chart:
    counts = rows.confusion
    said = [*names, "indeterminate"] if counts[:, -1].any() else names
    shares = counts / np.maximum(1, counts.sum(axis=1, keepdims=True))
    cells = [(a, b, float(shares[i, j])) for i, a in enumerate(names) for j, b in enumerate(said)]
    texts = {
        (a, b): f"{counts[i, j]:,} · {percent(float(shares[i, j]))}"
        if len(said) <= _FEW_CELLS
        else f"{counts[i, j]:,}"
        for i, a in enumerate(names)
        for j, b in enumerate(said)
    }
    body = matrix(
        cells, title="share of the row", across="answer", down="truth", order=names, columns=said,
        texts=texts,
    )  # fmt: skip
    return Chart(body, "Confusion matrix: rows, and their share of the truth.",
                 "A matrix of truths and answers with counts.")  # fmt: skip


def _sensitivities(rows: JudgedRows, names: list[str]) -> Chart:
    each = {c: class_share(rows, "sensitivity", i) for i, c in enumerate(names)}
    known = {c: e for c, e in each.items() if e.n}
    worst = sorted(known, key=lambda c: (known[c].value, known[c].low))[:_MOST_CLASSES]
    lines = [
        IntervalRow(c, e.value, e.low, e.high, text=f"{percent(e.value)} of {e.n:,}")
        for c in worst
        for e in [known[c]]
    ]
    most = f" The {len(worst)} worst of {len(names)} classes." if len(worst) < len(names) else ""
    lowest = min((known[c].low for c in worst), default=0.0)
    start = max(0.0, math.floor(10 * lowest - 1e-9) / 10)
    return Chart(
        intervals(lines, "sensitivity", domain=(start, 1.0)),
        f"Sensitivity (recall) of each class, worst first, with plain intervals.{most}",
        "A dot with an interval for each class.",
    )


def _forests(result: AccuracyResult) -> dict[str, Chart]:
    """A forest plot for each number that slices have: all rows first, then each slice."""
    found = {}
    for name, slices in result.slices.numbers.items():
        number = standard_name(name)
        assert number is not None
        whole = number_of(result.judged, parse_number(name, result.classes))
        lines = [_forest_row("all rows", whole)]
        for one in slices:
            small = " (too small)" if one.too_small else ""
            label = f"{one.column}: {one.value}{small}"
            lines.append(_forest_row(label, one.number))
        lines = [line for line in lines if math.isfinite(line.value)]
        kind = "share" if number.unit == "share" else "number"
        measure = number.measure.of(name)
        found[f"slices: {measure.label}"] = Chart(
            intervals(lines, measure.label, unit=kind, guide=whole.value),  # type: ignore[arg-type]
            f"{measure.label} by slice, with plain intervals; the dashed line is that of all rows.",
            "A forest plot: a dot with an interval for each slice.",
        )
    return found


def _forest_row(label: str, number: Estimate) -> IntervalRow:
    low, high = (v if math.isfinite(v) else None for v in (number.low, number.high))
    return IntervalRow(label, number.value, low, high, state="dot", text=f"n = {number.n:,}")


def _of_probabilities(rows: JudgedRows, names: list[str], positive: str | None) -> dict[str, Chart]:
    p, k = rows.probabilities, len(names)
    assert p is not None
    chosen = [names.index(positive)] if positive is not None else list(range(k))
    if positive is None and k == 2:
        chosen = [1]
    own = rows.margins.own
    chosen = sorted((c for c in chosen if 0 < own[c] < len(rows)), key=lambda c: own[c])
    if not chosen or k > _MOST_CLASSES:
        return {}
    shown = chosen[:_MOST_LINES]
    roc, bands, precision, precision_bands = {}, {}, {}, {}
    for c in shown:
        y, stated = rows.truth == c, p[:, c]
        roc[names[c]], precision[names[c]], ends = _ranked(rows, y, stated)
        bands[names[c]], precision_bands[names[c]] = ends
    few = f" The {len(shown)} rarest of {len(chosen)} classes." if len(chosen) > len(shown) else ""
    share = {"axis": axis("sensitivity (recall)", "share"), **_SIDE}
    found = {
        "ROC": Chart(
            curves(roc, {"axis": axis("1 − specificity", "share"), **_SIDE}, share, bands=bands,
                   diagonal=True, width=320, height=320),
            f"ROC curve; the band is a pointwise interval of the sensitivity.{few}",
            "A ROC curve with a band.",
        ),
        "precision-recall": Chart(
            curves(precision, share, {"axis": axis("PPV (precision)", "share"), **_SIDE},
                   bands=precision_bands, width=320, height=320),
            f"Precision and recall; the band is a pointwise interval of the PPV.{few}",
            "A precision-recall curve with a band.",
        ),
    }  # fmt: skip
    for c in shown[:1] if positive is not None or k == 2 else shown:
        found[f"calibration: {names[c]}"] = _calibration(rows, c, names[c])
        found[f"decision curve: {names[c]}"] = _decision(rows, c, names[c])
    return found


Line = tuple[FloatArray, FloatArray]


def _ranked(
    rows: JudgedRows, y: BoolArray, stated: FloatArray
) -> tuple[Line, Line, tuple[Line, Line]]:
    """ROC and precision at some thresholds, with pointwise intervals of sensitivity and PPV."""
    order = np.sort(stated)
    at = np.unique(np.linspace(0, len(order) - 1, _BAND_POINTS * 8).astype(np.int64))
    cuts = np.unique(np.concatenate([order[at], np.sort(stated[y])[:: max(1, y.sum() // 40)]]))[
        ::-1
    ]
    hits, alarms = (
        len(part) - np.searchsorted(np.sort(part), cuts) for part in (stated[y], stated[~y])
    )
    se, fp = hits / max(1, y.sum()), alarms / max(1, (~y).sum())
    ppv = hits / np.maximum(1, hits + alarms)
    marks = np.unique(np.linspace(0, len(cuts) - 1, _BAND_POINTS).astype(np.int64))
    ends = []
    for members, right in ((y, None), (None, y)):
        low, high = np.empty(len(marks)), np.empty(len(marks))
        for place, i in enumerate(marks):
            said = stated >= cuts[i]
            among = members if members is not None else said
            low[place], high[place] = _interval(rows, among, said if right is None else right)
        ends.append(tuple(np.interp(np.arange(len(cuts)), marks, v) for v in (low, high)))
    zero = np.zeros(1)
    roc = (np.concatenate([zero, fp]), np.concatenate([zero, se]))
    band = tuple(np.concatenate([zero, v]) for v in ends[0])
    return roc, (se, ppv), (band, ends[1])  # type: ignore[return-value]


def _interval(rows: JudgedRows, among: BoolArray, hit: BoolArray) -> tuple[float, float]:
    if rows.groups is None:
        return share_ends((hit & among).sum(), among.sum(), rows.confidence)
    hits = np.bincount(rows.groups, weights=hit & among, minlength=rows.n_units)
    sizes = np.bincount(rows.groups, weights=among, minlength=rows.n_units)
    return share_ends(hits, sizes, rows.confidence, rows.largest_group)


def _calibration(rows: JudgedRows, c: int, name: str) -> Chart:
    """Bins with intervals, a smooth curve, and the histogram of the probabilities."""
    assert rows.probabilities is not None
    y, p = rows.truth == c, rows.probabilities[:, c]
    curve = stated_curve(p, y, n_bins=10, groups=rows.groups)
    lines = {"bins": (curve.mean_confidence, curve.accuracy)}
    order = np.argsort(p, kind="stable")
    some = order[np.linspace(0, len(p) - 1, min(len(p), _MOST_SMOOTHED)).astype(np.int64)]
    if len(np.unique(p[some])) > 10:
        smooth = loess(p[some], y[some].astype(float), span=0.75, iterations=0)
        lines["smooth"] = (smooth.anchors, np.clip(smooth.values, 0.0, 1.0))
    top = curves(
        lines,
        {"axis": axis(f"probability of {name}", "share"), **_SIDE},
        {"axis": axis(f"observed share of {name}", "share"), **_SIDE},
        bands={"bins": (curve.low, curve.high)}, whiskers=True, diagonal=True, width=320,
        height=320,
    )  # fmt: skip
    bottom = {**histogram(p, f"probability of {name}", bins=20, width=320), "height": 60}
    return Chart(
        {"vconcat": [top, bottom]},
        "Calibration curve: on the dashed line probabilities are what happens. Below it the "
        "rows by probability.",
        "A calibration curve with intervals, over a histogram.",
    )


def _decision(rows: JudgedRows, c: int, name: str) -> Chart:
    """Net benefit of the model beside those of treating all and none."""
    found = decision_curve(rows, c, np.linspace(0.01, 0.99, 99).tolist())
    x = found["threshold"]
    lines = {label: (x, found[label]) for label in ("model", "treat all", "treat none")}
    ends = np.full((2, len(x)), np.nan)
    for t in _BENEFIT_AT:
        one = net_benefit(rows, c, t)
        ends[:, int(np.abs(x - t).argmin())] = one.low, one.high
    rate = float((rows.truth == c).mean())
    top = max(rate, float(np.nanmax(found["model"])))
    up = {"axis": axis("net benefit"), "scale": {"domain": [-0.2 * top, 1.1 * top], "clamp": True}}
    body = curves(
        lines, {"axis": axis(f"threshold for {name}", "share"), **_SIDE}, up,
        bands={"model": (ends[0], ends[1])}, whiskers=True,
    )  # fmt: skip
    return Chart(body, "Decision curve: above both other lines the model helps at that threshold.",
                 "Net benefit over thresholds.")  # fmt: skip
