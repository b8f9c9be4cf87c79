"""Code beside a received configuration runs only if the user has said so."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from fireassay.classifiers.code_beside import code_beside, code_digest
from fireassay.cli.main import app

X = np.random.default_rng(0).random((60, 2))
CODE = """
from pathlib import Path
import numpy as np
Path("ran").touch()
def model(X):
    return np.column_stack([1 - X[:, 0], X[:, 0]])
"""


@pytest.fixture
def received(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that somebody sent: a configuration and the code it names."""
    monkeypatch.setenv("FIREASSAY_SETTINGS", str(tmp_path / "settings"))
    monkeypatch.setattr(sys, "path", list(sys.path))
    folder = tmp_path / "received"
    folder.mkdir()
    monkeypatch.chdir(folder)
    np.savez(folder / "test.npz", X=X, y=(X[:, 0] > 0.5).astype(int))
    (folder / "beside_it.py").write_text(CODE)
    (folder / "fireassay.toml").write_text(
        '[model]\npath = "beside_it:model"\n[data]\ntest = "test.npz"\n'
        '[run]\nparts = ["accuracy"]\n'
    )
    return folder


def call(*words: str) -> Any:
    sys.modules.pop("beside_it", None)
    return CliRunner().invoke(app, list(words))


@pytest.mark.parametrize("command", ["run", "plan"])
@pytest.mark.parametrize("on_path", [False, True])
def test_a_received_folder_runs_no_code(received: Path, command: str, on_path: bool) -> None:
    if on_path:  # as with: python -m fireassay
        sys.path.insert(0, str(received))
    done = call(command)
    assert done.exit_code == 2
    assert "--trust" in done.output
    assert not (received / "ran").exists()
    package = received / "beside_it"
    (received / "beside_it.py").unlink()
    package.mkdir()
    (package / "__init__.py").write_text(CODE)
    assert call(command).exit_code == 2
    assert not (received / "ran").exists()


def test_trust_is_said_once_and_holds_for_these_bytes_and_their_neighbours(received: Path) -> None:
    assert call("run", "--trust").exit_code == 0
    assert call("run").exit_code == 0
    (received / "helper.py").write_text("x = 1\n")  # what the trusted module may import
    assert call("run").exit_code == 2
    (received / "helper.py").unlink()
    assert call("run").exit_code == 0
    (received / "beside_it.py").write_text(CODE + "\n# changed\n")
    assert call("run").exit_code == 2


def test_who_names_the_code_himself_has_trusted_it(received: Path) -> None:
    (received / "fireassay.toml").unlink()
    made = call("init", "--model", "beside_it:model", "--data", "test.npz")
    assert made.exit_code == 0, made.output
    assert call("plan").exit_code == 0
    assert "code in" in (received.parent / "settings" / "trusted.json").read_text()


def test_the_users_own_path_and_installed_packages_need_no_trust(
    received: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert code_beside("numpy:mean", received) is None
    assert code_beside("beside_it:model", received) == received / "beside_it.py"
    (received / "numpy.py").write_text("raise SystemExit\n")  # in front of the installed one
    assert code_beside("numpy:mean", received) == received / "numpy.py"
    monkeypatch.setenv("PYTHONPATH", str(received))
    assert code_beside("beside_it:model", received) is None


def test_packages_count_whole_and_data_does_not(received: Path) -> None:
    before = code_digest("beside_it:model", received)
    (received / "pictures").mkdir()
    (received / "pictures" / "one.png").write_bytes(b"1")
    (received / "notes.txt").write_text("nothing")
    assert code_digest("beside_it:model", received) == before
    deep = received / "package" / "inner"
    deep.mkdir(parents=True)
    (received / "package" / "__init__.py").touch()
    with_package = code_digest("beside_it:model", received)
    assert with_package != before
    (deep / "module.py").write_text("y = 2\n")
    assert code_digest("beside_it:model", received) != with_package


def test_a_package_without_a_file_of_its_own_counts_if_the_model_is_in_it(received: Path) -> None:
    inner = received / "space" / "inner"
    inner.mkdir(parents=True)
    before = code_digest("space.inner.module:model", received)
    (inner / "module.py").write_text(CODE)
    assert code_digest("space.inner.module:model", received) != before
