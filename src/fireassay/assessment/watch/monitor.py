"""The monitor that a run recommends, as files, and around the model in a service."""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from fireassay.assessment.coded_rows import CodedSet, coded_sets
from fireassay.assessment.context import Context
from fireassay.assessment.parts.operating_point import Decision
from fireassay.classifiers import Classifier, Decided, as_classifier
from fireassay.classifiers.base import hand_rows_as, innermost
from fireassay.core import AssumptionWarning, DataError, codec
from fireassay.core.arrays import AnyArray, BoolArray, FloatArray, Probabilities, is_frame
from fireassay.core.files import write_text
from fireassay.core.json_files import dumps, read_kept
from fireassay.core.lazy import is_installed, pd
from fireassay.data import DataSet
from fireassay.data.handed import Handed
from fireassay.data.rows import as_texts
from fireassay.supervision import SupervisorComparison, to_onnx
from fireassay.supervision.registry import SavedSupervisor, restored
from fireassay.version import __version__

ABOUT, STATE, GRAPH = "monitor.json", "monitor.npz", "monitor.onnx"
_FORMAT: Final = 1
_CAST: Final = "fiubM"  # types of columns that values out of JSON are turned into


def take_away(folder: Path) -> None:
    """Remove the monitor of an earlier answer."""
    for name in (ABOUT, STATE, GRAPH):
        (folder / name).unlink(missing_ok=True)


def write_monitor(folder: Path, context: Context, found: SupervisorComparison) -> None:
    """Write the recommended monitor, or why there is none, into a run's folder."""
    saved = found.monitor
    assert saved is not None
    take_away(folder)
    evidence = found.evidence()
    about: dict[str, Any] = {
        "format": _FORMAT,
        "fireassay": __version__,
        "works": found.works and saved.rule is not None,
        "reason": found.rule_reason if found.works else evidence.sentence,
    }
    if about["works"]:
        assert saved.rule is not None
        codec.save(saved, folder / STATE)
        supervisor = restored(saved, context.model)
        if supervisor.has_graph() and is_installed("onnx"):
            to_onnx(supervisor, folder / GRAPH)
        about |= {
            "supervisor": saved.name,
            "needs": list(supervisor.needs),
            "layers": list(saved.layers),
            "threshold": saved.rule.threshold,
            "false_alarm": {
                "promised": saved.rule.false_alarm,
                "confidence": saved.rule.confidence,
                "measured": evidence.estimates["false_alarm"].to_dict(),
            },
            "caught": {
                name: estimate.to_dict()
                for name, estimate in evidence.estimates.items()
                if name.startswith("caught_")
            },
            "no_better_than_a_coin": list(found.blind_to),
            "preprocessing": _preprocessing(context),
            "model": _model(context),
        }
    write_text(folder / ABOUT, dumps(about, indent=1, sort_keys=False) + "\n")


def _model(context: Context) -> dict[str, Any]:
    adapter: Any = innermost(context.model)
    return {
        "sha256": adapter.sha256,
        "classes": list(context.model.classes),
        "output": getattr(adapter, "output", "probabilities"),
        "threshold": dict(context.decision.threshold),
    }


def _preprocessing(context: Context) -> dict[str, Any]:
    """How rows become what the model takes."""
    test = context.test.original if isinstance(context.test, CodedSet) else context.test
    rows, handed = test.rows, asdict(context.handed)
    names = rows.names if rows.is_frame else test.feature_names
    whole = rows.form not in ("table", "text")
    return {
        "form": rows.form,
        "kinds": list(rows.kinds or ())[: 1 if whole else None],
        "frame": rows.is_frame,
        "names": None if names is None else list(names),
        "types": [_type(rows.values.iloc[:, i]) for i in range(rows.width)]
        if rows.is_frame
        else str(rows.values.dtype),
        "missing": test.missing or (rows.form == "table" and bool(rows.holes.any())),
        "handed": handed,
        "normalisation": context.normalisation,
    }


