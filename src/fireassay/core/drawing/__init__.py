"""The few kinds of drawing that all charts are made of, as Vega-Lite dictionaries.

Text from users (names of classes, files, columns) goes into the data only, never into a field's
name nor into an expression. Numbers are rounded to six digits, endless ones left out. Each
function returns a Vega-Lite spec without theme.
"""

from fireassay.core.drawing.axes import Spec, axis, rounded
from fireassay.core.drawing.bars_and_points import bars, histogram, points
from fireassay.core.drawing.cells import field, matrix
from fireassay.core.drawing.dots import IntervalRow, grouped, intervals
from fireassay.core.drawing.lines import curves, diagram

__all__ = [
    "IntervalRow",
    "Spec",
    "axis",
    "bars",
    "curves",
    "diagram",
    "field",
    "grouped",
    "histogram",
    "intervals",
    "matrix",
    "points",
    "rounded",
]
