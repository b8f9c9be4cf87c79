"""What the supervisors on deep ensembles share."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from fireassay.core.errors import ParameterError
from fireassay.core.seeds import derived_seed
from fireassay.core.validation import check_integer
from fireassay.engine import Executor
from fireassay.supervision.supervisor import Supervisor

Recipe = Callable[[Any, Any, int], Any]


@dataclass(kw_only=True, eq=False)
class EnsembleSupervisor(Supervisor):
    """Looks at the answers of several models (Lakshminarayanan et al. 2017).

    Parameters
    ----------
    members
        The models, at least two.
    train
        Instead of ``members``: a function ``recipe(X, y, seed) -> model``, called in ``fit``.
    n_members
        How many models to train; the literature uses 5 to 20.
    """

    needs: ClassVar[tuple[str, ...]] = ("ensemble",)
    members: Sequence[Any] | None = None
    train: Recipe | None = None
    n_members: int = 20

    def _reader(self, model: Any, X: Any, y: Any) -> Any:
        from fireassay.supervision.model_reader import ModelReader

        members = self.members
        if members is None and self.train is not None and X is not None:
            members = train_members(self.train, X, y, self.n_members, self.seed)
        self.members_ = members
        return ModelReader(model, layer=self.layer, members=members, seed=self.seed)


def train_members(
    train: Recipe, X: Any, y: Any, n_members: int, seed: int, executor: Executor | None = None
) -> list[Any]:
    """Models of one recipe that differ in their seed alone."""
    check_integer(n_members, "n_members", low=2)
    if not callable(train):
        raise ParameterError(
            "The 'train' parameter must be a function (X, y, seed) -> model.", got=repr(train)
        )
    seeds = [derived_seed(seed, "ensemble", i) for i in range(n_members)]
    if executor is None:
        return [train(X, y, own) for own in seeds]
    return executor.map(_member, seeds, {"train": train, "X": X, "y": y}, name="train members")


def _member(seed: int, train: Recipe, X: Any, y: Any) -> Any:
    return train(X, y, seed)