def _type(column: pd.Series[Any]) -> Any:
    if isinstance(column.dtype, pd.CategoricalDtype):
        return {"categories": column.cat.categories.tolist(), "ordered": column.cat.ordered}
    return str(column.dtype)


@dataclass(frozen=True, eq=False)
class MonitoredAnswers:
    """What a monitored model says about rows.

    Attributes:
        label: The answer for each row.
        probabilities: Of the classes, (n, k).
        score: How suspicious each row is.
        alarm: Whether the score is above the threshold.

    >>> p, score = np.array([[0.9, 0.1]]), np.array([0.1])
    >>> MonitoredAnswers(np.array(["no"]), p, score, score > 0.3).records()
    [{'label': 'no', 'score': 0.1, 'alarm': False}]
    """

    label: AnyArray
    probabilities: Probabilities
    score: FloatArray
    alarm: BoolArray

    def __len__(self) -> int:
        return len(self.label)

    def records(self) -> list[dict[str, Any]]:
        """One object per row, of plain types: label, score, alarm."""
        rows = zip(self.label.tolist(), self.score.tolist(), self.alarm.tolist(), strict=True)
        return [{"label": label, "score": score, "alarm": alarm} for label, score, alarm in rows]


class Monitor:
    """The monitor that a run recommends, with its threshold: an alarm for each row.

    `reliability.Monitor` is another thing: it follows how often a model is wrong.

    Attributes:
        about: What ``monitor.json`` says: layers, preprocessing, threshold, promise.

    >>> import tempfile
    >>> from fireassay.supervision import compare
    >>> model = lambda X: np.column_stack([1 - X[:, 0], X[:, 0]])
    >>> sure, unclear = np.linspace(0, 0.2, 400)[:, None], np.linspace(0.4, 0.6, 60)[:, None]
    >>> found = compare(model, sure[::2], None, sure[1::2], {"unclear": unclear}, ["max-softmax"])
    >>> context = Context(as_classifier(model, classes=[0, 1]), DataSet(sure))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_monitor(Path(folder), context, found)
    ...     wrapped = Monitor.load(folder).wrap(model)
    >>> wrapped([[0.1], [0.5]]).alarm.tolist()
    [False, True]
    """

    def __init__(self, about: dict[str, Any], saved: SavedSupervisor) -> None:
        self.about, self.saved = about, saved

    @classmethod
    def load(cls, folder: str | Path) -> Monitor:
        """Read the monitor of a run.

        Args:
            folder: The run's folder, or any other with its ``monitor.json`` and ``monitor.npz``.

        Raises:
            DataError: Where no run has left a monitor, or no monitor works: it says why.
        """
        path = Path(folder) / ABOUT
        if not path.is_file():
            raise DataError(
                f"Expected the monitor of a run in {folder}.",
                got=f"no {ABOUT}",
                do="Run the part supervision: fireassay run --only supervision.",
            )
        about = read_kept(path, _checked)
        if not about["works"]:
            raise DataError(f"{folder} has no monitor.", got=about["reason"])
        saved = codec.load(Path(folder) / STATE)
        if not isinstance(saved, SavedSupervisor) or saved.rule is None:
            raise DataError(f"Expected a monitor in {folder}.", got=type(saved).__name__)
        return cls(about, saved)

    def wrap(self, model: Any, **options: Any) -> MonitoredModel:
        """The model with an alarm for each answer.

        Args:
            model: The model of the run: anything `as_classifier` takes.
            options: For `as_classifier`, e.g. ``trust`` or ``device``; classes and kind of output
                are known.
        """
        return MonitoredModel(self, model, options)


