"""What the first screen says besides the verdict: what not to rely on, what was not asked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from fireassay.core import Assumption, Estimate, Evidence

_FEW = 2


@dataclass(frozen=True)
class Doubt:
    """Something that a reader must not rely on, and why.

    Attributes
    ----------
    what
        Numbers or a question, as people call them.
    why
        What the data says, or what went wrong.
    part
        The question that it belongs to.

    >>> print(Doubt("discovery", "failed (disk full)", "discovery"))
    discovery: failed (disk full)
    """

    what: str
    why: str
    part: str

    def __str__(self) -> str:
        return f"{self.what}: {self.why}"


def not_to_rely_on(parts: Sequence[Evidence], accepted: Mapping[str, str]) -> list[Doubt]:
    """Numbers that the data speaks against, and answers that are broken, old or cut short."""
    found = []
    for part in parts:
        name = part.question
        if part.partial:
            found.append(Doubt(name, f"cut short ({part.partial})", name))
        elif part.status == "failed":
            found.append(Doubt(name, f"failed ({part.reason})", name))
        elif part.stale:
            found.append(Doubt(name, f"stale, made with {part.stale}", name))
        for assumption in part.assumptions:
            if assumption.status != "contradicted" or assumption.id in accepted:
                continue
            numbers = _called(part, assumption)
            if numbers:
                rest = len(numbers) - _FEW
                more = f" and {rest} more" if rest > 0 else ""
                what = f"{', '.join(numbers[:_FEW])}{more}"
                why = f"the data contradicts that {within_a_sentence(assumption.statement)}"
                found.append(Doubt(what, why, name))
    return found


def within_a_sentence(statement: str) -> str:
    """A sentence as a part of another: it begins small, unless its first word is a name.

    >>> within_a_sentence("The labels are right.")
    'the labels are right.'
    """
    second = statement[1:2]
    return statement if second.isupper() or second == " " else statement[:1].lower() + statement[1:]


def _called(part: Evidence, assumption: Assumption) -> list[str]:
    """What people call the numbers that rest on an assumption; two ends of one are one."""
    labels = [
        part.measure(number).label
        for number in part.estimates
        if assumption in part.contradicted(number)
    ]
    ends = (label.removesuffix(", at least").removesuffix(", at most") for label in labels)
    return list(dict.fromkeys(ends))


def not_answered(parts: Sequence[Evidence]) -> list[str]:
    """Questions that could not be asked, with the reason."""
    return [f"{p.question}: {p.reason}" for p in parts if p.status == "not available"]


def standing_of(part: Evidence, accepted: Mapping[str, str]) -> str:
    """What the ledger of a part says, in one line."""
    counts = {"supported": 0, "contradicted": 0, "untestable": 0}
    agreed = 0
    for assumption in part.assumptions:
        if assumption.status == "contradicted" and assumption.id in accepted:
            agreed += 1
        else:
            counts[assumption.status] += 1
    words = {
        "supported": ("holds", "hold"),
        "contradicted": ("is contradicted", "are contradicted"),
        "untestable": ("cannot be tested", "cannot be tested"),
    }
    told = [f"{count} {words[status][count != 1]}" for status, count in counts.items() if count] + (
        [f"{agreed} accepted although contradicted"] if agreed else []
    )
    return ", ".join(told)


def interval_line(part: Evidence) -> str:
    """How sure the number of a part's sentence is, and on how much it rests.

    >>> share = Estimate(0.9, 0.8, 0.95, confidence=0.95, n=50, method="Clopper-Pearson")
    >>> interval_line(Evidence("accuracy", "", estimates={"accuracy": share}, answer="accuracy"))
    '95 % interval 0.80 to 0.95, from 50 observations.'
    """
    estimate: Estimate | None = part.estimates.get(part.answer or "")
    if estimate is None:
        return ""
    measure, seen = part.measure(part.answer or ""), f"from {estimate.n:,} observations"
    sure = f"{100 * estimate.confidence:g} %"
    if estimate.kind == "bound":
        return f"{sure} confidence, {seen}."
    if estimate.kind != "interval":
        return f"Without an interval, {seen}."
    if measure.unit == "auc" and "%" in part.sentence:  # a share of pairs
        measure = replace(measure, unit="share")
    return f"{sure} interval {measure.between(estimate)}, {seen}."
