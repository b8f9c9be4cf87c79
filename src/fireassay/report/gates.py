"""Gates: limits on numbers."""

import difflib
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Final, Literal, TypeVar

from fireassay.core import Estimate, Evidence, Measure, ParameterError
from fireassay.statistics.counts import at_least
from fireassay.statistics.numbers.number_registry import BY_NAME, standard_name

Direction = Literal["max", "min"]
# Gives a standard number by any of its names: its usual name, the number, what it is.
Ask = Callable[[str], tuple[str, Estimate, Measure]]
_STANDARD = "accuracy"  # the part that has the standard numbers
Gates = Mapping[str, Mapping[str, float]] | Iterable["Gate"]


@dataclass(frozen=True)
class Gate:
    """A limit on one number: ``number`` is ``"part.number"`` or a ``"number"`` that is unique.

    Attributes:
        number: Which number it limits.
        direction: ``"max"``: at most; ``"min"``: at least.
        limit: The limit.
    """

    number: str
    direction: Direction
    limit: float

    def __post_init__(self) -> None:
        if self.direction not in ("max", "min"):
            raise ParameterError("A gate is 'max' or 'min'.", got=repr(self.direction))
        if math.isnan(self.limit):
            raise ParameterError(f"The limit of gate '{self.number}' must be a number.", got="NaN")

    @classmethod
    def parse(cls, text: str, direction: Direction) -> "Gate":
        """A gate from the command line.

        >>> Gate.parse("reliability.pmi_upper=0.05", "max")
        Gate(number='reliability.pmi_upper', direction='max', limit=0.05)
        >>> Gate.parse("sensitivity@specificity=0.9=0.8", "min").number
        'sensitivity@specificity=0.9'
        """
        name, separator, limit = text.rpartition("=")
        try:
            return cls(name.strip(), direction, float(limit if separator else "?"))
        except ValueError as error:
            raise ParameterError(
                "A gate must look like NAME=NUMBER.", got=repr(text), do="Try --max pmi_upper=0.05"
            ) from error

    def keeps(self, value: float) -> bool:
        """Whether a value is on the right side of the limit, or on it."""
        return value <= self.limit if self.direction == "max" else value >= self.limit


def parse_gates(gates: Gates) -> tuple[Gate, ...]:
    """Gates from ``{"max": {name: limit}, "min": {name: limit}}`` or from `Gate` objects."""
    if not isinstance(gates, Mapping):
        return tuple(gates)
    unknown = set(gates) - {"max", "min"}
    if unknown:
        raise ParameterError("Gates are given under 'max' and 'min'.", got=f"{sorted(unknown)}")
    directions: tuple[Direction, ...] = ("max", "min")
    return tuple(
        Gate(name, direction, float(limit))
        for direction in directions
        for name, limit in gates.get(direction, {}).items()
    )


def check_limit(gate: Gate, measure: Measure) -> None:
    """Refuse a limit outside the range of its measure, such as 5 for a share, before it is kept."""
    if measure.unit in ("share", "auc") and not 0 <= gate.limit <= 1:
        raise ParameterError(
            f"The limit on '{gate.number}' must be a share from 0 to 1.",
            got=f"{gate.limit:g}",
            do=f"Write {gate.limit / 100:g} for {gate.limit:g} %."
            if 1 < gate.limit <= 100
            else None,
        )
    wrong = {"max": "high", "min": "low"}[gate.direction]
    if measure.better == wrong:
        side, other = ("at most", "min") if gate.direction == "max" else ("at least", "max")
        raise ParameterError(
            f"A limit must keep bad values out; of '{gate.number}' the {wrong} ones are good.",
            got=f"{side} {gate.limit:g}",
            do=f"Give it under {other}.",
        )


def usual_number(number: str, parts: Mapping[str, Evidence], asked: Ask | None) -> Evidence | str:
    """The part that has a number now, the new number last; or the name that a part has it by."""
    part = parts.get(_STANDARD)
    short = number.removeprefix(f"{_STANDARD}.")
    standard = standard_name(short)
    if part is None or part.status != "done" or standard is None or short in part.estimates:
        return number
    if asked is not None:
        name, estimate, measure = asked(short)
        if name in part.estimates:
            return f"{_STANDARD}.{name}"
        resting = (*next(iter(part.estimates.values())).rests_on, *estimate.rests_on)
        new = {name: replace(estimate, rests_on=tuple(dict.fromkeys(resting)))}
        return replace(
            part, estimates={**part.estimates, **new}, measures=(*part.measures, measure)
        )
    for other in (standard.name, *standard.aliases):  # as an older version has stored it
        stored = re.sub(r"^[a-z0-9_+-]+", other, short)
        if stored in part.estimates:
            return f"{_STANDARD}.{stored}"
    return number


