import functools

import numpy as np
import pytest

from fireassay.core import DataError, ParameterError
from fireassay.data import two_moons
from fireassay.engine.journal_tables import function_identity, task_ids


def work(row, X=None, scale=1.0):
    return row


def other_work(row, X=None, scale=1.0):
    return row


def test_every_input_counts():
    X = np.arange(4.0)
    changed = X.copy()
    changed[2] += 1e-12
    ids = {
        "base": task_ids(work, [1], {"X": X})[0],
        "row": task_ids(work, [2], {"X": X})[0],
        "row type": task_ids(work, [1.0], {"X": X})[0],
        "data": task_ids(work, [1], {"X": changed})[0],
        "dtype": task_ids(work, [1], {"X": X.astype(np.float32)})[0],
        "name": task_ids(work, [1], {"Y": X})[0],
        "more": task_ids(work, [1], {"X": X, "scale": 2.0})[0],
        "function": task_ids(other_work, [1], {"X": X})[0],
        "bound": task_ids(functools.partial(work, scale=2.0), [1], {"X": X})[0],
    }
    assert len(set(ids.values())) == len(ids)
    assert task_ids(work, [1], {"X": X.copy()})[0] == ids["base"]


def test_a_changed_source_is_another_function(tmp_path):
    identities = []
    for i, text in enumerate(("return row + 1", "return row + 2")):
        (tmp_path / f"v{i}.py").write_text(f"def task(row):\n    {text}\n")
        space = {"__name__": "tasks"}
        source = (tmp_path / f"v{i}.py").read_text()
        exec(compile(source, str(tmp_path / f"v{i}.py"), "exec"), space)
        identities.append(function_identity(space["task"]))
    assert identities[0] != identities[1]


def test_functions_in_shared_count_by_source_and_data_sets_by_content():
    assert task_ids(work, [1], {"f": work}) != task_ids(work, [1], {"f": other_work})
    same = task_ids(work, [1], {"d": two_moons(10)})
    assert same == task_ids(work, [1], {"d": two_moons(10)})
    assert same != task_ids(work, [1], {"d": two_moons(10, seed=1)})


def test_what_cannot_be_identified_is_refused():
    with pytest.raises(DataError, match="sha256"):
        task_ids(work, [1], {"model": object()})
    with pytest.raises(ParameterError, match="top level"):
        task_ids(lambda row: row, [1], {})
