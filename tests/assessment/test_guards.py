"""What a run may cost, counted: calls of the model, rows, journal writes, bytes; never a clock."""

import tracemalloc

import numpy as np

from fireassay.assessment.context import Context
from fireassay.assessment.parts.table import settings_models
from fireassay.assessment.run import preflight
from fireassay.assessment.run.first_look import first_look
from fireassay.assessment.run.loop import Run
from fireassay.classifiers import as_classifier
from fireassay.core.row_index import RowIndex
from fireassay.data import DataSet
from fireassay.engine import Executor, RunStore
from fireassay.statistics.shared_units import exact_copies

SETTINGS = {name: each() for name, each in settings_models().items()}
X = np.random.default_rng(0).random((512, 3))


def model(rows):
    return np.column_stack([1 - rows[:, 0], rows[:, 0]])


def context(asked=None, store=None):
    def counting(rows):
        if asked is not None:
            asked.append(len(rows))
        return model(rows)

    data = DataSet(X, (X[:, 0] + X[:, 1] / 9 > 0.55).astype(int))
    return Context(as_classifier(counting, classes=(0, 1)), data, executor=Executor(store=store))


def test_forward_calls_of_a_part():
    asked = []
    own = context(asked)
    Run(own, ("accuracy", "reliability"), SETTINGS).go()
    assert asked == [256, 256, 28, 4], "every row once, and 32 again in blocks of other sizes"
    assert own.model.rows_delivered == 544


def test_rows_sent_against_rows_asked(tmp_path):
    with RunStore(tmp_path) as store:
        made = Run(context(store=store), ("accuracy", "reliability"), SETTINGS)
        made.go()
    actual = [cost["actual"] for cost in made.costs.values()]
    sent = sum(cost["delivered"] for cost in actual)
    assert sent <= 0.55 * sum(cost["queries"] for cost in actual)


def test_rows_are_looked_at_once_for_all_parts(monkeypatch):
    looked = []
    monkeypatch.setattr(preflight, "exact_copies", lambda X: looked.append(1) or exact_copies(X))
    report = Run(context(), ("accuracy", "reliability"), SETTINGS).go()
    assert len(looked) == 1
    told = [
        assumption.status
        for part in report.parts
        for assumption in part.assumptions
        if assumption.id == "independent-rows"
    ]
    assert len(told) == 2
    assert len(set(told)) == 1


def test_journal_writes_of_a_task(tmp_path):
    with RunStore(tmp_path) as store:
        begun = []
        store._connection.set_trace_callback(
            lambda line: begun.append(line) if line.startswith("BEGIN") else None
        )
        Executor(store=store).map(abs, range(-20, 0), name="tasks")
    assert len(begun) == 1 + 20  # one for all that is to be done, one for each that is


def test_bytes_held_for_each_kept_row():
    own = context()
    look = first_look(own)
    look.ask(np.arange(len(X)))
    own.model.predict_proba(X[::-1])  # not a stretch of the set: rows are found by their marks
    table = own.model.kept
    held = table.held.nbytes + table._answers.nbytes
    held += sum(index.nbytes for index in table.sets[0].index._sorted())
    assert held <= len(X) * (2 * 8 + 1 + 16)
    look.end()
    assert own.model.kept is None


def test_kept_float32_answers_take_half(tmp_path):
    sizes = {}
    for kind in (np.float32, np.float64):
        with RunStore(tmp_path / kind.__name__) as store:
            for start in (1, 2):  # the second one reads the file
                own = Context(
                    as_classifier(lambda rows, kind=kind: model(rows).astype(kind), classes=(0, 1)),
                    context().test,
                    executor=Executor(store=store),
                )
                first_look(own).ask(np.arange(len(X)))
                assert own.model.kept.held.all()
                assert own.model.kept._answers.nbytes == len(X) * 2 * np.dtype(kind).itemsize
                assert own.model.rows_delivered == (544 if start == 1 else 0)
                [file] = (tmp_path / kind.__name__ / "answers").iterdir()
                sizes[kind] = file.stat().st_size
    assert sizes[np.float64] - sizes[np.float32] == len(X) * 2 * 4


def test_finding_rows_needs_no_copy_of_the_set():
    rows = np.random.default_rng(1).random((4_000, 200))
    index = RowIndex(rows)
    index.find(rows[:10].copy())
    some = rows[::-40].copy()
    tracemalloc.start()
    index.find(some)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 8 * some.nbytes
