import os
import resource
import sqlite3
import subprocess
import sys
import warnings

import numpy as np
import pytest

from fireassay.core import DataError, Estimate, StoreError
from fireassay.core.errors import FireassayWarning
from fireassay.engine import RunStore, journal_tables


def test_values_come_back_as_they_were(tmp_path):
    values = {
        "a": {"x": 1.5, "nan": float("nan"), "pair": (1, "two"), "none": None},
        "b": np.arange(6.0).reshape(2, 3),
        "c": Estimate(0.5, 0.4, 0.6, 0.95, 10, "test"),
    }
    with RunStore(tmp_path / "run") as store:
        store.expect(values, "work", "module:function")
        for task, value in values.items():
            store.record(task, value, 0.1)
    with RunStore(tmp_path / "run") as store:
        back = store.finished([*values, "unknown"])
        assert store.timings() == dict.fromkeys(values, 0.1)
    assert back.keys() == values.keys()
    assert back["a"]["pair"] == (1, "two")
    assert np.isnan(back["a"]["nan"])
    np.testing.assert_array_equal(back["b"], values["b"])
    assert back["c"] == values["c"]


def test_large_results_become_artifacts_and_a_lost_one_is_not_done(tmp_path):
    big = np.random.default_rng(0).normal(size=50_000)
    with RunStore(tmp_path / "run") as store:
        store.expect(["big"], "work", "f")
        store.record("big", big, 0.0)
        np.testing.assert_array_equal(store.finished(["big"])["big"], big)
        assert store.are_sound(["big"])
        assert not store.are_sound(["big", "unknown"])
        (artifact,) = store.artifacts.iterdir()
        artifact.unlink()
        assert store.finished(["big"]) == {}
        assert not store.are_sound(["big"])


def test_a_damaged_artifact_is_said_to_be_damaged(tmp_path):
    with RunStore(tmp_path / "run") as store:
        path = store.save_artifact("a.npz", np.arange(10))
        path.write_bytes(path.read_bytes()[:50])
        with pytest.raises(DataError, match=r"a\.npz"):
            store.load_artifact("a.npz")


@pytest.mark.parametrize("name", ["../a", "/etc/a", "", ".hidden", "a" * 300, "b/c"])
def test_artifact_names_stay_in_the_folder(tmp_path, name):
    with RunStore(tmp_path / "run") as store, pytest.raises(StoreError, match="plain file name"):
        store.save_artifact(name, 1)


def test_half_written_artifacts_of_a_killed_run_are_cleared(tmp_path):
    RunStore(tmp_path / "run").close()
    leftover = tmp_path / "run" / "artifacts" / ".a.npz.x1.part"
    leftover.write_bytes(b"half")
    RunStore(tmp_path / "run").close()
    assert not leftover.exists()


def test_a_closed_store_says_so(tmp_path):
    store = RunStore(tmp_path / "run")
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.meta("a")


