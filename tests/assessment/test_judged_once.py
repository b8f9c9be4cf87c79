"""The limits of a run are resolved, parsed and judged once, and its page is written once."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from fireassay.assessment import read_config, run_assessment
from fireassay.assessment.parts import table
from fireassay.assessment.run import judging, loop
from fireassay.assessment.run.folder import PAGE, read_report
from fireassay.assessment.run.judging import judge_of, read_judged
from fireassay.report.page import together

MODEL = """
import numpy as np
def model(X):
    return np.column_stack([1 - X[:, 0], X[:, 0]])
"""
TOML = """
[model]
path = "half:model"
[data]
test = "test.npz"
[run]
parts = ["accuracy", "reliability"]
[gates]
looks = 20
[gates.max]
error = 0.075
"""


@pytest.fixture
def project(tmp_path):
    X = np.random.default_rng(0).random((400, 2))
    np.savez(tmp_path / "test.npz", X=X, y=(X[:, 0] > 0.45).astype(int))
    (tmp_path / "half.py").write_text(MODEL)
    (tmp_path / "fireassay.toml").write_text(TOML)
    return tmp_path


def counted(monkeypatch, *places):
    """Count calls of functions that go on doing what they do."""
    calls = Counter()

    def wrapped(name, real):
        def counting(*args, **kwargs):
            calls[name] += 1
            return real(*args, **kwargs)

        return counting

    for module, name in places:
        monkeypatch.setattr(module, name, wrapped(name, getattr(module, name)))
    return calls


def test_one_part_is_judged_once_and_its_page_is_written_once(project, monkeypatch):
    places = ((table, "full_name"), (judging, "judge_spent"), (loop, "write_run"))
    calls = counted(monkeypatch, *places)
    config = read_config(project / "fireassay.toml")
    outcome = run_assessment(config, only=["accuracy"], trust=True)
    assert calls == {"full_name": 1, "judge_spent": 1, "write_run": 1}
    page = (project / "fireassay-run" / PAGE).read_text(encoding="utf-8")
    assert outcome.verdict.status == "not enough evidence"
    assert together(outcome.verdict.headline.partition(": ")[2]) in page


def test_two_parts_write_two_pages_and_nothing_to_do_writes_one(project, monkeypatch):
    calls = counted(monkeypatch, (loop, "write_run"))
    config = read_config(project / "fireassay.toml")
    first = run_assessment(config, trust=True)
    assert calls["write_run"] == 2
    again = run_assessment(config, trust=True)  # a model in code: its parts are read back
    assert calls["write_run"] == 3
    assert again.verdict.model.startswith("Model compared")  # by 16 rows, which are asked again
    assert replace(again.verdict, model=first.verdict.model) == first.verdict
    assert again.report.document() == first.report.document()


def test_a_judge_leaves_the_report_as_it_was(project):
    run_assessment(read_config(project / "fireassay.toml"), only=["accuracy"], trust=True)
    run = project / "fireassay-run"
    report = read_report(run, charts=False)
    judge = judge_of(run, read_config(project / "fireassay.toml"))
    spent, plain = judge.judge(report), report.verdict(judge.gates)
    assert not report.fractions
    assert spent.report.fractions == {"accuracy.error": 0.05}
    assert plain.status == "pass"  # 7.0 % with the whole error probability, more with a 20th of it
    assert spent.verdict.status == "not enough evidence"
    assert read_judged(run, charts=False).verdict == spent.verdict


def test_a_run_in_another_folder_spends_and_notes_in_its_project(project):
    config = read_config(project / "fireassay.toml")
    outcome = run_assessment(
        config, only=["accuracy"], trust=True, folder=project / "other" / "run"
    )
    assert outcome.verdict.status == "not enough evidence"
    assert (project / judging.FILE).is_file()
    assert not (project / "other" / judging.FILE).exists()
