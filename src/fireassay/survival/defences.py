"""The paper's four defences: noise in training, rejection, noise on the answer, bit depth.

A defence may change what a model is trained on, what it sees, and what it answers. `defend` puts
one in front of any classifier; gradients pass straight through, as an attacker would let them.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.classifiers import WrappedClassifier
from fireassay.core import ParameterError, generator
from fireassay.core.arrays import AnyArray, largest, softmax
from fireassay.core.registry import Registry
from fireassay.core.validation import check_integer, check_real


@dataclass(frozen=True)
class Defence:
    """No defence; the others change one or more of its methods."""

    name = "none"
    _strength = ""  # name of the field that says how strong it is

    @property
    def value(self) -> float:
        """How strong it is, as `DEFENCES` gives values; 0 where nothing can be set."""
        return float(getattr(self, self._strength)) if self._strength else 0.0

    def training(self, X: AnyArray, seed: int) -> AnyArray:  # noqa: ARG002
        """What the model is trained on."""
        return X

    def inputs(self, X: AnyArray, bounds: tuple[float, float] | None) -> AnyArray:  # noqa: ARG002
        """What the model sees."""
        return X

    def outputs(self, probabilities: AnyArray, X: AnyArray) -> AnyArray:  # noqa: ARG002
        """What the caller gets."""
        return probabilities

    def rejected(self, probabilities: AnyArray) -> NDArray[np.bool_]:
        """Which answers are withheld."""
        return np.zeros(len(probabilities), dtype=np.bool_)


@dataclass(frozen=True)
class GaussIn(Defence):
    """Gaussian noise of standard deviation ``sigma`` on a share of the training samples.

    Args:
        sigma: At least 0.
        share: In (0, 1].

    >>> noisy = GaussIn(sigma=0.1, share=0.25).training(np.zeros((8, 1)), seed=0)
    >>> int((noisy != 0).sum())
    2
    """

    sigma: float = 0.1
    share: float = 0.5
    name = "gauss-in"
    _strength = "sigma"

    def __post_init__(self) -> None:
        check_real(self.sigma, "sigma", low=0.0)
        check_real(self.share, "share", low=0.0, high=1.0, inclusive="high")

    def training(self, X: AnyArray, seed: int) -> AnyArray:
        """Noise on a random share of the rows."""
        rng = generator(seed, "gauss-in")
        noisy = rng.permutation(len(X))[: round(self.share * len(X))]
        changed = np.array(X, copy=True)
        changed[noisy] += self.sigma * rng.standard_normal(changed[noisy].shape).astype(X.dtype)
        return changed


@dataclass(frozen=True)
class Conf(Defence):
    """Withhold answers whose largest probability is below ``threshold``.

    A withheld answer is not a failure: the sample stays at risk.

    Args:
        threshold: In (0, 1).

    >>> model = defend(lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]), Conf(threshold=0.9))
    >>> model.rejected(np.array([[0.95], [0.6]])).tolist()
    [False, True]
    """

    threshold: float = 0.9
    name = "conf"
    _strength = "threshold"

    def __post_init__(self) -> None:
        check_real(self.threshold, "threshold", low=0.0, high=1.0)

    def rejected(self, probabilities: AnyArray) -> NDArray[np.bool_]:
        """Below the threshold."""
        return np.asarray(largest(probabilities) < self.threshold)


@dataclass(frozen=True)
class GaussOut(Defence):
    """Gaussian noise of standard deviation ``sigma`` on the probabilities.

    The noise of an input depends on its content, the seed and the draw alone: the same question
    gets the same answer, whatever the batch.

    Args:
        sigma: At least 0.
        seed, draw: Of the noise.

    >>> model = defend(lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]), GaussOut(sigma=0.1))
    >>> first, second = model.predict_proba([[0.3]]), model.predict_proba([[0.9], [0.3]])[1:]
    >>> bool((first == second).all()), bool((first == [[0.7, 0.3]]).all())
    (True, False)
    """

    sigma: float = 0.1
    seed: int = 0
    draw: int = 0
    name = "gauss-out"
    _strength = "sigma"

    def __post_init__(self) -> None:
        check_real(self.sigma, "sigma", low=0.0)
        check_integer(self.draw, "draw")

    def outputs(self, probabilities: AnyArray, X: AnyArray) -> AnyArray:
        """Noisy probabilities, clipped and summing to one."""
        noise = np.empty(probabilities.shape)
        for i, row in enumerate(np.ascontiguousarray(X)):
            content = hashlib.sha256(row.tobytes()).hexdigest()
            rng = generator(self.seed, "gauss-out", self.draw, content)
            noise[i] = rng.standard_normal(probabilities.shape[1])
        noisy = np.maximum(probabilities + self.sigma * noise, 0.0)
        total = noisy.sum(axis=1, keepdims=True)
        return np.where(total > 0, noisy / np.where(total > 0, total, 1.0), probabilities)

    def chance_wrong(self, probabilities: AnyArray, goal: NDArray[np.int64]) -> AnyArray:
        """Probability that another class leads after the noise, for each row.

        The attacked class leads with ∫ φ(z) Π Φ(z + (p_goal − p_j) / σ) dz, j over the others, as
        long as the noise leaves some class above zero.

        >>> equal = np.full((1, 4), 0.25)
        >>> GaussOut(sigma=0.1).chance_wrong(equal, np.array([0])).round(6).tolist()
        [0.75]
        """
        from scipy.special import ndtr

        probabilities = np.asarray(probabilities, dtype=np.float64)
        chosen = probabilities[np.arange(len(goal)), goal]
        others = np.arange(probabilities.shape[1]) != goal[:, None]
        ahead = (chosen[:, None] - probabilities) / self.sigma
        right = np.zeros(len(goal))
        for z, weight in zip(*_normal_nodes(), strict=True):
            right += weight * np.where(others, ndtr(z + ahead), 1.0).prod(axis=1)
        return np.asarray(1.0 - right)


@cache
def _normal_nodes() -> tuple[AnyArray, AnyArray]:
    """Points and weights of an integral over a standard normal number."""
    points, weights = np.polynomial.hermite_e.hermegauss(40)
    return points, weights / weights.sum()


@dataclass(frozen=True)
class FeatureSqueezing(Defence):
    """Inputs rounded to ``bits`` bits within the model's bounds.

    Args:
        bits: From 1 to 64.

    >>> seen = FeatureSqueezing(bits=2).inputs(np.array([0.1, 0.4, 0.9]), (0, 1))
    >>> seen.round(3).tolist()  # thirds
    [0.0, 0.333, 1.0]
    """

    bits: int = 4
    name = "fsq"
    _strength = "bits"

    def __post_init__(self) -> None:
        check_integer(self.bits, "bits", low=1, high=64)

    def inputs(self, X: AnyArray, bounds: tuple[float, float] | None) -> AnyArray:
        """Rounded to the nearest of 2^bits levels."""
        low, high = (0.0, 1.0) if bounds is None else bounds
        if self.bits >= 24:  # finer than float32 itself
            return X
        steps = 2**self.bits - 1
        squeezed = np.rint((X.astype(np.float64) - low) / (high - low) * steps) / steps
        return np.asarray(low + squeezed * (high - low), dtype=X.dtype)


@dataclass(frozen=True)
class DefenceRow:
    """A defence by name: summary, maker, the paper's values (section V-C), whether it trains."""

    name: str
    summary: str
    make: Callable[[float, int], Defence]
    values: tuple[float, ...] = ()
    in_training: bool = False


