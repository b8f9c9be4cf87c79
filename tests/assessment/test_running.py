"""Budgets, costs, and the time that is left."""

import time
from dataclasses import replace

import numpy as np
import pytest

from fireassay.assessment.context import Context
from fireassay.assessment.parts.table import PARTS, settings_models
from fireassay.assessment.plan.costs import Budget, OutOfTimeError, in_words
from fireassay.assessment.plan.plan import Plan, PlanRow, price_parts
from fireassay.assessment.run.asked_once import Meter
from fireassay.assessment.run.folder import read_costs, read_report
from fireassay.assessment.run.loop import Run
from fireassay.assessment.run.progress import RunProgress
from fireassay.classifiers import as_classifier
from fireassay.core import BudgetExceededError, DataError
from fireassay.data import DataSet
from fireassay.engine import Executor, RunStore
from fireassay.report import Report

SETTINGS = {name: each() for name, each in settings_models().items()}


def confident(X):
    return np.column_stack([1 - X[:, 0], X[:, 0]])


def context(store=None, n=80):
    X = np.random.default_rng(0).random((n, 2))
    data = DataSet(X, (X[:, 0] > 0.5).astype(int))
    return Context(as_classifier(confident, classes=(0, 1)), data, executor=Executor(store=store))


def run(store, budget=None, parts=("accuracy", "reliability")):
    run = Run(context(store), parts, SETTINGS, budget=budget)
    return run, run.go()


def test_a_run_shows_what_was_planned_and_what_it_took(tmp_path):
    with RunStore(tmp_path) as store:
        first, _ = run(store)
        again, _ = run(store)
    assert again.costs == first.costs == read_costs(tmp_path)
    assert first.costs["first look"]["actual"]["delivered"] == 80 + 32
    for cost in (first.costs[name] for name in ("accuracy", "reliability")):
        assert cost["actual"]["delivered"] == 0
        assert cost["planned"]["queries"] == cost["actual"]["queries"] == 80
        assert cost["actual"]["labels"] == cost["planned"]["labels"] == 80
        assert cost["actual"]["seconds"] > 0
        assert cost["actual"]["memory_mb"] > 20
        assert cost["actual"]["disk_mb"] > 0
    assert "160 asked (160 planned at most), 112 reached the model (known answers" in in_words(
        first.costs
    )
    page = (tmp_path / "report.html").read_text()
    assert "minutes planned" in page
    assert "seconds" not in (tmp_path / "result.json").read_text()


def test_a_part_that_does_not_fit_waits_for_a_larger_budget(tmp_path):
    with RunStore(tmp_path) as store:
        _, small = run(store, Budget(max_queries=50))
        assert small["reliability"].status == "not available"
        assert "it needs up to 74 queries, 44 of 50 are left" in small["reliability"].reason
        _, large = run(store, Budget(max_queries=85))
    assert large["accuracy"].status == large["reliability"].status == "done"
    assert read_costs(tmp_path)["first look"]["actual"]["delivered"] <= 85


def test_minutes_are_a_budget_too(tmp_path):
    with RunStore(tmp_path) as store:
        _, none = run(store, Budget(max_minutes=1e-6))
    assert "minutes are left (run.max_minutes)" in none["accuracy"].reason


def test_what_goes_beyond_its_plan_is_stopped():
    model = context().model
    Meter(None).watch(model, 10)
    assert model.predict_proba(np.zeros((7, 2))).shape == (7, 2)
    with pytest.raises(BudgetExceededError):
        model.predict_proba(np.zeros((4, 2)))
    with pytest.raises(OutOfTimeError), Budget(max_minutes=0.05 / 60).enforced(0.0):
        time.sleep(10)


def test_a_part_that_runs_out_of_time_is_recorded_and_the_others_go_on(tmp_path, monkeypatch):
    def hang(context, settings):
        while True:
            time.sleep(0.01)

    monkeypatch.setitem(PARTS, "accuracy", replace(PARTS["accuracy"], run=hang))
    monkeypatch.setattr(Budget, "refusal", lambda *_: None)
    with RunStore(tmp_path) as store:
        _, report = run(store, Budget(max_minutes=0.2 / 60))
    assert report["accuracy"].status == "failed"
    assert "stopped after" in report["accuracy"].reason
    assert "stopped after" in report["accuracy"].partial
    assert report["reliability"].question == "reliability"
    assert report.verdict({}).exit_code == 3


