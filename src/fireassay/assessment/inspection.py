"""What can be inferred from a model and some data before anything is configured."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from fireassay.classifiers import Classifier, ProbeResult, as_classifier, probe
from fireassay.classifiers.backends.sklearn import LabelsAloneError
from fireassay.classifiers.base import allow_missing, hand_rows_as
from fireassay.classifiers.probe import answers_again
from fireassay.core import ModelError, ProbabilityError
from fireassay.core.groups import largest_group
from fireassay.data import DataSet
from fireassay.data.handed import Handed
from fireassay.data.pixel_range import image_layout
from fireassay.statistics.groups.group_bound import effective_groups
from fireassay.statistics.labels_needed import labels_to_show

_FIRST_ROWS, _PROBED_ROWS, TRIED = 8, 3, 6  # few: a run asks about all rows
_AS_THEY_ARE = Handed()
PATIENCE_MINUTES = 5.0  # for a few rows; a run may be given more


@dataclass(frozen=True)
class Inspection:
    """What was inferred, and how to say it."""

    model_path: str
    data_path: str
    output: str
    classes: tuple[Any, ...]
    bounds: tuple[float, float] | None
    shape: tuple[int, ...]
    rows: int
    labelled: bool
    probe: ProbeResult
    unseen_classes: tuple[Any, ...] = ()
    notes: tuple[str, ...] = field(default=())
    kinds: tuple[str, ...] = ()
    form: str = ""

    def kinds_in_words(self) -> str:
        """The shape of a row, and of which kinds its columns are."""
        counts = {kind: self.kinds.count(kind) for kind in dict.fromkeys(self.kinds)}
        shape = " x ".join(map(str, self.shape))
        if len(self.kinds) > 1 and len(counts) > 1:
            listed = ", ".join(f"{n} {kind}" for kind, n in counts.items())
            return f"{shape} columns: {listed}"
        return " of ".join(filter(None, (shape, "".join(counts)))) if counts else shape

    def lines(self) -> list[str]:
        """One line per finding, for a person."""
        first = rows_in_words(self.rows, self.labelled)
        return [first, self.form, *self.of_model(), *in_notes(self.notes)]

    def of_model(self) -> list[str]:
        """One line per finding about the model and what it takes."""
        classes = ", ".join(map(str, self.classes[:8])) + (", …" if len(self.classes) > 8 else "")
        deterministic = "the same twice" if self.probe.deterministic else "DIFFERENT each time"
        cut = "does not matter" if self.probe.batch_invariant else "CHANGES the answers"
        return [
            f"input       {self.kinds_in_words()}"
            + (f", values in [{self.bounds[0]:g}, {self.bounds[1]:g}]" if self.bounds else ""),
            f"classes     {len(self.classes)}: {classes}",
            f"output      {self.output}",
            f"answers     {deterministic}; how rows are cut into batches {cut}",
        ]


def rows_in_words(rows: int, labelled: bool) -> str:
    """The first finding."""
    return f"rows        {rows}, {'labelled' if labelled else 'without labels'}"


def form_in_words(data: DataSet) -> str:
    """The form of the rows, and the reason."""
    rows = data.rows
    column = f", column {data.feature_names[0]!r}" if rows.is_text and data.feature_names else ""
    return f"form        {rows.form}: {rows.why}{column} (otherwise: --kind)"


def in_notes(notes: Sequence[str]) -> list[str]:
    """Every finding as one line of the terminal."""
    return [f"note        {note}" for note in notes]


def inspect(
    model: str,
    data: DataSet,
    data_path: str,
    *,
    trust: bool = False,
    output: str | None = None,
    bounds: tuple[float, float] | None = None,
    infer: bool = True,
    classes: tuple[Any, ...] | None = None,
    http: Mapping[str, Any] | None = None,
    hang_minutes: float = PATIENCE_MINUTES,
    handed: Handed = _AS_THEY_ARE,
) -> tuple[Inspection, Classifier]:
    """Ask the model about a few rows, and infer what the configuration needs."""
    # ``infer`` is False where something else than bounds says what range images have.
    bounds = bounds or (infer_bounds(data) if infer else None)
    rows = data.X[:_FIRST_ROWS]
    classifier, output, notes = _first_output_that_fits(
        model,
        rows,
        data,
        bounds,
        output,
        classes,
        {"trust": trust, "hang_minutes": hang_minutes, **(http or {})},
        handed,
    )
    probed = probe(classifier, rows, rows=_PROBED_ROWS)
    strangers, said = _labels_and_classes(data, tuple(classifier.classes))
    notes += said
    if not handed.layout and data.rows.form == "image" and image_layout(data.X.shape) == "CHW":
        notes.append("images with channels first, sent to the model as they are")
    if data.y is None:
        notes.append("without labels, accuracy and reliability cannot be measured")
    return (
        Inspection(
            model_path=model,
            data_path=data_path,
            output=output,
            classes=tuple(classifier.classes),
            bounds=bounds,
            shape=tuple(data.X.shape[1:]),
            rows=len(data),
            labelled=data.y is not None,
            probe=probed,
            unseen_classes=strangers,
            notes=tuple(notes),
            kinds=data.kinds or (),
            form=form_in_words(data),
        ),
        classifier,
    )


def _labels_and_classes(
    data: DataSet, classes: tuple[Any, ...]
) -> tuple[tuple[Any, ...], list[str]]:
    """Labels that are no class of the model's; sentences on them and on classes without a row."""
    if data.y is None:
        return (), []
    known, present = set(map(str, classes)), tuple(np.unique(data.y).tolist())
    strangers = tuple(label for label in present if str(label) not in known)
    if data.y.dtype.kind in "iu" and _are_names(classes):
        positions = set(map(str, range(len(known))))
        strangers = tuple(label for label in strangers if str(label) not in positions)
        present = tuple(classes[i] if 0 <= i < len(known) else i for i in present)
    notes = []
    if strangers:
        notes.append(f"labels that the model does not know: {', '.join(map(str, strangers[:5]))}")
    absent = known - set(map(str, present))
    if absent:
        notes.append(f"classes without a row: {', '.join(sorted(absent)[:5])}")
    return strangers, notes


