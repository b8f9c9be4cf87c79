"""Models that misbehave when they are asked."""

import json
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import fireassay as fa
from fireassay.cli.main import app
from fireassay.core import DataError, ModelError, ProbabilityError
from fireassay.engine.executor import orderly_termination

X = np.random.default_rng(0).random((20, 2))


def halves(rows: Any) -> Any:
    return np.full((len(rows), 2), 0.5)


@pytest.mark.parametrize("code", [0, 1, None])
def test_a_model_that_exits_is_an_error(code: Any) -> None:
    def leave(rows: Any) -> Any:
        del rows
        sys.exit(code)

    with pytest.raises(ModelError, match="SystemExit"):
        fa.as_classifier(leave).predict_proba(X)


def test_a_model_that_exits_does_not_end_a_run_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "leaving_model.py").write_text("import sys\ndef model(X): sys.exit(0)\n")
    np.savez(tmp_path / "test.npz", X=X, y=(X[:, 0] > 0.5).astype(int))
    (tmp_path / "fireassay.toml").write_text(
        '[model]\npath = "leaving_model:model"\n[data]\ntest = "test.npz"\n'
        '[run]\nparts = ["accuracy"]\n'
    )
    done = CliRunner().invoke(app, ["run", "--trust"])
    assert done.exit_code in (2, 3)
    assert "SystemExit" in done.output


def test_a_model_that_changes_its_input_changes_nothing_else() -> None:
    def careless(rows: Any) -> Any:
        rows[:] = 7.0
        return halves(rows)

    before = X.copy()
    fa.as_classifier(careless).predict_proba(X)
    np.testing.assert_array_equal(X, before)


def test_masked_arrays_are_refused_as_rows_and_as_answers() -> None:
    hidden = np.ma.masked_array(X, mask=X > 0.5)
    with pytest.raises(DataError, match="masked"):
        fa.as_classifier(halves).predict_proba(hidden)
    masked = fa.as_classifier(lambda rows: np.ma.masked_array(halves(rows), mask=True))
    with pytest.raises(ProbabilityError, match="masked"):
        masked.predict_proba(X)


def test_a_model_that_raises_what_ctrl_c_raises_is_an_error() -> None:
    def interrupt(rows: Any) -> Any:
        del rows
        raise KeyboardInterrupt

    with pytest.raises(ModelError, match="KeyboardInterrupt"):
        fa.as_classifier(interrupt).predict_proba(X)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("hidden", [False, True])
def test_ctrl_c_of_the_user_is_not_taken_for_an_error(hidden: bool) -> None:
    def pressed(rows: Any) -> Any:
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            if hidden:
                raise RuntimeError("what was that?") from None
            raise
        return halves(rows)

    with pytest.raises((KeyboardInterrupt, RuntimeError)) as caught:
        fa.as_classifier(pressed).predict_proba(X)
    assert not isinstance(caught.value, ModelError)


def test_a_request_to_end_that_arrives_in_the_model_ends_the_run() -> None:
    def asked_to_end(rows: Any) -> Any:
        signal.raise_signal(signal.SIGTERM)
        return halves(rows)

    with pytest.raises(SystemExit) as caught, orderly_termination():
        fa.as_classifier(asked_to_end).predict_proba(X)
    assert caught.value.code == 143


def forever(rows: Any) -> Any:
    while True:
        time.sleep(3600)


def spinning(rows: Any) -> Any:
    while True:
        pass


@pytest.mark.parametrize("model", [forever, spinning])
def test_a_model_that_hangs_is_an_error_that_says_what_to_do(model: Any) -> None:
    classifier: Any = fa.as_classifier(model)
    classifier.hang_s = 0.3
    with pytest.raises(ModelError, match="hang_minutes"):
        classifier.predict_proba(X)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_model_that_hangs_in_another_thread_is_an_error_too() -> None:
    def later(rows: Any) -> Any:
        while True:
            time.sleep(0.01)

    classifier: Any = fa.as_classifier(later)
    classifier.hang_s = 0.3
    with ThreadPoolExecutor(1) as pool, pytest.raises(ModelError, match="hang_minutes"):
        pool.submit(classifier.predict_proba, X).result()


STUCK = """
import ctypes
import numpy as np
import fireassay as fa
from fireassay.core.watchdog import exit_if_stuck
exit_if_stuck()
def stuck(rows):  # a lock that is taken twice, in compiled code that never looks at signals
    lock, taken = ctypes.CDLL(None).pthread_mutex_lock, ctypes.create_string_buffer(64)
    lock(taken), lock(taken)
model = fa.as_classifier(stuck)
model.hang_s = 0.5
model.predict_proba(np.zeros((2, 2)))
"""


