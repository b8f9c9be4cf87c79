"""Code beside a received configuration runs only if the user has said so."""

import marshal
import subprocess
import sys
from importlib.util import MAGIC_NUMBER, cache_from_source
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from fireassay.classifiers.trust import code_beside, code_digest
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


@pytest.mark.parametrize("name", ["subprocess:call", "beside_it:Path", "os:abort"])
def test_what_is_installed_or_inside_trusted_code_is_not_called_by_name(
    received: Path, name: str
) -> None:
    # Of a table a model gets a frame, and subprocess takes its column names for a command.
    call("run", "--trust")
    (received / "ran").unlink()
    (received / "rows.csv").write_text("/bin/sh,-c,touch ran,label\n" + "1,u,2,a\n3,v,4,b\n" * 9)
    (received / "fireassay.toml").write_text(
        f'[model]\npath = "{name}"\nclasses = ["a", "b"]\n[data]\ntest = "rows.csv"\n'
        '[run]\nparts = ["accuracy"]\n'
    )
    done = call("run")
    assert done.exit_code == 2
    assert "--trust" in done.output
    assert not (received / "ran").exists()


@pytest.mark.slow
def test_bytecode_beside_trusted_code_is_not_run(
    received: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "pycache_prefix", None)  # as it is for users: beside the source
    monkeypatch.delenv("PYTHONPYCACHEPREFIX", raising=False)
    (received / "fireassay.toml").write_text(
        (received / "fireassay.toml").read_text().replace("accuracy", "survival")
        + "workers = 2\n[survival]\nsamples = 10\nbudget = 10\n"
    )
    hostile = compile("open('hostile', 'w').close()\n" + CODE, "beside_it.py", "exec")
    kept = Path(cache_from_source(str(received / "beside_it.py")))
    kept.parent.mkdir()
    unchecked = (0b01).to_bytes(4, "little") + bytes(8)  # Python runs it whatever the source says
    kept.write_bytes(MAGIC_NUMBER + unchecked + marshal.dumps(hostile))
    done = call("run", "--trust")
    assert done.exit_code == 0, done.output
    assert (received / "ran").exists()
    assert not (received / "hostile").exists()


def test_a_module_beside_the_data_never_takes_the_place_of_an_installed_one(
    received: Path,
) -> None:
    for name in ("numpy", "joblib", "typer", "scipy"):
        (received / f"{name}.py").write_text("open('ran', 'w').close()\nraise ImportError\n")
    (received / "fireassay.toml").write_text(
        '[model]\npath = "math:model"\n[data]\ntest = "test.npz"\n[run]\nparts = ["survival"]\n'
    )
    command = [sys.executable, "-m", "fireassay", "run", "--trust"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=received, check=False)
    assert "no 'model' in math" in done.stderr, done.stderr
    tasks = "from fireassay.engine import Executor\ndef work(row): return row['i']\n"
    tasks += "print(Executor(workers=2, progress=False).map(work, [{'i': 1}, {'i': 2}]))"
    safe = [sys.executable, "-P", "-c", tasks]
    done = subprocess.run(safe, capture_output=True, text=True, cwd=received, check=False)
    assert done.stdout == "[1, 2]\n", done.stderr
    assert not (received / "ran").exists()


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
