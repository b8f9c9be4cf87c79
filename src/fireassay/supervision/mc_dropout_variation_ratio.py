"""Share of dropout samples that do not vote for the most frequent class."""

from dataclasses import dataclass
from typing import ClassVar

from fireassay.core.arrays import FloatArray
from fireassay.supervision.dropout_supervisor import DropoutSupervisor
from fireassay.supervision.reading import Reading


@dataclass(kw_only=True, eq=False)
class McDropoutVariationRatio(DropoutSupervisor):
    """Share of dropout samples that do not vote for the most frequent class."""

    name: ClassVar[str] = "mc-dropout-variation-ratio"

    def _score(self, reading: Reading) -> FloatArray:
        assert reading.dropout is not None
        votes = reading.dropout.votes
        shares: FloatArray = 1.0 - votes.max(axis=1) / votes.sum(axis=1)
        return shares