def find_number(number: str, parts: Mapping[str, Evidence]) -> tuple[Evidence, str] | str:
    """The part that has a number and the number's name there, or why there is none."""
    part, separator, short = number.partition(".")
    if separator and (part in parts or not _holders(number, parts)):
        return _in_part(part, short, parts)
    holders = _holders(number, parts)
    if holders:
        return _in_part(only_one(holders, number), number, parts)
    absent = [name for name, item in parts.items() if item.status != "done"]
    if absent or not parts:
        return f"no part that ran has this number; did not run: {', '.join(absent) or 'any'}"
    raise unknown_number(number, {name: list(item.estimates) for name, item in parts.items()})


def only_one(parts: Sequence[str], number: str) -> str:
    """The one part that has a number; an error where several have it."""
    if len(parts) > 1:
        raise ParameterError(
            f"'{number}' is a number of several parts.",
            got=", ".join(parts),
            do=f"Say which one, e.g. {parts[0]}.{number}",
        )
    return parts[0]


_SHORT, _NEAREST = 3, 5
# Names from elsewhere, and the numbers here that people mean by them.
USUAL: Final[Mapping[str, Sequence[str]]] = {
    "ece": ("accuracy.calibration_error",),
    "calibration": ("accuracy.calibration_error",),
    "asr": ("survival.attack_success_rate",),
    "robustness": ("survival.robust_accuracy", "survival.attack_success_rate"),
    "adversarial_accuracy": ("survival.robust_accuracy",),
    "fpr": ("accuracy.specificity[*]", "supervision.false_alarm"),
    "false_alarm_rate": ("supervision.false_alarm",),
    "field_error": ("reliability.pmi_upper",),
    "cost": ("accuracy.expected_cost",),
    "fairness": ("accuracy.largest_gap",),
    "ood_auroc": ("supervision.auroc_*",),
}


def unknown_number(number: str, known: Mapping[str, Iterable[str]]) -> ParameterError:
    """The error for a number that nothing has, with the nearest names."""
    names = [f"{part}.{name}" for part, short in known.items() for name in short]
    shorts = {name.partition(".")[2]: name for name in names} | {name: name for name in BY_NAME}
    meant = [name for name in USUAL.get(number.rpartition(".")[2].lower(), ()) if name in names]
    within = [name for name in names if len(number) > _SHORT and number.lower() in name]
    near = difflib.get_close_matches(number, [*names, *shorts], n=3, cutoff=0.5)
    near = [shorts.get(name, name) for name in near]
    nearest = list(dict.fromkeys([*meant, *within, *near]))[:_NEAREST]
    rest = f"{len(names)} numbers are listed in docs/reference/limits.md" if names else "no numbers"
    return ParameterError(
        f"No part has the number '{number}'.",
        do=f"Nearest: {', '.join(nearest)}" if nearest else f"Nearest: {rest}.",
    )


def _holders(number: str, parts: Mapping[str, Evidence]) -> list[str]:
    having = [name for name, item in parts.items() if number in item.estimates]
    return having or [name for name, item in parts.items() if _declares(item, number)]


def _declares(item: Evidence, number: str) -> bool:
    return any(measure.matches(number) for measure in item.measures)


def _in_part(part: str, short: str, parts: Mapping[str, Evidence]) -> tuple[Evidence, str] | str:
    if part not in parts:
        return f"{part} has not run"
    item = parts[part]
    if item.status != "done":
        return f"{part} is {item.status}: {item.reason}"
    if short in item.estimates:
        return item, short
    if _declares(item, short):
        return f"{part} has no {short} in this run"
    if item.stale and part == _STANDARD and standard_name(short) is not None:
        return f"{part} is stale: {item.stale}"  # its rows, which the number needs, are gone
    raise unknown_number(f"{part}.{short}", {n: list(p.estimates) for n, p in parts.items()})


T = TypeVar("T")
_OTHER = {"_upper": "_lower", "_lower": "_upper"}
_SIDE = {"_upper": "upper bound", "_lower": "lower bound"}


@dataclass(frozen=True)
class Ends:
    """Unfavourable and favourable end of a number; None where nothing is known on that side."""

    # ``p_beyond`` is the one-sided p-value of "the number keeps its limit", ``alpha`` the error
    # probability that its own interval allows on that side.

    worst: float | None
    best: float | None
    alpha: float = 0.0
    p_beyond: float = 1.0
    words: tuple[str, str] = ("value", "value")


