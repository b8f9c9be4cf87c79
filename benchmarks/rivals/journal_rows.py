"""The journal of a run."""

import sqlite3
import tempfile

from race import Race, rival

_WHY = (
    "a task is expected, then finished with checksum, order and seconds, one transaction each: "
    "a killed run repeats only what was in flight, and damage is found"
)


def _journalled(n: int):
    from fireassay.engine import RunStore

    with tempfile.TemporaryDirectory() as folder, RunStore(folder) as store:
        store.expect([str(i) for i in range(n)], name="task", function="module:task")
        return [store.record(str(i), i, 0.0) for i in range(n)]


def _same(mine, theirs) -> str:
    return "same results" if list(mine) == list(theirs) else "DIFFERENT"


@rival("plain SQLite, WAL", "engine", "3,000 results, each its own transaction", why=_WHY)
def _(quick: bool) -> Race:
    n = 200 if quick else 3_000

    def peer():
        with tempfile.TemporaryDirectory() as folder:
            file = sqlite3.connect(f"{folder}/results.sqlite", isolation_level=None)
            file.execute("PRAGMA journal_mode = WAL")
            file.execute("PRAGMA synchronous = NORMAL")
            file.execute("CREATE TABLE results (id TEXT PRIMARY KEY, value TEXT)")
            for i in range(n):
                file.execute("INSERT INTO results VALUES (?, ?)", (str(i), str(i)))
            found = [int(v) for (v,) in file.execute("SELECT value FROM results ORDER BY rowid")]
            file.close()
            return found

    return Race(lambda: _journalled(n), peer, _same)


@rival("diskcache", "engine", "3,000 results, each its own transaction")
def _(quick: bool) -> Race:
    import diskcache

    n = 200 if quick else 3_000

    def peer():
        with tempfile.TemporaryDirectory() as folder, diskcache.Cache(folder) as cache:
            for i in range(n):
                cache[str(i)] = i
            return [cache[str(i)] for i in range(n)]

    return Race(lambda: _journalled(n), peer, _same)


@rival("joblib.Memory", "engine", "3,000 journalled calls")
def _(quick: bool) -> Race:
    import joblib

    from fireassay.engine import Executor, RunStore

    n = 200 if quick else 3_000

    def ours():
        with tempfile.TemporaryDirectory() as folder, RunStore(f"{folder}/run") as store:
            return Executor(1, store=store, progress=False).map(abs, range(n))

    def peer():
        with tempfile.TemporaryDirectory() as folder:
            kept = joblib.Memory(folder, verbose=0).cache(abs)
            return [kept(i) for i in range(n)]

    return Race(ours, peer, _same)
