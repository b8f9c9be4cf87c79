"""Libraries that take long to import, imported when something of them is first used.

A module that takes ``pd`` from here needs ``from __future__ import annotations``, or its
annotations would use it at once.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd
    from scipy import linalg, ndimage, optimize, sparse, spatial, special, stats
    from scipy.spatial import distance
else:

    class LazyModule:
        """Stands for a module until one of its names is asked for.

        Parameters
        ----------
        name
            Of the module.

        >>> import sys
        >>> LazyModule("math").sqrt(4.0)
        2.0
        """

        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, name: str) -> Any:
            value = getattr(importlib.import_module(self._name), name)
            setattr(self, name, value)
            return value

    pd, nx = LazyModule("pandas"), LazyModule("networkx")
    linalg, ndimage, optimize, sparse, spatial, special, stats, distance = (
        LazyModule(f"scipy.{name}")
        for name in (
            "linalg",
            "ndimage",
            "optimize",
            "sparse",
            "spatial",
            "special",
            "stats",
            "spatial.distance",
        )
    )

__all__ = [
    "distance",
    "linalg",
    "ndimage",
    "nx",
    "optimize",
    "pd",
    "sparse",
    "spatial",
    "special",
    "stats",
]
