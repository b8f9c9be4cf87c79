"""Every kind of model that can be tested: one row and one module each.

A module has ``adapt(obj, **options)``, which makes a `Classifier`, and for kinds that are not
files ``accepts(obj)``. The options are those of `as_classifier` that every model has (classes,
bounds, output, batch_size, max_queries), and those that the row takes besides. Messages,
``fireassay doctor`` and the table in ``docs/models.md`` are made from these rows.
"""

import importlib
from dataclasses import dataclass
from typing import Any, Final

from fireassay.core.lazy import EXTRAS, is_installed
from fireassay.core.registry import Registry

_HERE: Final = "fireassay.classifiers."
SERVER_OPTIONS: Final = (
    "token_env", "timeout_s", "retries", "ca_file", "request", "answer", "concurrency",
)  # fmt: skip
ALL_OPTIONS: Final = ("device", "trust", *SERVER_OPTIONS)
_TO_ONNX: Final = (
    'Export the model to ONNX: torch.onnx.export(module.eval(), (example_batch,), "model.onnx", '
    'dynamic_shapes=({0: "rows"},), external_data=False)'
)
# The libraries' own readers believe what a file says, and then read and write outside their memory.
_BOOSTER_TO_ONNX: Final = (
    "Export the model to ONNX: onnxmltools.convert_{library}(booster, initial_types=[("
    '"rows", FloatTensorType([None, columns]))]), with FloatTensorType of '
    "onnxmltools.convert.common.data_types"
)
# Of pickle's protocols 0 to 5, and of what joblib packs them with: gzip, bzip2, xz, zlib.
_PICKLE_HEADS: Final = (
    *(bytes([128, protocol]) for protocol in range(6)),
    *(b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda"),
)


@dataclass(frozen=True)
class Adapter:
    """One kind of model.

    Attributes:
        name, summary: What it is called, and how people write it as the argument of
            `as_classifier`.
        module: Where ``adapt`` (or the function named by ``maker``) and ``accepts`` are; imported
            when a model is looked at, so that nobody pays for libraries of other kinds.
        extra: The extra of fireassay that it needs, if any.
        gradients, layers: What such a model offers besides probabilities, in a few words.
        takes: Options of `as_classifier` that only some models have.

    >>> ADAPTERS["torch"].extra, ADAPTERS["function"].accepts(abs)
    ('torch', True)
    """

    name: str
    summary: str
    module: str
    maker: str = "adapt"
    extra: str | None = None
    gradients: str = "–"
    layers: str = "–"
    takes: tuple[str, ...] = ()

    def accepts(self, obj: Any) -> bool:
        """Whether an object is of this kind."""
        return bool(importlib.import_module(self.module).accepts(obj))

    def adapt(self, obj: Any, options: dict[str, Any]) -> Any:
        """The object as a `Classifier`."""
        return getattr(importlib.import_module(self.module), self.maker)(obj, **options)

    @property
    def is_available(self) -> bool:
        """Whether what it needs is installed."""
        return self.extra is None or is_installed(EXTRAS[self.extra][0])


@dataclass(frozen=True)
class ModelFile(Adapter):
    """One kind of model file, told by its first bytes, its members (zip) or its ending.

    Attributes:
        endings: Of the file's name.
        heads: First bytes that give it away under any name.
        members: Ends of the names of files that only such a zip archive has.
        runs_code: Reading it can run any code, by design or because compiled code believes what it
            says: only for those who say ``trust=True``.
        instead: How to save such a model in a file that cannot; empty says the safe endings.
        name, summary, module, maker, extra, gradients, layers, takes: As of an `Adapter`.

    >>> [name for name, row in FILES.items() if not row.runs_code]
    ['onnx', 'skops']
    """

    endings: tuple[str, ...] = ()
    heads: tuple[bytes, ...] = ()
    members: tuple[str, ...] = ()
    runs_code: bool = False
    instead: str = ""


# Rows are asked from the last to the first: the general ones stand above, what users register is
# asked before all others.
ADAPTERS: Final = Registry[Adapter]("kind of model", [
    Adapter("function", "a function `f(X) -> probabilities`", _HERE + "backends.callable"),
    Adapter(
        "scikit-learn", "a fitted scikit-learn estimator (or anything with `predict_proba`)",
        _HERE + "backends.sklearn"),
    Adapter(
        "torch", "a `torch.nn.Module`", _HERE + "backends.torch",
        extra="torch", gradients="yes", layers="submodules", takes=("device",)),
    Adapter("xgboost", "a native `xgboost.Booster`", _HERE + "backends.xgboost", extra="xgboost"),
    Adapter(
        "lightgbm", "a native `lightgbm.Booster`", _HERE + "backends.lightgbm", extra="lightgbm"),
    Adapter(
        "library", "a Keras, CatBoost or fastText model, or a Hugging Face `pipeline` of texts",
        _HERE + "backends.libraries"),
    Adapter("maite", "a MAITE image-classification model", _HERE + "backends.maite"),
    Adapter("file", "a model file", _HERE + "model_file", takes=ALL_OPTIONS),
    Adapter(
        "import path", '`"package.module:name"`', _HERE + "import_path",
        gradients="as the object", layers="as the object", takes=ALL_OPTIONS),
    Adapter(
        "server", '`"http://…"` (KServe v2, or any JSON by a template)', _HERE + "backends.http",
        takes=SERVER_OPTIONS),
])  # fmt: skip

# A zip archive is of the first kind whose members it has.
FILES: Final = Registry[ModelFile]("kind of model file", [
    ModelFile(
        "onnx", '`"model.onnx"`', _HERE + "backends.onnx", extra="interop",
        layers="values of the graph", takes=("device",), endings=(".onnx",)),
    ModelFile(
        "skops", '`"model.skops"`', _HERE + "backends.skops", extra="interop", takes=("trust",),
        endings=(".skops",), members=("schema.json",)),
    ModelFile(
        "xgboost file", "a `.ubj` or `.json` file of XGBoost, with `trust=True`",
        _HERE + "backends.xgboost", maker="adapt_file", extra="xgboost",
        endings=(".ubj", ".json"), runs_code=True,
        instead=_BOOSTER_TO_ONNX.format(library="xgboost")),
    ModelFile(
        "lightgbm file", "a `.txt` file of LightGBM, with `trust=True`",
        _HERE + "backends.lightgbm", maker="adapt_file", extra="lightgbm",
        endings=(".txt",), heads=(b"tree\n",), runs_code=True,
        instead=_BOOSTER_TO_ONNX.format(library="lightgbm")),
    ModelFile(
        "pt2", "a `.pt2` file of `torch.export.save`, with `trust=True`",
        _HERE + "backends.torch", maker="adapt_exported", extra="torch", gradients="yes",
        takes=("device",), endings=(".pt2",), runs_code=True, instead=_TO_ONNX,
        members=("/archive_format", "serialized_exported_program.json")),
    ModelFile(
        "torchscript", "a file of `torch.jit.save`, with `trust=True`",
        _HERE + "trust", maker="adapt_torchscript", extra="torch", gradients="yes",
        takes=("device",), members=("/constants.pkl",), runs_code=True, instead=_TO_ONNX),
    ModelFile(
        "keras file", "a `.keras` or `.h5` file, with `trust=True`",
        _HERE + "backends.libraries", maker="adapt_keras", endings=(".keras", ".h5", ".hdf5"),
        heads=(b"\x89HDF\r\n",), members=("model.weights.h5",), runs_code=True,
        instead='Export the model to ONNX: model.export("model.onnx", format="onnx")'),
    ModelFile(
        "catboost file", "a `.cbm` file, with `trust=True`",
        _HERE + "backends.libraries", maker="adapt_catboost", endings=(".cbm",),
        heads=(b"CBM1",), runs_code=True,
        instead='Export the model to ONNX: model.save_model("model.onnx", format="onnx")'),
    ModelFile(
        "fasttext file", "a `.ftz` or `.bin` file of fastText, with `trust=True`",
        _HERE + "backends.libraries", maker="adapt_fasttext", endings=(".ftz",),
        heads=(b"\xba\x16\x4f\x2f",), runs_code=True),
    ModelFile(
        "torch pickle", "a file of `torch.save`, with `trust=True`",
        _HERE + "trust", maker="adapt_torch", extra="torch", gradients="as the object",
        layers="as the object", takes=("device",), endings=(".pt", ".pth", ".ckpt", ".bin"),
        members=("data.pkl",), runs_code=True, instead=_TO_ONNX),
    ModelFile(
        "pickle", "a pickle or joblib file, with `trust=True`",
        _HERE + "trust", gradients="as the object", layers="as the object", takes=("device",),
        endings=(".pkl", ".pickle", ".joblib", ".sav", ".dump"), heads=_PICKLE_HEADS,
        runs_code=True),
])  # fmt: skip


def every_kind() -> list[Adapter]:
    """All rows of both tables, for people: files by their own kind."""
    return [row for row in ADAPTERS.values() if row.name != "file"] + list(FILES.values())


def safe_endings() -> str:
    """Endings of model files that run no code when they are read, for messages."""
    *others, last = (e for row in FILES.values() if not row.runs_code for e in row.endings)
    return f"{', '.join(others)} or {last}"


def models_table() -> str:
    """The table of ``docs/models.md``."""
    lines = ["| `obj` | needs | gradients | layers |", "|---|---|---|---|"]
    for row in every_kind():
        needs = "–" if row.extra is None else f"`fireassay[{row.extra}]`"
        lines.append(f"| {row.summary} | {needs} | {row.gradients} | {row.layers} |")
    return "\n".join(lines)
