"""Verdicts on published numbers and claims, computed by rules that can come out either way."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Word = Literal["reproduced", "refuted", "other setting", "not decided", "no public data"]


@dataclass(frozen=True)
class PaperVerdict:
    """What a reader of the paper should believe, and the figure that says so.

    Attributes
    ----------
    word
        ``reproduced``: within the stated tolerance. ``refuted``: the same setting, and our
        interval excludes theirs. ``other setting``: ours differs in what ``because`` says.
        ``not decided``: our interval allows both. ``no public data``: nobody can tell.
    because
        The figures.
    """

    word: Word
    because: str

    def __str__(self) -> str:
        return f"{self.word}: {self.because}"


def equal_cells(ours: Sequence[str], theirs: Sequence[str]) -> PaperVerdict:
    """A table made with the same data and settings: every printed digit must come out.

    >>> str(equal_cells(["-0.719", "0.595"], ["-0.719", "0.595"]))
    'reproduced: 2 of 2 cells'
    """
    same = sum(own == other for own, other in zip(ours, theirs, strict=True))
    told = f"{same} of {len(theirs)} cells"
    if same == len(theirs):
        return PaperVerdict("reproduced", told)
    first = next(f"{a}, printed {b}" for a, b in zip(ours, theirs, strict=True) if a != b)
    return PaperVerdict("refuted", f"{told}; the first that differs: {first}")


def near(
    value: float,
    theirs: float,
    tolerance: float,
    interval: tuple[float, float],
    differs: str = "",
) -> PaperVerdict:
    """One number: within the tolerance, or excluded by our interval, or neither.

    Parameters
    ----------
    value, theirs
        Ours and the published number.
    tolerance
        Largest distance that counts as the same.
    interval
        Where ours may be.
    differs
        In what our setting differs from theirs, in numbers; empty if in nothing.

    >>> str(near(0.92, 0.925, 0.01, (0.91, 0.93)))
    'reproduced: 0.92, printed 0.925'
    >>> near(0.80, 0.925, 0.01, (0.78, 0.82)).word
    'refuted'
    >>> near(0.80, 0.925, 0.01, (0.60, 0.95)).word
    'not decided'
    """
    low, high = interval
    told = f"{value:.3g}, printed {theirs:.3g}"
    if abs(value - theirs) <= tolerance:
        return PaperVerdict("reproduced", told + (f" ({differs})" if differs else ""))
    told = f"{value:.3g} [{low:.3g}, {high:.3g}], printed {theirs:.3g}"
    if differs:
        return PaperVerdict("other setting", f"{told}; {differs}")
    if low <= theirs <= high:
        return PaperVerdict("not decided", told)
    return PaperVerdict("refuted", told)


def never(counterexamples: Sequence[str], tested: int, differs: str = "") -> PaperVerdict:
    """A claim that something never happens: one clear counterexample refutes it.

    ``counterexamples`` are cases in which it happened beyond chance, each with its interval.

    >>> str(never([], 18))
    'reproduced: in none of 18'
    >>> never(["SpO2 Low: AUC 0.43 [0.41, 0.45]"], 18).word
    'refuted'
    """
    if not counterexamples:
        word: Word = "other setting" if differs else "reproduced"
        return PaperVerdict(word, f"in none of {tested}" + (f"; {differs}" if differs else ""))
    told = "; ".join(counterexamples)
    return PaperVerdict("refuted", f"in {len(counterexamples)} of {tested}: {told}")


def always(held: Sequence[bool], differs: str = "") -> PaperVerdict:
    """A claim about several cases: it holds in all, in none or in some of them.

    >>> str(always([True, True, False], "rebuilt on other images"))
    'not decided: in 2 of 3; rebuilt on other images'
    """
    told = f"in {sum(held)} of {len(held)}" + (f"; {differs}" if differs else "")
    if held and all(held):
        return PaperVerdict("other setting" if differs else "reproduced", told)
    if not any(held):
        return PaperVerdict("other setting" if differs else "refuted", told)
    return PaperVerdict("not decided", told)


NO_DATA = PaperVerdict("no public data", "neither data nor models were published")
