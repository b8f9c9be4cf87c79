"""Is this a data frame? Asked without importing pandas: whoever made one has done that."""

import sys
from typing import TYPE_CHECKING, Any, TypeGuard

if TYPE_CHECKING:
    import pandas as pd


def is_frame(value: Any) -> "TypeGuard[pd.DataFrame]":
    """Whether a value is a pandas data frame.

    >>> is_frame([1, 2])
    False
    """
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, pandas.DataFrame)


def is_series(value: Any) -> "TypeGuard[pd.Series[Any] | pd.Index[Any]]":
    """Whether a value is a pandas series or index.

    >>> is_series([1, 2])
    False
    """
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, pandas.Series | pandas.Index)
