"""Trust is the user's own: given on the command line, kept by hash, never received."""

import json
import pickle
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from typer.testing import CliRunner

import fireassay as fa
from fireassay.classifiers.trust import remember_trust, settings_folder
from fireassay.cli.main import app
from fireassay.core import ConfigError, UntrustedFileError

RNG = np.random.default_rng(0)
X = RNG.random((60, 3))
Y = (X[:, 0] > 0.5).astype(int)


class Bomb:
    """A working model that creates a file when it is unpickled."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> Any:
        return Path.touch, (self.target,)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FIREASSAY_SETTINGS", str(tmp_path / "settings"))
    monkeypatch.chdir(tmp_path)
    np.savez(tmp_path / "test.npz", X=X, y=Y)
    joblib.dump(LogisticRegression().fit(X, Y), tmp_path / "m.joblib")
    return tmp_path


def call(*arguments: object) -> Any:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def config(model: str, more: str = "") -> str:
    rest = '[data]\ntest = "test.npz"\n[run]\nparts = ["accuracy"]\n'
    return f'[model]\npath = "{model}"\n{more}\n{rest}'


@pytest.mark.parametrize("command", ["run", "plan"])
@pytest.mark.parametrize("more", ["", "trust = true"])
def test_a_received_folder_runs_nothing(here: Path, command: str, more: str) -> None:
    trace = here / "trace"
    (here / "m.pkl").write_bytes(pickle.dumps(Bomb(trace)))
    (here / "fireassay.toml").write_text(config("m.pkl", more))
    done = call(command)
    assert done.exit_code == 2
    assert "--trust" in done.output
    if more:
        assert "fireassay.toml:3: model.trust" in done.output
    assert not trace.exists()


def test_trust_is_asked_for_once_for_the_same_bytes(here: Path) -> None:
    assert call("init", "--model", "m.joblib", "--data", "test.npz").exit_code == 2
    started = call("init", "--model", "m.joblib", "--data", "test.npz", "--trust")
    assert started.exit_code == 0, started.output
    assert "trust" not in (here / "fireassay.toml").read_text()
    assert call("plan").exit_code == 0
    assert call("run", "--only", "accuracy").exit_code == 0
    moved = here / "another name.pkl"
    moved.write_bytes((here / "m.joblib").read_bytes())
    assert fa.as_classifier(moved).predict(X).shape == (60,)
    trace = here / "trace"
    (here / "m.joblib").write_bytes(pickle.dumps(Bomb(trace)))
    changed = call("run", "--only", "accuracy")
    assert changed.exit_code == 2
    assert "--trust" in changed.output
    assert not trace.exists()


def test_run_with_trust_remembers_too(here: Path) -> None:
    (here / "fireassay.toml").write_text(config("m.joblib"))
    assert call("run").exit_code == 2
    assert call("run", "--trust").exit_code == 0
    assert call("plan").exit_code == 0


def test_unknown_types_in_skops_are_remembered_as_well(here: Path) -> None:
    skops_io = pytest.importorskip("skops.io")
    estimator = LogisticRegression().fit(X, Y)
    estimator.note = Path("somewhere")  # type: ignore[attr-defined]
    skops_io.dump(estimator, here / "m.skops")
    with pytest.raises(UntrustedFileError):
        fa.as_classifier(here / "m.skops")
    remember_trust(here / "m.skops")
    np.testing.assert_array_equal(
        fa.as_classifier(here / "m.skops").predict(X), estimator.predict(X)
    )


def test_a_campaign_file_gives_no_trust(here: Path) -> None:
    trace = here / "trace"
    (here / "m.pkl").write_bytes(pickle.dumps(Bomb(trace)))
    own = '[[own_models]]\nname = "a"\npath = "m.pkl"\nn_train = 1\ntrain_seconds = 1\n'
    start = 'models = []\ndata = ["digits"]\nattacks = [{name = "fgm"}]\n'
    for more in ("", "trust = true\n"):
        (here / "c.toml").write_text(start + own + more)
        done = call("survival", "campaign", "c.toml", "--store", here / "run")
        assert done.exit_code == 2
        assert "--trust" in done.output
    assert not trace.exists()


def test_python_leaves_no_trust_behind(here: Path) -> None:
    fa.as_classifier(here / "m.joblib", trust=True)
    with pytest.raises(UntrustedFileError):
        fa.as_classifier(here / "m.joblib")


def test_settings_that_cannot_be_used_are_said(here: Path) -> None:
    (here / "settings").write_text("a file, not a folder")
    done = call("init", "--model", "m.joblib", "--data", "test.npz", "--trust")
    assert done.exit_code == 0
    assert "this command only" in done.output
    (here / "settings").unlink()
    (here / "settings").mkdir()
    for content in ("{", "[]"):
        (here / "settings" / "trusted.json").write_text(content)
        with pytest.raises(ConfigError, match="delete it"):
            fa.as_classifier(here / "m.joblib")


def test_where_settings_stand(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = remember_trust(here / "m.joblib")
    assert place is not None
    assert list(json.loads(place.read_text()).values()) == [str(here / "m.joblib")]
    assert remember_trust("http://127.0.0.1/model") is None
    monkeypatch.delenv("FIREASSAY_SETTINGS")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(here / "xdg"))
    assert settings_folder() == here / "xdg" / "fireassay"
    monkeypatch.setenv("XDG_CONFIG_HOME", "relative")
    assert settings_folder() == Path.home() / ".config" / "fireassay"


def test_a_received_folder_sends_no_secret_of_the_users(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            heard.append(self.headers.get("Authorization", ""))
            rows = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["instances"]
            content = json.dumps({"predictions": [[1 - r[0], r[0]] for r in rows]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *args: Any) -> None:
            pass

    monkeypatch.setenv("CLOUD_SECRET", "the-secret-of-another-service")
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/"
        asks = 'classes = [0, 1]\n[model.http]\ntoken_env = "CLOUD_SECRET"'
        (here / "fireassay.toml").write_text(config(address, asks))
        for command in ("run", "plan"):
            done = call(command)
            assert done.exit_code == 2
            assert "CLOUD_SECRET" in done.output
            assert "--trust" in done.output
        assert heard == []
        assert call("run", "--trust").exit_code == 0
        assert set(heard) == {"Bearer the-secret-of-another-service"}
        assert call("plan").exit_code == 0  # said once, for this server
        (here / "fireassay.toml").write_text(
            config(address.replace("127.0.0.1", "localhost"), asks)
        )
        assert call("plan").exit_code == 2
        server.shutdown()
