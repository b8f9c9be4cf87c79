"""Damaged model files, settings, votes, monitors and journals: a value, or an error that is meant.

The readers of data have theirs in tests/data/test_fuzz.py; tests/faults/fuzz.py N runs both.
"""

import contextlib
import io
import json
import pickle
import shutil
import tempfile
import time
import warnings
import zipfile
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import fireassay as fa
from fireassay.assessment import read_config
from fireassay.classifiers.trusted_files import is_trusted
from fireassay.core import FireassayError
from fireassay.core.extras import is_installed
from fireassay.curation.files import read_votes
from fireassay.engine import RunStore
from fireassay.engine.answer_file import AnswerFile
from fireassay.survival.campaign_config import read_config as read_campaign

SECONDS = 20.0
X = np.random.default_rng(0).random((6, 4)).astype(np.float32)
CONFIG = """[model]
path = "m.onnx"
classes = ["a", "b"]
bounds = [0.0, 1.0]
[data]
test = "test.npz"
[run]
parts = ["accuracy"]
hang_minutes = 2
[gates.max]
"accuracy.error" = 0.2
[gates.accept]
"independent-rows" = "one row per patient"
"""
CAMPAIGN = """models = ["logistic"]
epochs = [5]
samples = 10
[[attacks]]
name = "fgm"
norm = "linf"
eps = [0.3]
"""


def asked(path: Path) -> None:
    """Read a model file and ask it: what is damaged may show only then."""
    model: Any = fa.as_classifier(str(path))
    model.hang_s = SECONDS
    model.predict_proba(X)


def file_named(name: str) -> Any:
    def read(folder: Path, content: bytes) -> None:
        path = folder / name
        path.write_bytes(content)
        asked(path)

    return read


def toml(folder: Path, content: bytes) -> None:
    (folder / "fireassay.toml").write_bytes(content)
    read_config(folder / "fireassay.toml")


def campaign(folder: Path, content: bytes) -> None:
    (folder / "campaign.toml").write_bytes(content)
    read_campaign(folder / "campaign.toml")


def trusted(folder: Path, content: bytes) -> None:
    (folder / "trusted.json").write_bytes(content)
    (folder / "m.pkl").write_bytes(b"nothing")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FIREASSAY_SETTINGS", str(folder))
        assert not is_trusted(folder / "m.pkl"), "no damage gives trust to another file"


def votes(folder: Path, content: bytes) -> None:
    (folder / "votes.npy").write_bytes(content)
    read_votes(folder / "votes.npy")


def journal(folder: Path, content: bytes) -> None:
    shutil.rmtree(folder / "run", ignore_errors=True)
    (folder / "run" / "artifacts").mkdir(parents=True)
    (folder / "run" / "run.sqlite").write_bytes(content)
    with RunStore(folder / "run") as store:
        kept = store.finished(["task"])
        assert kept in ({}, {"task": {"value": 0.25}}), "a damaged answer is no answer"
        noted = store.meta("fact")
        assert noted in (None, "as it was"), "a damaged fact is no fact"
        store.progress("tasks")
        store.timings()


def sound_journal() -> bytes:
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        with RunStore(Path(name) / "run") as store:
            store.expect(["task"], name="tasks", function="module:task")
            store.record("task", {"value": 0.25}, seconds=1.0)
            store.set_meta("fact", "as it was")
        return (Path(name) / "run" / "run.sqlite").read_bytes()


