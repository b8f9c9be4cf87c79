"""How far a run is, read beside the process that writes it."""

import sqlite3
from dataclasses import dataclass, field
from pathlib import Path

from fireassay.engine.expected_schema import DATABASE_ERRORS
from fireassay.web.run_process import (
    Live,
    live_of,
    lock_owner,
    log_tail,
    started_process,
    was_stopped,
)


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
        return (
            f"about {minutes // 60} h {minutes % 60} min left"
            if minutes > 90
            else (f"about {minutes} min left")
        )


def run_progress(folder: Path) -> RunProgress:
    """Look at a run's journal without disturbing its writer."""
    result = folder / "result.json"
    changed = result.stat().st_mtime_ns if result.exists() else 0
    started = started_process(folder)
    running = started is not None or lock_owner(folder) is not None
    return RunProgress(
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
