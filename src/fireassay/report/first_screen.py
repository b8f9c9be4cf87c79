"""What the first screen says besides the verdict: what not to rely on, what was not asked."""

from collections.abc import Mapping, Sequence

from fireassay.core import Evidence

_FEW = 2


def not_to_rely_on(parts: Sequence[Evidence], accepted: Mapping[str, str]) -> list[str]:
    """Numbers that the data speaks against, and answers that are broken, old or cut short."""
    found = []
    for part in parts:
        name = part.question
        if part.partial:
            found.append(f"{name}: cut short ({part.partial})")
        elif part.status == "failed":
            found.append(f"{name}: failed ({part.reason})")
        elif part.stale:
            found.append(f"{name}: stale, made with {part.stale}")
        for assumption in part.assumptions:
            if assumption.status != "contradicted" or assumption.id in accepted:
                continue
            numbers = [
                part.measure(number).label
                for number in part.estimates
                if assumption in part.contradicted(number)
            ]
            if numbers:
                shown = ", ".join(numbers[:_FEW])
                rest = len(numbers) - _FEW
                more = f" and {rest} more" if rest > 0 else ""
                found.append(f"{shown}{more}: {assumption.check}")
    return found


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
