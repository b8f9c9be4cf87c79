"""Limits that move after a look are said, however they move."""

import json

import pytest

from fireassay.assessment import read_config
from fireassay.assessment.run.protocol import (
    FILE,
    changes_since,
    join_data,
    lock_of,
    read_protocol,
    write_protocol,
)
from fireassay.core import DataError, FireassayError
from fireassay.report import Gate

TOML = """
[model]
path = "m.onnx"
[data]
test = "t.npz"
[run]
parts = ["accuracy"]
seed = {seed}
[gates.max]
"accuracy.error" = {limit}
"""


def project(folder, limit=0.1, seed=0):
    (folder / "fireassay.toml").write_text(TOML.format(limit=limit, seed=seed))
    return read_config(folder / "fireassay.toml")


def gate(limit=0.1, name="accuracy.error"):
    return Gate(name, "max", limit)


def first(protocol=None, limit=0.1):
    noted = {"gates": {"max accuracy.error": limit}}
    return noted if protocol is None else {**noted, "sha256": protocol.sha256}


def judged(protocol, at_first, gates, changed=(), tried=None):
    return lock_of(protocol, list(changed), at_first=at_first, gates=gates, tried=tried or {}).state


def test_a_protocol_is_read_as_it_was_written(tmp_path):
    made = write_protocol(project(tmp_path))
    assert read_protocol(tmp_path) == made
    assert made.terms["max"] == {"accuracy.error": 0.1}
    assert made.who
    assert made.when


@pytest.mark.parametrize("key", ["terms", "who", "when", "reason"])
def test_an_edited_protocol_is_refused(tmp_path, key):
    write_protocol(project(tmp_path))
    kept = json.loads((tmp_path / FILE).read_text())
    kept[key] = {"max": {}} if key == "terms" else "2020-01-01T00:00:00+00:00"
    (tmp_path / FILE).write_text(json.dumps(kept))
    with pytest.raises(DataError, match="as it was locked"):
        read_protocol(tmp_path)


def test_a_second_protocol_is_an_amendment_with_a_reason(tmp_path):
    old = write_protocol(project(tmp_path))
    with pytest.raises(FireassayError, match="--amend"):
        write_protocol(project(tmp_path, 0.2))
    with pytest.raises(FireassayError, match="--reason"):
        write_protocol(project(tmp_path, 0.2), amend=True)
    new = write_protocol(project(tmp_path, 0.2), amend=True, reason="the board asked")
    assert [kept["sha256"] for kept in new.earlier] == [old.sha256]
    assert read_protocol(tmp_path) == new


@pytest.mark.parametrize(
    ("change", "said"),
    [({"limit": 0.2}, "an upper limit"), ({"seed": 1}, "the seed")],
)
def test_what_moved_since_the_lock_is_named(tmp_path, change, said):
    made = write_protocol(project(tmp_path))
    assert changes_since(made, project(tmp_path), {}) == []
    assert changes_since(made, project(tmp_path, **change), {}) == [said]


def test_data_join_at_the_first_reading_and_count_from_then_on(tmp_path):
    config = project(tmp_path)
    write_protocol(config)
    join_data(tmp_path, {"test": "aa"})
    join_data(tmp_path, {"test": "bb"})
    made = read_protocol(tmp_path)
    assert made.data == {"test": "aa"}
    assert changes_since(made, config, {"test": "bb"}) == ["test rows"]


def test_a_protocol_before_the_first_finish_locks(tmp_path):
    made = write_protocol(project(tmp_path))
    assert judged(made, first(made), [gate()]) == "locked"
    assert judged(made, first(made), [gate(name="error")]) == "locked"


def test_a_protocol_after_the_first_finish_does_not_lock(tmp_path):
    made = write_protocol(project(tmp_path))
    assert judged(made, first(), [gate()]) == "first look"
    assert judged(made, None, [gate()]) == "first look"


def test_limits_that_were_there_at_the_first_finish_are_a_first_look():
    assert judged(None, first(), [gate()]) == "first look"


def test_another_limit_on_the_command_line_is_exploratory(tmp_path):
    made = write_protocol(project(tmp_path))
    assert judged(made, first(made), [gate(0.2)]) == "exploratory"
    assert judged(None, first(), [gate(0.2)]) == "exploratory"
    assert judged(None, first(), [gate(name="accuracy.ece")]) == "exploratory"


def test_the_sixth_limit_on_the_same_labels_is_exploratory_in_a_new_folder_too():
    tried = {"max accuracy.error": [0.01, 0.02, 0.03, 0.04, 0.05]}
    said = lock_of(None, [], at_first=first(), gates=[gate()], tried=tried)
    assert said.state == "exploratory"
    assert "6 limits tried" in said.text


def test_a_changed_protocol_is_broken(tmp_path):
    made = write_protocol(project(tmp_path))
    assert judged(made, first(made), [gate()], changed=["the seed"]) == "broken"
