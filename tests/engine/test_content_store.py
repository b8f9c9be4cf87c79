"""The store between runs: right with it and without it, damaged, full, shared and refused."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fireassay.core.errors import ConfigError, FireassayWarning
from fireassay.engine import ContentStore, Executor


def _counted(calls: list[int]) -> dict[str, object]:
    calls.append(1)
    return {"rows": np.arange(4.0), "names": ("a", "b")}


def test_a_value_is_computed_once_and_comes_back_the_same(tmp_path: Path) -> None:
    calls: list[int] = []
    first = ContentStore(tmp_path / "s").once("set", [1], lambda: _counted(calls))
    again = ContentStore(tmp_path / "s").once("set", [1], lambda: _counted(calls))
    other = ContentStore(tmp_path / "s").once("set", [2], lambda: _counted(calls))
    assert len(calls) == 2
    assert first["names"] == again["names"] == other["names"] == ("a", "b")
    np.testing.assert_array_equal(first["rows"], again["rows"])
    assert ContentStore(tmp_path / "s").has("set", [1])
    assert not ContentStore(tmp_path / "s").has("set", [3])


def test_what_is_damaged_is_said_and_computed_again(tmp_path: Path) -> None:
    store = ContentStore(tmp_path / "s")
    store.once("set", 1, lambda: 5)
    (file,) = (path for path, _ in store.files())
    content = bytearray(file.read_bytes())
    content[-3] ^= 1
    file.write_bytes(bytes(content))
    with pytest.warns(FireassayWarning, match="as it was written"):
        assert store.once("set", 1, lambda: 6) == 6
    assert store.once("set", 1, lambda: 7) == 6


def test_one_entry_cannot_pass_for_another(tmp_path: Path) -> None:
    store = ContentStore(tmp_path / "s")
    store.once("a", 1, lambda: 5)
    (file,) = (path for path, _ in store.files())
    store.once("b", 1, lambda: 6)
    (other,) = (path for path, _ in store.files() if path != file)
    other.write_bytes(file.read_bytes())
    with pytest.warns(FireassayWarning, match="as it was written"):
        assert store.once("b", 1, lambda: 7) == 7


def test_it_stays_small_and_drops_what_was_not_used_for_longest(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    store = ContentStore(tmp_path / "s", most_bytes=50_000)
    for i in range(8):
        store.once("rows", i, lambda: rng.random(1000))
        for age, (path, about) in enumerate(sorted(store.files(), key=lambda f: f[1].st_mtime)):
            os.utime(path, (about.st_mtime - 10 + age, about.st_mtime - 10 + age))
    assert sum(about.st_size for _, about in store.files()) <= 50_000
    assert store.has("rows", 7)
    assert not store.has("rows", 0)


def test_its_folder_is_for_its_owner_alone(tmp_path: Path) -> None:
    assert (ContentStore(tmp_path / "s").path.stat().st_mode & 0o777) == 0o700
    (tmp_path / "open").mkdir(mode=0o777)
    (tmp_path / "open").chmod(0o777)
    with pytest.warns(FireassayWarning, match="others than its owner"):
        store = ContentStore(tmp_path / "open")
    assert store.once("set", 1, lambda: 5) == 5
    assert not list(store.files())
    (tmp_path / "link").symlink_to(tmp_path / "s")
    with pytest.warns(FireassayWarning, match="no folder"):
        ContentStore(tmp_path / "link")


def test_configured_beside_the_file_or_in_the_cache_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert ContentStore.configured("off", tmp_path) is None
    found = ContentStore.configured(None, tmp_path)
    assert found is not None
    assert found.path == tmp_path / "cache" / "fireassay" / "store"
    with pytest.raises(ConfigError, match="inside the folder"):
        ContentStore.configured("../elsewhere", tmp_path)


_WRITER = """
import sys, numpy as np
from fireassay.engine import ContentStore
store = ContentStore(sys.argv[1], most_bytes=200_000)
for i in range(60):
    found = store.once("rows", i % 12, lambda: np.full(3000, i % 12, dtype=float))
    assert (found == i % 12).all()
"""


def test_several_processes_share_it(tmp_path: Path) -> None:
    words = [sys.executable, "-W", "error", "-c", _WRITER, str(tmp_path / "s")]
    several = [subprocess.Popen(words) for _ in range(3)]
    assert [one.wait() for one in several] == [0, 0, 0]


def test_tasks_are_not_run_again_by_another_executor(tmp_path: Path) -> None:
    store = ContentStore(tmp_path / "s")
    first = Executor(kept=store).map(pow, [2, 3], {"exp": 2})
    before = {path: about.st_mtime_ns for path, about in store.files()}
    assert Executor(kept=store).map(pow, [2, 3], {"exp": 2}) == first == [4, 9]
    assert before.keys() == {path for path, _ in store.files()}
