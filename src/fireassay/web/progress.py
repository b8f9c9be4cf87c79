"""How far a run is, read beside the process that writes it."""

import os
import sqlite3
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class TaskProgress:
    """Tasks of one name."""

    name: str
    done: int
    failed: int
    total: int


@dataclass(frozen=True)
class RunProgress:
    """A run now: whether a process writes it, and how far each group of tasks is."""

    running: bool
    tasks: tuple[TaskProgress, ...]
    result_changed: int

    @property
    def done(self) -> int:
        """Finished tasks."""
        return sum(task.done for task in self.tasks)

    @property
    def total(self) -> int:
        """Known tasks."""
        return sum(task.total for task in self.tasks)


def run_progress(folder: Path) -> RunProgress:
    """Look at a run's journal without disturbing its writer."""
    result = folder / "result.json"
    changed = result.stat().st_mtime_ns if result.exists() else 0
    return RunProgress(_is_running(folder / "run.lock"), _tasks(folder / "run.sqlite"), changed)


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
    except sqlite3.Error:
        # Not a journal, or one that is being made: there is nothing to tell yet.
        return ()
    finally:
        connection.close()
    return tuple(TaskProgress(*row) for row in rows)


def _is_running(lock: Path) -> bool:
    """A writer notes its process number in the lock file, and empties it when it ends."""
    try:
        number = int(lock.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return False
    if sys.platform == "win32":
        return True
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
