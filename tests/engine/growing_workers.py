"""Tasks that leave memory behind, in two workers, where every warning is an error."""

import sys
import time
import warnings

import cloudpickle
import numpy as np

from fireassay.engine import Executor

cloudpickle.register_pickle_by_value(sys.modules[__name__])


def grow(row: int) -> int:
    """Keep 340 MB in this process once, and be slow enough for that to be noticed."""
    if row == 2:
        sys.modules["numpy"].left_behind = np.ones(340 * 2**17)  # type: ignore[attr-defined]
    time.sleep(0.7)
    return row


if __name__ == "__main__":
    warnings.simplefilter("error")
    print(Executor(2, progress=False).map(grow, range(14)))  # noqa: T201
