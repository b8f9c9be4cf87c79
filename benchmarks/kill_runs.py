"""Six small runs to be killed: their files, their commands, and what they leave behind."""

import contextlib
import csv
import hashlib
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

MODEL = """
import numpy as np
def model(X):
    score = 6 * (np.asarray(X)[:, 0] + 0.3 * np.asarray(X)[:, 1] - 0.65)
    p = 1 / (1 + np.exp(-score))
    return np.column_stack([1 - p, p])
"""
CONFIG = """
[model]
path = "kill_me:model"
classes = [0, 1]
bounds = [0.0, 1.0]
[data]
test = "{test}"
{data}
[run]
parts = [{parts}]
{more}
[supervision]
samples = 60
supervisors = ["max-softmax", "softmax-entropy", "pcs"]
[discovery]
budget = 12
drawn = 12
pool = 60
max_queries = 40
[survival]
samples = 24
budget = 60
"""
CAMPAIGN = """
data = ["test.npz"]
models = []
seeds = [0, 1]
samples = 20
budget = 40
batch_size = 10
[[own_models]]
name = "mine"
path = "kill_me:model"
train_seconds = 1.0
n_train = 100
seconds_per_query = 1e-6
[[defences]]
name = "none"
[[defences]]
name = "fsq"
values = [2.0]
[[attacks]]
name = "hopskipjump"
eps = [2.0]
[[attacks]]
name = "square"
eps = [0.3]
"""
# They hold times or the folder's name; the two databases are read instead.
NOT_COMPARED = ("run.sqlite", "labels.sqlite", "timings.json", "costs.json", "about.json")
NOT_COMPARED += ("report.html", "trusted.json")
Step = list[str] | Callable[[Path], None]


@dataclass(frozen=True)
class KilledRun:
    """One of the runs: ``files`` writes its folder, ``steps`` are its commands in their order."""

    name: str
    files: Callable[[Path], None]
    steps: tuple[Step, ...]
    store: str = "fireassay-run"


def project(
    parts: str, data: str = "", more: str = "", test: str = "test.npz"
) -> Callable[[Path], None]:
    """Writes a folder with a small model, small data and a configuration."""

    def files(where: Path) -> None:
        where.mkdir(parents=True)
        generator = np.random.default_rng(7)
        X, field = generator.random((300, 2)), generator.random((200, 2))
        y = (X[:, 0] + 0.3 * X[:, 1] > 0.62).astype(int)
        np.savez(where / "test.npz", X=X, y=y)
        np.savez(where / "field.npz", X=field)
        truth = (field[:, 0] + 0.3 * field[:, 1] > 0.62).astype(int)
        votes = np.where(generator.random((200, 5)) < 0.8, truth[:, None], -1)
        np.save(where / "votes.npy", votes)
        with open(where / "test.csv", "w", newline="") as file:
            table = csv.writer(file)
            table.writerow(["first", "second", "patient", "ward", "label"])
            table.writerows(
                [*row, i // 2, "ABC"[i % 3], label]
                for i, (row, label) in enumerate(zip(X.tolist(), y, strict=True))
            )
        (where / "kill_me.py").write_text(MODEL)
        (where / "campaign.toml").write_text(CAMPAIGN)
        quoted = ", ".join(f'"{part}"' for part in parts.split())
        (where / "fireassay.toml").write_text(
            CONFIG.format(parts=quoted, data=data, more=more, test=test)
        )

    return files


def other_seed(where: Path) -> None:
    """The settings change between two runs in one folder."""
    file = where / "fireassay.toml"
    file.write_text(file.read_text().replace("[run]", "[run]\nseed = 5"))


def fill_labels(where: Path) -> None:
    """Somebody labels the rows of next.csv."""
    with open(where / "next.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["label"] = str(int(row["id"]) % 2)
    with open(where / "next.csv", "w", newline="") as file:
        table = csv.DictWriter(file, rows[0].keys())
        table.writeheader()
        table.writerows(rows)


RUN = ["run", "--trust", "--quiet"]
FIELD = 'operational = "field.npz"'
VOTES = FIELD + '\nvotes = "votes.npy"'
TABLE = 'label = "label"\ngroup = "patient"\nslices = ["ward"]\nignore = ["ward"]'
RUNS = (
    KilledRun(
        "parts one by one",
        project("accuracy survival", FIELD),
        ([*RUN, "--only", "accuracy"], [*RUN, "--only", "survival"]),
    ),
    KilledRun(
        "whole assessment",
        project("accuracy curation supervision discovery reliability survival", VOTES),
        (RUN,),
    ),
    KilledRun(
        "field labels",
        project("accuracy discovery reliability", FIELD),
        (
            RUN,
            ["label", "next", "fireassay-run", "--csv", "next.csv", "-n", "24", "--quiet"],
            fill_labels,
            ["label", "add", "fireassay-run", "next.csv", "--quiet"],
            RUN,
        ),
    ),
    KilledRun(
        "campaign",
        project("accuracy"),
        (
            [
                "survival",
                "campaign",
                "campaign.toml",
                "--store",
                "campaign",
                "--trust",
                "--quiet",
                "--output",
                "rows.csv",
            ],
        ),
        "campaign",
    ),
    KilledRun(
        "table with groups",
        project("accuracy supervision survival", TABLE, test="test.csv"),
        (RUN,),
    ),
    KilledRun(
        "changed settings",
        project("accuracy supervision survival"),
        (RUN, other_seed, RUN),
    ),
)


def done(store: Path) -> int:
    """Finished tasks in a journal, read without disturbing its writer."""
    if not (store / "run.sqlite").exists():
        return 0
    with contextlib.closing(
        sqlite3.connect(f"file:{store / 'run.sqlite'}?mode=ro", uri=True, timeout=1)
    ) as journal:
        try:
            found = journal.execute("SELECT count(*) FROM tasks WHERE status = 'done'").fetchone()
        except sqlite3.OperationalError:  # being created at this very moment
            return 0
    return int(found[0])


def left_behind(run: KilledRun, where: Path) -> dict[str, str]:
    """SHA-256 of every file that a run leaves, and of every answer in its journal, by name."""
    return dict(sorted([*_files(where), *_journal(where / run.store), *_labels(where / run.store)]))


def _files(where: Path) -> Iterator[tuple[str, str]]:
    for file in where.rglob("*"):
        hidden = any(part.startswith((".", "__")) for part in file.relative_to(where).parts)
        if file.is_file() and not hidden and not file.name.startswith(NOT_COMPARED):
            name = file.relative_to(where).as_posix()
            yield name, hashlib.sha256(file.read_bytes()).hexdigest()


def _journal(store: Path) -> Iterator[tuple[str, str]]:
    with contextlib.closing(sqlite3.connect(store / "run.sqlite")) as journal:
        rows = journal.execute("SELECT name, id, checksum FROM tasks WHERE status = 'done'")
        yield from ((f"{name} {task}", checksum) for name, task, checksum in rows)


def _labels(store: Path) -> Iterator[tuple[str, str]]:
    if (store / "labels.sqlite").exists():
        with contextlib.closing(sqlite3.connect(store / "labels.sqlite")) as book:
            given = "SELECT queue, item, annotator, kind, choice, comment FROM answers"
            for row in book.execute(given):
                yield f"label {row[:3]}", repr(row[3:])