def columns_of(
    model: str, *, output: str | None, trust: bool, hang_minutes: float = PATIENCE_MINUTES
) -> tuple[str, ...] | None:
    """The columns that a model was fitted on, if it knows them; nothing is sent to it."""
    try:
        classifier = as_classifier(
            model, output=output or "probabilities", trust=trust, hang_minutes=hang_minutes
        )
    except ModelError:  # said by `inspect`, which tries other outputs, too
        return None
    names: tuple[str, ...] | None = getattr(classifier, "feature_names", None)
    return names


def infer_bounds(data: DataSet) -> tuple[float, float] | None:
    """[0, 1] or [0, 255] for images; None for tables, whose range the rows do not tell."""
    if data.rows.form != "image" or not data.rows.is_plain:
        return None
    low, high = float(data.X.min()), float(data.X.max())
    if low < 0 or high > 255:
        return None
    return (0.0, 1.0) if high <= 1 else (0.0, 255.0)


def _first_output_that_fits(
    model: str,
    rows: Any,
    data: DataSet,
    bounds: tuple[float, float] | None,
    output: str | None,
    given: tuple[Any, ...] | None,
    options: Mapping[str, Any],
    handed: Handed,
) -> tuple[Classifier, str, list[str]]:
    """The model with the first kind of output that its answers are, and what has to be said."""
    if handed.batch_size is not None:
        options = {**options, "batch_size": handed.batch_size}
    refusals: dict[str, str] = {}
    alone = False
    for candidate in [output] if output else ["probabilities", "logits", "labels"]:
        if alone and candidate == "logits":
            continue
        for named in (given,) if given else (None, data.class_names or data.classes or None):
            if candidate == "labels" and named is None:
                continue
            try:
                classifier = as_classifier(
                    model, classes=named, bounds=bounds, output=candidate, **options
                )
                hand_rows_as(classifier, handed.rows)
                if data.missing:
                    allow_missing(classifier)
                found = answers_again(classifier, rows[:TRIED])
            except (ProbabilityError, LabelsAloneError) as refusal:
                refusals[str(candidate)] = str(refusal)
                alone = isinstance(refusal, LabelsAloneError)
                break
            fits = _knows_labels(tuple(classifier.classes), data)
            if fits or named is not None or found.shape[1] != len(data.classes):
                notes = []
                if given is None and named is not None and candidate != "labels":
                    notes.append("the model does not name its columns: taken in the labels' order")
                if candidate == "labels":
                    notes.append("hard labels: what needs probabilities cannot be asked")
                return classifier, str(candidate), notes
    raise ModelError(
        f"Expected {Path(model).name} to return class probabilities, logits or labels.",
        got="; ".join(f"as {kind}: {said}" for kind, said in refusals.items()),
    )


