"""ONNX files run by onnxruntime: probabilities, class names, hidden values."""

import ast
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.classifiers.answers import choose_output
from fireassay.classifiers.base import BaseClassifier
from fireassay.classifiers.declared import SUPPORTED, checked_layers
from fireassay.classifiers.model_file import wrapper_of_inputs
from fireassay.core.errors import DataError, ModelError, ParameterError
from fireassay.core.lazy import is_installed, require

_KEYS: Final = ("classes", "class_names", "labels", "names", "id2label", "index2label")
_ATTRIBUTES: Final = ("classlabels_strings", "classlabels_int64s", "classlabels_ints")
_MOST_TEXT: Final = 1_000_000


def class_names(
    metadata: Mapping[str, str], model: bytes, n_classes: int
) -> tuple[Any, ...] | None:
    """Column names in order from metadata or classifier nodes; None unless one for each."""
    for key in _KEYS:
        if key in metadata and len(metadata[key]) <= _MOST_TEXT:
            found = _read(metadata[key])
            if found is not None and len(found) == n_classes == len(set(found)):
                return found
    return _of_nodes(model, n_classes) if b"classlabels_" in model else None


def _read(text: str) -> tuple[str, ...] | None:
    value: Any = None
    for reader in (json.loads, ast.literal_eval):
        try:
            value = reader(text)
            break
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    if value is None:
        value = [part.strip() for part in text.replace("\n", ",").split(",") if part.strip()]
    if isinstance(value, dict):
        numbered = {str(key): name for key, name in value.items()}
        if numbered.keys() != {str(i) for i in range(len(numbered))}:
            return None
        value = [numbered[str(i)] for i in range(len(numbered))]
    if not isinstance(value, list | tuple) or any(isinstance(v, list | dict) for v in value):
        return None
    return tuple(str(name) for name in value)


def _of_nodes(model: bytes, n_classes: int) -> tuple[Any, ...] | None:
    if not is_installed("onnx"):
        return None
    import onnx

    nodes = reversed(onnx.load_model_from_string(model).graph.node)
    for attribute in (a for node in nodes for a in node.attribute if a.name in _ATTRIBUTES):
        value = onnx.helper.get_attribute_value(attribute)
        names = tuple(v.decode() if isinstance(v, bytes) else int(v) for v in value)
        if len(names) == n_classes == len(set(names)):
            return names
    return None


_TYPES = {
    "tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(float16)": np.float16,
    "tensor(int64)": np.int64, "tensor(int32)": np.int32, "tensor(uint8)": np.uint8,
    "tensor(string)": np.object_,
}  # fmt: skip


