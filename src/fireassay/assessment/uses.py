"""What a part took from other parts, said in its own evidence."""

from collections.abc import Sequence
from dataclasses import replace

from fireassay.core import Claim, Evidence


def with_uses(evidence: Evidence, uses: Sequence[str]) -> Evidence:
    """The evidence with a line on what it took from other parts; unchanged if that is nothing."""
    if not uses or evidence.status != "done":
        return evidence
    return replace(evidence, claims=(*evidence.claims, Claim(f"Uses: {'; '.join(uses)}.")))