def npy(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


class Runs:
    """Leaves a trace if it is ever unpickled."""

    trace: ClassVar[list[int]] = []

    def __reduce__(self) -> Any:
        return self.trace.append, (1,)


def pickled(folder: Path, content: bytes) -> None:
    file_named("m.pkl")(folder, content)


def exported() -> bytes:
    """What looks like torch.export's archive: it must be refused unread, whatever is in it."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive_format", "pt2")
        archive.writestr("models/model.json", json.dumps({"graph_module": {"guards_code": "1/0"}}))
        archive.writestr("data/weights.pt", pickle.dumps(Runs()))
    return file.getvalue()


def refused(ending: str) -> Any:
    def read(folder: Path, content: bytes) -> None:
        with contextlib.suppress(FireassayError):
            file_named(f"m{ending}")(folder, content)
            pytest.fail("read without trust")
        assert not Runs.trace

    return read


def kept_answers(folder: Path, content: bytes) -> None:
    """Whatever is in the file, what comes out of it are probabilities of rows of the set."""
    path = folder / "answers.bin"
    path.write_bytes(content)
    for places, answers in AnswerFile(path, "model and data", n=6).read():
        assert places.min() >= 0 <= places.max() < 6
        assert answers.dtype.kind == "f"
        assert ((answers >= 0) & (answers <= 1 + 1e-6)).all()


def sound_answers() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        file = AnswerFile(Path(folder) / "answers.bin", "model and data", n=6)
        for some in (np.array([0, 3]), np.array([5])):
            file.append(some, np.full((len(some), 4), 0.25))
        return file.path.read_bytes()


READERS: dict[str, tuple[Any, bytes]] = {
    "kept answers": (kept_answers, sound_answers()),
    "fireassay.toml": (toml, CONFIG.encode()),
    "campaign.toml": (campaign, CAMPAIGN.encode()),
    "trusted.json": (trusted, json.dumps({"0" * 64: "/models/m.pkl"}, indent=2).encode()),
    "votes": (votes, npy(np.array([[0, 1, -1], [1, 1, 0], [0, -1, 0]]))),
    "journal": (journal, sound_journal()),
    "pickle": (refused(".pkl"), pickle.dumps(Runs())),
    "pt2": (refused(".pt2"), exported()),
}


def onnx_file() -> bytes:
    import onnx

    rng = np.random.default_rng(0)
    helper, kinds = onnx.helper, onnx.TensorProto
    graph = helper.make_graph(
        [
            helper.make_node("MatMul", ["rows", "W"], ["scores"]),
            helper.make_node("Softmax", ["scores"], ["answer"], axis=1),
        ],
        "small",
        [helper.make_tensor_value_info("rows", kinds.FLOAT, [None, 4])],
        [helper.make_tensor_value_info("answer", kinds.FLOAT, [None, 3])],
        [onnx.numpy_helper.from_array(rng.normal(size=(4, 3)).astype(np.float32), "W")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return bytes(model.SerializeToString())


def skops_file() -> bytes:
    import skops.io
    from sklearn.tree import DecisionTreeClassifier

    y = np.array([0, 1, 0, 1, 1, 0])
    return bytes(skops.io.dumps(DecisionTreeClassifier(random_state=0).fit(X, y)))


def skops_schema(folder: Path, content: bytes) -> None:
    """The archive stays sound, what it says does not."""
    sound, changed = io.BytesIO(READERS["skops"][1]), io.BytesIO()
    with zipfile.ZipFile(sound) as before, zipfile.ZipFile(changed, "w") as after:
        for name in before.namelist():
            after.writestr(name, content if name == "schema.json" else before.read(name))
    file_named("m.skops")(folder, changed.getvalue())


if is_installed("onnxruntime") and is_installed("onnx"):
    READERS["onnx"] = (file_named("m.onnx"), onnx_file())
if is_installed("skops"):
    READERS["skops"] = (file_named("m.skops"), skops_file())
    _archive = zipfile.ZipFile(io.BytesIO(READERS["skops"][1]))
    READERS["skops schema"] = (skops_schema, _archive.read("schema.json"))


@st.composite
def damaged(draw: Any, content: bytes) -> bytes:
    """The content with up to four changes: bits flipped, cut, dropped, repeated, overwritten."""
    found = bytearray(content)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(0, len(found) - 1)))
        how = draw(st.sampled_from(("flip", "cut", "drop", "repeat", "put", "number")))
        if how == "flip" and found:
            found[at] ^= 1 << draw(st.integers(0, 7))
        elif how == "cut":
            del found[at:]
        elif how == "drop":
            del found[at : at + draw(st.integers(1, 16))]
        elif how == "repeat":
            found[at:at] = found[at : at + 32] * draw(st.integers(1, 20))
        elif how == "put":
            found[at:at] = draw(st.binary(max_size=12))
        else:
            huge = draw(
                st.sampled_from((b"-1", b"1e999", b"NaN", b"9" * 30, b"\xff" * 4, b"[" * 99))
            )
            found[at : at + len(huge)] = huge
    return bytes(found)


def read_whatever_comes(name: str, folder: Path, data: Any) -> None:
    read, sound = READERS[name]
    content = data.draw(damaged(sound) | st.binary(max_size=200))
    began = time.process_time()
    with warnings.catch_warnings(), contextlib.suppress(FireassayError):
        warnings.simplefilter("ignore")
        read(folder, content)
    assert time.process_time() - began < SECONDS


QUIET = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=10, suppress_health_check=QUIET)
@given(data=st.data())
def test_a_value_or_an_error_that_is_meant(tmp_path: Path, name: str, data: Any) -> None:
    read_whatever_comes(name, tmp_path, data)


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
@settings(max_examples=150, suppress_health_check=QUIET)
@given(data=st.data())
def test_more_often(tmp_path: Path, name: str, data: Any) -> None:
    read_whatever_comes(name, tmp_path, data)


@pytest.mark.parametrize("name", READERS)
def test_the_sound_content_is_read(tmp_path: Path, name: str) -> None:
    read, sound = READERS[name]
    read(tmp_path, sound)
