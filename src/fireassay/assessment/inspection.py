"""What can be inferred from a model and some data before anything is configured."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from fireassay.classifiers import Classifier, ProbeResult, as_classifier, probe
from fireassay.classifiers.base import allow_missing
from fireassay.classifiers.probe import answers_again
from fireassay.core import ModelError, ProbabilityError
from fireassay.core.quiet_clock import quiet_seconds
from fireassay.data import DataSet

PROBE_ROWS = 32
PATIENCE_MINUTES = 5.0  # for a few rows; a run may be given more


@dataclass(frozen=True)
class Inspection:
    """What was inferred, and how to say it; ``row_seconds`` is what one row of the probe took."""

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
    row_seconds: float = 0.0

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
        return [rows_in_words(self.rows, self.labelled), *self.of_model(), *in_notes(self.notes)]

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


def in_notes(notes: Sequence[str]) -> list[str]:
    """One line each."""
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
) -> tuple[Inspection, Classifier]:
    """Ask the model about a few rows, and infer what the configuration needs.

    ``infer`` is False where something else than bounds says what range images have.
    """
    bounds = bounds or (infer_bounds(data) if infer else None)
    rows = data.X[:PROBE_ROWS]
    classifier, output, notes = _first_output_that_fits(
        model,
        rows,
        data,
        bounds,
        output,
        classes,
        {"trust": trust, "hang_minutes": hang_minutes, **(http or {})},
    )
    started = quiet_seconds()
    probed = probe(classifier, rows)
    row_seconds = (quiet_seconds() - started) / probed.queries
    known = set(map(str, classifier.classes))
    present = () if data.y is None else tuple(np.unique(data.y).tolist())
    strangers = tuple(label for label in present if str(label) not in known)
    if data.y is not None and data.y.dtype.kind in "iu" and _are_names(classifier.classes):
        positions = set(map(str, range(len(known))))
        strangers = tuple(label for label in strangers if str(label) not in positions)
        present = tuple(classifier.classes[i] if 0 <= i < len(known) else i for i in present)
    if strangers:
        notes.append(f"labels that the model does not know: {', '.join(map(str, strangers[:5]))}")
    absent = known - set(map(str, present))
    if data.y is not None and absent:
        notes.append(f"classes without a row: {', '.join(sorted(absent)[:5])}")
    if data.X.ndim == 4 and data.X.shape[1] <= 3 < data.X.shape[3]:
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
            row_seconds=row_seconds,
        ),
        classifier,
    )


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
    if data.X.ndim < 3 or data.kinds == ("series",) or not data.rows.is_plain:
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
) -> tuple[Classifier, str, list[str]]:
    """The model with the first kind of output that its answers are, and what has to be said."""
    labels = None if data.y is None else tuple(np.unique(data.y).tolist())
    refusals: dict[str, str] = {}
    for candidate in [output] if output else ["probabilities", "logits", "labels"]:
        for named in (given,) if given else (None, data.class_names or data.classes or None):
            if candidate == "labels" and named is None:
                continue
            try:
                classifier = as_classifier(
                    model, classes=named, bounds=bounds, output=candidate, **options
                )
                if data.missing:
                    allow_missing(classifier)
                found = answers_again(classifier, rows)
            except ProbabilityError as refusal:
                refusals[str(candidate)] = str(refusal)
                break
            own = set(map(str, classifier.classes))
            fits = labels is None or set(map(str, labels)) <= own or _are_names(classifier.classes)
            if data.class_names and tuple(classifier.classes) == tuple(range(found.shape[1])):
                fits = False  # the data have names for the model's numbers
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


def _are_names(classes: tuple[Any, ...]) -> bool:
    return all(isinstance(name, str) for name in classes)