_NOISE = (0.001, 0.01, 0.1, 0.3, 0.5, 1.0)
DEFENCES: Registry[DefenceRow] = Registry(
    "defence",
    [
        DefenceRow("none", "nothing", lambda _, __: Defence()),
        DefenceRow(
            "gauss-in", "noise on a share of the training samples", lambda v, _: GaussIn(v),
            _NOISE, in_training=True,
        ),
        DefenceRow(
            "conf", "answers below a confidence are withheld", lambda v, _: Conf(v),
            (0.1, 0.5, 0.9, 0.99, 0.999),
        ),
        DefenceRow(
            "gauss-out", "noise on the answer", lambda v, seed: GaussOut(v, seed), _NOISE
        ),
        DefenceRow(
            "fsq", "inputs rounded to so many bits", lambda v, _: FeatureSqueezing(int(v)),
            (2, 4, 8, 16, 32, 64),
        ),
    ],
)  # fmt: skip


def make_defence(name: str, value: float | None = None, *, seed: int = 0) -> Defence:
    """A defence by name and value: ``make_defence("conf", 0.9)``.

    Args:
        name: Of `DEFENCES`.
        value: What `DEFENCES` says of it: noise, threshold, bits.
        seed: Of noise on the answer.

    Raises:
        ParameterError: For a name that is not in `DEFENCES`, or without a value where it needs one.

    >>> make_defence("conf", 0.9)
    Conf(threshold=0.9)
    """
    row = DEFENCES[name]
    if value is None and row.values:
        raise ParameterError(
            f"The defence '{name}' needs a value, e.g. {row.values[2]:g}.", got="none"
        )
    return row.make(float(value or 0.0), seed)


