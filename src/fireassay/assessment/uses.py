"""What a part took from other parts, and in which range it worked, said in its own evidence."""

from collections.abc import Sequence
from dataclasses import replace

from fireassay.core import Claim, Evidence


def with_uses(evidence: Evidence, uses: Sequence[str]) -> Evidence:
    """The evidence with a line on what it took from other parts; unchanged if that is nothing."""
    if not uses or evidence.status != "done":
        return evidence
    return replace(evidence, claims=(*evidence.claims, Claim(f"Uses: {'; '.join(uses)}.")))


def with_range(evidence: Evidence, found: str | None) -> Evidence:
    """The evidence with a line on the range in which inputs were changed, if they have one."""
    if found is None or evidence.status != "done":
        return evidence
    claim = Claim(f"Inputs were changed within {found}.")
    return replace(evidence, claims=(*evidence.claims, claim))
