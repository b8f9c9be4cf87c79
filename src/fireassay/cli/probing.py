"""Whether the model of a single question gives the same answer twice."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fireassay.core.evidence import Evidence


def probed(evidence: "Evidence", model: Any, X: Any) -> "Evidence":
    """The evidence with the assumption that the model answers the same twice, tried on rows."""
    from fireassay.assessment.reproducibility import same_twice, with_reproducibility

    return with_reproducibility(evidence, same_twice(model, X))


def unprobed(evidence: "Evidence", why: str) -> "Evidence":
    """The evidence with that assumption, not tried."""
    from fireassay.assessment.reproducibility import not_probed, with_reproducibility

    return with_reproducibility(evidence, not_probed(why))


def probe_words(model: Any, X: Any) -> dict[str, str]:
    """What was found, for answers that are no evidence: status and check of the assumption."""
    from fireassay.assessment.reproducibility import not_probed, same_twice

    found = not_probed("no model was asked") if model is None else same_twice(model, X)
    return {"status": found.status, "check": found.check}
