"""A run as a process of its own: it goes on when the app ends, and is found again by its file."""

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fireassay.core import json_files
from fireassay.core.errors import DataError, FireassayError, StoreError
from fireassay.core.files import check_regular, read_small_text, write_text
from fireassay.engine.journal_tables import DATABASE_ERRORS
from fireassay.engine.run_lock import refuse_foreign, refuse_link
from fireassay.web.projects import Project

STARTED, LOG, LIVE = "started.json", "run.log", "live.json"
_PLAN_S = 600
_TAIL_BYTES, _TAIL_LINES = 16_384, 40
_children: dict[int, "subprocess.Popen[bytes]"] = {}
_lock = threading.Lock()


@dataclass(frozen=True)
class Live:
    """What a run is doing now."""

    part: str = ""
    number: int = 0
    total: int = 0
    left_s: float | None = None


def start_run(project: Project) -> None:
    """Start the run of a project; what is trusted is what a run in a terminal would trust."""
    folder = project.run_folder
    with _lock:
        if started_process(folder) is not None or lock_owner(folder) is not None:
            raise StoreError("One run at a time in a folder.", got=f"one is at work in {folder}")
        refuse_foreign(folder)
        folder.mkdir(parents=True, exist_ok=True)
        for name in (STARTED, LOG):
            refuse_link(folder / name)
        with open(folder / LOG, "wb") as log:
            process = subprocess.Popen(  # noqa: S603 - our own program
                _command("run", project), **_process(project), stdout=log,
                stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
        _children[process.pid] = process
        threading.Thread(target=_see_off, args=(process,), daemon=True).start()
        told = {"process": process.pid, "mark": process_mark(process.pid), "at": time.time()}
        write_text(folder / STARTED, json_files.dumps(told))


def stop_run(folder: Path) -> None:
    """Interrupt a run as Ctrl-C does: what is done is kept. Asked again, it is told to end."""
    with _lock:
        process = started_process(folder)
        if process is None:
            raise StoreError(
                "Only a run that the app has started can be stopped here.",
                got="none",
                do="Press Ctrl-C in its terminal.",
            )
        told, again = _told(folder), was_stopped(folder)
        write_text(folder / STARTED, json_files.dumps({**told, "stopped": True}))
        with contextlib.suppress(ProcessLookupError):  # it has ended by itself meanwhile
            os.kill(process, signal.SIGTERM if again else signal.SIGINT)


def plan_of(project: Project) -> dict[str, Any]:
    """What ``fireassay plan`` says of a project, in a process of its own."""
    try:
        done = subprocess.run(  # noqa: S603 - our own program
            [*_command("plan", project), "--json"], **_process(project), capture_output=True,
            timeout=_PLAN_S, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise DataError(
            f"A plan must be there within {_PLAN_S // 60} minutes.", got="no answer of the model"
        ) from None
    said = done.stderr.decode("utf-8", "replace").strip()
    if done.returncode != 0:
        raise DataError("The run cannot be planned.", got=said[-2000:] or "no reason given")
    try:
        found = json.loads(done.stdout)
    except ValueError as error:
        raise DataError("The run cannot be planned.", got=f"{error}") from error
    return dict(found)


def started_process(folder: Path) -> int | None:
    """The process that the app started in a run folder, if it is that process and still there."""
    told = _told(folder)
    number, mark = told.get("process"), told.get("mark")
    if not isinstance(number, int) or not isinstance(mark, str) or number <= 1:
        return None
    return number if process_mark(number) == mark else None


def was_stopped(folder: Path) -> bool:
    """Whether somebody has asked the run to stop."""
    return bool(_told(folder).get("stopped"))


def lock_owner(folder: Path) -> int | None:
    """The process that writes a run, if it is there."""
    # A killed run leaves its number behind, which another process may have by now.
    lock = folder / "run.lock"
    try:
        number = int(read_small_text(lock))
    except (OSError, ValueError):
        return None
    return number if process_mark(number) is not None and _has_open(number, lock) else None


def process_mark(number: int) -> str | None:
    """What tells a process from a later one of the same number; None if there is none."""
    child = _children.get(number)
    if child is not None and child.poll() is not None:
        return None
    if Path("/proc/self/stat").is_file():
        try:
            fields = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return None
        return None if fields[0] == "Z" else fields[19]
    asked = subprocess.run(  # noqa: S603
        ["ps", "-o", "stat=,lstart=", "-p", str(number)],  # noqa: S607
        capture_output=True,
        text=True,
        check=False,
    )
    state, _, began = asked.stdout.strip().partition(" ")
    return began.strip() if began and not state.startswith("Z") else None


def live_of(folder: Path) -> Live:
    """Part and time left of a run that is at work."""
    try:
        told = json_files.loads(read_small_text(folder / LIVE))
        left = float(told["left_s"]) - (time.time() - float(told["began"]))
        return Live(str(told["part"]), int(told["number"]), int(told["total"]), max(0.0, left))
    except (OSError, ValueError, KeyError, TypeError):
        return Live()  # between two parts, or before the first


def log_tail(folder: Path) -> list[str]:
    """The last lines that a run started by the app has said."""
    path = folder / LOG
    try:
        refuse_link(path)
        with open(check_regular(path), "rb") as file:
            file.seek(max(0, path.stat().st_size - _TAIL_BYTES))
            text = file.read(_TAIL_BYTES).decode("utf-8", "replace")
    except (OSError, FireassayError):
        return []
    return [line for line in text.splitlines() if line.strip()][-_TAIL_LINES:]


def _has_open(number: int, path: Path) -> bool:
    """Whether a process has a file open; True where the system does not tell."""
    try:
        for opened in Path(f"/proc/{number}/fd").iterdir():
            with contextlib.suppress(OSError):  # closed meanwhile
                if opened.samefile(path):
                    return True
    except OSError:
        return True  # somebody else's process, or no such folder on this system
    return False


def _see_off(process: "subprocess.Popen[bytes]") -> None:
    """Wait for a process, so that no zombie stays, nor a number that another one may get."""
    process.wait()
    _children.pop(process.pid, None)


def _command(what: str, project: Project) -> list[str]:
    return [sys.executable, "-P", "-m", "fireassay", what, "--config", str(project.file)]


def _process(project: Project) -> dict[str, Any]:
    stdin = subprocess.DEVNULL
    return {"cwd": _working_folder(project), "stdin": stdin, "env": _environment()}


def _working_folder(project: Project) -> Path:
    """The root of the disk; the project's own folder if its code is trusted as it is now."""
    from fireassay.classifiers.trust import code_beside, code_digest, is_trusted_digest

    folder = project.file.parent
    if code_beside(project.model, folder) is not None:
        with contextlib.suppress(FireassayError, OSError):  # the run itself says what is wrong
            if is_trusted_digest(code_digest(project.model, folder)):
                return folder
    return Path(folder.anchor)


def _environment() -> dict[str, str]:
    """That of the app, without its token; nothing is imported from the folder of a process."""
    kept = {k: v for k, v in os.environ.items() if k != "FIREASSAY_TOKEN"}
    if kept.get("PYTHONPATH"):  # what the user named from the app's own folder
        places = kept["PYTHONPATH"].split(os.pathsep)
        kept["PYTHONPATH"] = os.pathsep.join(str(Path(p).resolve()) for p in places if p)
    return {**kept, "PYTHONSAFEPATH": "1"}


def _told(folder: Path) -> dict[str, Any]:
    try:
        refuse_link(folder / STARTED)
        told = json_files.loads(read_small_text(folder / STARTED))
    except (OSError, ValueError):
        return {}
    return told if isinstance(told, dict) else {}


@dataclass(frozen=True)
class TaskProgress:
    """Tasks of one name."""

    name: str
    done: int
    failed: int
    total: int


@dataclass(frozen=True)
class RunStatus:
    """A run now: whether a process writes it, and how far each group of tasks is."""

    running: bool
    tasks: tuple[TaskProgress, ...]
    result_changed: int
    live: Live = field(default_factory=Live)
    log: tuple[str, ...] = ()
    can_stop: bool = False
    stopping: bool = False

    @property
    def done(self) -> int:
        """Finished tasks."""
        return sum(task.done for task in self.tasks)

    @property
    def total(self) -> int:
        """Known tasks."""
        return sum(task.total for task in self.tasks)

    @property
    def state(self) -> str:
        """In a word or two, for people."""
        if not self.running:
            return "not running"
        return "stopping" if self.stopping else "running"

    @property
    def step(self) -> str:
        """The tasks that are under way within the part, with how many are done."""
        for task in reversed(self.tasks):
            if task.done + task.failed < task.total and not task.name.startswith("part "):
                return f"{task.name}, {task.done:,} of {task.total:,}"
        return ""

    @property
    def time_left(self) -> str:
        """In words; empty where nothing is known."""
        left = self.live.left_s
        if not self.running or left is None:
            return ""
        if left < 60:
            return "less than a minute left"
        minutes = round(left / 60)
        hours = f"{minutes // 60} h {minutes % 60}" if minutes > 90 else f"{minutes}"
        return f"about {hours} min left"


def run_status(folder: Path) -> RunStatus:
    """Look at a run's journal without disturbing its writer."""
    result = folder / "result.json"
    changed = result.stat().st_mtime_ns if result.exists() else 0
    started = started_process(folder)
    running = started is not None or lock_owner(folder) is not None
    return RunStatus(
        running,
        _tasks(folder / "run.sqlite"),
        changed,
        live_of(folder) if running else Live(),
        tuple(log_tail(folder)),
        can_stop=started is not None,
        stopping=running and was_stopped(folder),
    )


def _tasks(journal: Path) -> tuple[TaskProgress, ...]:
    if not journal.is_file():
        return ()
    connection = sqlite3.connect(f"{journal.resolve().as_uri()}?mode=ro", uri=True, timeout=2.0)
    try:
        rows = connection.execute(
            "SELECT name, count(*) FILTER (WHERE status = 'done'),"
            " count(*) FILTER (WHERE status = 'failed'), count(*)"
            " FROM tasks GROUP BY name ORDER BY min(number)"
        ).fetchall()
    except DATABASE_ERRORS:
        # Not a journal, or one that is being made: there is nothing to tell yet.
        return ()
    finally:
        connection.close()
    return tuple(TaskProgress(*row) for row in rows)
