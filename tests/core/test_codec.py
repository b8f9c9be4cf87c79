import io
import math
import pickle
import zipfile

import numpy as np
import pandas as pd
import pytest

from fireassay.core import Assumption, DataError, Estimate, Evidence, Provenance, codec


def test_everything_a_result_holds_comes_back(tmp_path):
    value = {
        "estimate": Estimate(0.5, 0.4, 0.6, 0.95, 10, "m"),
        "array": np.arange(6, dtype=np.int8).reshape(2, 3),
        "text": np.array(["a", "β"]),
        "tuple": (1, None, math.nan),
        "frame": pd.DataFrame({"x": [1.5, 2.5], "s": ["a", None]}, index=["i", "j"]),
        "$odd": {"nested": [True, -math.inf]},
    }
    loaded = codec.load(codec.save(value, tmp_path / "deep" / "r.npz"))
    assert loaded["estimate"] == value["estimate"]
    assert loaded["array"].dtype == np.int8
    assert np.array_equal(loaded["array"], value["array"])
    assert loaded["text"].tolist() == ["a", "β"]
    assert loaded["tuple"][:2] == (1, None)
    assert math.isnan(loaded["tuple"][2])
    pd.testing.assert_frame_equal(loaded["frame"], value["frame"])
    assert loaded["$odd"] == {"nested": [True, -math.inf]}


def test_evidence_round_trips():
    evidence = Evidence(
        "reliability",
        "fine",
        estimates={"pmi": Estimate(0.1, 0.0, 0.2, 0.95, 3, "m")},
        assumptions=(Assumption("i.i.d.", "untestable", "no time stamps"),),
        provenance=Provenance(seed=0),
    )
    assert codec.from_bytes(codec.to_bytes(evidence)) == evidence


def test_equal_values_give_equal_bytes():
    value = {"a": np.linspace(0, 1, 7), "b": [1, 2]}
    assert codec.to_bytes(value) == codec.to_bytes({"a": np.linspace(0, 1, 7), "b": [1, 2]})
    assert list(codec.from_bytes(codec.to_bytes({"b": 1, "a": 2}))) == ["b", "a"]


def test_a_failed_save_leaves_the_old_file(tmp_path):
    path = codec.save([1], tmp_path / "r.npz")
    with pytest.raises(DataError):
        codec.save(object(), path)
    assert codec.load(path) == [1]
    assert [p.name for p in tmp_path.iterdir()] == ["r.npz"]


class Explosive:
    def __reduce__(self):
        return (pytest.fail, ("a pickle was executed",))


def archive(tree, version=codec.SCHEMA_VERSION, **members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("tree.json", f'{{"schema_version": {version}, "tree": {tree}}}')
        for name, content in members.items():
            file.writestr(f"{name}.npy", content)
    return buffer.getvalue()


def object_array():
    buffer = io.BytesIO()
    np.save(buffer, np.array([Explosive()], dtype=object), allow_pickle=True)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not a zip",
        pickle.dumps(Explosive()),
        archive('{"$array": "a"}', a=object_array()),
        archive('{"$array": "missing"}'),
        archive('{"$class": "os:system", "fields": {}}'),
        archive('{"$class": "fireassay.core.errors:DataError", "fields": {}}'),
        archive('{"$class": "fireassay.core.estimate:Estimate", "fields": {"value": 1}}'),
        codec.to_bytes(np.arange(100))[:-40],
    ],
)
def test_bad_files_are_refused_and_never_executed(content, tmp_path):
    (tmp_path / "r.npz").write_bytes(content)
    with pytest.raises(DataError, match="result saved by fireassay"):
        codec.load(tmp_path / "r.npz")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(DataError, match="nowhere"):
        codec.load(tmp_path / "nowhere.npz")


def unversioned():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("tree.json", '{"a": 1}')
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("content", "version"), [(unversioned(), 1), (archive('{"a": 1}', version=4), 4)]
)
def test_results_of_another_schema_version_are_refused_by_name(tmp_path, content, version):
    assert codec.from_bytes(archive('{"a": 1}')) == {"a": 1}
    (tmp_path / "old.npz").write_bytes(content)
    with pytest.raises(DataError, match=f"old.npz .* schema version 3. Got version {version}"):
        codec.load(tmp_path / "old.npz")
