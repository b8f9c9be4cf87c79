"""ONNX files, run by onnxruntime on one thread; hidden values by name."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.classifiers.base import BaseClassifier
from fireassay.classifiers.declared import SUPPORTED
from fireassay.classifiers.five_lines import wrapper_of_inputs
from fireassay.classifiers.onnx_names import class_names
from fireassay.classifiers.outputs import choose_output
from fireassay.core.errors import DataError, ModelError, ParameterError
from fireassay.core.extras import require

_TYPES = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(float16)": np.float16,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(uint8)": np.uint8,
}


class OnnxClassifier(BaseClassifier):
    """An ONNX graph with one input; layers are the values inside the graph.

    A graph with a fixed batch dimension is always sent blocks of that size.
    """

    def __init__(self, path: Path, **options: Any) -> None:
        super().__init__(**options)
        self.path = path
        content = path.read_bytes()
        self._file_hash = hashlib.sha256(content).hexdigest()
        self._model = _with_weights(content, path)
        self._sessions: dict[tuple[str, ...], Any] = {}
        session = self._session()
        self._read_input(session)
        self._read_output(session)

    # Reading the graph ----------------------------------------------------------------------

    def _session(self, extra_outputs: tuple[str, ...] = ()) -> Any:
        with self._lock:
            if extra_outputs not in self._sessions:
                model = self._model if not extra_outputs else self._with_outputs(extra_outputs)
                self._sessions[extra_outputs] = _open(model, self.path)
            return self._sessions[extra_outputs]

    def _read_input(self, session: Any) -> None:
        inputs = session.get_inputs()
        listed = ", ".join(f"{i.name}: {i.type}" for i in inputs) or "none"
        if len(inputs) > 1:
            raise ModelError(
                "An ONNX classifier must have one input, and keep no state between calls.",
                got=f"{self.path.name!r} with inputs {listed}",
                do=wrapper_of_inputs(
                    self.path.name,
                    [str(i.name) for i in inputs],
                    [str(o.name) for o in session.get_outputs()],
                ),
            )
        if not inputs or inputs[0].type not in _TYPES:
            raise ModelError(
                SUPPORTED,
                got=f"{self.path.name!r} with inputs {listed}",
                do="Export the model with one numeric input.",
            )
        self._input_name = str(inputs[0].name)
        self._input_type = _TYPES[inputs[0].type]
        self.takes_integers = np.dtype(self._input_type).kind in "iu"
        dimensions = [d if isinstance(d, int) and d > 0 else None for d in inputs[0].shape or []]
        self._row_shape = tuple(dimensions[1:])
        if dimensions and dimensions[0] is not None:
            self.batch_size, self.has_fixed_batch = dimensions[0], True

    def _read_output(self, session: Any) -> None:
        outputs = {o.name: (o.type, o.shape) for o in session.get_outputs()}
        self._output_name = choose_output(
            {
                name: None if kind.startswith("seq") else shape
                for name, (kind, shape) in outputs.items()
            },
            labels=self.output == "labels",
            source=self.path.name,
        )
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
        if self.output == "labels" and self._classes is None:
            raise ModelError(
                "A model that returns labels needs its classes.",
                do="Pass classes=[…] to as_classifier.",
            )

    # Asking ---------------------------------------------------------------------------------

    def _features(self, X: ArrayLike) -> NDArray[Any]:
        array = super()._features(X)
        if self.takes_integers:
            array = self._whole_numbers(array)
        fits = len(self._row_shape) == array.ndim - 1 and all(
            wanted in (None, got)
            for wanted, got in zip(self._row_shape, array.shape[1:], strict=True)
        )
        if self._row_shape and not fits:
            shown = ", ".join("any" if d is None else str(d) for d in self._row_shape)
            raise DataError(
                f"The ONNX model takes rows of shape ({shown}).", got=f"{array.shape[1:]}"
            )
        return array

    def _whole_numbers(self, array: NDArray[Any]) -> NDArray[Any]:
        """Rows for a graph that takes integers: fractions are refused, never cut off."""
        if array.dtype.kind == "f" and (array != np.rint(array)).any():
            row = int((array != np.rint(array)).reshape(len(array), -1).any(axis=1).argmax())
            raise DataError(
                f"The ONNX model takes {np.dtype(self._input_type).name}: whole numbers.",
                got=f"fractions, first in row {row}",
                do="Send tokens or codes as integers; attacks that move by fractions cannot be "
                "used on them.",
            )
        whole: Any = np.dtype(self._input_type)
        limits = np.iinfo(whole)
        if array.min() < limits.min or array.max() > limits.max:
            raise DataError(
                f"The ONNX model takes {np.dtype(self._input_type).name}, "
                f"{limits.min} to {limits.max}.",
                got=f"{array.min()} to {array.max()}",
            )
        return array.astype(self._input_type)

    def _raw(self, block: NDArray[Any]) -> Any:
        (answer,) = self._session().run(
            [self._output_name], {self._input_name: block.astype(self._input_type, copy=False)}
        )
        return answer  # of a ZipMap: records with the names of the classes

    @property
    def layers(self) -> tuple[str, ...]:
        """Names of the floating-point values computed in the graph, in its order."""
        onnx = require("onnx", "interop", "Reading the layers of an ONNX model")
        model = onnx.load_model_from_string(self._model)
        typed = onnx.shape_inference.infer_shapes(model).graph
        kinds = {
            value.name: value.type.tensor_type.elem_type
            for value in (*typed.value_info, *typed.output)
        }
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
        names = (layers,) if isinstance(layers, str) else tuple(layers)
        known = self.layers
        unknown = [name for name in names if name not in known]
        if unknown or not names:
            raise ParameterError(
                f"Layers must be among {', '.join(known[:20])}.", got=repr(unknown or names)
            )
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


def _with_weights(content: bytes, path: Path) -> bytes:
    """The model in one piece: weights that lie in files beside it are part of what it is."""
    if b"location" not in content:  # the key under which a graph names such a file
        return content
    onnx = require("onnx", "interop", "An ONNX model with weights in a file of their own")
    try:
        model = onnx.load_model_from_string(content)
        tensors = onnx.external_data_helper._get_all_tensors(model)
        if not any(onnx.external_data_helper.uses_external_data(tensor) for tensor in tensors):
            return content
        onnx.load_external_data_for_model(model, str(path.parent))
        whole: bytes = model.SerializeToString(deterministic=True)
    except Exception as failure:
        raise ModelError(
            f"The weights of {path.name!r} must lie in the files that it names, beside it.",
            got=f"{failure}"[:300],
            do="Copy the whole export, or export with external_data=False.",
        ) from failure
    return whole


def _open(model: bytes, path: Path) -> Any:
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
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception as failure:
        raise ModelError(
            "The .onnx file must be a whole model that onnxruntime can run.",
            got=f"{path.name!r}: {failure}"[:500],
            do="Check it with onnx.checker.check_model; custom operators are not loaded.",
        ) from failure
