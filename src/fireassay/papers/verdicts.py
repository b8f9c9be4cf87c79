"""Verdicts on published numbers and claims, computed by rules that can come out either way."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from fireassay.papers.intervals import mean_interval
from fireassay.statistics.clopper_pearson import clopper_pearson

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


def equal_cells(
    ours: Sequence[str], theirs: Sequence[str], names: Sequence[str] = ()
) -> PaperVerdict:
    """A table made with the same data and settings: every printed digit must come out.

    ``names`` of the cells tell where the first difference is.

    >>> str(equal_cells(["-0.719", "0.595"], ["-0.719", "0.595"]))
    'reproduced: 2 of 2 cells'
    >>> str(equal_cells(["10"], ["9"], ["spam"]))
    'refuted: 0 of 1 cells; the first that differs: spam 10, printed 9'
    """
    same = sum(own == other for own, other in zip(ours, theirs, strict=True))
    told = f"{same} of {len(theirs)} cells"
    if same == len(theirs):
        return PaperVerdict("reproduced", told)
    first = next(i for i, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b)
    where = f"{names[first]} " if names else ""
    differs = f"{where}{ours[first]}, printed {theirs[first]}"
    return PaperVerdict("refuted", f"{told}; the first that differs: {differs}")


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
    told = f"{_told((value, low, high))}, printed {theirs:.3g}"
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
    'other setting: open, in 2 of 3; rebuilt on other images'
    """
    some = any(held) and not all(held)
    told = f"in {sum(held)} of {len(held)}"
    return decided(None if some else bool(held) and all(held), told, differs)


def decided(held: bool | None, because: str, differs: str = "") -> PaperVerdict:
    """A claim that was found to hold, found not to hold, or left open (None).

    Where the setting is another one, what was found there is told, and no word on theirs.

    >>> str(decided(False, "0.78 [0.68, 0.90], said to be above 1"))
    'refuted: 0.78 [0.68, 0.90], said to be above 1'
    >>> str(decided(True, "AUROC 0.94", "8,000 of 60,000 rows"))
    'other setting: holds, AUROC 0.94; 8,000 of 60,000 rows'
    """
    if differs:
        found = {True: "holds", False: "does not hold", None: "open"}[held]
        return PaperVerdict("other setting", f"{found}, {because}; {differs}")
    words: dict[bool | None, Word] = {True: "reproduced", False: "refuted", None: "not decided"}
    return PaperVerdict(words[held], because)


def sign(
    value: float, interval: tuple[float, float], positive: bool, differs: str = ""
) -> PaperVerdict:
    """An effect that is said to be positive (or negative): on which side is its interval?

    >>> sign(-0.008, (-0.015, -0.001), positive=True).word
    'refuted'
    >>> sign(0.0003, (-0.001, 0.0015), positive=False).word
    'not decided'
    """
    low, high = interval
    held = None if low <= 0 <= high else (low > 0) == positive
    return decided(held, f"{value:+.3g} [{low:.3g}, {high:.3g}]", differs)


def above(
    values: Mapping[str, tuple[float, float, float]], limit: float, differs: str = ""
) -> PaperVerdict:
    """All of several numbers are said to be above a limit: the clearest counterexample is told.

    ``values`` are value, low and high by name.

    >>> str(above({"FGM": (9.4, 7.8, 11.2), "HSJ": (0.004, 0.002, 0.007)}, 1))
    'refuted: 1 of 2 below 1, e.g. HSJ 0.004 [0.002, 0.007]'
    >>> above({"FGM": (9.4, 7.8, 11.2), "PGD": (1.1, 0.9, 1.4)}, 1).word
    'not decided'
    """
    under = {name: row for name, row in values.items() if row[2] < limit}
    over = [name for name, row in values.items() if row[1] > limit]
    if under:
        name = min(under, key=lambda key: under[key][2])
        told = f"{len(under)} of {len(values)} below {limit:g}, e.g. {name} {_told(under[name])}"
        return decided(False, told, differs)
    name = min(values, key=lambda key: values[key][1])
    told = f"{len(over)} of {len(values)} above {limit:g}, least {name} {_told(values[name])}"
    return decided(True if len(over) == len(values) else None, told, differs)


def level(hits: int, tried: int, nominal: float, differs: str = "") -> PaperVerdict:
    """A test is said to be wrong in a share ``nominal`` of cases: how often is it?

    >>> level(456, 1000, 0.05).word, level(54, 1000, 0.05).word
    ('refuted', 'reproduced')
    """
    low, high = clopper_pearson(hits, tried)
    told = f"{hits / tried:.3f} [{low:.3f}, {high:.3f}] of {tried:,}, said to be {nominal:g}"
    return decided(bool(low <= nominal), told, differs)


def near_all(
    ours: Mapping[str, Sequence[float]],
    theirs: Mapping[str, float],
    tolerance: Mapping[str, float],
    differs: str = "",
) -> PaperVerdict:
    """Several printed numbers, each from some trainings: the one farthest off decides.

    How far is counted in tolerances, since an entropy is not a share.

    >>> near_all({"top-1": [0.52, 0.54]}, {"top-1": 0.53}, {"top-1": 0.05}).word
    'reproduced'
    >>> near_all({"top-1": [0.80, 0.81, 0.82]}, {"top-1": 0.53}, {"top-1": 0.05}).word
    'refuted'
    >>> near_all({"top-1": [0.8]}, {"top-1": 0.53}, {"top-1": 0.05}).word  # one training
    'not decided'
    >>> both = {"top-1": [0.56, 0.58], "bits": [1.1, 1.1]}
    >>> near_all(both, {"top-1": 0.53, "bits": 1.0}, {"top-1": 0.05, "bits": 0.2}).because
    'farthest top-1 0.57, printed 0.53'
    """
    gaps = {n: abs(sum(v) / len(v) - theirs[n]) / tolerance[n] for n, v in ours.items()}
    worst = max(gaps, key=lambda name: gaps[name])
    values = ours[worst]
    verdict = near(
        sum(values) / len(values), theirs[worst], tolerance[worst], mean_interval(values), differs
    )
    return PaperVerdict(verdict.word, f"farthest {worst} {verdict.because}")


def as_far_as_ours(judged: Callable[[str], PaperVerdict], differs: str, own: str) -> PaperVerdict:
    """What holds, holds; what does not may come of ``own``: parts that are not theirs.

    >>> as_far_as_ours(lambda differs: decided(False, "AUROC 0.4", differs), "", "our attacks").word
    'other setting'
    >>> str(as_far_as_ours(lambda differs: decided(True, "AUROC 0.9", differs), "", "our attacks"))
    'reproduced: AUROC 0.9 (our attacks)'
    """
    verdict = judged(differs)
    if verdict.word != "reproduced":
        return judged(together(differs, own))
    return PaperVerdict("reproduced", verdict.because + (f" ({own})" if own else ""))


def together(*differences: str) -> str:
    """Several differences of settings as one; empty if there is none.

    >>> together("", "2 of 20 autoencoders", "other images")
    '2 of 20 autoencoders; other images'
    """
    return "; ".join(filter(None, differences))


def _told(row: tuple[float, float, float]) -> str:
    value, low, high = row
    if low == -math.inf and high == math.inf:
        return f"{value:.3g} (one training, no interval)"
    return f"{value:.3g}" if low == high else f"{value:.3g} [{low:.3g}, {high:.3g}]"


NO_DATA = PaperVerdict("no public data", "neither data nor models were published")
NOT_RUN = PaperVerdict("not decided", "no result stored here")
