"""A folder that somebody sent: whatever lies in it, commands end soon, and say what is wrong."""

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from fireassay.cli.main import app
from fireassay.core.errors import StoreError
from fireassay.engine import RunStore
from fireassay.engine.labels.book import LabelBook

posix = pytest.mark.skipif(sys.platform == "win32", reason="devices, pipes and links of POSIX")
MODEL = "import numpy as np\ndef model(X): return np.column_stack([1 - X[:, 0], X[:, 0]])\n"
ESCAPE = "\x1b]0;owned\x07"


def call(*words: str) -> Any:
    return CliRunner().invoke(app, list(words))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose code the user has trusted once."""
    monkeypatch.setenv("FIREASSAY_SETTINGS", str(tmp_path / "settings"))
    monkeypatch.setattr(sys, "path", list(sys.path))
    where = tmp_path / "received"
    where.mkdir()
    monkeypatch.chdir(where)
    X = np.random.default_rng(0).random((60, 2))
    np.savez(where / "test.npz", X=X, y=(X[:, 0] > 0.5).astype(int))
    (where / "sent_model.py").write_text(MODEL)
    write_config(where)
    sys.modules.pop("sent_model", None)
    return where


def write_config(where: Path, test: str = "test.npz", more: str = "") -> None:
    (where / "fireassay.toml").write_text(
        f'[model]\npath = "sent_model:model"\nclasses = [0, 1]\n[data]\ntest = "{test}"\n'
        f'[run]\nparts = ["accuracy"]\n{more}'
    )


@posix
@pytest.mark.parametrize("kind", ["device", "pipe"])
@pytest.mark.parametrize("name", ["fireassay.toml", "test.npz", "test.csv", "votes.npy", "m.onnx"])
def test_devices_and_pipes_are_not_read(folder: Path, name: str, kind: str) -> None:
    # A device would fill the memory, a pipe would wait for ever.
    write_config(folder, "test.csv" if name == "test.csv" else "test.npz")
    if name == "votes.npy":
        write_config(folder, 'test.npz"\nvotes = "votes.npy')
    (folder / name).unlink(missing_ok=True)
    if kind == "device":
        (folder / name).symlink_to("/dev/zero")
    else:
        os.mkfifo(folder / name)
    words = ["survival", "model", "m.onnx", "test.npz"] if name == "m.onnx" else ["run", "--trust"]
    done = call(*words)
    assert done.exit_code == 2, done.output
    assert name in done.output


@posix
def test_a_campaign_that_is_a_device_is_not_read(folder: Path) -> None:
    (folder / "campaign.toml").symlink_to("/dev/zero")
    done = call("survival", "campaign", "campaign.toml", "--store", "store")
    assert done.exit_code == 2
    assert "ordinary file" in done.output


def test_a_campaign_runs_no_code_beside_it_without_trust(folder: Path) -> None:
    (folder / "sent_model.py").write_text("open('ran', 'w').close()\n" + MODEL)
    (folder / "campaign.toml").write_text(
        'data = ["test.npz"]\nmodels = []\nsamples = 20\nbudget = 40\n'
        '[[own_models]]\nname = "mine"\npath = "sent_model:model"\ntrain_seconds = 1.0\n'
        'n_train = 10\nseconds_per_query = 1e-6\n[[attacks]]\nname = "square"\neps = [0.3]\n'
    )
    sys.path.insert(0, str(folder))  # as with: python -m fireassay
    refused = call("survival", "campaign", "campaign.toml", "--store", "store")
    assert refused.exit_code == 2
    assert "--trust" in refused.output
    assert not (folder / "ran").exists()
    trusted = call("survival", "campaign", "campaign.toml", "--store", "store", "--trust")
    assert trusted.exit_code == 0, trusted.output
    again = call("survival", "campaign", "campaign.toml", "--store", "store")
    assert again.exit_code == 0, "trust in these bytes is kept"


def test_a_run_is_not_written_over_other_files(folder: Path) -> None:
    victim = folder.parent / "documents"
    (victim / "artifacts").mkdir(parents=True)
    (victim / "artifacts" / ".kept").write_text("precious")
    (victim / "result.json").write_text("precious")
    write_config(folder, more='folder = "../documents"\n')
    done = call("run", "--trust")
    assert done.exit_code == 2
    assert "inside the folder of the configuration" in done.output
    said = call("run", "--trust", "--output", str(victim))
    assert said.exit_code == 2
    assert "must be a run folder" in said.output
    assert sorted(entry.name for entry in victim.iterdir()) == ["artifacts", "result.json"]
    assert (victim / "result.json").read_text() == "precious"
    assert (victim / "artifacts" / ".kept").exists()


@pytest.fixture
def run(folder: Path) -> Path:
    """The same folder, with a run in it."""
    done = call("run", "--trust")
    assert done.exit_code == 0, done.output
    return folder / "fireassay-run"


HOSTILE_JSON = {
    "deep": "[" * 100_000,
    "another kind": "[1]",
    "nothing": "null",
    "digits": "1" * 6_000,
    "wrong inside": '{"data": [1], "accuracy": 1, "max": 1, "sets": [1], "schema": 1}',
    "no text": "\xff\xfe",
}


@pytest.mark.parametrize("name", ["result.json", "about.json", "gates.json", "costs.json"])
def test_files_of_a_run_that_are_something_else_are_said(run: Path, name: str) -> None:
    (run.parent / "fireassay.toml").unlink()  # so that the limits are those of the run
    for kind, content in HOSTILE_JSON.items():
        (run / name).write_text(content, encoding="latin-1")
        done = call("report", str(run))
        assert done.exit_code == 2, (kind, done.output)
        assert name in done.output
        if name in ("result.json", "gates.json"):
            assert call("check", str(run)).exit_code == 2


@pytest.mark.parametrize("kind", HOSTILE_JSON)
def test_a_ledger_of_looks_that_is_something_else_is_said(run: Path, kind: str) -> None:
    (run.parent / "fireassay-looks.json").write_text(HOSTILE_JSON[kind], encoding="latin-1")
    done = call("check", str(run), "--max", "accuracy.error=0.5")
    assert done.exit_code == 2, done.output
    assert "fireassay-looks.json" in done.output


FOREVER = (
    "WITH RECURSIVE n(key, value, checksum) AS (SELECT 'a', '1', '' UNION ALL "
    "SELECT key || 'a', value, checksum FROM n) SELECT * FROM n"
)
ACTING = {
    "view": ["ALTER TABLE meta RENAME TO old", f"CREATE VIEW meta AS {FOREVER}"],
    "trigger": ["CREATE TRIGGER t AFTER INSERT ON meta BEGIN DELETE FROM meta; END"],
}


@pytest.mark.parametrize("kind", ACTING)
def test_a_journal_that_acts_by_itself_is_refused(run: Path, kind: str) -> None:
    with sqlite3.connect(run / "run.sqlite") as journal:
        for statement in ACTING[kind]:
            journal.execute(statement)
    journal.close()
    for words in (["report", str(run)], ["check", str(run)], ["run", "--trust"]):
        done = call(*words)
        assert done.exit_code == 2, done.output
        assert "tables of fireassay" in done.output


@pytest.mark.slow
def test_names_do_not_command_the_terminal(folder: Path) -> None:
    rows = "".join(f"{i / 60},{i % 7},{'a' if i < 30 else ESCAPE + 'b'}\n" for i in range(60))
    (folder / "test.csv").write_text(f"x{ESCAPE},z,label\n{rows}")
    escaped = json.dumps(ESCAPE + "b")
    (folder / "fireassay.toml").write_text(
        f'[model]\npath = "sent_model:model"\nclasses = ["a", {escaped}]\n'
        f'[data]\ntest = "test.csv"\n[run]\nparts = ["accuracy"]\ntitle = {escaped}\n'
    )
    seen = ""
    for words in (
        ["run", "--trust"],
        ["check", "fireassay-run", "--max", "accuracy.error=0.5"],
        ["report", "fireassay-run"],
        ["plan"],
        ["init", "--model", "sent_model:model", "--data", "test.csv", "--force", "--trust"],
        ["run", "--trust", "--json"],
    ):
        done = call(*words)
        assert done.exit_code in (0, 2, 3), done.output
        assert "\x1b" not in done.output, words
        assert "\x07" not in done.output, words
        seen += done.output
    assert "\\u001b" in seen, "what was sent is shown, but not obeyed"


@pytest.mark.parametrize(("file", "table"), [("run.sqlite", "tasks"), ("labels.sqlite", "slots")])
def test_a_schema_that_is_no_text_is_refused_in_words(tmp_path, file, table):
    """SQLite's own message quotes the bytes, and cannot be decoded."""
    open_it = RunStore if file == "run.sqlite" else LabelBook
    folder = tmp_path / "run"
    folder.mkdir()
    open_it(folder).close()
    held = (folder / file).read_bytes()
    damaged = held.replace(b"TABLE " + table.encode(), b"TABLE\xff" + table.encode())
    assert damaged != held
    (folder / file).write_bytes(damaged)
    with pytest.raises(StoreError, match="must be"):
        open_it(folder)


