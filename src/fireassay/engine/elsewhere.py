"""How long tasks have worked in other processes, on this machine and on a cluster."""


class Elsewhere:
    """A sum that only grows: what it was before some work is taken off after it.

    >>> found = Elsewhere()
    >>> found.add(0.5)
    >>> found.seconds
    0.5
    """

    def __init__(self) -> None:
        self.seconds = 0.0

    def add(self, seconds: float) -> None:
        """A task that another process has done."""
        self.seconds += seconds


ELSEWHERE = Elsewhere()
