"""Shares as people read them: one way to write "95 %"."""


def percent(share: float, decimals: int = 0) -> str:
    """A share in per cent.

    Parameters
    ----------
    share
        0.95 is 95 %.
    decimals
        Of the per cent.

    Returns
    -------
    str

    >>> percent(0.95), percent(0.0123, 1)
    ('95 %', '1.2 %')
    """
    return f"{100 * share:.{decimals}f} %"
