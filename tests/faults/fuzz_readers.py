"""Every reader of bytes that somebody else may have written, each with a content that is sound.

A reader takes a folder to work in and the content; it gives nothing back, and raises what the
product raises.
"""

import contextlib
import functools
import http.server
import io
import json
import pickle
import shutil
import tempfile
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import fireassay as fa
from fireassay.assessment import read_config
from fireassay.assessment.run.folder import read_about, read_costs, read_gates
from fireassay.assessment.run.judging import LookLedger
from fireassay.classifiers.trust import is_trusted
from fireassay.core.lazy import is_installed
from fireassay.curation.files import read_votes
from fireassay.discovery import Search, next_labels
from fireassay.engine import RunStore
from fireassay.engine.answer_file import AnswerFile
from fireassay.engine.labels.book import LabelBook
from fireassay.survival.campaign_config import read_config as read_campaign

Reader = Callable[[Path, bytes], None]
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
ABOUT = {
    "model": "m.onnx",
    "data": [{"name": "t.npz", "rows": 60}],
    "seed": 0,
    "began": "2026-11-17",
}
SPENT = {"seconds": 0.5, "queries": 60, "labels": 60, "disk_mb": 0.1, "memory_mb": 200.0}
LOOKS = {"schema": 1, "sets": [{"share": 1.0, "marks": [-7, 12], "looks": {"max a": ["0a"]}}]}


def asked(path: Path) -> None:
    """Read a model file and ask it: what is damaged may show only then."""
    fa.as_classifier(str(path), hang_minutes=SECONDS / 60).predict_proba(X)


def file_named(name: str, read: Callable[[Path], Any] = asked) -> Reader:
    def write_and_read(folder: Path, content: bytes) -> None:
        path = folder / name
        path.write_bytes(content)
        read(path)

    return write_and_read


def beside(name: str, read: Callable[[Path], Any]) -> Reader:
    """A file that is found by the folder that it is in."""
    return file_named(name, lambda path: read(path.parent))


def trusted(folder: Path, content: bytes) -> None:
    (folder / "trusted.json").write_bytes(content)
    (folder / "m.pkl").write_bytes(b"nothing")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FIREASSAY_SETTINGS", str(folder))
        assert not is_trusted(folder / "m.pkl"), "no damage gives trust to another file"


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


def filled_store(folder: Path) -> RunStore:
    store = RunStore(folder)
    store.expect(["task"], name="tasks", function="module:task")
    store.record("task", {"value": 0.25}, seconds=1.0)
    store.set_meta("fact", "as it was")
    store.save_artifact("weights", {"layers": X})
    return store


def sound_journal() -> bytes:
    with tempfile.TemporaryDirectory() as name:
        filled_store(Path(name) / "run").close()
        return (Path(name) / "run" / "run.sqlite").read_bytes()


def artifact(folder: Path, content: bytes) -> None:
    shutil.rmtree(folder / "kept", ignore_errors=True)
    with filled_store(folder / "kept") as store:
        (file,) = store.artifacts.glob("*")
        file.write_bytes(content)
        np.testing.assert_array_equal(store.load_artifact("weights")["layers"], X)


def sound_artifact() -> bytes:
    with tempfile.TemporaryDirectory() as name, filled_store(Path(name) / "kept") as store:
        (file,) = store.artifacts.glob("*")
        return file.read_bytes()


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


def search_folder(folder: Path) -> Search:
    def model(rows: Any) -> Any:
        return np.column_stack([1 - rows[:, 0], rows[:, 0]])

    (folder / "search").mkdir(parents=True, exist_ok=True)
    place = folder / "search" / "search.npz"
    place.unlink(missing_ok=True)
    return Search("low-confidence", model=model, X=X, budget=2, threshold=0.0, path=place)


def search_state(folder: Path, content: bytes) -> None:
    (folder / "search").mkdir(exist_ok=True)
    (folder / "search" / "search.npz").write_bytes(content)
    next_labels(folder / "search", folder / "next.csv", count=1)


