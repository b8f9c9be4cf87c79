"""What can be inferred from a model and some data before anything is configured."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from fireassay.classifiers import Classifier, ProbeResult, as_classifier, probe
from fireassay.classifiers.backends.sklearn import LabelsAloneError
from fireassay.classifiers.base import BaseClassifier, allow_missing, hand_rows_as, innermost
from fireassay.classifiers.first_use import different, is_miscounted
from fireassay.classifiers.probe import answers_again
from fireassay.core import DataError, FireassayError, ModelError, ParameterError, ProbabilityError
from fireassay.data import DataSet
from fireassay.data.handed import Handed, others
from fireassay.data.pixel_range import image_layout

_FIRST_ROWS, _PROBED_ROWS, TRIED = 8, 3, 6  # few: a run asks about all rows
_AS_THEY_ARE = Handed()
PATIENCE_MINUTES = 5.0  # for a few rows; a run may be given more


@dataclass(frozen=True)
class Inspection:
    """What was inferred, and how to say it."""

    output: str
    classes: tuple[Any, ...]
    bounds: tuple[float, float] | None
    shape: tuple[int, ...]
    rows: int
    probe: ProbeResult
    notes: tuple[str, ...] = field(default=())
    kinds: tuple[str, ...] = ()

    def kinds_in_words(self) -> str:
        """The shape of a row, and of which kinds its columns are."""
        counts = {kind: self.kinds.count(kind) for kind in dict.fromkeys(self.kinds)}
        shape = " x ".join(map(str, self.shape))
        if len(self.kinds) > 1 and len(counts) > 1:
            listed = ", ".join(f"{n} {kind}" for kind, n in counts.items())
            return f"{shape} columns: {listed}"
        return " of ".join(filter(None, (shape, "".join(counts)))) if counts else shape

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
    options = {"trust": trust, "hang_minutes": hang_minutes, **(http or {})}
    if handed.batch_size is not None:
        options["batch_size"] = handed.batch_size

    def made(named: Any, kind: str) -> Classifier:
        found = as_classifier(model, classes=named, bounds=bounds, output=kind, **options)
        hand_rows_as(found, handed.rows)
        if data.missing:
            allow_missing(found)
        return found

    classifier, output, notes = _first_output_that_fits(made, model, data, output, classes)
    probed = probe(classifier, rows, rows=_PROBED_ROWS)
    notes += _labels_and_classes(data, tuple(classifier.classes))
    if not handed.layout and data.rows.form == "image" and image_layout(data.X.shape) == "CHW":
        notes.append("images with channels first, sent to the model as they are")
    if data.y is None:
        notes.append("without labels, accuracy and reliability cannot be measured")
    classes, shape = tuple(classifier.classes), tuple(data.X.shape[1:])
    said, kinds = tuple(notes), data.kinds or ()
    return Inspection(output, classes, bounds, shape, len(data), probed, said, kinds), classifier


def _labels_and_classes(data: DataSet, classes: tuple[Any, ...]) -> list[str]:
    """Sentences on labels that are no class of the model's, and on classes without a row."""
    if data.y is None:
        return []
    known, present = set(map(str, classes)), tuple(np.unique(data.y).tolist())
    strangers = [str(label) for label in present if str(label) not in known]
    if data.y.dtype.kind in "iu" and _are_names(classes):
        strangers = [label for label in strangers if not 0 <= int(label) < len(known)]
        present = tuple(classes[i] if 0 <= i < len(known) else i for i in present)
    notes = []
    if strangers:
        notes.append(f"labels that the model does not know: {', '.join(strangers[:5])}")
    absent = known - set(map(str, present))
    if absent:
        notes.append(f"classes without a row: {', '.join(sorted(absent)[:5])}")
    return notes


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
    made: Callable[[Any, str], Classifier],
    model: str,
    data: DataSet,
    output: str | None,
    given: tuple[Any, ...] | None,
) -> tuple[Classifier, str, list[str]]:
    """The model with the first kind of output that its answers are, and what has to be said."""
    refusals: dict[str, str] = {}
    alone = False
    for candidate in [output] if output else ["probabilities", "logits", "labels"]:
        if alone and candidate == "logits":
            continue
        for named in (given,) if given else (None, data.class_names or data.classes or None):
            if candidate == "labels" and named is None:
                continue
            try:
                classifier = made(named, candidate)
                found = answers_again(classifier, data.X[:TRIED])
            except (ProbabilityError, LabelsAloneError) as refusal:
                refusals[candidate] = str(refusal)
                alone = isinstance(refusal, LabelsAloneError)
                break
            fits = _knows_labels(tuple(classifier.classes), data)
            if fits or named is not None or found.shape[1] != len(data.classes):
                notes = []
                if given is None and named is not None and candidate != "labels":
                    notes.append("the model does not name its columns: taken in the labels' order")
                if candidate == "labels":
                    notes.append("hard labels: what needs probabilities cannot be asked")
                return classifier, candidate, notes
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


