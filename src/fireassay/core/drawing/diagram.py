"""A reliability diagram: how sure against how often right."""

from typing import Any

from fireassay.core.drawing.axes import Spec, axis
from fireassay.core.drawing.curves import curves

_SIDE = 220


def diagram(
    confidence: Any,
    share: Any,
    low: Any,
    high: Any,
    *,
    across: str = "confidence",
    up: str = "how often right",
) -> Spec:
    """Bins with their intervals; on the dashed line it is as sure as it should be.

    Parameters
    ----------
    confidence, share
        Mean confidence of each bin, and the share of right answers in it.
    low, high
        The interval of the share.
    across, up
        Titles of the axes.

    Returns
    -------
    dict
        A Vega-Lite spec without theme.

    >>> diagram([0.9], [0.8], [0.7], [0.9])["data"]["values"][0]["low"]
    0.7
    """
    side = {"scale": {"domain": [0, 1]}}
    return curves(
        {up: (confidence, share)},
        {"axis": axis(across, "share"), **side},
        {"axis": axis(up, "share"), **side},
        bands={up: (low, high)},
        whiskers=True,
        points=True,
        diagonal=True,
        width=_SIDE,
        height=_SIDE,
    )
