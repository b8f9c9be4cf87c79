"""A folder that holds somebody else's files is no place for a run."""

from pathlib import Path

from fireassay.core.errors import StoreError

# What may be there before the journal: of a process killed at once, or labels to begin with.
_BEFORE_A_RUN = {
    *("artifacts", "run.lock", "labels.sqlite", "labels.sqlite-wal", "labels.sqlite-shm"),
    *("started.json", "run.log", "queues"),  # of a run that the app starts
}


def refuse_foreign(path: Path) -> None:
    """What is in a folder that is no run's must not be written over, nor swept away."""
    if path.is_dir() and not (path / "run.sqlite").exists():
        there = sorted(entry.name for entry in path.iterdir())
        if set(there) - _BEFORE_A_RUN:
            raise StoreError(
                f"{path} must be a run folder, or an empty one.",
                got=f"a folder with other files: {', '.join(there[:3])}",
                do="Name another folder for the run.",
            )
