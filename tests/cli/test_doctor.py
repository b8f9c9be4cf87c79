"""``fireassay doctor`` on a project: each thing that is wrong is said, with what to do."""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from fireassay.cli.main import app

MODEL = "import numpy as np\ndef model(X): return np.column_stack([1 - X[:, 0], X[:, 0]])\n"
CONFIG = """[model]
path = "doctored:model"
classes = [0, 1]
[data]
test = "test.npz"
[run]
parts = ["accuracy"]
[gates.max]
"accuracy.error" = 0.5
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FIREASSAY_SETTINGS", str(tmp_path / "settings"))
    monkeypatch.setattr(sys, "path", list(sys.path))
    sys.modules.pop("doctored", None)
    where = tmp_path / "project"
    where.mkdir()
    monkeypatch.chdir(where)
    X = np.random.default_rng(0).random((60, 2))
    np.savez(where / "test.npz", X=X, y=(X[:, 0] > 0.5).astype(int))
    (where / "doctored.py").write_text(MODEL)
    (where / "fireassay.toml").write_text(CONFIG)
    return where


def call(*words: str) -> Any:
    return CliRunner().invoke(app, list(words))


def states(*words: str) -> tuple[int, dict[str, str]]:
    done = call("doctor", *words, "--json")
    return done.exit_code, {
        finding["what"]: finding["state"] for finding in json.loads(done.stdout)["project"]
    }


def test_a_sound_project_needs_nothing_and_a_changed_file_makes_its_run_stale(
    project: Path,
) -> None:
    code, found = states()
    assert (code, found["model"]) == (1, "mend"), "code that nobody has trusted"
    assert "--trust" in call("doctor").output
    assert call("run", "--trust").exit_code == 0
    code, found = states()
    assert code == 0, found
    assert set(found.values()) == {"sound"}
    assert "Nothing to mend" in call("doctor").output
    X = np.random.default_rng(1).random((60, 2))
    np.savez(project / "test.npz", X=X, y=(X[:, 0] > 0.5).astype(int))
    code, found = states(str(project))
    assert (code, found["last run: accuracy"]) == (3, "stale")
    assert "fireassay run" in call("doctor", "fireassay.toml").output


def change(project: Path, old: str, new: str) -> None:
    file = project / "fireassay.toml"
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))


def missing_data(project: Path) -> str:
    (project / "test.npz").unlink()
    return "data.test"


def pipe_as_data(project: Path) -> str:
    import os

    (project / "test.npz").unlink()
    os.mkfifo(project / "test.npz")
    return "data.test"


def unknown_gate(project: Path) -> str:
    change(project, "accuracy.error", "accuracy.errors")
    return "configuration"


def no_configuration(project: Path) -> str:
    (project / "fireassay.toml").write_text("[model\n")
    return "configuration"


def missing_model(project: Path) -> str:
    change(project, "doctored:model", "model.onnx")
    return "model"


def pickled_model(project: Path) -> str:
    change(project, "doctored:model", "model.pkl")
    (project / "model.pkl").write_bytes(b"\x80\x04N.")
    return "model"


def unset_token(project: Path) -> str:
    change(project, "[data]", '[model.http]\ntoken_env = "NOT_SET_ANYWHERE"\n[data]')
    change(project, "doctored:model", "http://127.0.0.1:9/predict")
    return "token"


def other_folder(project: Path) -> str:
    (project / "fireassay-run").mkdir()
    (project / "fireassay-run" / "letter.txt").write_text("precious")
    return "last run"


def damaged_journal(project: Path) -> str:
    (project / "fireassay-run").mkdir()
    (project / "fireassay-run" / "run.sqlite").write_bytes(b"no journal" * 100)
    return "last run"


@pytest.mark.parametrize(
    "spoil",
    [
        missing_data,
        pipe_as_data,
        unknown_gate,
        no_configuration,
        missing_model,
        pickled_model,
        unset_token,
        other_folder,
        damaged_journal,
    ],
)
def test_what_a_run_would_stumble_over_is_found(project: Path, spoil: Any) -> None:
    what = spoil(project)
    code, found = states()
    assert code == 1
    assert found[what] == "mend", found
    said = call("doctor")
    assert "✗ " + what in said.output
    assert "→" in said.output


def test_extras_that_the_project_needs_are_named(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fireassay.assessment import doctor

    change(project, '["accuracy"]', '["accuracy", "ambiguity"]')
    change(project, "test.npz", "test.parquet")
    (project / "test.parquet").write_bytes(b"PAR1")
    monkeypatch.setattr(doctor, "is_installed", lambda module: False)
    output = call("doctor").output
    assert "pip install 'fireassay[torch]'" in output
    assert "pip install 'fireassay[tables]'" in output


def test_a_run_that_did_not_end_is_said(project: Path) -> None:
    call("run", "--trust")
    from fireassay.assessment.run.folder import note
    from fireassay.engine import RunStore

    with RunStore(project / "fireassay-run") as store:
        note(store, {"under way": "2026-11-17, process 1"})
    code, found = states()
    assert (code, found["last run: run"]) == (3, "stale")


def test_without_a_project_only_the_installation_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = call("doctor")
    assert done.exit_code == 0
    assert "none here" in done.output
    assert "project" not in json.loads(call("doctor", "--json").stdout)
