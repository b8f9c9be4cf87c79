"""One minus the largest mean probability of dropout samples."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fireassay.core.arrays import FloatArray
from fireassay.supervision.dropout_supervisor import DropoutSupervisor
from fireassay.supervision.reading import Reading


@dataclass(kw_only=True, eq=False)
class McDropoutMeanSoftmax(DropoutSupervisor):
    """One minus the largest mean probability of dropout samples."""

    name: ClassVar[str] = "mc-dropout-mean-softmax"

    def _score(self, reading: Reading) -> FloatArray:
        assert reading.dropout is not None
        return np.asarray(1.0 - reading.dropout.mean.max(axis=1))