@posix
def test_what_a_run_writes_is_for_its_owner_alone(run: Path) -> None:
    open_to_others = [p.name for p in run.rglob("*") if p.stat().st_mode & 0o077]
    assert open_to_others == []
    assert run.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("name", ["../elsewhere", "/tmp/elsewhere-of-fireassay", "link/run"])
def test_a_configuration_does_not_write_outside_its_folder(folder: Path, name: str) -> None:
    outside = folder.parent / "outside"
    outside.mkdir()
    (folder / "link").symlink_to(outside)
    write_config(folder, more=f'folder = "{name}"\n')
    done = call("run", "--trust")
    assert done.exit_code == 2
    assert "inside the folder of the configuration" in done.output
    assert not (folder / name).exists()
    said = call("run", "--trust", "--output", str(outside / "mine"))
    assert said.exit_code == 0, said.output
    assert (outside / "mine" / "result.json").exists()


@posix
@pytest.mark.parametrize("name", ["a.npy", "a.npz"])
def test_a_small_file_that_is_cut_while_it_is_used_does_no_harm(tmp_path: Path, name: str) -> None:
    X = np.random.default_rng(0).random((9000, 4))
    np.save(tmp_path / name, X) if name == "a.npy" else np.savez(tmp_path / name, X=X)
    code = (
        "import os, sys; from fireassay.data import load; data = load(sys.argv[1]); "
        "os.truncate(sys.argv[1], 100); print(data.X.sum() > 0)"
    )
    words = [sys.executable, "-c", code, str(tmp_path / name)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere SIGBUS ends the process, as is said")
@pytest.mark.parametrize("name", ["a.npy", "a.npz"])
@pytest.mark.parametrize(
    "reading",
    [
        "data.X.sum()",
        "np.asarray(data.X)[8_000_000:].copy()",
        "fa.as_classifier(lambda X: np.tile([0.5, 0.5], (len(X), 1))).predict_proba(data.X)",
        "in_a_thread(lambda: data.X.sum())",
    ],
)
def test_a_large_file_that_is_cut_while_it_is_used_is_an_error(tmp_path, name, reading):
    X = np.ones((9_000_000, 1))
    np.save(tmp_path / name, X) if name == "a.npy" else np.savez(tmp_path / name, X=X)
    code = f"""
import os, sys
from concurrent.futures import ThreadPoolExecutor
import numpy as np
import fireassay as fa
from fireassay.data import load
def in_a_thread(work):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()
data = load(sys.argv[1])
os.truncate(sys.argv[1], 2**20)
try:
    {reading}
except fa.FireassayError as error:
    print(error)
print(np.ones(3).sum())
"""
    words = [sys.executable, "-c", code, str(tmp_path / name)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    expected = f"{name} became shorter while it was read. Run again.\n3.0\n"
    assert (done.returncode, done.stdout) == (0, expected), done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="handled on Linux alone")
def test_a_map_that_is_not_ours_ends_as_before(tmp_path: Path) -> None:
    code = """
import os, sys
import numpy as np
from fireassay.core.files import map_npy
from pathlib import Path
ours = map_npy(Path(sys.argv[1]))
theirs = np.load(sys.argv[1], mmap_mode="r")
os.truncate(sys.argv[1], 2**20)
theirs.sum()
"""
    np.save(tmp_path / "a.npy", np.ones(9_000_000))
    words = [sys.executable, "-c", code, str(tmp_path / "a.npy")]
    assert subprocess.run(words, capture_output=True, check=False).returncode < 0
