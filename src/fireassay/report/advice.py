"""What would settle a gate: labels still needed, or the rate that would have to be reached."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fireassay.core import Assumption, Estimate, Evidence, Measure
from fireassay.core.lazy import special
from fireassay.core.words import within_a_sentence
from fireassay.report.gates import Gate

_POWER = 0.8
GROUPS, LARGEST = "groups", "largest_group"  # the table and the number that accuracy gives
_OF_ALL_ROWS = ("error", "accuracy", "pmi", "pmi_upper", "pmi_lower")
_RECALLS = ("sensitivity", "recall")
_TOO_CLOSE = "Improve the model or change the limit: {} is too close to call."
_WILL_NOT_HELP = "Improve the model: at {} more labels will not help."
_NO_INTERVAL = "Limit another number: this one has no interval that more rows could narrow."
_MORE_GROUPS = "Label more groups (patients, devices): more rows of the same groups will not help."
_NO_SUCH = "{} has no such number here; a calibration, for example, needs probabilities."
_EXACT = 100  # so few rows are counted one by one


@dataclass(frozen=True)
class Advice:
    """One sentence with a number for a gate that did not pass.

    Attributes:
        gate: The gate that it is about.
        text: What would settle it, with numbers.
        labels: How many more labels (or rows); None where no number of them would do.
        command: What to type, or to write into the configuration; empty where it is other work.

    >>> advice = Advice(Gate("error", "max", 0.05), "at least 900 more labels", labels=900)
    >>> print(advice)
    error: at least 900 more labels
    """

    gate: Gate
    text: str
    labels: int | None = None
    command: str = ""

    def __str__(self) -> str:
        return f"{self.gate.number}: {self.text} {self.command}".rstrip()


@dataclass(frozen=True)
class SeenGroups:
    """Errors and rows of the groups behind a number, the most rows of one, and their class."""

    errors: tuple[float, ...]
    rows: tuple[float, ...]
    largest: float
    having: str = ""

    @classmethod
    def of(cls, parts: Mapping[str, Evidence], number: str) -> "SeenGroups | None":
        """As accuracy has put them down, of all rows or of a class; None where it has none."""
        family, _, name = number.removesuffix("]").partition("[")
        for part in parts.values():
            if GROUPS in part.tables and LARGEST in part.estimates:
                rows = part.tables[GROUPS].rows
                others = {str(row[3]) for row in rows if len(row) > 3} - {"", name}
                if family == "specificity" and len(others) == 1:  # of two classes
                    family, name = "sensitivity", others.pop()
                if number not in _OF_ALL_ROWS and family not in _RECALLS:
                    return None
                own = [row for row in rows if (row[3] if len(row) > 3 else "") == name]
                each = [row for row in own for _ in range(int(row[2]))]
                errors, sizes = (tuple(float(row[i]) for row in each) for i in (0, 1))
                return cls(errors, sizes, part.estimates[LARGEST].value, name) if each else None
        return None


def advise(
    gate: Gate,
    measure: Measure,
    estimates: Mapping[str, Estimate],
    groups: SeenGroups | None = None,
) -> Advice:
    """What would settle a gate on a number, computed from the number."""
    name = measure.name
    estimate, alpha = estimates[name], 0.0
    if estimate.kind == "count":
        must = f"{_relation(gate)} {measure.shown_value(gate.limit)}"
        return Advice(gate, f"It was counted, so labels change nothing: it must be {must}.")
    if estimate.kind == "interval":
        alpha = (1 - estimate.confidence) / 2
    elif estimate.kind == "bound":
        alpha = 1 - estimate.confidence
        stem = name.removesuffix("_upper").removesuffix("_lower")
        estimate = estimates[name] if stem == name else estimates.get(stem, estimate)
    if not (0 < alpha < 1 and estimate.n > 0 and math.isfinite(estimate.value)):
        return Advice(gate, _NO_INTERVAL)
    if measure.unit == "share" and 0 < gate.limit < 1:
        counted = estimate.method == "Clopper-Pearson" or estimates[name].kind == "bound"
        if groups is not None and _by_groups(estimates[name]):
            return _for_a_share(gate, measure, estimate, alpha, groups)
        if counted and not _by_groups(estimates[name]):
            return _for_a_share(gate, measure, estimate, alpha, None)
    if _by_groups(estimate) and "jackknife" not in estimate.method:
        best = estimate.low if gate.direction == "max" else estimate.high
        if gate.keeps(best):
            return Advice(gate, _MORE_GROUPS, command=_how_many_groups(gate, estimate))
        return Advice(gate, _WILL_NOT_HELP.format(measure.told(estimate)))
    return _for_an_interval(gate, measure, estimate, alpha)


def _relation(gate: Gate) -> str:
    return "at most" if gate.direction == "max" else "at least"


def _rounded_up(rows: int) -> str:
    """A number of rows in words, rounded up to two digits."""
    if rows < _EXACT:
        return f"{rows:,}"
    unit = 10 ** (len(str(rows)) - 2)
    return f"about {-(-rows // unit) * unit:,}"


def _within(value: float, gate: Gate, measure: Measure, n: int) -> str:
    """A value to reach, as exact as n rows can show it, rounded to the side that keeps it."""
    scale = 100.0 if measure.unit == "share" else 1.0
    step = scale / max(1, n)
    decimals = max(0, round(-math.log10(step))) if measure.unit == "share" else 2
    power = 10.0**decimals
    outward = math.floor if gate.direction == "max" else math.ceil
    nudge = 1e-9 if gate.direction == "max" else -1e-9
    return measure.shown_value(outward(value * scale * power + nudge) / power / scale, decimals)


def _by_groups(estimate: Estimate) -> bool:
    return "groups" in estimate.method


def _units(estimate: Estimate) -> tuple[int, str]:
    """How many groups, else rows, an interval is over, and which of both."""
    found = re.search(r"over ([\d,]+) groups", estimate.method)
    return (estimate.n, "row") if found is None else (int(found[1].replace(",", "")), "group")


def _how_many_groups(gate: Gate, estimate: Estimate) -> str:
    """The command that counts the groups for a limit on a share; empty for other numbers."""
    if not estimate.method.startswith("groups-any"):
        return ""
    limit, rate = (1 - x if gate.direction == "min" else x for x in (gate.limit, estimate.value))
    rows = max(1, round(estimate.n / _units(estimate)[0]))
    given = {"limit": f"{limit:.3g}", "rate": f"{rate:.3g}", "rows": f"{rows}"}
    told = " ".join(f"--given {name}={value}" for name, value in given.items())
    return f"fireassay plan --power groups {told}"


def _for_a_share(
    gate: Gate, measure: Measure, estimate: Estimate, alpha: float, groups: SeenGroups | None
) -> Advice:
    """In numbers of errors: a share that must be high is one whose rest must be low."""
    from fireassay.statistics.labels_needed import groups_to_pass, rows_to_pass

    high = gate.direction == "min"
    value, limit = (1 - v if high else v for v in (estimate.value, gate.limit))
    if groups is None:
        errors = round(value * estimate.n)
        found, what = rows_to_pass(errors, estimate.n, limit, alpha), "row"
    else:
        found = groups_to_pass(
            groups.errors, groups.rows, limit, alpha, largest_group=groups.largest
        )
        what = "group"
    if found.more is None:
        told = measure.told(estimate)
        if not ((estimate.high < gate.limit) if high else (estimate.low > gate.limit)):
            return Advice(gate, _TOO_CLOSE.format(told))
        return Advice(gate, _WILL_NOT_HELP.format(told) + _needed(gate, measure, estimate.n, alpha))
    more = f"1 more {what}" if found.more == 1 else f"{_rounded_up(found.more)} more {what}s"
    family, _, name = measure.name.removesuffix("]").partition("[")
    if groups is not None and groups.having:
        more += f" that have {groups.having}"
    elif groups is None and family in _RECALLS:
        more += f" of {name}"
    text = f"Label {more}: {100 * _POWER:.0f} % chance to pass, judging by what was seen."
    return Advice(gate, text, found.more, "fireassay label serve" if groups is None else "")


def _needed(gate: Gate, measure: Measure, n: int, alpha: float) -> str:
    """The share that as many new rows must show for the limit to be met, as a sentence."""
    from fireassay.statistics import clopper_pearson

    high = gate.direction == "min"
    side: Any = "lower" if high else "upper"
    ends = (clopper_pearson(hits, n, 1 - alpha, side)[0 if high else 1] for hits in range(n + 1))
    good = [hits for hits, end in enumerate(ends) if gate.keeps(float(end))]
    if not good:
        return f" {n:,} new rows are too few for this limit, whatever they show."
    reach = measure.shown_value((good[0] if high else good[-1]) / n, 0 if n <= _EXACT else 1)
    return f" To pass on {n:,} new rows, {_relation(gate)} {reach} is needed."


def _for_an_interval(gate: Gate, measure: Measure, estimate: Estimate, alpha: float) -> Advice:
    """Rows by which the interval shrinks enough, as intervals do with the root of n."""
    from fireassay.statistics.labels_needed import alpha_at_look

    z = -float(special.ndtri(alpha))
    worst = estimate.high if gate.direction == "max" else estimate.low
    n, what = _units(estimate)
    half, room = abs(worst - estimate.value), abs(gate.limit - estimate.value)
    if not (math.isfinite(half) and half > 0 and z > 0):
        return Advice(gate, _NO_INTERVAL)
    wanted = (
        (float(special.ndtri(_POWER)) - float(special.ndtri(alpha_at_look(alpha, 2)))) / z * half
    )
    if not gate.keeps(estimate.value) or room == 0:
        sign = -1 if gate.direction == "max" else 1
        target = gate.limit + sign * wanted
        beyond = target > 1 if measure.unit in ("share", "auc") else False
        if beyond or (target < 0 <= min(estimate.value, gate.limit)):
            few = f"{n:,} {what}s are too few for this limit, whatever they show."
            return Advice(gate, few)
        reach = _within(target, gate, measure, n)
        text = _WILL_NOT_HELP.format(measure.told(estimate))
        text += f" With {n:,} {what}s it must be {_relation(gate)} {reach}."
        return Advice(gate, text)
    more = max(1, math.ceil(n * ((wanted / room) ** 2 - 1)))
    text = f"Label {_rounded_up(more)} more {what}s: 80 % chance to pass, judging by what was seen."
    return Advice(gate, text, more)


def mended(broken: Assumption) -> tuple[str, str]:
    """What to do about an assumption that the data contradicts, and what to write for it."""
    said = within_a_sentence(broken.statement).partition(": ")[0].removesuffix(".")
    accept = f'[gates.accept] "{broken.id}" = "why"' if broken.id else ""
    return f"Give other data, or accept with a reason: the data contradicts that {said}.", accept


def remedy(gate: Gate, part: Evidence | None, against: Assumption | None) -> Advice:
    """What to do about a gate that no number can speak for yet."""
    name = gate.number.partition(".")[0] if part is None else part.question
    again = f"fireassay run --only {name}"
    if part is None:
        return Advice(gate, f"Run the part that has this number: {name}.", command=again)
    if part.status == "failed" and not part.partial:
        return Advice(gate, f"Mend {name}: {part.reason}", command=again)
    if part.status == "not available":
        return Advice(gate, f"Give {name} what it needs: {part.reason}.")
    if part.stale:
        return Advice(gate, f"Run {name} again: it was made with {part.stale}.", command=again)
    if part.partial:
        return Advice(gate, f"Let {name} come to its end: {part.partial}.", command=again)
    if against is not None:
        text, command = mended(against)
        return Advice(gate, text, command=command)
    if not {gate.number, gate.number.partition(".")[2]} & part.estimates.keys():
        return Advice(gate, _NO_SUCH.format(name))
    return Advice(gate, _NO_INTERVAL)
