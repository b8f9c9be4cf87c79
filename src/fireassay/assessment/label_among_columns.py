"""Whether the label was left among the columns that the model takes."""

from typing import Any

import numpy as np

from fireassay.assessment.context import Context
from fireassay.core import Assumption, generator
from fireassay.core.frames import is_frame
from fireassay.core.percent import percent
from fireassay.statistics.label_columns import label_columns

NO_LABEL = "label-not-a-column"
_MOST_CELLS, _LEAST_ROWS, _MOST_ROWS = 2_000_000, 1000, 20_000


def label_among_columns(context: Context) -> tuple[Assumption, ...]:
    """An objection where a column of the table alone gives the label; else nothing.

    A table of many cells is looked at in some of its rows, drawn at random.
    """
    data, values = context.test, context.test.rows.values
    if data.y is None or np.ndim(values) != 2:
        return ()
    names, n = data.feature_names or data.rows.names, len(data)
    most = min(_MOST_ROWS, max(_LEAST_ROWS, _MOST_CELLS // max(1, len(names))))
    chosen = np.sort(generator(context.seed, "label among columns").permutation(n)[:most])
    columns = [_column(values, i)[chosen] for i in range(len(names))]
    found = label_columns(columns, data.labels[chosen], context.seed)
    if not found.found:
        return ()
    told = f"{percent(found.share, 1)} of {len(chosen)} rows"
    if len(found.columns) == 1:
        which = f"Column '{names[found.columns[0]]}' alone gives the label of {told}"
    else:
        listed = ", ".join(f"'{names[i]}'" for i in found.columns)
        which = f"Columns {listed} give the label of {told}, a class each"
    check = (
        f"{which}. If it was left among the features, take it out and train again; if it is known "
        f'before the label is, say so: [gates.accept] "{NO_LABEL}" = "why".'
    )
    statement = "No column that the model takes is the label, or a recoding of it."
    return (Assumption(statement, "contradicted", check, NO_LABEL),)


def _column(values: Any, place: int) -> Any:
    return values.iloc[:, place].to_numpy() if is_frame(values) else values[:, place]