class OnnxClassifier(BaseClassifier):
    """An ONNX graph with one input; a fixed batch dimension sets the block size."""

    def __init__(self, path: Path, *, device: str | None = None, **options: Any) -> None:
        super().__init__(**options)
        self.path = path
        self._providers = _providers(device)
        content = path.read_bytes()
        self._file_hash = hashlib.sha256(content).hexdigest()
        self._model, self.beside = _with_weights(content, path)
        self._sessions: dict[tuple[str, ...], Any] = {}
        session = self._session()
        self._read_input(session)
        self._read_output(session)

    # Reading the graph ----------------------------------------------------------------------

    def _session(self, extra_outputs: tuple[str, ...] = ()) -> Any:
        with self._lock:
            if extra_outputs not in self._sessions:
                model = self._model if not extra_outputs else self._with_outputs(extra_outputs)
                self._sessions[extra_outputs] = _open(model, self.path, self._providers)
            return self._sessions[extra_outputs]

    def _read_input(self, session: Any) -> None:
        inputs = session.get_inputs()
        listed = ", ".join(f"{i.name}: {i.type}" for i in inputs) or "none"
        if len(inputs) > 1:
            names = [[str(value.name) for value in end] for end in (inputs, session.get_outputs())]
            raise ModelError(
                "An ONNX classifier must have one input, and keep no state between calls.",
                got=f"{self.path.name!r} with inputs {listed}",
                do=wrapper_of_inputs(self.path.name, *names),
            )
        if not inputs or inputs[0].type not in _TYPES:
            raise ModelError(
                SUPPORTED,
                got=f"{self.path.name!r} with inputs {listed}",
                do="Export the model with one input of numbers or of texts.",
            )
        self._input_name = str(inputs[0].name)
        self._input_type = _TYPES[inputs[0].type]
        self.takes_integers = np.dtype(self._input_type).kind in "iu"
        self.takes_objects = self._input_type is np.object_
        dimensions = [d if isinstance(d, int) and d > 0 else None for d in inputs[0].shape or []]
        self._row_shape = tuple(dimensions[1:])
        if dimensions and dimensions[0] is not None:
            self.batch_size, self.has_fixed_batch = dimensions[0], True

    def _read_output(self, session: Any) -> None:
        outputs = {o.name: (o.type, o.shape) for o in session.get_outputs()}
        shapes = {n: None if kind.startswith("seq") else s for n, (kind, s) in outputs.items()}
        labels = self.output == "labels"
        self._output_name = choose_output(shapes, labels=labels, source=self.path.name)
        kind, shape = outputs[self._output_name]
        width = shape[1] if shape and len(shape) == 2 and kind.startswith("tensor") else None
        if self.output != "labels" and isinstance(width, int) and width > 1:
            if self._classes is None:
                metadata = session.get_modelmeta().custom_metadata_map
                names = class_names(metadata, self._model, width)
                self._classes = tuple(range(width)) if names is None else names
            elif len(self._classes) != width:
                raise ModelError(
                    f"The ONNX model has {width} output columns.",
                    got=f"{len(self._classes)} labels in classes=",
                )
        self._need_classes("model")

    # Asking ---------------------------------------------------------------------------------

    def _features(self, X: ArrayLike) -> NDArray[Any]:
        if self.takes_objects:
            raise DataError("The ONNX model takes texts.", got="rows of numbers")
        array = super()._features(X)
        if self.takes_integers:
            array = self._whole_numbers(array)
        shape = array.shape[1:]
        fits = len(self._row_shape) == len(shape) and all(
            wanted in (None, got) for wanted, got in zip(self._row_shape, shape, strict=True)
        )
        if self._row_shape and not fits:
            shown = ", ".join("any" if d is None else str(d) for d in self._row_shape)
            raise DataError(f"The ONNX model takes rows of shape ({shown}).", got=f"{shape}")
        return array

    def _whole_numbers(self, array: NDArray[Any]) -> NDArray[Any]:
        """Rows for a graph that takes integers: fractions are refused, never cut off."""
        whole: Any = np.dtype(self._input_type)
        limits = np.iinfo(whole)
        if array.dtype.kind == "f" and (array != np.rint(array)).any():
            row = int((array != np.rint(array)).reshape(len(array), -1).any(axis=1).argmax())
            raise DataError(
                f"The ONNX model takes {whole.name}: whole numbers.",
                got=f"fractions, first in row {row}",
                do="Send tokens or codes as integers; attacks that move by fractions cannot be "
                "used on them.",
            )
        if array.min() < limits.min or array.max() > limits.max:
            raise DataError(
                f"The ONNX model takes {whole.name}, {limits.min} to {limits.max}.",
                got=f"{array.min()} to {array.max()}",
            )
        return array.astype(self._input_type)

    def _raw(self, block: Any) -> Any:
        sent = np.asarray(block, dtype=self._input_type)
        if self.takes_objects:
            wide = sent.reshape(len(sent), -1) if self._row_shape else sent
            sent = np.array([str(text) for text in wide.ravel()], dtype=object).reshape(wide.shape)
        (answer,) = self._session().run([self._output_name], {self._input_name: sent})
        return answer  # of a ZipMap: records with the names of the classes

    @property
    def layers(self) -> tuple[str, ...]:
        """Names of the floating-point values computed in the graph, in its order."""
        onnx = require("onnx", "interop", "Reading the layers of an ONNX model")
        model = onnx.load_model_from_string(self._model)
        typed = onnx.shape_inference.infer_shapes(model).graph
        values = (*typed.value_info, *typed.output)
        kinds = {value.name: value.type.tensor_type.elem_type for value in values}
        floats = (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE, onnx.TensorProto.FLOAT16)
        return tuple(
            name
            for node in model.graph.node
            if node.op_type not in ("Constant", "Shape")
            for name in node.output
            if name and kinds.get(name, onnx.TensorProto.FLOAT) in floats
        )

    def activations(self, X: ArrayLike, layers: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """The named values of the graph, float32 of shape ``(n, ...)``."""
        names = tuple(checked_layers(layers, self.layers))
        session = self._session(names)

        def read(block: NDArray[Any]) -> tuple[NDArray[np.float32], ...]:
            sent = {self._input_name: block.astype(self._input_type, copy=False)}
            values = session.run(list(names), sent)
            for name, value in zip(names, values, strict=True):
                if np.ndim(value) == 0 or len(value) != len(block):
                    raise ModelError(
                        f"Layer {name!r} must give one entry per row.", got=f"{np.shape(value)}"
                    )
            return tuple(np.asarray(value, dtype=np.float32) for value in values)

        return dict(zip(names, self._in_blocks(None, read, self._checked_input(X)), strict=True))

    def _with_outputs(self, names: tuple[str, ...]) -> bytes:
        onnx = require("onnx", "interop", "Reading the layers of an ONNX model")
        model = onnx.load_model_from_string(self._model)
        present = {value.name for value in model.graph.output}
        for name in names:
            if name not in present:
                model.graph.output.append(onnx.ValueInfoProto(name=name))
        serialized: bytes = model.SerializeToString()
        return serialized

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_sessions": {}}

    @property
    def file_sha256(self) -> str:
        """SHA-256 of the file's bytes, as ``sha256sum`` prints it."""
        return self._file_hash

    def _content_hash(self) -> str:
        return hashlib.sha256(self._model).hexdigest()

    def _described(self) -> str:
        return repr(self.path.name)


adapt = OnnxClassifier


def _with_weights(content: bytes, path: Path) -> tuple[bytes, tuple[Path, ...]]:
    """The model in one piece, and the files beside it that hold weights."""
    if b"location" not in content:  # the key under which a graph names such a file
        return content, ()
    onnx = require("onnx", "interop", "An ONNX model with weights in a file of their own")
    try:
        model = onnx.load_model_from_string(content)
        helper = onnx.external_data_helper
        outside = filter(helper.uses_external_data, helper._get_all_tensors(model))
        names = sorted({helper.ExternalDataInfo(tensor).location for tensor in outside})
        if not names:
            return content, ()
        onnx.load_external_data_for_model(model, str(path.parent))
        whole: bytes = model.SerializeToString(deterministic=True)
    except Exception as failure:
        raise ModelError(
            f"The weights of {path.name!r} must lie in the files that it names, beside it.",
            got=f"{failure}"[:300],
            do="Copy the whole export, or export with external_data=False.",
        ) from failure
    return whole, tuple(path.parent / name for name in names)


def _providers(device: str | None) -> list[Any]:
    """What runs the graph: "cpu", or a device of onnxruntime's, "cuda" or "cuda:1", before it."""
    onnxruntime = require("onnxruntime", "interop", "An ONNX model")
    kind, _, number = (device or "cpu").lower().partition(":")
    there = {name.removesuffix("ExecutionProvider"): name
             for name in onnxruntime.get_available_providers()}  # fmt: skip
    found = next((name for short, name in there.items() if short.lower() == kind), None)
    if found is None:
        raise ParameterError(
            f"The 'device' of an ONNX model must be one of {', '.join(map(str.lower, there))}.",
            got=repr(device),
            do="Install the onnxruntime for that device, or leave device out.",
        )
    first = (found, {"device_id": number}) if number else found
    return [first] if kind == "cpu" else [first, "CPUExecutionProvider"]


def _open(model: bytes, path: Path, providers: list[Any]) -> Any:
    onnxruntime = require("onnxruntime", "interop", "An ONNX model")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    # A pattern for each size of block comes on top of what the arena holds: a ResNet-18 at
    # 224 × 224 held 2.9 GB for 256 rows with it and 1.7 without, in the same time.
    options.enable_mem_pattern = False
    if path.parent.is_dir():
        options.add_session_config_entry(
            "session.model_external_initializers_file_folder_path", str(path.parent)
        )
    try:
        return onnxruntime.InferenceSession(model, options, providers=providers)
    except Exception as failure:
        raise ModelError(
            "The .onnx file must be a whole model that onnxruntime can run.",
            got=f"{path.name!r}: {failure}"[:500],
            do="Check it with onnx.checker.check_model; custom operators are not loaded.",
        ) from failure
