"""Findings on published numbers and claims, computed by rules that can come out either way."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from fireassay.papers.intervals import mean_interval
from fireassay.statistics.counts import clopper_pearson

Finding = Literal["agrees", "differs", "open"]
Setting = Literal["theirs", "theirs, retrained", "theirs, as printed", "ours"]


@dataclass(frozen=True)
class PaperVerdict:
    """What was found on one number or claim, and in whose setting.

    Attributes:
        finding: ``agrees``: within the stated tolerance, or the claim holds. ``differs``: our
            interval excludes what they say. ``open``: our interval allows both, or nothing is
            stored.
        because: The figures.
        differs: In what our setting differs from theirs, in numbers; empty if in nothing.
        retrained: Their data and recipe, with the model trained here.
        printed: A sentence of theirs beside the numbers that they print.
    """

    finding: Finding
    because: str
    differs: str = ""
    retrained: bool = False
    printed: bool = False

    @property
    def setting(self) -> Setting:
        """Whose setting it is."""
        if self.differs:
            return "ours"
        if self.printed:
            return "theirs, as printed"
        return "theirs, retrained" if self.retrained else "theirs"

    def __str__(self) -> str:
        return f"{self.finding}: {self.because}"


def equal_cells(
    ours: Sequence[str], theirs: Sequence[str], names: Sequence[str] = ()
) -> PaperVerdict:
    """A table made with the same data and settings: every printed digit must come out.

    ``names`` of the cells tell where the first difference is.

    >>> str(equal_cells(["-0.719", "0.595"], ["-0.719", "0.595"]))
    'agrees: 2 of 2 cells'
    >>> str(equal_cells(["10"], ["9"], ["spam"]))
    'differs: 0 of 1 cells; the first that differs: spam 10, printed 9'
    """
    same = sum(own == other for own, other in zip(ours, theirs, strict=True))
    told = f"{same} of {len(theirs)} cells"
    if same == len(theirs):
        return PaperVerdict("agrees", told)
    first = next(i for i, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b)
    where = f"{names[first]} " if names else ""
    other = f"{where}{ours[first]}, printed {theirs[first]}"
    return PaperVerdict("differs", f"{told}; the first that differs: {other}")


def near(
    value: float,
    theirs: float,
    tolerance: float,
    interval: tuple[float, float],
    differs: str = "",
) -> PaperVerdict:
    """One number: within the tolerance, or excluded by our interval, or neither.

    Args:
        value, theirs: Ours and the published number.
        tolerance: Largest distance that counts as the same.
        interval: Where ours may be.
        differs: In what our setting differs from theirs, in numbers; empty if in nothing.

    >>> str(near(0.92, 0.925, 0.01, (0.91, 0.93)))
    'agrees: 0.92, printed 0.925'
    >>> near(0.80, 0.925, 0.01, (0.78, 0.82)).finding
    'differs'
    >>> near(0.80, 0.925, 0.01, (0.60, 0.95)).finding
    'open'
    """
    low, high = interval
    if abs(value - theirs) <= tolerance:
        return PaperVerdict("agrees", f"{value:.3g}, printed {theirs:.3g}", differs)
    told = f"{_told((value, low, high))}, printed {theirs:.3g}"
    return PaperVerdict("open" if low <= theirs <= high else "differs", told, differs)


def never(counterexamples: Sequence[str], tested: int, differs: str = "") -> PaperVerdict:
    """A claim that something never happens: one clear counterexample refutes it.

    ``counterexamples`` are cases in which it happened beyond chance, each with its interval.

    >>> str(never([], 18))
    'agrees: in none of 18'
    >>> never(["SpO2 Low: AUC 0.43 [0.41, 0.45]"], 18).finding
    'differs'
    """
    if not counterexamples:
        return PaperVerdict("agrees", f"in none of {tested}", differs)
    told = "; ".join(counterexamples)
    return PaperVerdict("differs", f"in {len(counterexamples)} of {tested}: {told}", differs)


def always(held: Sequence[bool], differs: str = "") -> PaperVerdict:
    """A claim about several cases: it holds in all, in none or in some of them.

    >>> str(always([True, True, False], "rebuilt on other images"))
    'open: in 2 of 3'
    """
    some = any(held) and not all(held)
    told = f"in {sum(held)} of {len(held)}"
    return decided(None if some else bool(held) and all(held), told, differs)


def decided(held: bool | None, because: str, differs: str = "") -> PaperVerdict:
    """A claim that was found to hold, found not to hold, or left open (None).

    >>> str(decided(False, "0.78 [0.68, 0.90], said to be above 1"))
    'differs: 0.78 [0.68, 0.90], said to be above 1'
    >>> decided(True, "AUROC 0.94", "8,000 of 60,000 rows").setting
    'ours'
    """
    findings: dict[bool | None, Finding] = {True: "agrees", False: "differs", None: "open"}
    return PaperVerdict(findings[held], because, differs)


def sign(
    value: float, interval: tuple[float, float], positive: bool, differs: str = ""
) -> PaperVerdict:
    """An effect that is said to be positive (or negative): on which side is its interval?

    >>> sign(-0.008, (-0.015, -0.001), positive=True).finding
    'differs'
    >>> sign(0.0003, (-0.001, 0.0015), positive=False).finding
    'open'
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
    'differs: 1 of 2 below 1, e.g. HSJ 0.004 [0.002, 0.007]'
    >>> above({"FGM": (9.4, 7.8, 11.2), "PGD": (1.1, 0.9, 1.4)}, 1).finding
    'open'
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

    >>> level(456, 1000, 0.05).finding, level(54, 1000, 0.05).finding
    ('differs', 'agrees')
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

    >>> near_all({"top-1": [0.52, 0.54]}, {"top-1": 0.53}, {"top-1": 0.05}).finding
    'agrees'
    >>> near_all({"top-1": [0.80, 0.81, 0.82]}, {"top-1": 0.53}, {"top-1": 0.05}).finding
    'differs'
    >>> near_all({"top-1": [0.8]}, {"top-1": 0.53}, {"top-1": 0.05}).finding  # one training
    'open'
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
    return PaperVerdict(verdict.finding, f"farthest {worst} {verdict.because}", differs)


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


NOT_RUN = PaperVerdict("open", "no result stored here", "nothing was run")
