"""The verdict: every limit judged; green is earned."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from fireassay.core import Assumption, Estimate, Evidence, Measure, ParameterError
from fireassay.core.words import within_a_sentence
from fireassay.report.advice import Advice, SeenGroups, advise, remedy
from fireassay.report.gates import Ends, Gate, beyond_after_holm, ends_of, find_number

Status = Literal["pass", "fail", "not enough evidence", "no limits set"]
CheckStatus = Literal["pass", "fail", "undecided"]
WORDS: dict[CheckStatus, str] = {"pass": "met", "fail": "not met", "undecided": "undecided"}
HEADS: dict[Status, str] = {
    "pass": "PASS",
    "fail": "FAIL",
    "not enough evidence": "INCONCLUSIVE",
    "no limits set": "NO LIMITS SET",
}
# What no data can show and a pass must therefore say, until somebody vouches for it.
PRESUMED = {
    "independent-rows": "if no two rows belong to one patient, device or document",
    "unseen-rows": "if the model was not trained on these rows",
    "missing-truths": "if rows without a truth are like the others",
    "largest-group": "if no group is larger than those seen",
    "rare-groups": "if no rare group is far worse than those seen",
    "absent-classes": "if classes that are absent from the test rows do not count",
    "missed-classes": "although a class is never found",
    "open-limit": "although hardly any model could break the limit",
}
# Approximations that keep no limit by themselves: the assumption must be accepted by name.
_BY_NAME = {"groups-max": "rare-groups"}
_OPEN = 0.99  # a share that hardly any number exceeds
EXIT_CODE: dict[Status, int] = {
    "pass": 0,
    "fail": 1,
    "not enough evidence": 3,
    "no limits set": 3,
}


@dataclass(frozen=True)
class GateCheck:
    """One gate judged: the number, the end of its interval that counted, and why.

    Attributes:
        status: ``"pass"``: the unfavourable end keeps the limit. ``"fail"``: even the favourable
            end breaks it. ``"undecided"``: neither, or there is no number to rely on.
        measure: What the number is; None where no part has it.
        accepted: Assumptions that the data contradicts or cannot show and somebody accepted, with
            the reason.
        presumed: Ids of assumptions that nothing shows and nobody vouches for: a pass says so.
        gate, estimate, part: The limit, its number and the part that has it.
        explanation: Which end counted, and why.

    >>> from fireassay.report import Report
    >>> error = Estimate(0.04, 0.02, 0.06, 0.95, 100, "Clopper-Pearson")
    >>> report = Report([Evidence("accuracy", "Right on 96 %.", estimates={"error": error})])
    >>> check = report.verdict({"max": {"error": 0.05}}).checks[0]
    >>> check.status  # neither 0.02 nor 0.06 settles it
    'undecided'
    """

    gate: Gate
    status: CheckStatus
    explanation: str
    estimate: Estimate | None = None
    measure: Measure | None = None
    part: str = ""
    accepted: tuple[tuple[str, str], ...] = ()
    presumed: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """What people call the number."""
        return self.measure.label if self.measure else self.gate.number

    @property
    def name(self) -> str:
        """What people call the number within a sentence."""
        said = self.measure.said if self.measure else self.gate.number
        return said.removesuffix(", at most").removesuffix(", at least")

    @property
    def word(self) -> str:
        """What became of the limit: met, not met or undecided."""
        return WORDS[self.status]

    @property
    def limit(self) -> str:
        """The limit as people read it, e.g. ``≤ 5 %``."""
        shown = self.measure or Measure.undescribed(self.gate.number)
        sign = "≤" if self.gate.direction == "max" else "≥"
        return f"{sign} {shown.shown_value(self.gate.limit)}"

    @property
    def said(self) -> str:
        """What became of the limit, as a sentence without its stop: it follows the verdict."""
        name, value, high = self.name, self.limit[2:], self.gate.direction == "max"
        if self.status == "pass":
            return f"{name} is {'at most' if high else 'at least'} {value}"
        if self.estimate is None:
            return f"{name} is not known"
        if self.status == "fail" and not self.explanation.startswith(_STRICT):
            return f"{name} is {'above' if high else 'below'} {value}"
        return f"{name} is not shown to {'stay within' if high else 'reach'} {value}"

    def __str__(self) -> str:
        return f"{self.word:<9} {self.label} ({self.limit}): {self.explanation}"


@dataclass(frozen=True)
class Verdict:
    """All gates judged together.

    ``exit_code``: 0 pass, 1 fail, 3 not enough evidence or no limits set; only a pass is true.

    Attributes:
        status: ``"pass"``, ``"fail"``, ``"not enough evidence"`` or ``"no limits set"``.
        checks: Every gate, judged.
        advice: What would settle those that did not pass.
        failed_parts: Parts that broke.
        reserved: Why limits that are met are no pass yet; empty where nothing is in the way.
        lock, lock_state: Whether the limits were there before the first look: a sentence, and
            ``"locked"``, ``"first look"``, ``"exploratory"`` or ``"broken"``; empty where nothing
            is known.
        model, model_state: Whether the model is still the one that was judged: a sentence, and
            ``"same"``, ``"other"``, ``"no answer"``, ``"not compared"`` or ``"recorded"``.
    """

    status: Status
    checks: tuple[GateCheck, ...]
    advice: tuple[Advice, ...] = ()
    failed_parts: tuple[str, ...] = ()
    lock: str = ""
    lock_state: str = ""
    reserved: str = ""
    model: str = ""
    model_state: str = ""

    @property
    def said(self) -> tuple[str, ...]:
        """What is to be known of the limits and of the model, a sentence each."""
        return tuple(filter(None, (self.lock, self.model)))

    @property
    def exit_code(self) -> int:
        """What ``fireassay check`` exits with."""
        return EXIT_CODE[self.status]

    def __bool__(self) -> bool:
        return self.status == "pass"

    @property
    def headline(self) -> str:
        """The verdict in one line."""
        head = HEADS[self.status]
        n, told = len(self.checks), []
        counts = {state: sum(c.status == state for c in self.checks) for state in WORDS}
        first = "fail" if counts["fail"] else "undecided"
        worst = next((check for check in self.checks if check.status == first), None)
        if worst is not None:
            told.append(f"{worst.said}.")
            if n > 1:
                rest = [f"{counts[s]} {WORDS[s]}" for s in ("fail", "undecided") if counts[s]]
                told.append(f"Of {n} limits: {', '.join(rest)}.")
        elif n:
            met = "the limit is met" if n == 1 else f"all {n} limits are met"
            open_ = {each for check in self.checks for each in check.presumed}
            when = " and ".join(said for each, said in PRESUMED.items() if each in open_)
            told.append(f"{met}, {when}." if when else f"{met}.")
            if self.reserved:
                told.append(f"But {self.reserved}.")
        else:
            told.append("nothing here is a pass.")
        if self.failed_parts:
            told.append(f"Failed: {', '.join(self.failed_parts)}.")
        return f"{head}: {' '.join(told)}"

    def _repr_html_(self) -> str:
        """Shown in notebooks."""
        from fireassay.report.report import verdict_html

        return verdict_html(self)

    def __str__(self) -> str:
        lines = [self.headline, *(f"  {check}" for check in self.checks)]
        return "\n".join([*lines, *(f"  {item}" for item in self.advice)])


def judge(
    evidence: Iterable[Evidence],
    gates: Iterable[Gate],
    accept: Mapping[str, str] | None = None,
    *,
    strict: bool = False,
) -> Verdict:
    """Judge every gate; a failure outranks missing evidence, which outranks a pass."""
    # Several gates need no correction to pass, because all must hold; to fail they are corrected by
    # Holm, so that many good numbers do not make a bad one by chance.
    accepted = _checked_reasons(accept or {})
    parts = {item.question: item for item in evidence}
    looked = [_look(gate, parts, accepted) for gate in gates]
    beyond = beyond_after_holm([ends for _, ends in looked])
    judged = [
        check if ends is None else _judged(check, ends, sure, len(looked))
        for (check, ends), sure in zip(looked, beyond, strict=True)
    ]
    advice = tuple(
        _settled_by(check, ends, parts, accepted)
        for check, (_, ends) in zip(judged, looked, strict=True)
        if check.status != "pass"
    )
    if strict:
        judged = [_strict(check) for check in judged]
    failed_parts = tuple(name for name, item in parts.items() if item.status == "failed")
    return Verdict(overall(judged, failed_parts), tuple(judged), advice, failed_parts)


def _settled_by(
    check: GateCheck,
    ends: Ends | None,
    parts: Mapping[str, Evidence],
    accepted: Mapping[str, str],
) -> Advice:
    """What would settle a gate that did not pass: a number of labels, or something to do."""
    if ends is not None and check.measure is not None:
        groups = SeenGroups.of(parts, check.measure.name)
        return advise(check.gate, check.measure, parts[check.part].estimates, groups)
    name = check.part or check.gate.number.partition(".")[0]
    part = parts.get(name)
    against = None
    if part is not None and check.part:
        short = check.measure.name if check.measure else ""
        against = next((a for a in part.contradicted(short) if a.id not in accepted), None)
    return remedy(check.gate, part, against)


def overall(checks: Sequence[GateCheck], failed_parts: Sequence[str]) -> Status:
    """The status of all gates together: a failure outranks missing evidence, that a pass."""
    found = {check.status for check in checks}
    if not checks:
        return "no limits set"
    if "fail" in found:
        return "fail"
    return "not enough evidence" if "undecided" in found or failed_parts else "pass"


def _checked_reasons(accept: Mapping[str, str]) -> Mapping[str, str]:
    for name, reason in accept.items():
        if not isinstance(reason, str) or not reason.strip():
            raise ParameterError(
                f"Accepting the assumption '{name}' needs a reason.",
                got=repr(reason),
                do=f'Say why, e.g. "{name}" = "one row per patient, see protocol 7"',
            )
    return accept


def _look(
    gate: Gate, parts: Mapping[str, Evidence], accepted: Mapping[str, str]
) -> tuple[GateCheck, Ends | None]:
    """The check of a gate as undecided, with the number's ends if they can be relied on."""
    found = find_number(gate.number, parts)
    if isinstance(found, str):
        return GateCheck(gate, "undecided", found), None
    part, name = found
    estimate = part.estimates[name]
    contradicted = part.contradicted(name)
    open_ = [a.id for a in part.assumptions if a.status == "untestable" and a.id in PRESUMED]
    unshown = [each for each in open_ if each in estimate.rests_on]
    unshown += ["open-limit"] * _is_open(gate, part.measure(name))
    check = GateCheck(
        gate,
        "undecided",
        "",
        estimate,
        part.measure(name),
        part.question,
        tuple(
            (each, accepted[each])
            for each in [*(a.id for a in contradicted), *unshown]
            if each in accepted
        ),
        tuple(each for each in unshown if each not in accepted),
    )
    reason = _why_not(part, check, [a for a in contradicted if a.id not in accepted])
    if reason:
        return replace(check, explanation=reason), None
    return check, ends_of(name, part.estimates, gate)


