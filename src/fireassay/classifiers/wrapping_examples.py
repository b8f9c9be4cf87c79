"""Models that take something else than rows: the lines that make a function of them."""

from typing import Any, Final

from fireassay.core.errors import ModelError

_HOW: Final = 'Write it beside fireassay.toml and pass "{module}:predict":\n\n{code}\n'

TFLITE: Final = """\
import numpy as np
from ai_edge_litert.interpreter import Interpreter
model = Interpreter("model.tflite")
def predict(X):
    take, give = model.get_input_details()[0], model.get_output_details()[0]
    model.resize_tensor_input(take["index"], X.shape); model.allocate_tensors()
    model.set_tensor(take["index"], X.astype(take["dtype"])); model.invoke()
    return model.get_tensor(give["index"]).astype(np.float64)"""
SEVERAL_INPUTS: Final = """\
import numpy as np, onnxruntime
session = onnxruntime.InferenceSession("{file}")
def predict(X):
    return session.run({outputs}, {{{inputs}}})[0]"""


def refuse_tflite(path: Any) -> None:
    """Refuse a file of TensorFlow Lite, with the function to write."""
    raise ModelError(
        "Models of this kind are tested through a function of yours.",
        got=f"{str(path)!r}, a TensorFlow Lite model",
        do=_HOW.format(module="lite", code=TFLITE),
    )


def wrapper_of_inputs(file: str, inputs: list[str], outputs: list[str]) -> str:
    """The wrapping function for a graph with several inputs: the rows go into the first."""
    shown = ", ".join(f'"{name}": {"X" if i == 0 else "…"}' for i, name in enumerate(inputs))
    code = SEVERAL_INPUTS.format(file=file, outputs=outputs[:1], inputs=shown)
    return _HOW.format(module="graph", code=code)
