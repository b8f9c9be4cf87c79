"""skops files: scikit-learn models whose types, sizes and structure are checked."""

from pathlib import Path
from typing import Any, Final

from fireassay.classifiers.adapt import as_classifier
from fireassay.classifiers.skops_archive import check_sizes
from fireassay.classifiers.skops_structure import check_structure
from fireassay.core.errors import FireassayError, ModelError, UntrustedFileError
from fireassay.core.extras import require

# Types that skops itself does not vouch for: trees, because their numbers are not checked there
# (`check_structure` does); the others are plain Python that only holds values.
_ALSO_SAFE: Final = (
    "sklearn.tree._tree.Tree",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "numpy.dtype",
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
    "sklearn.utils._bunch.Bunch",
)


def adapt(path: Path, *, trust: bool = False, **options: Any) -> Any:
    """The estimator in a skops file as a classifier."""
    return as_classifier(load_skops(path, trust=trust), **options)


def load_skops(path: Path, *, trust: bool = False) -> Any:
    """The estimator in a skops file.

    Raises
    ------
    UntrustedFileError
        If the file names types that are not known as safe, without ``trust``.
    ModelError
        If the file is damaged, unpacks to too much, or holds trees that point outside themselves.
    """
    skops_io = require("skops.io", "interop", "A .skops model")
    content = path.read_bytes()  # once: what is checked is what is loaded
    try:
        if not trust:
            check_sizes(content)
        unknown = skops_io.get_untrusted_types(data=content)
        unknown = [name for name in unknown if name not in _ALSO_SAFE]
        if unknown and not trust:
            raise UntrustedFileError(
                "A .skops file must hold only types known to be safe.",
                got=f"{str(path)!r} with {', '.join(sorted(unknown)[:6])}",
                do="Save the model as ONNX (skl2onnx.to_onnx); if you made this file yourself, "
                "say trust=True (--trust).",
            )
        estimator = skops_io.loads(content, trusted=[*unknown, *_ALSO_SAFE])
        if not trust:
            check_structure(estimator, path.name)
    except FireassayError:
        raise
    except Exception as failure:
        raise ModelError(
            "The .skops file must be readable with the libraries installed here.",
            got=f"{str(path)!r}: {type(failure).__name__}: {failure}"[:500],
        ) from failure
    return estimator