def label_store(folder: Path, content: bytes) -> None:
    shutil.rmtree(folder / "search", ignore_errors=True)
    search = search_folder(folder)
    search.book.close()
    for old in (folder / "search").glob("labels.sqlite*"):
        old.unlink()
    (folder / "search" / "labels.sqlite").write_bytes(content)
    with contextlib.closing(LabelBook(folder / "search")) as book:
        book.slots(search.questions)
        book.answers(search.questions)
        book.counts(search.questions)


@functools.cache
def sound_search() -> tuple[bytes, bytes]:
    with tempfile.TemporaryDirectory() as name:
        search = search_folder(Path(name))
        next_labels(Path(name) / "search", Path(name) / "next.csv", count=1)
        search.book.close()
        place = Path(name) / "search"
        return (place / "search.npz").read_bytes(), (place / "labels.sqlite").read_bytes()


class Answers(http.server.BaseHTTPRequestHandler):
    """A server that answers with whatever bytes it is given."""

    content: ClassVar[bytes] = b""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.content)))
        self.end_headers()
        self.wfile.write(self.content)

    def log_message(self, *_: Any) -> None:
        """Nothing."""


@functools.cache
def address() -> str:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}/predict"


def server_answer(folder: Path, content: bytes) -> None:
    del folder
    Answers.content = content
    fa.as_classifier(address(), classes=[0, 1], retries=0).predict_proba(X)


class Runs:
    """Leaves a trace if it is ever unpickled."""

    trace: ClassVar[list[int]] = []

    def __reduce__(self) -> Any:
        return self.trace.append, (1,)


def exported() -> bytes:
    """What looks like torch.export's archive: it must be refused unread, whatever is in it."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive_format", "pt2")
        archive.writestr("models/model.json", json.dumps({"graph_module": {"guards_code": "1/0"}}))
        archive.writestr("data/weights.pt", pickle.dumps(Runs()))
    return file.getvalue()


def refused(ending: str) -> Reader:
    def read(folder: Path, content: bytes) -> None:
        try:
            file_named(f"m{ending}")(folder, content)
            raise AssertionError("read without trust")
        finally:
            assert not Runs.trace

    return read


def npy(array: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def as_json(value: Any) -> bytes:
    return json.dumps(value, indent=2).encode()


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


READERS: dict[str, tuple[Reader, bytes]] = {
    "fireassay.toml": (file_named("fireassay.toml", read_config), CONFIG.encode()),
    "campaign.toml": (file_named("campaign.toml", read_campaign), CAMPAIGN.encode()),
    "trusted.json": (trusted, as_json({"0" * 64: "/models/m.pkl"})),
    "about.json": (beside("about.json", read_about), as_json(ABOUT)),
    "costs.json": (beside("costs.json", read_costs), as_json({"a": {"planned": SPENT}})),
    "gates.json": (beside("gates.json", read_gates), as_json({"max": {"a.b": 0.1}, "min": {}})),
    "looks": (beside("fireassay-looks.json", LookLedger), as_json(LOOKS)),
    "votes": (
        file_named("votes.npy", read_votes),
        npy(np.array([[0, 1, -1], [1, 1, 0], [0, -1, 0]])),
    ),
    "journal": (journal, sound_journal()),
    "artefact": (artifact, sound_artifact()),
    "kept answers": (kept_answers, sound_answers()),
    "search": (search_state, sound_search()[0]),
    "labels.sqlite": (label_store, sound_search()[1]),
    "server": (server_answer, as_json({"predictions": [[0.25, 0.75]] * 6})),
    "pickle": (refused(".pkl"), pickle.dumps(Runs())),
    "pt2": (refused(".pt2"), exported()),
    "xgboost": (refused(".json"), b'{"learner": {"gradient_booster": {}}}'),
    "lightgbm": (refused(".txt"), b"tree\nversion=v4\nnum_class=1\nnum_class=9\n"),
}
if is_installed("onnxruntime") and is_installed("onnx"):
    READERS["onnx"] = (file_named("m.onnx"), onnx_file())
if is_installed("skops"):
    READERS["skops"] = (file_named("m.skops"), skops_file())
    _archive = zipfile.ZipFile(io.BytesIO(READERS["skops"][1]))
    READERS["skops schema"] = (skops_schema, _archive.read("schema.json"))