def _is_open(gate: Gate, measure: Measure) -> bool:
    """Whether a limit lies at the end of its number's range, where it keeps nothing out."""
    if measure.unit not in ("share", "auc"):
        return False
    return gate.limit >= _OPEN if gate.direction == "max" else gate.limit <= 1 - _OPEN


def _why_not(part: Evidence, check: GateCheck, against: Sequence[Assumption]) -> str:
    """Why no limit can be judged by this number; empty where one can."""
    estimate = check.estimate
    assert estimate is not None  # a check of a number that was found
    if part.stale:
        return f"stale, made with {part.stale}"
    if part.partial:
        return f"partial: {part.partial}"
    if against:
        which = f" ({against[0].id})" if against[0].id else ""
        said = within_a_sentence(against[0].statement).removesuffix(".")
        return f"the data contradicts that {said}{which}"
    if (needed := _BY_NAME.get(estimate.method)) in check.presumed:
        return f"it holds only {PRESUMED[str(needed)]}; accept it by name ({needed})"
    if any(math.isnan(value) for value in (estimate.value, estimate.low, estimate.high)):
        return "the number is not estimable"
    no_width = estimate.kind == "interval" and estimate.low == estimate.high
    return "the number has no interval" if estimate.kind == "point" or no_width else ""


def _judged(check: GateCheck, ends: Ends, sure: bool, n_gates: int) -> GateCheck:
    gate = check.gate
    measure = check.measure or Measure.undescribed(gate.number)
    shown = measure.shown_value
    digits = None if check.estimate is None else measure.decimals(check.estimate)
    worst, best = (
        "none" if end is None else _short(end, gate, measure, digits, side)
        for end, side in zip((ends.worst, ends.best), ends.words, strict=True)
    )
    limit = shown(gate.limit)
    accepted = "".join(f"; accepted: {name} ({reason})" for name, reason in check.accepted)
    status: CheckStatus = "undecided"
    if ends.worst is not None and gate.keeps(ends.worst):
        status, why = "pass", f"its {ends.words[0]} is {worst}"
        why += "".join(f"; {PRESUMED[each]}" for each in check.presumed)
    elif ends.best is None:
        if ends.worst is None:
            other = "an upper" if gate.direction == "max" else "a lower"
            why = f"it has no {ends.words[0]}, which {other} limit is judged by"
        else:
            why = f"its {ends.words[0]} is {worst}; there is no bound from the other side"
    elif gate.keeps(ends.best):
        low, high = (best, worst) if gate.direction == "max" else (worst, best)
        span = f"between {low} and {high}" if ends.worst is not None else f"beyond {best}"
        why = f"the limit {limit} lies {span}"
    elif sure:
        even = "" if ends.best == ends.worst else "even "
        status, why = "fail", f"{even}its {ends.words[1]} is {best}"
    else:
        why = (
            f"its {ends.words[1]} is {best}, which may be chance with {n_gates} limits checked at "
            "once"
        )
    return replace(check, status=status, explanation=why + accepted)


def _short(value: float, gate: Gate, measure: Measure, digits: int | None, side: str) -> str:
    """As many digits as the interval allows, more near the limit; bounds rounded to their side."""
    scale = 100.0 if measure.unit == "share" else 1.0
    outward = {"upper bound": math.ceil, "lower bound": math.floor}.get(side)
    for decimals in range(0 if digits is None else digits, 12):
        power = 10.0**decimals
        if outward is None or not math.isfinite(value):
            short = round(value * scale, decimals) / scale
        else:
            nudge = 1e-9 if outward is math.floor else -1e-9
            short = outward(value * scale * power + nudge) / power / scale
        if gate.keeps(short) == gate.keeps(value) and (short != gate.limit or value == short):
            return measure.shown_value(short, decimals)
    return measure.shown_value(value)


_STRICT = "undecided (strict)"


def _strict(check: GateCheck) -> GateCheck:
    if check.status != "undecided":
        return check
    return replace(check, status="fail", explanation=f"{_STRICT}: {check.explanation}")
