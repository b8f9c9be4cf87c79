"""Fitted supervisors as files: safe ones, and ONNX graphs that give the same scores."""

import pickle
import zipfile

import numpy as np
import pytest

from fireassay import supervision
from fireassay.core import DataError, ParameterError
from fireassay.supervision import NotAvailableError
from fireassay.supervision.model_reader import ModelReader

pytestmark = pytest.mark.extras


@pytest.mark.parametrize("name", supervision.onnx_names())
def test_onnx_graphs_give_the_same_scores(name, torch_model, digit_rows, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    X, y, test, _ = digit_rows
    made = supervision.make(name).fit(torch_model, X, y)
    made.threshold(test[:200])
    path = supervision.to_onnx(made, tmp_path / "monitor.onnx")
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    reading = ModelReader(torch_model).read(test[200:260], ("probabilities", "logits", "features"))
    sent = {i.name: getattr(reading, i.name).astype(np.float32) for i in session.get_inputs()}
    score, alarm = session.run(["score", "alarm"], sent)
    expected = made.score(test[200:260])
    np.testing.assert_allclose(score, expected, rtol=2e-3, atol=2e-4)
    clear = np.abs(expected - made.rule_.threshold) > 1e-3 * np.abs(made.rule_.threshold)
    np.testing.assert_array_equal(alarm[clear], (expected > made.rule_.threshold)[clear])


def test_without_a_graph_the_safe_file_is_named(torch_model, digit_rows, tmp_path):
    X, y, _, _ = digit_rows
    made = supervision.make("dsa").fit(torch_model, X, y)
    with pytest.raises(NotAvailableError, match="save"):
        supervision.to_onnx(made, tmp_path / "x.onnx")
    with pytest.raises(ParameterError, match="fitted"):
        supervision.make("mdsa").save(tmp_path / "x.npz")


def test_pickles_and_foreign_files_are_refused_unread(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (pytest.fail, ("a pickle was executed",))

    path = tmp_path / "bomb.npz"
    path.write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(DataError, match="saved by fireassay"):
        supervision.load(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tree.json", "{}")
        archive.writestr("a.npy", pickle.dumps(Bomb()))
    with pytest.raises(DataError):
        supervision.load(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tree.json", "[1]")
    with pytest.raises(DataError, match="saved supervisor"):
        supervision.load(path)
    with pytest.raises(DataError, match="Expected a saved result"):
        supervision.load(tmp_path / "nothing.npz")


def test_a_loaded_supervisor_needs_a_model(torch_model, digit_rows, tmp_path):
    X, y, test, _ = digit_rows
    path = supervision.make("mdsa").fit(torch_model, X, y).save(tmp_path / "m.npz")
    with pytest.raises(ParameterError, match="attach"):
        supervision.load(path).score(test[:2])
    assert supervision.load(path, torch_model).score(test[:2]).shape == (2,)
    with pytest.raises(NotAvailableError, match="probabilities only"):
        supervision.load(path, lambda rows: np.tile([0.5, 0.5], (len(rows), 1)))
