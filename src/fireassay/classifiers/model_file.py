"""Model files: what kind one is, told from its name and first bytes, without opening it."""

import zipfile
from pathlib import Path
from typing import Any, Final

from fireassay.classifiers.adapters import FILES, ModelFile, safe_endings
from fireassay.classifiers.trust import is_trusted
from fireassay.core.errors import ModelError, UntrustedFileError


def accepts(obj: Any) -> bool:
    """Whether a model is given as the path of a file."""
    return isinstance(obj, str | Path)


def adapt(path: str | Path, **options: Any) -> Any:
    """The model in a file."""
    from fireassay.classifiers.adapt import made_by

    path = Path(path)
    kind = model_kind(path)
    if kind.runs_code or "trust" in kind.takes:
        options = {**options, "trust": options["trust"] or is_trusted(path)}
    if kind.runs_code and not options["trust"]:
        raise UntrustedFileError(
            f"A {kind.name.removesuffix(' file')} file can run any code when it is read, so it is "
            "not opened.",
            got=f"{str(path)!r}",
            do=f"{kind.instead or f'Save the model as {safe_endings()}'}; if you made this file "
            "yourself, say trust=True (--trust).",
        )
    return made_by(kind, path, options)


def model_kind(path: Path) -> ModelFile:
    """The row of `FILES` that a file belongs to; nothing in it is run."""
    if not path.is_file():
        raise ModelError(
            "A model given as text must be a file, an http:// address or 'package.module:name'.",
            got=f"{str(path)!r}, which is {'a folder' if path.is_dir() else 'not there'}",
        )
    with open(path, "rb") as file:
        head = file.read(16)
    if not head:
        raise ModelError("A model file must not be empty.", got=f"{str(path)!r}, 0 bytes")
    return _kind(path, head)


def _kind(path: Path, head: bytes) -> ModelFile:
    if head[:2] == b"PK":
        return _zip_kind(path)
    ending = path.suffix.lower()
    if head[4:8] == b"TFL3":
        refuse_tflite(path)
    named = next((row for row in FILES.values() if ending in row.endings), None)
    told = next((row for row in FILES.values() if row.heads and head.startswith(row.heads)), None)
    if told is not None and (named is None or not named.runs_code or not named.heads):
        return told
    if named is None:
        raise ModelError(
            f"A model file must be {safe_endings()}.",
            got=f"{str(path)!r}",
            do="Export the model: an ONNX exporter or skops.io.dump.",
        )
    if named.members and not named.runs_code:
        raise ModelError(f"A {ending} file must be a zip archive.", got=f"{str(path)!r}, damaged")
    return named


def _zip_kind(path: Path) -> ModelFile:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, NotImplementedError, OSError, ValueError) as damage:
        raise ModelError(
            "The model file must be a whole zip archive.", got=f"{str(path)!r} ({damage})"
        ) from damage
    for row in FILES.values():
        if row.members and any(name.endswith(row.members) for name in names):
            return row
    kinds = [e for row in FILES.values() if row.members and not row.runs_code for e in row.endings]
    raise ModelError(
        f"A zip archive must be a {' or '.join(kinds)} model.",
        got=f"{str(path)!r} with {', '.join(names[:5])}",
    )


# Models that take something else than rows: the lines that make a function of them.
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