def test_the_time_left_follows_what_has_been_seen():
    plan = Plan((PlanRow("accuracy", seconds=9.0), PlanRow("survival", seconds=9.0)), 0.0, 0)
    progress = RunProgress(plan, ["accuracy", "survival"], shown=False)
    assert progress.seconds_left() == pytest.approx(18.0)
    progress.begin("accuracy")
    assert progress.line().startswith("[1/2] accuracy 0:00, about 0:18 left")
    progress.end(19.0)
    assert progress.seconds_left() == pytest.approx(18.0)  # twice as slow as planned
    progress.begin("survival")
    assert progress.line().startswith("[2/2] survival")


def test_the_line_is_for_terminals_only(capsys):
    progress = RunProgress(None, ["accuracy"])
    progress.begin("accuracy")
    progress.end(0.1)
    assert capsys.readouterr().err == ""


def test_memory_and_disk_are_planned():
    plan = price_parts(context(), ["accuracy", "survival", "curation"], SETTINGS)
    rows = {row.part: row for row in plan.rows}
    assert rows["curation"].reason
    assert rows["survival"].memory_mb > 20
    assert rows["survival"].disk_mb > 0
    assert plan.probed == 28 + 4, "of a function"
    assert plan.to_dict()["memory_mb"] == plan.memory_mb


def test_queries_that_end_within_a_task_stop_the_part(tmp_path, monkeypatch):
    monkeypatch.setattr(Budget, "refusal", lambda *_: None)
    with RunStore(tmp_path) as store:
        bounded = as_classifier(confident, classes=(0, 1), bounds=(0, 1))
        own = replace(context(store), model=bounded)
        report = Run(own, ["survival"], SETTINGS, budget=Budget(max_queries=3000)).go()
    found = report["survival"]
    assert found.status == "failed"
    assert found.reason.startswith("stopped: The budget is")
    assert found.partial == found.reason
    assert own.model.rows_delivered <= 3000


def changed(store, **changes):
    """A run of accuracy alone after something has changed."""
    run = Run(
        replace(context(store), **changes), ["accuracy", "reliability"], SETTINGS, only=["accuracy"]
    )
    return run.go()


def doubtful(X):
    return np.full((len(X), 2), 0.5)


OTHER_ROWS = DataSet(np.random.default_rng(1).random((60, 2)), np.tile([0, 1], 30))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"seed": 1}, "another seed"),
        ({"test": OTHER_ROWS}, "other test rows"),
        ({"model": as_classifier(doubtful, classes=(0, 1))}, "another model"),
    ],
)
def test_result_json_never_shrinks_and_what_differs_is_stale(tmp_path, changes, words):
    gates = {"max": {"reliability.pmi_upper": 1.0}}
    with RunStore(tmp_path) as store:
        _, first = run(store)
        assert first.verdict(gates).status == "pass"
        second = changed(store, **changes)
    saved = Report.from_json(tmp_path / "result.json")
    for report in (second, saved, read_report(tmp_path)):
        assert [part.question for part in report.parts] == ["accuracy", "reliability"]
        assert report["accuracy"].stale == ""
        assert words in report["reliability"].stale
        assert report["reliability"].estimates == first["reliability"].estimates
        assert report.verdict(gates).checks[0].explanation.startswith("stale, made with")
    assert read_report(tmp_path)["reliability"].charts.keys() == first["reliability"].charts.keys()
    assert set(read_costs(tmp_path)) == {"first look", "accuracy", "reliability"}
    with RunStore(tmp_path) as store:
        _, again = run(store)
    assert again["reliability"].stale == ""


def test_only_one_part_keeps_the_others_as_they_are(tmp_path):
    with RunStore(tmp_path) as store:
        run(store)
        before = (tmp_path / "result.json").read_bytes()
        timings = (tmp_path / "timings.json").read_bytes()
        Run(context(store), ["accuracy"], SETTINGS, only=["accuracy"]).go()
        Run(context(store), ["accuracy"], SETTINGS).go()
    assert (tmp_path / "result.json").read_bytes() == before
    assert (tmp_path / "timings.json").read_bytes() == timings


def test_a_result_of_an_older_version_in_the_folder_is_not_overwritten(tmp_path):
    with RunStore(tmp_path) as store:
        (tmp_path / "result.json").write_text('{"schema_version": 1}')
        with pytest.raises(DataError, match="new folder"):
            run(store)
