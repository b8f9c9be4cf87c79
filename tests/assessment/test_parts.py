"""The table of parts: what is known of a part before its package is loaded."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from pydantic import BaseModel

from fireassay.assessment.context import Context, Cost
from fireassay.assessment.parts.part import Part, PartAnswer, row_marks
from fireassay.assessment.parts.table import PARTS, in_running_order
from fireassay.assessment.run.loop import Run
from fireassay.classifiers import as_classifier
from fireassay.curation import LABELERS
from fireassay.data import DataSet
from fireassay.discovery.fixed_searches import self_sufficient_searches
from fireassay.reliability import METHODS
from fireassay.supervision import SUPERVISORS

LOADED = """
import sys
from fireassay.assessment.parts import table
print([m for m in {modules!r} if m in sys.modules])
"""


def test_the_table_loads_no_package_of_a_question():
    modules = [
        *("fireassay.reliability.assess", "fireassay.discovery.search"),
        *("fireassay.supervision.registry", "fireassay.survival.observe"),
        *("fireassay.curation.curate", "fireassay.attacks.registry"),
        *("fireassay.assessment.parts.troubles", "fireassay.assessment.parts.field_draws"),
    ]
    code = LOADED.format(modules=modules)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", PARTS)
def test_a_part_is_named_as_in_the_table_and_declares_its_numbers(name):
    assert PARTS[name].name == name
    assert PARTS[name].measures
    assert set(PARTS[name].uses) <= set(PARTS)


@pytest.mark.parametrize(
    ("part", "setting", "names"),
    [
        ("reliability", "method", list(METHODS)),
        ("curation", "labeler", list(LABELERS)),
        ("discovery", "search", list(self_sufficient_searches())),
        (
            "supervision",
            "supervisors",
            [name for name, row in SUPERVISORS.items() if "ensemble" not in row.needs],
        ),
    ],
)
def test_the_comment_of_a_setting_names_all_that_can_be_written_there(part, setting, names):
    """Written out, because listing them would load them all; so a new row must be added there."""
    said = PARTS[part].settings.model_fields[setting].description
    assert ", ".join(names) + "." in said


class NoSettings(BaseModel):
    """A part without a choice."""


def test_a_part_of_somebody_else_runs_after_those_it_takes_from(monkeypatch):
    def run(context, settings):
        assert isinstance(settings, NoSettings)
        return PartAnswer(context.results["accuracy"], {"seen": len(context.test)})

    theirs = Part(
        "theirs", NoSettings, lambda context: None, lambda context, settings: Cost(), run,
        uses=("accuracy",),
        evidence=lambda answer: replace(answer.evidence(), question="theirs"),
    )  # fmt: skip
    monkeypatch.setitem(PARTS, theirs.name, theirs)
    assert in_running_order(["theirs", "accuracy"]) == ["accuracy", "theirs"]
    X = np.random.default_rng(0).random((60, 2))
    model = as_classifier(lambda rows: np.column_stack([1 - rows[:, 0], rows[:, 0]]))
    context = Context(model, DataSet(X, (X[:, 0] > 0.4).astype(int)))
    settings = {"accuracy": PARTS["accuracy"].settings(), "theirs": NoSettings()}
    report = Run(context, ["theirs", "accuracy"], settings).go()
    assert report["theirs"].estimates == report["accuracy"].estimates
    assert [part.status for part in report.parts] == ["done", "done"]


def test_marks_of_rows_depend_on_values_alone():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 3)), rng.integers(-100, 100, 400)
    marks = row_marks(X, y)
    assert (row_marks(X, y.astype(np.int8)) == marks).all()
    assert (row_marks(X, y.astype(str)) == marks).all()
    again = row_marks(np.concatenate([X, X[:2]]), np.concatenate([y, y[:2]]))
    assert (again[:400] == marks).all()
    assert len(set(again.tolist())) == 402  # a copy is another row