def _knows_labels(classes: tuple[Any, ...], data: DataSet) -> bool:
    """Whether the model's own classes can be those of the labels."""
    if data.class_names and classes == tuple(range(len(classes))):
        return False  # the data have names for the model's numbers
    if data.y is None or _are_names(classes):
        return True
    return set(map(str, np.unique(data.y).tolist())) <= set(map(str, classes))


def _are_names(classes: tuple[Any, ...]) -> bool:
    return all(isinstance(name, str) for name in classes)


# Round limits of the share of wrong answers, strictest first.
_ROUND = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3)


@dataclass(frozen=True)
class ProposedGate:
    """A limit with the reason for it, and the labels that it would need."""

    direction: Literal["max", "min"]
    name: str
    limit: float
    why: str


def propose_gates(test: DataSet) -> tuple[ProposedGate, ...]:
    """Limits from the majority's share, the smallest class and the number of labels."""
    if test.y is None or not len(test):
        return ()
    names, counts = np.unique(test.labels, return_counts=True)
    rows, most = int(counts.sum()), int(counts.argmax())
    # Rows of one group may say no more than one row.
    n = rows
    if test.groups is not None:
        sizes = np.unique(test.groups, return_counts=True)[1]
        n = max(1, int(effective_groups(sizes, largest_group(test.groups))))
    smallest = min(n, int(counts.min()))
    majority = counts[most] / rows
    better = min(99, math.floor(100 * majority + 1e-9) + 1) / 100
    rare = names[int(counts.argmin())]
    return (
        ProposedGate(
            "min",
            "accuracy.accuracy",
            better,
            f"better than always saying {str(names[most])!r}, which is right on "
            f"{100 * majority:.1f} %; {_labels(1 - better, n)}",
        ),
        ProposedGate(
            "max",
            "reliability.pmi_upper",
            _within_reach(n),
            f"the strictest round limit that {n:,} labels can show; {_labels(_within_reach(n), n)}",
        ),
        ProposedGate(
            "min",
            "accuracy.worst_recall",
            round(1 - _within_reach(smallest), 3),
            f"the smallest class, {str(rare)!r}, has {counts.min():,} rows; "
            f"{_labels(_within_reach(smallest), smallest)} in every class",
        ),
    )


def _within_reach(n: int) -> float:
    """The strictest round limit that n labels show if the true rate is half of it."""
    return next((limit for limit in _ROUND if _at_half(limit) <= n), _ROUND[-1])


def _at_half(limit: float) -> int:
    return labels_to_show(limit, limit / 2)


def _labels(limit: float, n: int) -> str:
    return (
        f"needs {labels_to_show(limit, 0.0):,} labels without an error, {_at_half(limit):,} if it "
        f"is wrong half as often (there are {n:,})"
    )
