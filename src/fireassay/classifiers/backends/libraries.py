"""Keras, CatBoost, fastText and Hugging Face pipelines: objects as they are, files if trusted.

No library is imported unless an object or a file is of it.
"""

import functools
import hashlib
import importlib
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from fireassay.classifiers.adapt import as_classifier
from fireassay.classifiers.base import BaseClassifier
from fireassay.classifiers.declared import refuse_text
from fireassay.classifiers.fingerprint import fingerprint
from fireassay.core.errors import DataError, MissingExtraError, ModelError
from fireassay.core.threads import one_blas_thread


@dataclass(frozen=True)
class Library:
    """How models of one library are known, asked and told apart."""

    package: str  # where a class of the object's family lives
    kind: str  # name of that class
    ask: Callable[[Any, Any], Any]  # the answer of an object to a block of rows
    content: Callable[[Any], Any]  # what identifies an object: arrays and plain values
    load: Callable[[Path], Any] | None = None  # an object from a trusted file
    texts: bool = False  # whether rows are texts


class LibraryClassifier(BaseClassifier):
    """A model of another library, asked in its own way."""

    pads_blocks = False

    def __init__(self, model: Any, path: Path | None = None, **options: Any) -> None:
        super().__init__(**options)
        self.model_object, self.path = model, path
        self.library = _library_of(model)
        self.takes_objects = LIBRARIES[self.library].texts
        if self._classes is None:
            own = np.asarray(getattr(model, "classes_", ())).tolist()
            self._classes = tuple(own) if len(own) > 1 else None

    def _features(self, X: Any) -> Any:
        if self.takes_objects:
            raise DataError("This model takes texts.", got="rows of numbers")
        refuse_text(X)
        return super()._features(X)

    def _raw(self, block: Any) -> Any:
        with one_blas_thread():
            return LIBRARIES[self.library].ask(self.model_object, block)

    def _content_hash(self) -> str:
        if self.path is not None:
            return hashlib.sha256(self.path.read_bytes()).hexdigest()
        return fingerprint(LIBRARIES[self.library].content(self.model_object))

    def _described(self) -> str:
        return f"{self.library}, {type(self.model_object).__name__}"

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        return state if self.path is None else {**state, "model_object": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        load = LIBRARIES[self.library].load
        if self.path is not None and load is not None:
            self.model_object = load(self.path)


def accepts(obj: Any) -> bool:
    """Whether an object is of one of the libraries, told without importing it."""
    return bool(_library_of(obj))


adapt = LibraryClassifier


def adapt_file(path: Path, library: str, **options: Any) -> Any:
    """The model in a file that the user has trusted."""
    load = LIBRARIES[library].load
    assert load is not None
    try:
        model = load(path)
    except ImportError as missing:
        raise MissingExtraError(
            f"A file of {library} needs its library.",
            got=str(missing),
            do=f"pip install {missing.name or library}",
        ) from missing
    except Exception as failure:
        raise ModelError(
            f"The file must be one of {library}, readable with the version installed here.",
            got=f"{path.name!r}: {type(failure).__name__}: {failure}"[:300],
        ) from failure
    if hasattr(model, "predict_proba"):
        return as_classifier(model, **options)
    return LibraryClassifier(model, path=path.resolve(), **options)


adapt_keras = functools.partial(adapt_file, library="keras")  # .keras, .h5
adapt_catboost = functools.partial(adapt_file, library="catboost")  # .cbm
adapt_fasttext = functools.partial(adapt_file, library="fasttext")  # .ftz, .bin


def _library_of(obj: Any) -> str:
    for name, library in LIBRARIES.items():
        kinds = [k for k in type(obj).__mro__ if k.__name__ == library.kind]
        if any(f"{kind.__module__}.".startswith(f"{library.package}.") for kind in kinds):
            return "" if hasattr(obj, "predict_proba") else name
    return ""


_imported: Final = importlib.import_module


def _ask_fasttext(model: Any, texts: Any) -> Any:
    """Scores by label; fastText takes a text for lines of text, and its sums round above one."""
    # Below zero, or a hierarchical softmax leaves out what is nearly impossible.
    lines = [" ".join(str(text).split()) for text in texts]
    answers = [model.predict(line, k=-1, threshold=-1.0) for line in lines]
    rows = [dict(zip(*row, strict=True)) for row in answers]
    totals = [sum(map(float, row.values())) for row in rows]
    return [
        {label.removeprefix("__label__"): float(p) / total for label, p in row.items()}
        for row, total in zip(rows, totals, strict=True)
    ]


def _saved_bytes(model: Any) -> bytes:
    """What an object writes into a file: its content."""
    if not hasattr(model, "save_model"):
        raise ModelError(
            "A model must have a content that tells it from others.",
            got=f"{type(model).__name__} without save_model",
            do="Pass its file instead.",
        )
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "model"
        model.save_model(str(place))
        return place.read_bytes()


LIBRARIES: Final = {
    "keras": Library(
        "keras",
        "Model",
        lambda model, X: np.asarray(model.predict(X, verbose=0), dtype=np.float64),
        lambda model: [model.to_json(), *map(np.asarray, model.get_weights())],
        lambda path: _imported("keras").saving.load_model(path, compile=False),
    ),
    "catboost": Library(
        "catboost",
        "CatBoost",
        lambda model, X: model.predict(X, prediction_type="Probability", thread_count=1),
        _saved_bytes,
        lambda path: _imported("catboost").CatBoostClassifier().load_model(str(path)),
    ),
    "fasttext": Library(
        "fasttext",
        "_FastText",
        _ask_fasttext,
        _saved_bytes,
        lambda path: _imported("fasttext").load_model(str(path)),
        texts=True,
    ),
    "transformers": Library(
        "transformers",
        "Pipeline",
        lambda model, texts: model([str(text) for text in texts], top_k=None),
        lambda model: {name: t.cpu().numpy() for name, t in model.model.state_dict().items()},
        texts=True,
    ),
}
