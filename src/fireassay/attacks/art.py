"""Attacks of the Adversarial Robustness Toolbox (ART) behind the same result."""

import json
import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fireassay.attacks.attacked_model import AttackedModel
from fireassay.attacks.result import AttackResult
from fireassay.classifiers import GradientClassifier
from fireassay.core.arrays import AnyArray, Float32Array, IntArray
from fireassay.core.errors import ModelError, ParameterError
from fireassay.core.lazy import require
from fireassay.core.seeds import derived_seed


@dataclass(frozen=True)
class ArtAttack:
    """One evasion attack of ART with its parameters; call it like any other attack.

    Samples are attacked one at a time, because that is the only way to know what each of them
    cost. ART does not say when a sample fell, so the failure lies anywhere between the first
    prediction and the last query.

    Attributes:
        name, parameters: As in `art`.
    """

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __call__(
        self,
        model: Any,
        X: ArrayLike,
        y: ArrayLike | None = None,
        norm: str = "l2",
        *,
        eps: float | None = None,
        seed: int = 0,
    ) -> AttackResult:
        """Attack each sample; ``norm`` is the one in which the distance is reported.

        ``eps`` is the largest distance that counts as a success, not ART's parameter of that name:
        that one goes into `art`.
        """
        target = AttackedModel(f"art:{self.name}", model, X, y, norm=norm, seed=seed, eps=eps)
        rows = target.begin(np.arange(target.n))
        estimator = _estimator(self.name, target)
        with _quiet():
            kind = _attack_class(self.name, estimator)
            silent = {"verbose": False} if "verbose" in kind.attack_params else {}
            attack = kind(estimator, **{**silent, **self.parameters})
        for row, rng in zip(rows, target.generators(rows), strict=True):
            sample = np.array([row])
            estimator.row = sample
            shaped = target.original[sample].reshape(1, *estimator.input_shape)
            one_hot = np.zeros((1, estimator.nb_classes), dtype=np.float32)
            one_hot[0, target.goal[row]] = 1.0
            with _quiet(), _global_seed(int(rng.integers(2**32))):
                found = attack.generate(x=shaped.astype(np.float32), y=one_hot)
            found = np.asarray(found, dtype=np.float64).reshape(1, -1)
            point = target.inside(np.where(np.isfinite(found), found, 0.0), sample)
            target.check(point, sample)
        return target.result()


def art(name: str, **parameters: Any) -> ArtAttack:
    """An evasion attack of ART by the name of its class: ``art("PixelAttack", th=3)(model, X, y)``.

    ``parameters`` go to ART as they are. The model's inputs and answers are float32 on ART's side.

    Args:
        name: Of a class in ``art.attacks.evasion``.
        parameters: Of that class.

    >>> from fireassay import as_classifier
    >>> half = lambda X: np.column_stack([1 - X[:, 0], X[:, 0]])  # the boundary is at 0.5
    >>> model = as_classifier(half, classes=[0, 1], bounds=(0, 1))
    >>> found = art("HopSkipJump", targeted=False, max_iter=5)(model, [[0.4, 0.5]], [0])
    >>> found.success.tolist(), bool(found.distance[0] > 0.1)
    ([True], True)
    """
    return ArtAttack(name, parameters)


def _attack_class(name: str, estimator: Any) -> Any:
    evasion = require("art.attacks.evasion", "attacks", f"The attack art:{name}")
    found = getattr(evasion, name, None)
    if not isinstance(found, type):
        raise ParameterError("art() takes the name of an evasion attack of ART.", got=repr(name))
    needed = getattr(found, "_estimator_requirements", ())
    missing = [kind.__name__ for kind in needed if not isinstance(estimator, kind)]
    if missing:
        raise ModelError(
            f"The attack {name} needs a model that gives {', '.join(missing)}.",
            got=type(estimator).__name__,
            do="Wrap a model with gradients (a torch module), or take a decision-based attack.",
        )
    return found


