"""What a part of an assessment may use."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fireassay.classifiers import Classifier
from fireassay.core import Result
from fireassay.data import DataSet
from fireassay.engine import Executor


@dataclass(frozen=True)
class Context:
    """The model, the data, and what earlier parts found.

    Attributes
    ----------
    test
        Labelled rows that the model was not trained on (labels may be missing).
    train
        Rows the model was trained on, if given.
    operational
        Unlabelled rows as they occur in the field, if given.
    votes
        Weak votes of labelling functions, (rows, functions), if given; ``vote_names`` are the
        functions' names.
    groups
        For each voted row the patient or device it comes from, if rows belong together.
    results
        Results of the parts that have run before, by name.
    """

    model: Classifier
    test: DataSet
    train: DataSet | None = None
    operational: DataSet | None = None
    votes: Any = None
    vote_names: tuple[str, ...] | None = None
    groups: Any = None
    seed: int = 0
    executor: Executor = field(default_factory=Executor)
    results: Mapping[str, Result] = field(default_factory=dict)


@dataclass(frozen=True)
class Cost:
    """What a part is expected to need: rows sent to the model and labels (seconds follow)."""

    queries: int = 0
    labels: int = 0
    gradient_queries: int = 0
    extra_seconds: float = 0.0
    megabytes: float = 0.0
