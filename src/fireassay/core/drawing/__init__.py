"""The few kinds of drawing that all charts are made of, as Vega-Lite dictionaries.

Text from users (names of classes, files, columns) goes into the data only, never into a field's
name nor into an expression. Numbers are rounded to six digits, endless ones left out.
"""

from fireassay.core.drawing.axes import Spec, axis, rounded
from fireassay.core.drawing.bars import bars, histogram
from fireassay.core.drawing.curves import curves
from fireassay.core.drawing.diagram import diagram
from fireassay.core.drawing.field import field
from fireassay.core.drawing.grouped import grouped
from fireassay.core.drawing.intervals import IntervalRow, intervals
from fireassay.core.drawing.matrix import matrix
from fireassay.core.drawing.points import points

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
