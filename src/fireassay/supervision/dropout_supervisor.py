"""What the supervisors on dropout samples share."""

from dataclasses import dataclass
from typing import Any, ClassVar

from fireassay.supervision.supervisor import Supervisor


@dataclass(kw_only=True, eq=False)
class DropoutSupervisor(Supervisor):
    """Looks at the answers of ``n_samples`` networks thinned by dropout (Gal and Ghahramani 2016).

    Each sample uses one mask for all rows, so that a score does not depend on the other rows.
    """

    needs: ClassVar[tuple[str, ...]] = ("dropout",)
    n_samples: int = 100

    def _reader(self, model: Any, X: Any, y: Any) -> Any:
        from fireassay.supervision.model_reader import ModelReader

        del X, y
        return ModelReader(model, layer=self.layer, n_samples=self.n_samples, seed=self.seed)
