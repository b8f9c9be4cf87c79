"""Fig. 3 of the curation paper from the stored case studies."""

from collections.abc import Sequence
from typing import Any

from fireassay.core.chart import Chart
from fireassay.core.drawing import axis, curves
from fireassay.papers.case_studies import CASES, COLUMNS

_LABELERS = {"majorityvote": "majority vote", "snorkel": "Snorkel"}


def figure_3(cells: Sequence[dict[str, Any]]) -> Chart:
    """Accuracy of the ten datasets by approach, one panel per case study and label model."""
    panels = []
    for case, about in CASES.items():
        for labeler, title in _LABELERS.items():
            lines = {
                COLUMNS[c["approach"]]: (
                    list(range(1, len(c["authors_accuracy"]) + 1)),
                    c["authors_accuracy"],
                )
                for c in cells
                if (c["case"], c["labeler"]) == (case, labeler)
            }
            if lines:
                shown = [value for _, values in lines.values() for value in values]
                scale = {"domain": [min(shown) - 0.02, max(shown) + 0.02], "nice": False}
                panel = curves(
                    lines,
                    {"axis": axis("dataset", tickMinStep=1)},
                    {"axis": axis("accuracy of weak labels", "share"), "scale": scale},
                    width=190, height=130,
                )  # fmt: skip
                panels.append({"title": f"{about.title}, {title}", **panel})
    return Chart(
        {"concat": panels, "columns": 2},
        "Accuracy of the weak labels of D₁ to D₁₀ by approach, in the authors' order of ties: a "
        "falling line is an adversarial order, a rising one the contrary.",
        "Two columns of small panels with four lines each.",
    )