def test_compiled_code_that_hangs_ends_a_program_that_nobody_watches() -> None:
    done = subprocess.run(
        [sys.executable, "-c", STUCK], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 3
    assert "cannot be interrupted" in done.stderr


LOCKED = """
import ctypes
import sys
import numpy as np
import fireassay as fa
from fireassay.core import watchdog
watchdog._LOCKED_S = 1.0
watchdog.exit_if_stuck()
def locked(rows):  # compiled code that keeps Python's lock: no thread of Python's can look
    ctypes.PyDLL(None).sleep(100)
model = fa.as_classifier(locked, hang_minutes=0.01)
model.predict_proba(np.zeros((2, 2)))
"""


def test_compiled_code_that_keeps_pythons_lock_ends_the_program_and_says_where_it_stood() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOCKED], capture_output=True, text=True, timeout=90, check=False
    )
    assert done.returncode == 1
    assert "Timeout" in done.stderr
    assert "in locked" in done.stderr


@pytest.mark.slow
def test_a_watch_that_is_over_ends_nothing() -> None:
    program = LOCKED.replace("ctypes.PyDLL(None).sleep(100)", "return np.full((len(rows), 2), 0.5)")
    program += "\nimport time\ntime.sleep(3)\nctypes.PyDLL(None).sleep(4)\nprint('here')\n"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=90, check=False
    )
    assert (done.returncode, done.stdout) == (0, "here\n")


IMPORTED = {
    "hangs": ("import time\ntime.sleep(3600)\n", "read within"),
    "leaves": ("import sys\nsys.exit(0)\n", "ends the program"),
    "loads_for_ever": (
        "import time\ndef model():\n    while True: time.sleep(0.01)\n",
        "read within",
    ),
}


@pytest.mark.parametrize("name", IMPORTED)
def test_code_that_hangs_or_leaves_when_it_is_read_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    code, words = IMPORTED[name]
    (tmp_path / f"read_{name}.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModelError, match=words):
        fa.as_classifier(f"read_{name}:model", hang_minutes=0.01)


@pytest.mark.parametrize(
    "words",
    [
        ["discovery", "MODEL", "test.npz"],
        ["reliability", "MODEL", "test.npz"],
        ["survival", "model", "MODEL", "test.npz", "--class", "0", "--class", "1"],
        [
            "supervision",
            "compare",
            "--model",
            "MODEL",
            "--train",
            "test.npz",
            "--nominal",
            "test.npz",
            "--set",
            "a=test.npz",
        ],
        pytest.param(
            ["ambiguity", "generate", "test.npz", "-o", "set", "--confused-by", "MODEL"],
            marks=pytest.mark.extras,
        ),
        ["init", "--model", "MODEL", "--data", "test.npz"],
    ],
    ids=lambda words: words[0],
)
def test_every_command_has_a_limit_for_a_model_that_hangs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("FIREASSAY_SETTINGS", str(tmp_path / "settings"))
    (tmp_path / "sleeping_model.py").write_text("import time\ndef model(X): time.sleep(3600)\n")
    y = (X[:, 0] > 0.5).astype(int)
    np.savez(tmp_path / "test.npz", X=X, y=y)
    told = ["sleeping_model:model" if word == "MODEL" else word for word in words]
    done = CliRunner().invoke(app, [*told, "--hang-minutes", "0.01"])
    assert done.exit_code == 2, done.output
    assert "--hang-minutes" in done.output


PRINTING = """
import os
import numpy as np
print("loading weights")
def model(X):
    print("in Python")
    os.write(1, b"below Python\\n")
    return np.column_stack([1 - X[:, 0], X[:, 0]])
"""


@pytest.mark.slow
def test_what_a_model_prints_does_not_break_json(tmp_path: Path) -> None:
    (tmp_path / "printing_model.py").write_text(PRINTING)
    np.savez(tmp_path / "test.npz", X=X, y=(X[:, 0] > 0.5).astype(int))
    (tmp_path / "fireassay.toml").write_text(
        '[model]\npath = "printing_model:model"\n[data]\ntest = "test.npz"\n'
        '[run]\nparts = ["accuracy"]\n'
    )
    done = subprocess.run(
        [sys.executable, "-m", "fireassay", "run", "--json", "--trust"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["parts"]["accuracy"]["status"] == "done"
    for words in ("loading weights", "in Python", "below Python"):
        assert words in done.stderr


def test_a_run_with_a_model_that_hangs_does_not_end_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "waiting_model.py").write_text("import time\ndef model(X): time.sleep(3600)\n")
    np.savez(tmp_path / "test.npz", X=X, y=(X[:, 0] > 0.5).astype(int))
    (tmp_path / "fireassay.toml").write_text(
        '[model]\npath = "waiting_model:model"\nclasses = [0, 1]\n[data]\ntest = "test.npz"\n'
        '[run]\nparts = ["accuracy"]\nhang_minutes = 0.005\n'
    )
    done = CliRunner().invoke(app, ["run", "--trust"])
    assert done.exit_code in (2, 3), done.output
    assert "hang_minutes" in done.output
