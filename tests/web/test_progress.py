import subprocess
import sys

from fireassay.engine import RunStore
from fireassay.engine.run_lock import RunLock
from fireassay.web.run_process import run_status


def test_progress_is_read_while_the_run_is_written(tmp_path):
    with RunStore(tmp_path) as store:
        store.expect(["a", "b", "c"], "simulate", "f")
        store.expect(["d"], "fit", "g")
        store.record("a", 1, 0.1)
        store.record_failure("b", "broken", 0.1)
        now = run_status(tmp_path)
        assert now.running
        assert [(t.name, t.done, t.failed, t.total) for t in now.tasks] == [
            ("simulate", 1, 1, 3),
            ("fit", 0, 0, 1),
        ]
        assert (now.done, now.total) == (1, 4)
    assert not run_status(tmp_path).running


def test_a_killed_run_is_not_running(tmp_path):
    code = (
        "import os, sys; from fireassay.engine import RunStore;"
        "RunStore(sys.argv[1]); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    assert (tmp_path / "run.lock").read_text() != ""
    assert not run_status(tmp_path).running


def test_a_lock_of_a_living_process_is_running(tmp_path):
    held = RunLock(tmp_path / "run.lock")
    assert run_status(tmp_path).running
    held.release()
    assert not run_status(tmp_path).running
    (tmp_path / "run.lock").write_text("nonsense")
    assert not run_status(tmp_path).running


def test_a_folder_without_a_journal(tmp_path):
    now = run_status(tmp_path)
    assert (now.running, now.tasks, now.result_changed) == (False, (), 0)
    (tmp_path / "run.sqlite").write_bytes(b"not a database, whatever its name" * 50)
    assert run_status(tmp_path).tasks == ()