def ends_of(name: str, estimates: Mapping[str, Estimate], gate: Gate) -> Ends:
    """Both ends of a number as seen from a gate; ``X_upper`` has its other end in ``X_lower``."""
    estimate = estimates[name]
    if estimate.kind == "count":
        p = 1.0 if gate.keeps(estimate.value) else 0.0
        return Ends(estimate.value, estimate.value, 1.0, p)
    if estimate.kind == "bound":
        return _of_bound(name, estimates, gate)
    words = _in_order(("upper end", "lower end"), gate.direction)
    worst, best = _in_order((estimate.high, estimate.low), gate.direction)
    alpha = (1 - estimate.confidence) / 2
    exact = _exact_p(estimate, gate)
    p = _normal_p(estimate.value, best, worst, alpha, gate) if exact is None else exact
    return Ends(worst, best, alpha, p, words)


def _of_bound(name: str, estimates: Mapping[str, Estimate], gate: Gate) -> Ends:
    suffix = name[-6:] if name[-6:] in _OTHER else ""
    if not suffix:
        # A bound of an unknown side: the one that people guard is the unfavourable one.
        return Ends(estimates[name].value, None, words=("bound", ""))
    stem = name.removesuffix(suffix)
    found = {side: estimates.get(stem + side) for side in _OTHER}
    bad, good = _in_order(("_upper", "_lower"), gate.direction)
    worst, best = found[bad], found[good]
    words = (_SIDE[bad], _SIDE[good])
    if best is None or math.isnan(best.value):
        return Ends(None if worst is None else worst.value, None, words=words)
    alpha = 1 - best.confidence
    if worst is None or math.isnan(worst.value):
        return Ends(None, best.value, alpha, alpha, words)
    centre = estimates[stem].value if stem in estimates else math.nan
    if math.isnan(centre):
        z_best, z_worst = -_quantile(alpha), _quantile(worst.confidence)
        centre = best.value + (worst.value - best.value) * z_best / (z_best + z_worst)
    p = _normal_p(centre, best.value, worst.value, alpha, gate)
    return Ends(worst.value, best.value, alpha, p, words)


def _in_order(pair: tuple[T, T], direction: Direction) -> tuple[T, T]:
    return pair if direction == "max" else (pair[1], pair[0])


def _exact_p(estimate: Estimate, gate: Gate) -> float | None:
    """The binomial test behind a Clopper-Pearson interval; None for other intervals."""
    hits = estimate.value * estimate.n
    if estimate.method != "Clopper-Pearson" or abs(hits - round(hits)) > 1e-6 * estimate.n:
        return None
    if not 0 <= gate.limit <= 1:
        return 1.0 if gate.keeps(estimate.value) else 0.0
    k = round(hits)
    if gate.direction == "min":
        return at_least(estimate.n - k, estimate.n, 1 - gate.limit)
    return at_least(k, estimate.n, gate.limit)


def _normal_p(centre: float, best: float, worst: float, alpha: float, gate: Gate) -> float:
    """The interval stretched on the normal scale until it touches the limit."""
    z = -_quantile(alpha)
    half = abs(centre - best) or abs(worst - centre)
    beyond = centre - gate.limit if gate.direction == "max" else gate.limit - centre
    if half == 0 or z <= 0:
        return 0.0 if beyond > 0 else 1.0
    return 0.5 * math.erfc(beyond / half * z / math.sqrt(2)) if math.isfinite(half) else 0.5


def _quantile(share: float) -> float:
    """Of the normal distribution; none is beyond 0 and 1."""
    return NormalDist().inv_cdf(share) if 0 < share < 1 else math.copysign(math.inf, share - 0.5)


def beyond_after_holm(found: Sequence[Ends | None]) -> list[bool]:
    """Which of several numbers are beyond their limits, with Holm's correction for their number."""
    # Each p-value is measured in its own alpha; counts (alpha 1) are known, and need no correction.
    scaled = sorted(
        (ends.p_beyond / ends.alpha, position)
        for position, ends in enumerate(found)
        if ends is not None and ends.best is not None and ends.alpha < 1
    )
    rejected = [ends is not None and ends.alpha == 1 and ends.p_beyond == 0 for ends in found]
    for rank, (ratio, position) in enumerate(scaled):
        if ratio * (len(scaled) - rank) > 1:
            break
        rejected[position] = True
    return rejected
