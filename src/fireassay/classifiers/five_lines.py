"""Models of other libraries: the five lines that make a function of them."""

from typing import Any, Final

from fireassay.core.errors import ModelError

_HOW: Final = 'Write it beside fireassay.toml and pass "{module}:predict":\n\n{code}\n'

KERAS: Final = """\
import keras, numpy as np
network = keras.saving.load_model("model.keras")
def predict(X):
    return np.asarray(network.predict(X, verbose=0), dtype=np.float64)"""
CATBOOST: Final = """\
from catboost import CatBoostClassifier
model = CatBoostClassifier().load_model("model.cbm")
def predict(X):
    return model.predict_proba(X, thread_count=1)"""
PIPELINE: Final = """\
from transformers import pipeline
classify = pipeline("text-classification", model="…", top_k=None)
def predict(X):
    return classify([str(text) for text in X])"""
TORCHSCRIPT: Final = """\
import torch
module = torch.jit.load("model.pt").eval()
def predict(X):
    with torch.no_grad():
        return torch.softmax(module(torch.from_numpy(X).float()), 1).numpy()"""
SEVERAL_INPUTS: Final = """\
import numpy as np, onnxruntime
session = onnxruntime.InferenceSession("{file}")
def predict(X):
    return session.run({outputs}, {{{inputs}}})[0]"""

# Endings of files, and the first names of modules, to what they are and how to wrap them.
FILES: Final = {
    ".keras": ("a Keras model", "network", KERAS),
    ".h5": ("a Keras model", "network", KERAS),
    ".cbm": ("a CatBoost model", "trees", CATBOOST),
    ".torchscript": ("a TorchScript model", "script", TORCHSCRIPT),
}
OBJECTS: Final = (
    ("keras.", "Model", "a Keras model", "network", KERAS),
    ("catboost.", "CatBoost", "a CatBoost model without classes", "trees", CATBOOST),
    ("transformers.pipelines.", "Pipeline", "a Hugging Face pipeline", "texts", PIPELINE),
)
_EXPECTED: Final = "Models of this kind are tested through a function of yours."


def refuse_file(path: Any, ending: str) -> None:
    """Refuse a file of another library, with the function to write; others are let through."""
    if ending in FILES:
        what, module, code = FILES[ending]
        raise ModelError(
            _EXPECTED, got=f"{str(path)!r}, {what}", do=_HOW.format(module=module, code=code)
        )


def refuse_object(obj: Any) -> None:
    """Refuse an object of another library, with the function to write; others are let through."""
    kinds = [(kind.__module__, kind.__name__) for kind in type(obj).__mro__]
    for start, name, what, module, code in OBJECTS:
        if hasattr(obj, "predict_proba") and module != "network":
            continue
        if any(place.startswith(start) and called == name for place, called in kinds):
            raise ModelError(_EXPECTED, got=what, do=_HOW.format(module=module, code=code))


def wrapper_of_inputs(file: str, inputs: list[str], outputs: list[str]) -> str:
    """The function for a graph with several inputs: the rows go into the first.

    >>> '{"input": X, "state": …}' in wrapper_of_inputs("v.onnx", ["input", "state"], ["output"])
    True
    """
    shown = ", ".join(f'"{name}": {"X" if i == 0 else "…"}' for i, name in enumerate(inputs))
    code = SEVERAL_INPUTS.format(file=file, outputs=outputs[:1], inputs=shown)
    return _HOW.format(module="graph", code=code)