class DefendedClassifier(WrappedClassifier):
    """A classifier behind a defence; gradients pass straight through rounding and noise."""

    def __init__(self, model: Any, defence: Defence) -> None:
        super().__init__(model)
        self.defence = defence

    def _identity(self) -> tuple[Any, ...]:
        return "defended", self.defence.name, self.defence

    @property
    def gradient_rule(self) -> Literal["exact", "straight-through"]:  # type: ignore[override]
        """Exact if the defence changes neither inputs nor outputs while the model runs."""
        kind = type(self.defence)
        unchanged = (kind.inputs, kind.outputs) == (Defence.inputs, Defence.outputs)
        return "exact" if unchanged else "straight-through"

    def rejected(self, X: ArrayLike) -> NDArray[np.bool_]:
        """Inputs whose answer the defence withholds."""
        return self.defence.rejected(self.model.predict_proba(self._seen(np.asarray(X))))

    def withheld(self, probabilities: AnyArray) -> NDArray[np.bool_]:
        """Which of these answers the defence withholds; attacks ask before they count one."""
        return self.defence.rejected(probabilities)

    def wrong_share(
        self, X: ArrayLike, goal: NDArray[np.int64], first: int, count: int
    ) -> NDArray[np.float64]:
        """Share of wrong answers per row over ``count`` draws of noise, from draw ``first`` on."""
        rows = np.asarray(X)
        inner = self.model.predict_proba(self._seen(rows))
        wrong = np.zeros(len(rows))
        for draw in range(first, first + count):
            defence: Any = replace(self.defence, draw=self.defence.draw + draw)  # type: ignore[call-arg, attr-defined]
            wrong += np.asarray(defence.outputs(inner, rows)).argmax(axis=1) != goal
        return wrong / count

    def with_defence(self, **changes: Any) -> "DefendedClassifier":
        """The same model behind a changed defence."""
        return DefendedClassifier(self.model, replace(self.defence, **changes))

    def _seen(self, X: AnyArray) -> AnyArray:
        return self.defence.inputs(X, self.bounds)

    def _answer(self, probabilities: AnyArray, X: AnyArray) -> AnyArray:
        return np.asarray(self.defence.outputs(probabilities, X))

    def _scores(self, logits: AnyArray, X: AnyArray) -> AnyArray:
        return np.log(np.maximum(self._answer(softmax(logits), X), 1e-300))


def defend(model: Any, defence: Defence) -> DefendedClassifier:
    """Put a defence in front of a model (anything `as_classifier` takes).

    Args:
        model: The classifier.
        defence: One of `DEFENCES`, as `make_defence` makes it, or your own.

    >>> model = defend(lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]), FeatureSqueezing(bits=1))
    >>> model.predict_proba([[0.7], [0.2]]).tolist()  # the model sees 1 and 0
    [[0.0, 1.0], [1.0, 0.0]]
    """
    return DefendedClassifier(model, defence)
