"""Fitted supervisors as one small file without pickles, for run time."""

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fireassay.core import codec
from fireassay.core.errors import DataError, ParameterError
from fireassay.supervision.alarm_threshold import AlarmRule
from fireassay.supervision.registry import make
from fireassay.supervision.supervisor import Supervisor


@dataclass(frozen=True)
class SavedSupervisor:
    """What is in the file; models (and ensemble members) are not."""

    name: str
    parameters: dict[str, Any]
    state: dict[str, Any]
    rule: AlarmRule | None
    feature_names: tuple[str, ...] | None = None


def save(supervisor: Supervisor, path: str | Path) -> Path:
    """Write a fitted supervisor, with its alarm threshold if it has one."""
    if not hasattr(supervisor, "state_"):
        raise ParameterError("Only a fitted supervisor can be saved.", got="one before fit")
    parameters = {
        name: value
        for name, value in supervisor.get_params().items()
        if name not in ("members", "train")
    }
    rule = getattr(supervisor, "rule_", None)
    names = supervisor.feature_names_
    return codec.save(
        SavedSupervisor(supervisor.name, parameters, supervisor.state_, rule, names), path
    )


def load(path: str | Path, model: Any = None) -> Supervisor:
    """Read a supervisor; with ``model`` it is attached to it, ready to score.

    Raises
    ------
    DataError
        For a file that is not a saved supervisor.

    Parameters
    ----------
    path
        What ``supervisor.save`` wrote.
    model
        The classifier to watch.

    >>> import tempfile
    >>> model = lambda X: [[1 - x, x] for x, in X]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = make("max-softmax").fit(model, [[0.1]]).save(Path(folder) / "watch.json")
    ...     again = load(path, model)
    >>> again.score([[0.25]]).tolist()  # the largest probability is 0.75
    [0.25]
    """
    saved = codec.load(path)
    if not isinstance(saved, SavedSupervisor):
        raise DataError(f"Expected a saved supervisor at {path}.", got=type(saved).__name__)
    supervisor = make(saved.name, **saved.parameters)
    supervisor.state_ = saved.state
    supervisor.rule_ = saved.rule
    supervisor.feature_names_ = saved.feature_names
    return supervisor if model is None else supervisor.attach(model)


def described(supervisor: Supervisor) -> dict[str, Any]:
    """Name, parameters, needs and alarm rule, as plain types."""
    rule = getattr(supervisor, "rule_", None)
    return {
        "supervisor": supervisor.name,
        "needs": list(supervisor.needs),
        "parameters": {
            name: value
            for name, value in supervisor.get_params().items()
            if name not in ("members", "train")
        },
        "rule": None if rule is None else dataclasses.asdict(rule),
    }
