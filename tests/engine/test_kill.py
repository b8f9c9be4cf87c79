"""Real processes, really killed: what is done stays done, and the result is the same bytes."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fireassay.engine import RunStore

PROGRAM = Path(__file__).with_name("two_hundred_tasks.py")
posix = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")


class Run:
    """The program on one folder; the log tells which tasks ran in the last start."""

    def __init__(self, folder: Path, workers: int) -> None:
        self.folder = folder / "run"
        self.result = folder / "result.npz"
        self.log = folder / "log"
        self.temporary = folder / "temporary"
        self.workers = workers

    def start(self, offset: float = 0.0) -> subprocess.Popen[bytes]:
        self.log.unlink(missing_ok=True)
        self.temporary.mkdir(exist_ok=True)
        environment = os.environ | {"OMP_NUM_THREADS": "1", "TMPDIR": str(self.temporary)}
        return subprocess.Popen(
            [
                sys.executable,
                str(PROGRAM),
                str(self.folder),
                str(self.log),
                str(self.result),
                str(self.workers),
                str(offset),
            ],
            env=environment,
            start_new_session=True,
            stderr=subprocess.PIPE,
        )

    def ran(self) -> list[int]:
        return [int(line) for line in self.log.read_text().split()] if self.log.exists() else []

    def wait_for(self, tasks: int, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + 300
        while len(self.ran()) < tasks:
            assert process.poll() is None, process.stderr.read().decode()
            assert time.monotonic() < deadline
            time.sleep(0.002)

    def finish(self, offset: float = 0.0) -> bytes:
        process = self.start(offset)
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors.decode()
        return self.result.read_bytes()

    def journalled(self) -> int:
        with RunStore(self.folder, read_only=True) as store:
            return store.progress("simulate").done

    def is_sound(self) -> bool:
        connection = sqlite3.connect(self.folder / "run.sqlite")
        verdict = connection.execute("PRAGMA integrity_check").fetchone()[0]
        connection.close()
        return verdict == "ok"


def processes_of_session(session: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == session and fields[0] != "Z":
                found.append(int(entry.name))
    return found


def wait_until_empty(session: int, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while processes_of_session(session):
        assert time.monotonic() < deadline, "worker processes are left over"
        time.sleep(0.05)


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory) -> bytes:
    return Run(tmp_path_factory.mktemp("whole"), workers=1).finish()


@posix
@pytest.mark.parametrize(
    ("workers", "after"), [pytest.param(1, 1, marks=pytest.mark.slow), (1, 120), (2, 60)]
)
def test_kill_9_then_the_same_call_gives_the_same_bytes(tmp_path, uninterrupted, workers, after):
    # The log is part of the task's input: the same path for both starts, as for a user's file.
    run = Run(tmp_path, workers)
    process = run.start()
    run.wait_for(after, process)
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert not run.result.exists()
    wait_until_empty(process.pid, 15)

    assert list(run.temporary.glob("fireassay-*")) == []

    ran_before, done = run.ran(), run.journalled()
    # Nothing but the tasks in flight is lost: one for each worker's hands, or a batch of them.
    assert done >= (len(ran_before) - 1 if workers == 1 else 1)
    assert run.is_sound()

    assert run.finish() == uninterrupted
    ran_again = run.ran()
    assert len(ran_again) == len(set(ran_again)) == 200 - done
    assert len(set(ran_before) & set(ran_again)) == len(ran_before) - done
    assert run.journalled() == 200


@posix
@pytest.mark.parametrize(
    ("sent", "code", "workers"),
    [
        (signal.SIGTERM, 143, 1),
        (signal.SIGINT, -signal.SIGINT, 2),
        pytest.param(signal.SIGINT, -signal.SIGINT, 1, marks=pytest.mark.slow),
        pytest.param(signal.SIGTERM, 143, 2, marks=pytest.mark.slow),
    ],
)
def test_interrupts_leave_a_sound_journal_and_no_workers(
    tmp_path, uninterrupted, sent, code, workers
):
    run = Run(tmp_path, workers)
    process = run.start()
    run.wait_for(40, process)
    if sent == signal.SIGINT:
        os.killpg(process.pid, sent)  # as a terminal does on Ctrl-C
    else:
        process.send_signal(sent)
    process.communicate(timeout=30)
    assert process.returncode == code
    wait_until_empty(process.pid, 5)
    assert run.is_sound()
    done = run.journalled()
    assert 0 < done < 200
    assert run.finish() == uninterrupted
    assert len(run.ran()) == 200 - done


@pytest.mark.slow
def test_changed_data_before_resume_runs_everything_again(tmp_path, uninterrupted):
    run = Run(tmp_path, workers=1)
    assert run.finish() == uninterrupted
    assert run.finish(offset=1.0) != uninterrupted
    assert len(run.ran()) == 200
    assert run.finish() == uninterrupted
    assert run.ran() == []


@posix
def test_a_second_process_is_told_who_has_the_run(tmp_path):
    run = Run(tmp_path, workers=1)
    first = run.start()
    run.wait_for(5, first)
    first.send_signal(signal.SIGSTOP)  # it holds the run for as long as the other one needs
    second = Run(tmp_path, workers=1)
    second.log = tmp_path / "other-log"
    intruder = second.start()
    _, errors = intruder.communicate(timeout=300)
    first.send_signal(signal.SIGCONT)
    assert intruder.returncode != 0
    assert f"process {first.pid} has open" in errors.decode()
    assert "StoreError" in errors.decode()
    first.communicate(timeout=300)
    assert first.returncode == 0


@posix
def test_a_worker_whose_driver_is_gone_before_its_first_task_ends():
    code = (
        "import time; from fireassay.engine.local import _begin_worker; "
        "_begin_worker(2**22 + 1); time.sleep(120)"
    )
    ended = subprocess.run([sys.executable, "-c", code], timeout=100, check=False)
    assert ended.returncode == 1


ONE_OF_TWO_WORKS = """
import os, signal, sys
from fireassay.engine import Executor
def work(row):
    os.kill(int(sys.argv[1]) or os.getppid(), signal.SIGKILL)
Executor(workers=2, progress=False).map(work, [{"i": 0}], name="work")
"""


@posix
def test_a_worker_that_never_had_a_task_ends_with_its_driver():
    # The other one kills the driver; on the old code the idle one stayed for five minutes.
    process = subprocess.Popen(
        [sys.executable, "-c", ONE_OF_TWO_WORKS, "0"],
        start_new_session=True,
        stderr=subprocess.DEVNULL,
    )
    assert process.wait(100) == -signal.SIGKILL
    wait_until_empty(process.pid, 30)
