"""A model that answers the same row differently each time: said, and no limit is decided on it."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import fireassay as fa
from fireassay.assessment.context import Context
from fireassay.assessment.parts.table import settings_models
from fireassay.assessment.run.loop import Run
from fireassay.cli.main import app
from fireassay.core import ReproducibilityWarning
from fireassay.core.errors import FireassayWarning
from fireassay.data import DataSet
from fireassay.engine import Executor, RunStore
from fireassay.report import Report

X = np.random.default_rng(0).random((200, 2))
Y = (X[:, 0] > 0.5).astype(int)
SETTINGS = {name: each() for name, each in settings_models().items()}
MODEL = """
import numpy as np
generator = np.random.default_rng()
def steady(X):
    return np.column_stack([1 - X[:, 0], X[:, 0]])
def jittery(X):
    p = np.clip(X[:, 0] + generator.uniform(-0.01, 0.01, len(X)), 0, 1)
    return np.column_stack([1 - p, p])
"""


class Jittery:
    """Right as often as you like, but never twice the same."""

    def __init__(self) -> None:
        self.generator = np.random.default_rng(0)
        self.calls = 0
        self.steady_until = 0

    def __call__(self, rows: Any) -> Any:
        self.calls += 1
        size = 0.0 if self.calls <= self.steady_until else 0.01
        p = np.clip(rows[:, 0] + size * self.generator.random(len(rows)), 0, 1)
        return np.column_stack([1 - p, p])


def ledger(part: Any) -> dict[str, str]:
    return {assumption.id: assumption.status for assumption in part.assumptions}


def test_evaluate_says_that_a_model_answers_differently_and_its_gates_are_undecided() -> None:
    with pytest.warns(ReproducibilityWarning, match="differently each time"):
        report = fa.evaluate(Jittery(), X, Y, parts=["accuracy", "reliability"])
    for part in report.parts:
        assert ledger(part)["reproducible"] == "contradicted"
        assert "differently each time" in part.headline
        assert all("reproducible" in e.rests_on for e in part.estimates.values())
    verdict = report.verdict({"max": {"accuracy.error": 0.9, "reliability.pmi_upper": 0.9}})
    assert [check.status for check in verdict.checks] == ["undecided", "undecided"]
    assert verdict.exit_code == 3
    assert "reproducible" in verdict.checks[0].explanation


def test_a_steady_model_is_supported_and_probes_are_no_queries() -> None:
    model = fa.as_classifier(
        lambda rows: np.column_stack([1 - rows[:, 0], rows[:, 0]]), classes=[0, 1]
    )
    report = fa.evaluate(model, X, Y, parts="accuracy")
    assert ledger(report["accuracy"])["reproducible"] == "supported"
    assert report.verdict({"max": {"accuracy.error": 0.5}}).status == "pass"
    assert (model.queries, model.rows_delivered) == (200, 200 + 32)


def test_a_model_that_changes_only_after_a_while_is_found_by_the_last_look() -> None:
    model = Jittery()
    model.steady_until = 4  # the look, 32 rows again in two blocks, and the field rows
    with pytest.warns(ReproducibilityWarning):
        report = fa.evaluate(model, X, Y, parts=["accuracy", "reliability"], operational=X / 2)
    assert {ledger(part)["reproducible"] for part in report.parts} == {"contradicted"}


def test_a_budget_of_queries_is_left_to_the_parts_and_that_is_said() -> None:
    model = fa.as_classifier(
        Jittery(), classes=[0, 1], max_queries=400
    )  # half of it for the look at the door
    part = fa.evaluate(model, X, Y, parts="accuracy")["accuracy"]
    (found,) = [a for a in part.assumptions if a.id == "reproducible"]
    assert found.status == "untestable"
    assert found.check.startswith("Not probed")


def folder_with(model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    name = f"reproducing_{tmp_path.name}"
    (tmp_path / f"{name}.py").write_text(MODEL)
    np.savez(tmp_path / "test.npz", X=X, y=Y)
    (tmp_path / "fireassay.toml").write_text(
        f'[model]\npath = "{name}:{model}"\n[data]\ntest = "test.npz"\n'
        '[run]\nparts = ["accuracy"]\n[gates.max]\n"accuracy.error" = 0.5\n'
    )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::fireassay.core.ReproducibilityWarning")
def test_run_and_check_do_not_pass_a_model_that_answers_differently(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder_with("jittery", tmp_path, monkeypatch)
    done = CliRunner().invoke(app, ["run", "--trust"])
    assert done.exit_code == 0, done.output
    assert "differently each time" in done.output
    written = json.loads((tmp_path / "fireassay-run" / "result.json").read_text())
    assert '"reproducible"' in json.dumps(written)
    assert CliRunner().invoke(app, ["check", "fireassay-run"]).exit_code == 3
    again = CliRunner().invoke(app, ["run"])  # read back from the journal: still contradicted
    assert "differently each time" in again.output
    assert CliRunner().invoke(app, ["check", "fireassay-run"]).exit_code == 3
    limit = ["--max", "accuracy.error=0.9"]
    assert CliRunner().invoke(app, ["check", "fireassay-run", *limit]).exit_code == 3
    page = tmp_path / "fireassay-run" / "report.html"
    assert CliRunner().invoke(app, ["report", "fireassay-run"]).exit_code == 0
    assert "differently each time" in page.read_text()


def test_a_steady_run_passes_and_gives_the_same_bytes_when_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder_with("steady", tmp_path, monkeypatch)
    assert CliRunner().invoke(app, ["run", "--trust"]).exit_code == 0
    assert CliRunner().invoke(app, ["check", "fireassay-run"]).exit_code == 0
    before = (tmp_path / "fireassay-run" / "result.json").read_bytes()
    assert CliRunner().invoke(app, ["run"]).exit_code == 0
    assert (tmp_path / "fireassay-run" / "result.json").read_bytes() == before


class Server:
    """A model whose address stays while what answers there is exchanged."""

    bounds = None
    classes = (0, 1)
    queries = 0
    sha256 = "of the address"
    share = 0.1

    def predict_proba(self, rows: Any) -> Any:
        rows = np.asarray(rows)
        p = (1 - self.share) * rows[:, 0]
        return np.column_stack([1 - p, p])

    def predict(self, rows: Any) -> Any:
        return self.predict_proba(rows).argmax(axis=1)


def test_a_server_that_is_exchanged_between_two_starts_of_a_run_is_noticed(tmp_path: Path) -> None:
    model = Server()
    with RunStore(tmp_path / "run") as store:
        context = Context(model, DataSet(X, Y), executor=Executor(store=store))
        first = Run(context, ["accuracy"], SETTINGS).go()
    assert ledger(first["accuracy"])["reproducible"] == "supported"
    model.share = 0.3
    with RunStore(tmp_path / "run") as store:
        context = Context(model, DataSet(X, Y), executor=Executor(store=store))
        with (
            pytest.warns(ReproducibilityWarning),
            pytest.warns(FireassayWarning, match="not those that the model gives now"),
        ):
            resumed: Report = Run(context, ["accuracy", "reliability"], SETTINGS).go()
    for part in resumed.parts:
        assert ledger(part)["reproducible"] == "contradicted"


@pytest.mark.filterwarnings("ignore::fireassay.core.ReproducibilityWarning")
@pytest.mark.parametrize("model", ["steady", "jittery"])
def test_a_single_question_says_it_too(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder_with(model, tmp_path, monkeypatch)
    path = f"reproducing_{tmp_path.name}:{model}"
    done = CliRunner().invoke(app, ["reliability", path, "test.npz", "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    statuses = {a["id"]: a["status"] for a in found["assumptions"]}
    assert statuses["reproducible"] == ("supported" if model == "steady" else "contradicted")
