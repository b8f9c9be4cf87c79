"""Figs. 1 to 7 of the discovery paper from stored comparisons."""

from typing import Any

from fireassay.core.chart import Chart
from fireassay.core.drawing import Spec, axis, curves, grouped, points
from fireassay.papers.pages.discovery import BEYOND
from fireassay.papers.pages.discovery_claims import COMPARED, Models, confidences

_CURVES = {
    "fig_3": ("spread", "mean spread"),
    "fig_4": ("sdr", "mean SDR"),
    "fig_5": ("utility", "Bansal and Weld's utility"),
    "fig_6": ("errors", "errors found"),
}


def figures(found: Models) -> dict[str, Chart]:
    """Those that the stored results can draw; the first two need the runner's bins and cloud."""
    drawn = {name: _curves(found, *row) for name, row in _CURVES.items()}
    drawn["fig_7"] = _confidences(found)
    if all("bins" in m for models in found.values() for m in models):
        drawn["fig_1"] = _cloud(found)
        drawn["fig_2"] = _reliability(found)
    return dict(sorted(drawn.items()))


def _curves(found: Models, number: str, title: str) -> Chart:
    panels = []
    for kind, models in found.items():
        lines = {}
        for name in (*COMPARED, *BEYOND):
            each = [m["curves"][name][number] for m in models if name in m["curves"]]
            if each:
                mean = [sum(values) / len(values) for values in zip(*each, strict=True)]
                lines[name] = (list(range(1, len(mean) + 1)), mean)
        shown = [value for _, values in lines.values() for value in values]
        panel = curves(
            lines,
            {"axis": axis("labels")},
            {"axis": axis(title), "scale": {"domain": [min(shown), max(shown)]}},
            most=50,
            width=230,
            height=200,
        )
        panels.append({"title": kind, **panel})
    return Chart(
        {"hconcat": panels},
        f"{title.capitalize()} against labels asked for, mean over replications and models. The "
        f"paper did not compare {' and '.join(BEYOND)}.",
        "Three panels with one line per search.",
    )


def _confidences(found: Models) -> Chart:
    rows = [
        (kind, name, value, value, value)
        for kind, own in confidences(found).items()
        for name, value in own.items()
    ]
    return Chart(
        grouped(rows, "mean confidence of the rows asked about"),
        "Mean confidence of the 50 rows that a search asks about.",
        "A dot per search and kind of error.",
    )


def _reliability(found: Models) -> Chart:
    panels: list[Spec] = []
    for kind, models in found.items():
        lines: dict[str, tuple[Any, Any]] = {
            f"model {m['seed'] + 1}": (
                [b["confidence"] for b in m["bins"]],
                [b["accuracy"] for b in m["bins"]],
            )
            for m in models
        }
        unit = {"scale": {"domain": [0.65, 1]}}
        panel = curves(
            lines,
            {"axis": axis("confidence", "share"), **unit},
            {"axis": axis("accuracy", "share"), "scale": {"domain": [0, 1]}},
            diagonal=True,
            points=True,
            width=200,
            height=200,
        )
        panels.append({"title": kind, **panel})
    return Chart(
        {"hconcat": panels},
        "Accuracy of predictions of the critical class by confidence: below the dashed line the "
        "model is overconfident.",
        "Three panels of lines beside a diagonal.",
    )


def _cloud(found: Models) -> Chart:
    first = next(iter(found.values()))[0]["cloud"]
    order = sorted(range(len(first["confidence"])), key=lambda i: first["confidence"][i])
    return Chart(
        points(
            first["confidence"],
            first["log_mae"],
            {"axis": axis("confidence"), "scale": {"zero": False}},
            {"axis": axis("log perturbation"), "scale": {"zero": False}},
            line=([first["confidence"][i] for i in order], [first["curve"][i] for i in order]),
        ),
        "Perturbation that changes a prediction, against its confidence, and the LOESS curve. Far "
        "below the curve are the rows that adversarial distance asks about first.",
        "A cloud of points with a curve.",
    )