class MonitoredModel:
    """A model and its monitor; made by `Monitor.wrap`, called with rows."""

    def __init__(self, monitor: Monitor, model: Any, options: dict[str, Any]) -> None:
        about = monitor.about["model"]
        if not isinstance(model, Classifier):
            known = {"classes": about["classes"], "output": about["output"], **options}
            model = as_classifier(model, **known)
        if innermost(model).sha256 != about["sha256"]:
            warnings.warn(
                "This is not the model that the monitor was fitted to, byte for byte: its "
                "threshold promises nothing for another one.",
                AssumptionWarning,
                stacklevel=3,
            )
        self.monitor, self._rows = monitor, monitor.about["preprocessing"]
        self._handed = Handed(**self._rows["handed"])
        hand_rows_as(model, self._handed.rows)
        self.model = Decision(threshold=about["threshold"]).applied(model)
        self._supervisor = restored(monitor.saved, self.model)
        layers = self._supervisor.reader_.layers(self._supervisor.needs)
        if layers != monitor.saved.layers:
            raise DataError(
                f"The monitor reads the layers {', '.join(monitor.saved.layers)}.",
                got=", ".join(layers) or "a model that shows no layers",
                do="Wrap the model that the run has tested.",
            )

    def __call__(self, X: Any) -> MonitoredAnswers:
        """Answers with alarms; rows as the run's files had them, tables also as a list of dicts."""
        data = self._data(X)
        model, coded = coded_sets(self.model, {"rows": data})
        supervisor = self._supervisor
        if model is not self.model:  # codes of these rows alone
            supervisor = restored(self.monitor.saved, model)
        rows = coded["rows"].X
        reading = supervisor.reader_.read(rows, (*supervisor.needs, "probabilities"))
        score = supervisor.score_reading(reading)
        decided, rule = reading.probabilities, self.monitor.saved.rule
        assert rule is not None
        label = np.asarray(self.model.classes)[decided.argmax(axis=1)]
        own = self.model.own(decided) if isinstance(self.model, Decided) else decided
        return MonitoredAnswers(label, own, score, score > rule.threshold)

    def _data(self, X: Any) -> DataSet:
        """Rows as the model takes them."""
        rows = self._rows
        form, names = rows["form"], rows["names"]
        if rows["frame"]:
            return DataSet(self._frame(X), kinds=tuple(rows["kinds"]), form=form)
        if form == "text":
            return DataSet(as_texts(list(X)))
        if is_frame(X) or (isinstance(X, list) and X and isinstance(X[0], dict)):
            X = pd.DataFrame(X)[names].to_numpy(dtype=np.float64, na_value=np.nan)
        options: dict[str, Any] = {"missing": rows["missing"], "form": form}
        data = self._handed.applied(DataSet(np.asarray(X), **options), rows["normalisation"])
        array = np.asarray(data.X, dtype=rows["types"])
        return DataSet(array, kinds=tuple(rows["kinds"]), **options)

    def _frame(self, X: Any) -> pd.DataFrame:
        names, types = self._rows["names"], self._rows["types"]
        texts = None if is_frame(X) else as_texts(list(X))
        given = {names[0]: texts} if texts is not None else X
        by_name = is_frame(X) or texts is not None or (len(X) and isinstance(X[0], dict))
        frame = pd.DataFrame(given) if by_name else pd.DataFrame(X, columns=names)
        lacking = [name for name in names if name not in frame.columns]
        if lacking:
            raise DataError(
                f"Rows must have the columns {', '.join(names[:12])}.",
                got=f"no {', '.join(lacking[:12])}",
            )
        return pd.DataFrame(
            {n: _cast(frame[n], kind) for n, kind in zip(names, types, strict=True)}
        )


def _cast(column: pd.Series[Any], kind: Any) -> pd.Series[Any]:
    if isinstance(kind, dict):
        return column.astype(pd.CategoricalDtype(kind["categories"], kind["ordered"]))
    try:
        numeric = np.dtype(kind).kind in _CAST
    except TypeError:  # a type of pandas' own
        return column.astype(kind)
    if not numeric:
        return column
    whole = np.dtype(kind).kind in "iub"
    return column.astype("float64" if whole and column.isna().any() else kind)


def _checked(about: Any) -> dict[str, Any]:
    if not isinstance(about, dict) or about.get("format") != _FORMAT:
        raise ValueError("a monitor of another version")
    return about