def _estimator(name: str, target: AttackedModel) -> Any:
    """The target as an ART estimator; every row ART asks about is booked on the current sample."""
    write_settings_of_art()
    require("art", "attacks", "An attack of ART")
    from art.estimators.classification.classifier import ClassGradientsMixin, ClassifierMixin
    from art.estimators.estimator import BaseEstimator, LossGradientsMixin, NeuralNetworkMixin

    n_classes = len(target.model.classes)
    shape = (*target.shape, 1) if len(target.shape) == 2 else target.shape
    first = len(shape) == 3 and shape[0] in (1, 3) and shape[2] not in (1, 3)
    bounded = bool(np.isfinite(target.low).all() and np.isfinite(target.high).all())

    class DecisionEstimator(ClassifierMixin, NeuralNetworkMixin, BaseEstimator):  # type: ignore[misc]
        """Probabilities only."""

        row = np.array([0])
        input_shape = shape

        def __init__(self) -> None:
            clip = (float(target.low.min()), float(target.high.max())) if bounded else None
            super().__init__(model=None, clip_values=clip, channels_first=first)
            self.nb_classes = n_classes

        def predict(self, x: AnyArray, **_: Any) -> Float32Array:
            points, rows = self._points(x)
            return target.probabilities(points, rows).astype(np.float32)

        def _points(self, x: AnyArray) -> tuple[AnyArray, IntArray]:
            rows = np.repeat(self.row, len(x))
            return target.inside(np.asarray(x).reshape(len(x), -1), rows), rows

        def _refused(self, *_: Any, **__: Any) -> Any:
            raise ModelError(
                f"An attack of ART may only ask for predictions and gradients, also {name}.",
                got="a wish to train the model or to look inside it",
            )

        fit = fit_generator = get_activations = loss = compute_loss = _refused

    mixins: Any = (ClassGradientsMixin, LossGradientsMixin, DecisionEstimator)

    class GradientEstimator(*mixins):  # type: ignore[misc]
        """Probabilities and gradients."""

        def loss_gradient(self, x: AnyArray, *_: Any, **__: Any) -> Float32Array:
            points, rows = self._points(x)
            gradient = target.loss_gradient(points, rows)[1]
            return gradient.reshape(x.shape).astype(np.float32)

        def class_gradient(self, x: AnyArray, label: Any = None, **_: Any) -> Float32Array:
            points, rows = self._points(x)
            wanted = np.tile(np.arange(n_classes), (len(x), 1))
            if label is not None:
                wanted = np.array(np.broadcast_to(label, len(x)), dtype=np.int64)[:, None]
            gradients = target.logit_gradients(points, rows, wanted)[1]
            return gradients.reshape(len(x), -1, *x.shape[1:]).astype(np.float32)

    has_gradients = isinstance(target.model, GradientClassifier)
    return GradientEstimator() if has_gradients else DecisionEstimator()


def write_settings_of_art() -> None:
    """Write ART's settings file whole: ART cannot be imported beside a half-written one."""
    file = Path.home() / ".art" / "config.json"
    if not os.access(Path.home(), os.W_OK) or (file.exists() and file.stat().st_size):
        return
    file.parent.mkdir(exist_ok=True)
    with NamedTemporaryFile("w", dir=file.parent, delete=False, encoding="utf-8") as written:
        json.dump({"ART_DATA_PATH": str(file.parent / "data")}, written, indent=4)
    Path(written.name).replace(file)


@contextmanager
def _global_seed(seed: int) -> Iterator[None]:
    """ART draws from NumPy's global state: set it for one attack, then put it back."""
    before = np.random.get_state()  # noqa: NPY002
    np.random.seed(derived_seed(seed, "art") % 2**32)  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(before)  # noqa: NPY002


@contextmanager
def _quiet() -> Iterator[None]:
    """ART warns about its own dtypes and progress bars; its numbers are checked here instead."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
