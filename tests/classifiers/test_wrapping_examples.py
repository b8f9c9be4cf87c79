"""What cannot go in as it is, is refused with the function that does it."""

from pathlib import Path

import pytest

import fireassay as fa
from fireassay.classifiers.model_file import TFLITE, wrapper_of_inputs
from fireassay.core import ModelError

PAGE = Path(__file__).parents[2] / "docs" / "models.md"


def test_the_page_shows_the_same_lines():
    assert TFLITE in PAGE.read_text()


def test_tensorflow_lite_is_refused_with_the_function(tmp_path):
    (tmp_path / "m.tflite").write_bytes(b"\x1c\0\0\0TFL3" + bytes(30))
    with pytest.raises(ModelError, match="Interpreter") as refusal:
        fa.as_classifier(tmp_path / "m.tflite")
    assert "def predict(X):" in str(refusal.value)


def test_a_graph_with_several_inputs_gets_rows_in_the_first():
    shown = wrapper_of_inputs("v.onnx", ["input", "state"], ["output"])
    assert '{"input": X, "state": …}' in shown
