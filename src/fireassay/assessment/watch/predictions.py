"""A stream of predictions: truths, answers and probabilities as they come; no model is asked."""

import csv
from pathlib import Path
from typing import Any

import numpy as np

from fireassay.assessment.watch.lines import Line, as_text
from fireassay.assessment.watch.watch import Watch
from fireassay.classifiers.recorded import RecordedAnswers
from fireassay.core import DataError, ParameterError, json_files
from fireassay.core.groups import Groups
from fireassay.data.predictions import Predictions, read_predictions
from fireassay.reliability import Monitor

_REFERENCE_ROWS = 20


class PredictionLines:
    """Reads lines of predictions by the roles that their file has; other columns stay alone."""

    def __init__(self, found: Predictions) -> None:
        self.roles, self.positive = found.roles, found.positive
        self.threshold = next(iter((found.threshold or {}).values()), 0.5)
        self._classes = {str(c).casefold(): str(as_text(c)) for c in found.classes}
        self._probability = next(
            (column for role, column in self.roles.items() if role.startswith("probability of ")),
            None,
        )
        if "answer" not in self.roles and (self._probability is None or len(found.classes) != 2):
            raise DataError("A stream of predictions needs a column of answers.", got="none")

    def read(self, text: str, header: str) -> Line:
        """One line; ``header`` is the first line of its table, or '' for JSON."""
        fields: dict[str, Any]
        if header:
            comma = next((c for c in (";", "\t") if c in header), ",")
            names, values = (next(csv.reader([t], delimiter=comma), []) for t in (header, text))
            if len(names) != len(values):
                raise DataError(f"A line must have {len(names)} fields.", got=f"{len(values)}")
            names = [name.strip().removeprefix("\ufeff") for name in names]
            fields = dict(zip(names, values, strict=True))
        else:
            fields = json_files.loads(text)
        label, answer = (self._class(fields, role) for role in ("truth", "answer"))
        if answer is None and "answer" not in self.roles:
            answer = self._by_probability(fields)
        who, name = (as_text(fields.get(self.roles.get(r, ""))) or None for r in ("id", "group"))
        if label is None and answer is None:
            raise DataError("A line must bring an answer or a truth.", got=text[:80])
        return Line(who, None, answer, label, name)

    def _class(self, fields: dict[str, Any], role: str) -> str | None:
        said = as_text(fields.get(self.roles.get(role, "")))
        if said is None or said.strip() in ("", "NA", "nan", "null"):
            return None
        return self._classes.get(said.strip().casefold(), said)

    def _by_probability(self, fields: dict[str, Any]) -> str | None:
        try:
            p = float(fields.get(self._probability or "", ""))
        except (TypeError, ValueError):
            return None
        said = next(r for r, c in self.roles.items() if c == self._probability)
        of = self._classes[said.removeprefix("probability of ").casefold()]
        other = next(c for c in self._classes.values() if c != of)
        return of if p >= self.threshold else other


def watch_predictions(
    source: Path,
    output: Path,
    remember: int,
    settings: dict[str, Any],
    largest_group: float | None = None,
    group: str | None = None,
) -> Watch:
    """A watch of a file of predictions; its roles are read from what it holds by now."""
    if settings.get("limit") is None:
        raise ParameterError("Predictions have no reference.", do="Type --limit 0.05.")
    try:
        found = read_predictions(source, probability="none", group=group)
    except DataError:  # no answers: probabilities give them
        found = read_predictions(source, group=group)
    if found.groups is not None and largest_group is None:
        raise ParameterError(
            "How many rows a group can have must be known before they come.",
            got=f"groups by {found.roles['group']}",
            do="Type --largest-group N, or --group none.",
        )
    classes = [str(as_text(c)) for c in found.classes]
    # Nothing is asked of this model, and no row is compared with these.
    model = RecordedAnswers(
        np.full((_REFERENCE_ROWS, len(classes)), 1.0 / len(classes)), classes=classes
    )
    rows = np.random.default_rng(0).permutation(_REFERENCE_ROWS)[:, None].astype(np.float64)
    most = 1.0 if found.groups is None or largest_group is None else largest_group
    groups = Groups(np.arange(_REFERENCE_ROWS), most)
    monitor = Monitor(model, rows, groups=groups, **settings)
    about = json_files.dumps({**settings, "roles": found.roles, "classes": classes, "most": most})
    return Watch(monitor, PredictionLines(found), output, about, remember)