_TRIED_AGAIN = 2  # rows of each other way: with the first at most 16 in all
_OPTIONS = (("rows", "--rows"), ("layout", "--layout"), ("pixels", "--pixels"))


def another_way(
    refused: FireassayError, data: DataSet, made: Callable[[int | None], Any]
) -> tuple[Handed, str]:
    """The only other way to hand rows that gets valid answers, and what was tried."""
    # ``made`` makes the classifier, for a batch size. Where rows as they are get an answer, or no
    # other way does, the first refusal is raised again.
    model = made(None)
    adapter = innermost(model)
    if isinstance(adapter, BaseClassifier) and not hasattr(adapter, "concurrency"):  # an address
        tried = []
        if _tried(model, data, Handed(), TRIED) is not None:
            raise refused
        for group in others(data):
            asked = made(1) if group[0].batch_size == 1 else model
            found = {way: _tried(asked, data, way, _TRIED_AGAIN) for way in group}
            answers = {way: p for way, p in found.items() if p is not None}
            # Equal answers tell containers alike; the same labels tell nothing of a layout.
            fitting = different(answers) if all(way.rows for way in answers) else list(answers)
            tried += [str(way) for way in group]
            if len(fitting) == 1:
                return fitting[0], f"as they are, {'; '.join(tried)}: taken {fitting[0]}"
            if fitting:
                raise ParameterError(
                    "Rows must be handed to the model in one way.",
                    got=f"valid answers in {len(fitting)}: {'; '.join(map(str, fitting))}",
                    do=f"Say which: {' or '.join(map(_typed, fitting))}.",
                ) from refused
        raise type(refused)(
            f"{refused} Also tried in vain: {'; '.join(tried)}. {_remedy(data)}"
        ) from refused
    raise refused


def _remedy(data: DataSet) -> str:
    """What to type for a model that takes rows in no way that was tried."""
    kinds = dict(zip(data.rows.names, data.kinds or (), strict=False))
    left = [name for name, kind in kinds.items() if kind != "text"]
    if data.rows.is_frame and left and len(left) == len(kinds) - 1:
        typed = " ".join(f"--ignore {name}" for name in left[:8])
        return f"A model that takes the text alone needs: {typed}."
    return "Say how it takes rows (--rows, --layout, --pixels), or wrap it in a function that does."


def _typed(way: Handed) -> str:
    return " ".join(f'{option} "{v}"' for key, option in _OPTIONS if (v := getattr(way, key)))


def _tried(model: Any, data: DataSet, way: Handed, rows: int) -> Any:
    """What a few rows handed in a way are answered with; None where they are refused."""
    # One answer for each column must not pass for one for each row.
    rows += data.rows.is_frame and rows == len(data.rows.names)
    some = way.applied(data.subset(np.arange(min(rows, len(data)))))
    innermost(model).rows_as = ""
    hand_rows_as(model, way.rows)
    if some.missing:
        allow_missing(model)
    try:
        return answers_again(model, some.X)
    except ProbabilityError as refusal:  # an answer of another kind is one
        return None if is_miscounted(refusal) else np.full(1, np.nan)
    except (ModelError, DataError):
        return None


def maker(model: Any, **options: Any) -> Callable[[int | None], Any]:
    """What makes the classifier of a model, for a batch size or the adapter's own."""

    def made(batch_size: int | None) -> Any:
        if batch_size is None or isinstance(model, Classifier):
            return as_classifier(model, **options)
        return as_classifier(model, **options, batch_size=batch_size)

    return made
