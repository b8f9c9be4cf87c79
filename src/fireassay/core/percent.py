"""Shares and chances as people read them: one way to write "95 %", and no "1.5e-05"."""


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


def p_text(p: float) -> str:
    """A p-value in a sentence; how far it is below a thousandth says nothing more.

    >>> p_text(0.0312), p_text(1.5e-05)
    ('p = 0.031', 'p below 0.001')
    """
    return "p below 0.001" if p < 0.001 else f"p = {p:.2g}"
