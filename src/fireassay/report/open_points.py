"""What must not be relied on, and which questions are not answered."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from fireassay.core import Assumption, Evidence
from fireassay.core.words import within_a_sentence

_FEW = 2
# What each question needs, where it was not asked.
OPENS: Final = {
    "accuracy": "labelled test rows",
    "curation": "field rows and functions that label them",
    "ambiguity": "images, or training rows for a generator",
    "supervision": "training rows, or a model whose layers can be read",
    "discovery": "field rows without labels, and people who label",
    "reliability": "labelled rows from the field",
    "survival": "labelled rows and their smallest and largest values",
}
QUESTIONS: Final = tuple(OPENS)
_HOW: Final = "give one with fireassay init --model MODEL --data DATA"
NEEDS_A_MODEL: Final = f"needs a model that can be asked; {_HOW}"
_USUAL: Final = {"survival": "attacks", "ambiguity": "ambiguity", "supervision": "monitor"}


@dataclass(frozen=True)
class Doubt:
    """Something that a reader must not rely on, and why."""

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
                said = within_a_sentence(assumption.statement).partition(": ")[0].removesuffix(".")
                why = f"the data contradicts that {said}."
                found.append(Doubt(what, why, name))
    return found


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
    """Questions that could not be answered, with the reason, and those that were not asked."""
    reasons: dict[str, list[str]] = {}
    for part in parts:
        if part.status == "not available":
            reasons.setdefault(part.reason, []).append(part.question)
    told = []
    unasked = reasons.pop(NEEDS_A_MODEL, [])
    if unasked:
        names = [usual for name, usual in _USUAL.items() if name in unasked]
        names += [name for name in unasked if name not in _USUAL]
        told = [f"Not asked (needs the model): {', '.join(names)}; {_HOW}"]
    told += [f"{', '.join(names)}: {reason}" for reason, names in reasons.items()]
    asked = {part.question for part in parts}
    if not asked & set(QUESTIONS):
        return told
    return told + [
        f"{name}: not asked; it takes {needs}" for name, needs in OPENS.items() if name not in asked
    ]
