"""What a part of an assessment may use."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from fireassay.assessment.decision import Decision
from fireassay.classifiers import Classifier
from fireassay.core import Assumption, Result, sha256
from fireassay.data import DataSet, NaturalRange
from fireassay.engine import Executor
from fireassay.version import __version__

HARD_LABELS = (
    "the model answers with labels alone (every probability it gave is 0 or 1), so {} cannot be "
    "asked; give its probabilities"
)


@dataclass(frozen=True)
class Context:
    """The model, the data, and what earlier parts found.

    Attributes
    ----------
    test
        Labelled rows that the model was not trained on (labels may be missing); its own
        ``groups`` say which of them belong together.
    train
        Rows the model was trained on, if given.
    operational
        Rows as they occur in the field, if given (labels, if any, are bought one by one).
    votes
        Weak votes of labelling functions, (rows, functions), if given; ``vote_names`` are the
        functions' names.
    groups
        For each voted row the patient or device it comes from, if rows belong together.
    decision
        The operating rule, which ``model`` follows already, and the costs of mistakes.
    results
        Results of the parts that have run before, by name.
    notes
        What was found at the door and has to be said (see `at_the_door`).
    doubts
        Assumptions about the test rows that every number on them rests on.
    hard_labels
        Whether the model was seen to answer with labels alone.
    normalisation
        Mean and standard deviation of each channel, if images were normalised with them.
    perturb
        ``perturb(text, rng)`` gives changed texts that mean the same, if somebody wrote it.
    door_rows
        The most rows that the look at the door asks about, where somebody waits for it.
    """

    model: Classifier
    test: DataSet
    train: DataSet | None = None
    operational: DataSet | None = None
    votes: Any = None
    vote_names: tuple[str, ...] | None = None
    groups: Any = None
    decision: Decision = field(default_factory=Decision)
    seed: int = 0
    executor: Executor = field(default_factory=Executor)
    results: Mapping[str, Result] = field(default_factory=dict)
    known: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    doubts: tuple[Assumption, ...] = ()
    hard_labels: bool = False
    normalisation: tuple[tuple[float, ...], tuple[float, ...]] | None = None
    perturb: Callable[[str, np.random.Generator], Sequence[str]] | None = None
    door_rows: int | None = None

    @cached_property
    def natural_range(self) -> NaturalRange | None:
        """The range that pixels or signals naturally have; None for tables, texts and tokens."""
        X = self.test.X
        if X.ndim < 3 or not self.test.rows.is_plain:
            return None
        if self.normalisation is not None:
            return NaturalRange.normalised(*self.normalisation, X)
        if self.model.bounds is not None:
            return NaturalRange.declared(self.model.bounds)
        return NaturalRange.seen(X, series=self.test.kinds == ("series",))

    @property
    def has_confidences(self) -> bool:
        """Whether the model says how sure it is; hard labels do not."""
        return not self.hard_labels and getattr(self.model, "output", "") != "labels"

    def lacking(self, cost: "Cost") -> tuple["Cost", ...]:
        """What a part of this cost has to do itself, since the part before it gave nothing."""
        return tuple(more for name, more in cost.without.items() if name not in self.results)

    def once(self, name: str, inputs: Any, compute: Callable[[], Any]) -> Any:
        """What ``compute`` gives for these inputs and this model, computed once.

        Kept in the run store, if there is one, so that neither another part nor the next start of
        the run computes it again.
        """
        key = sha256("once", name, __version__, self.model.sha256, self.seed, inputs)
        if key not in self.known:
            self.known[key] = self._stored(key, name, compute)
        return self.known[key]

    def _stored(self, key: str, name: str, compute: Callable[[], Any]) -> Any:
        store = self.executor.store
        if store is None:
            return compute()
        kept = store.finished([key])
        if key in kept:
            return kept[key]
        store.expect([key], name=name, function=compute.__qualname__)
        start = time.perf_counter()
        return store.record(key, compute(), time.perf_counter() - start)


@dataclass(frozen=True)
class Cost:
    """What a part is expected to need.

    Attributes
    ----------
    queries, labels, gradient_queries
        Rows sent to the model, labels used, rows sent through a backward pass.
    data_rows
        Of the queries those about rows of the data as they are: a run asks about each once.
    spared
        Share of the other queries that is usually not needed: attacks end where a model falls.
    without
        What it costs besides where a part before it has given nothing, by that part's name: it
        then does that part's work itself.
    calls
        Calls with few rows, which cost a whole block each (attacks that go step by step).
    own_seconds
        Time besides the model's.
    memory_mb
        Largest arrays at one time, besides the data and the model.
    library_mb
        Libraries that it loads, which stay in memory for the parts after it.
    disk_mb
        What the result needs in the run folder.
    """

    queries: int = 0
    labels: int = 0
    gradient_queries: int = 0
    data_rows: int = 0
    spared: float = 0.0
    without: "Mapping[str, Cost]" = field(default_factory=dict)
    calls: int = 0
    own_seconds: float = 0.0
    memory_mb: float = 0.0
    library_mb: float = 0.0
    disk_mb: float = 0.1
