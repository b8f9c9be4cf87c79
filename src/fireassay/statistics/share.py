"""A share of rows with its exact interval."""

from fireassay.core.estimate import Estimate
from fireassay.statistics.clopper_pearson import clopper_pearson


def share(
    hits: float, n: int, confidence: float = 0.95, *, rests_on: tuple[str, ...] = ()
) -> Estimate:
    """``hits`` of ``n`` with the Clopper–Pearson interval; without rows it is not estimable.

    >>> print(share(3, 40))
    0.075 [0.016, 0.204] n=40
    """
    if n == 0:
        nan = float("nan")
        return Estimate(nan, nan, nan, confidence, 0, "Clopper-Pearson", rests_on=rests_on)
    low, high = clopper_pearson(float(hits), float(n), confidence)
    return Estimate.around(
        hits / n, low, high, confidence=confidence, n=n, method="Clopper-Pearson", rests_on=rests_on
    )