def test_a_value_survives_a_kill_right_after_it_is_saved(tmp_path):
    program = (
        "import os, signal; from fireassay.engine import RunStore;"
        f"RunStore({str(tmp_path / 'run')!r}).set_meta('item', 'yes');"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == -9
    with RunStore(tmp_path / "run") as store:  # the lock of the dead is free
        assert store.meta("item") == "yes"


def test_meta_keeps_plain_values(tmp_path):
    with RunStore(tmp_path / "run") as store:
        store.set_meta("config", {"alpha": 0.025, "parts": ["a"]})
        assert store.meta("config") == {"alpha": 0.025, "parts": ["a"]}
        assert store.meta("absent", 7) == 7


def test_one_writer_many_readers(tmp_path):
    with RunStore(tmp_path / "run") as store:
        with pytest.raises(StoreError, match="this process has open"):
            RunStore(tmp_path / "run")
        store.set_meta("a", 1)
        with RunStore(tmp_path / "run", read_only=True) as reader:
            assert reader.meta("a") == 1
            with pytest.raises(StoreError, match="read-only"):
                reader.set_meta("a", 2)
    RunStore(tmp_path / "run").close()


def test_reading_what_is_not_there(tmp_path):
    with pytest.raises(StoreError, match=r"run folder.*no run\.sqlite"):
        RunStore(tmp_path / "absent", read_only=True)
    assert not (tmp_path / "absent").exists()


def test_a_file_where_the_folder_should_be(tmp_path):
    (tmp_path / "run").write_text("not a folder")
    with pytest.raises(StoreError, match="Check free space, permissions"):
        RunStore(tmp_path / "run")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write into read-only folders")
def test_a_read_only_folder(tmp_path):
    (tmp_path / "run").mkdir(mode=0o500)
    with pytest.raises(StoreError, match="Check free space, permissions"):
        RunStore(tmp_path / "run")


def test_a_read_only_file_system():
    with pytest.raises(StoreError, match="Check free space, permissions"):
        RunStore("/proc/fireassay-run")


@pytest.mark.parametrize("content", [b"garbage" * 100, b""])
def test_a_journal_of_garbage_is_refused_and_an_empty_one_filled(tmp_path, content):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.sqlite").write_bytes(content)
    if not content:
        RunStore(tmp_path / "run").close()
        return
    with pytest.raises(StoreError, match="not a database"):
        RunStore(tmp_path / "run")


def test_the_database_of_another_program_is_left_alone(tmp_path):
    (tmp_path / "run").mkdir()
    connection = sqlite3.connect(tmp_path / "run" / "run.sqlite")
    connection.execute("CREATE TABLE precious (a)")
    connection.commit()
    connection.close()
    with pytest.raises(StoreError, match="another program"):
        RunStore(tmp_path / "run")


def test_an_older_run_is_brought_up_to_date_with_its_results(tmp_path, monkeypatch):
    with RunStore(tmp_path / "run") as store:
        store.expect(["a"], "n", "f")
        store.record("a", 5, 0.0)
    monkeypatch.setattr(journal_tables, "VERSION", journal_tables.VERSION + 1)
    monkeypatch.setattr(
        journal_tables, "_STEPS", (*journal_tables._STEPS, "CREATE TABLE more (a);")
    )
    with pytest.raises(StoreError, match="Open it once for writing"):
        RunStore(tmp_path / "run", read_only=True)
    with RunStore(tmp_path / "run") as store:
        assert store.finished(["a"]) == {"a": 5}
    RunStore(tmp_path / "run", read_only=True).close()


def test_a_newer_run_is_refused(tmp_path):
    RunStore(tmp_path / "run").close()
    connection = sqlite3.connect(tmp_path / "run" / "run.sqlite")
    connection.execute(f"PRAGMA user_version = {journal_tables.VERSION + 1}")
    connection.close()
    with pytest.raises(StoreError, match="Update fireassay"):
        RunStore(tmp_path / "run")


FULL_DISK = """
import resource, sys
import numpy as np
from fireassay.core import StoreError
from fireassay.engine import Executor, RunStore

def noise(row):
    return np.random.default_rng(row).normal(size={size})

if __name__ == "__main__":
    with RunStore(sys.argv[1]) as store:
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, resource.RLIM_INFINITY))
        try:
            Executor(store=store).map(noise, range({rows}), name="noise")
        except StoreError as error:
            print(store.progress("noise").done, error)
            resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1))
        else:
            raise SystemExit("the limit was not reached")
        Executor(store=store).map(noise, range({rows}), name="noise")
        print(store.progress("noise").done)
"""


@pytest.mark.parametrize(
    ("size", "rows"),
    [(500, 300), pytest.param(40_000, 10, marks=pytest.mark.slow)],
    ids=["journal", "artifacts"],
)
def test_a_full_disk_is_said_so_and_the_run_goes_on_when_there_is_space(tmp_path, size, rows):
    program = tmp_path / "fill.py"
    program.write_text(FULL_DISK.format(size=size, rows=rows))
    finished = subprocess.run(
        [sys.executable, str(program), str(tmp_path / "run")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    first, second = finished.stdout.strip().splitlines()
    assert "Check free space" in first
    assert int(first.split()[0]) < rows
    assert int(second) == rows
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY


# Damage


def flipped(content, bit):
    position, inside = divmod(bit, 8)
    return content[:position] + bytes([content[position] ^ 1 << inside]) + content[position + 1 :]


def test_a_flipped_bit_is_never_another_result(tmp_path):
    values = {f"{i:064x}": {"share": 0.125 + i, "name": f"row {i}"} for i in range(20)}
    values["f" * 64] = np.arange(8.0)
    original = tmp_path / "original"
    with RunStore(original) as store:
        store.expect(values, "work", "f")
        for task, value in values.items():
            store.record(task, value, 0.0)
        store.set_meta("part keys", {"accuracy": "a" * 64})
    content = (original / "run.sqlite").read_bytes()
    random, told, silent = np.random.default_rng(0), 0, 0
    places = [content.rindex(b'"share"') + 9, content.index(b"PK") + 200, content.index(b"aaaaaa")]
    for bit in [8 * place for place in places] + random.integers(0, 8 * len(content), 150).tolist():
        run = tmp_path / f"bit-{bit}"
        run.mkdir()
        (run / "run.sqlite").write_bytes(flipped(content, bit))
        try:
            with warnings.catch_warnings(record=True) as said, RunStore(run) as store:
                warnings.simplefilter("always")
                found = store.finished(list(values))
                keys = store.meta("part keys", {})
        except StoreError:
            told += 1
            continue
        told += bool(said)
        assert keys in ({}, {"accuracy": "a" * 64})
        for task, value in found.items():
            np.testing.assert_equal(value, values[task])
        silent += not said and len(found) == len(values)
    assert told >= len(places)
    assert silent > 0  # free space of the file, and the like


def test_a_damaged_result_is_done_again_and_said(tmp_path):
    big = np.random.default_rng(0).normal(size=20_000)
    with RunStore(tmp_path) as store:
        store.expect(["small", "big"], "work", "f")
        store.record("small", 0.5, 0.0)
        store.record("big", big, 0.0)
    (artifact,) = (tmp_path / "artifacts").iterdir()
    artifact.write_bytes(flipped(artifact.read_bytes(), 8 * 90_000))
    with sqlite3.connect(tmp_path / "run.sqlite") as journal:
        journal.execute("UPDATE tasks SET result = '0.25' WHERE id = 'small'")
    with RunStore(tmp_path) as store:
        with pytest.warns(FireassayWarning, match="damaged"):
            assert store.finished(["small", "big"]) == {}
        store.record("small", 0.5, 0.0)
        store.record("big", big, 0.0)
        assert store.finished(["small", "big"])["small"] == 0.5


def test_every_flip_in_an_artifact_is_seen(tmp_path):
    big = np.random.default_rng(0).normal(size=20_000)
    with RunStore(tmp_path) as store:
        store.expect(["big"], "work", "f")
        store.record("big", big, 0.0)
        (artifact,) = store.artifacts.iterdir()
        content = artifact.read_bytes()
        for bit in np.random.default_rng(1).integers(0, 8 * len(content), 48).tolist():
            artifact.write_bytes(flipped(content, bit))
            with pytest.warns(FireassayWarning, match="damaged"):
                assert store.finished(["big"]) == {}


def test_facts_that_are_damaged_are_an_error_to_readers(tmp_path):
    with RunStore(tmp_path) as store:
        store.set_meta("under way", "now")
    with sqlite3.connect(tmp_path / "run.sqlite") as journal:
        journal.execute("UPDATE meta SET value = 'null'")
    with RunStore(tmp_path, read_only=True) as store, pytest.raises(StoreError, match="damaged"):
        store.meta("under way")
    with RunStore(tmp_path) as store, pytest.warns(FireassayWarning, match="damaged"):
        assert store.meta("under way") is None


def test_a_journal_without_checksums_is_done_again(tmp_path):
    with sqlite3.connect(tmp_path / "run.sqlite") as journal:
        journal.executescript(journal_tables._TABLES + "PRAGMA user_version = 1;")
        journal.execute(f"PRAGMA application_id = {journal_tables._APPLICATION_ID}")
        journal.execute("INSERT INTO tasks VALUES (1, 'a', 'w', 'f', 'done', '1.5', NULL, NULL, 1)")
    with RunStore(tmp_path) as store:
        assert store.finished(["a"]) == {}
        store.record("a", 2.5, 0.0)
        assert store.finished(["a"]) == {"a": 2.5}


# Links


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
@pytest.mark.parametrize("name", ["artifacts", "run.sqlite", "run.lock"])
@pytest.mark.parametrize("read_only", [False, True])
def test_links_that_lead_out_of_the_folder_are_refused(tmp_path, name, read_only):
    run, outside = tmp_path / "run", tmp_path / "outside"
    RunStore(run).close()
    (run / name).rename(outside) if name != "run.lock" else outside.touch()
    (run / name).unlink(missing_ok=True)
    if outside.is_dir():
        (outside / ".profile").write_text("precious")
    (run / name).symlink_to(outside)
    with pytest.raises(StoreError, match="a link"):
        RunStore(run, read_only=read_only)
    assert not outside.is_dir() or (outside / ".profile").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_an_artifact_that_is_a_link_is_neither_read_nor_written(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("precious")
    with RunStore(tmp_path / "run") as store:
        store.expect(["big"], "work", "f")
        store.record("big", np.random.default_rng(0).normal(size=50_000), 0.0)
        (artifact,) = store.artifacts.iterdir()
        artifact.unlink()
        artifact.symlink_to(secret)
        with pytest.raises(StoreError, match="a link"):
            store.finished(["big"])
        with pytest.raises(StoreError, match="a link"):
            store.save_artifact(artifact.name, 1)
    assert secret.read_text() == "precious"


class InterruptedAfter:
    """A connection on which Ctrl-C arrives right after a statement was executed."""

    def __init__(self, connection: sqlite3.Connection, statement: str) -> None:
        self.connection, self.statement = connection, statement

    def execute(self, statement: str, *parameters: object) -> sqlite3.Cursor:
        cursor = self.connection.execute(statement, *parameters)
        if statement == self.statement:
            raise KeyboardInterrupt
        return cursor

    def __getattr__(self, name: str) -> object:
        return getattr(self.connection, name)


@pytest.mark.parametrize("statement", ["BEGIN IMMEDIATE", "COMMIT"])
def test_ctrl_c_around_a_transaction_leaves_a_journal_that_can_be_written(tmp_path, statement):
    with RunStore(tmp_path / "run") as store:
        real = store._connection
        store._connection = InterruptedAfter(real, statement)
        with pytest.raises(KeyboardInterrupt):
            store.set_meta("before", 1)
        store._connection = real
        assert not real.in_transaction
        store.set_meta("after", 1)
        assert store.meta("after") == 1


def test_a_transaction_left_open_by_an_interrupt_is_undone_by_the_next(tmp_path):
    with RunStore(tmp_path / "run") as store:
        store._connection.execute("BEGIN IMMEDIATE")
        store.set_meta("after", 1)
        assert store.meta("after") == 1


def test_a_number_of_a_task_that_is_no_number_is_left_out(tmp_path):
    with RunStore(tmp_path / "run") as store:
        store.expect(["task"], name="tasks", function="module:task")
        store.record("task", {"value": 0.25}, seconds=1.0)
    base = sqlite3.connect(tmp_path / "run" / "run.sqlite")
    base.execute("UPDATE tasks SET finished = ?", (b"\0",))
    base.commit()
    base.close()
    with RunStore(tmp_path / "run") as store:
        store.expect(["other"], name="tasks", function="module:task")
        store.record("other", {"value": 0.5}, seconds=1.0)
        assert store.finished(["other"]) == {"other": {"value": 0.5}}
