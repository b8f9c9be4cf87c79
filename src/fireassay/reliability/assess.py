"""How often will this classifier be wrong in the field, and how sure can one be?"""

from dataclasses import replace
from typing import Any, Protocol

from numpy.typing import ArrayLike

from fireassay.core.errors import NotEnoughEvidenceError, ParameterError
from fireassay.core.registry import Registry
from fireassay.reliability.conservative_bayes import ConservativeBayes
from fireassay.reliability.label_bounds import Exact, GroupsMax
from fireassay.reliability.label_noise import LabelNoise, corrected_bound
from fireassay.reliability.problem import Problem, check_problem
from fireassay.reliability.ram import Ram
from fireassay.reliability.rectified import Rectified
from fireassay.reliability.result import ReliabilityResult, with_noise
from fireassay.reliability.worst_case import WorstCase
from fireassay.statistics.shared_units import ExactCopies


class Method(Protocol):
    """A way to answer, with its settings: a frozen dataclass, which may be of your own.

    ``uses`` names the arguments of `assess` that not every method can use: ``"weights"``,
    ``"groups"``.
    """

    @property
    def name(self) -> str:
        """What people type."""
        ...

    @property
    def summary(self) -> str:
        """What it does and claims, in a few words."""
        ...

    @property
    def uses(self) -> tuple[str, ...]:
        """Arguments of `assess` that it can use, of those that not every method can."""
        ...

    def run(self, problem: Problem) -> ReliabilityResult:
        """Answer a problem that has been checked."""
        ...


METHODS: Registry[Any] = Registry(
    "method", (Rectified, Exact, GroupsMax, WorstCase, ConservativeBayes, Ram)
)

_OF_LABELS = ("rectified", "exact", "groups-max")  # which count errors and ask for no other row


def assess(
    model: Any,
    X: ArrayLike,
    y: ArrayLike,
    operational: Any = None,
    *,
    method: str | Method = "rectified",
    groups: ArrayLike | None = None,
    weights: Any = None,
    label_noise: LabelNoise | None = None,
    copies: ExactCopies | None = None,
    confidence: float = 0.975,
    seed: int = 0,
    workers: int = 1,
    cluster: Any = None,
) -> ReliabilityResult:
    """Bound the probability of a misclassification per input (pmi).

    Args:
        model: A `Classifier` or anything `as_classifier` takes.
        X, y: Labelled rows that the model was not trained on, drawn from the operational profile.
            For `Ram`: all labelled rows.
        operational: Unlabelled rows of the profile (others than X), or a profile object
            (`KdeProfile`, `DensityProfile`).
        method: A name of `METHODS`, or a method with its settings: `Rectified` (the default),
            `Exact`, `GroupsMax`, `WorstCase`, `ConservativeBayes`, `Ram`, or one of your own.
        groups: For each row the patient, device or document it belongs to: then the bound counts
            groups, from the labels alone, and none larger than the largest seen, or than
            ``Groups(…, largest=)`` declares; other methods take rows as independent and refuse.
        weights: Where labels were not drawn from the profile: its density over that of the labels,
            one per label or as a function of rows; ``"estimate"`` estimates them (then nothing is
            claimed).
        label_noise: Rows that were labelled twice: then limits of the error rate against the truth
            stand beside those against the labels.
        copies: What `fireassay.statistics.exact_copies` says of X, where that is known already.
        confidence: Of each one-sided bound, in (0, 1).
        workers, cluster: Where cells and balls are evaluated, as in `fireassay.engine.Executor`;
            the result does not depend on it.
        seed: Of whatever is drawn.

    Raises:
        DataError, ParameterError, NotEnoughEvidenceError: For data, settings or claims that cannot
            be used.

    >>> import numpy as np
    >>> from fireassay import as_classifier
    >>> step = as_classifier(lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]), classes=[0, 1])
    >>> X = np.random.default_rng(0).random((200, 1))
    >>> result = assess(step, X, (X[:, 0] > 0.5).astype(int))
    >>> round(result.pmi_upper, 4)
    0.0183
    """
    chosen: Method = METHODS[method]() if isinstance(method, str) else method
    if not callable(getattr(chosen, "run", None)) or isinstance(chosen, type):
        raise ParameterError(
            f"The method must be one of {METHODS.listed()}, or an object like Rectified().",
            got=repr(method),
        )
    for name, value in (("weights", weights), ("groups", groups)):
        if value is not None and name not in chosen.uses:
            able = [row.name for row in METHODS.values() if name in row.uses]
            raise ParameterError(
                f"{name} can be used by method {', '.join(able)} only.",
                got=f"{name} with method {chosen.name!r}",
            )
    problem = check_problem(
        model,
        X,
        y,
        operational,
        confidence=confidence,
        groups=groups,
        seed=seed,
        workers=workers,
        cluster=cluster,
    )
    if problem.recorded and chosen.name not in _OF_LABELS:
        raise NotEnoughEvidenceError(
            f"Method {chosen.name!r} needs a model that can be asked.",
            got="recorded answers",
            do=f"Use {' or '.join(_OF_LABELS)}.",
        )
    result = chosen.run(replace(problem, weights=weights, copies=copies))
    return result if label_noise is None else _corrected(result, chosen, problem, label_noise)


def _corrected(
    result: ReliabilityResult, method: Method, problem: Problem, noise: LabelNoise
) -> ReliabilityResult:
    """The result with the limits that wrong labels leave; half of the error goes to the noise."""
    if noise.apart and len(problem.classes) != 2:
        raise ParameterError(
            "Label errors that have nothing to do with the model's are a point for two classes.",
            got=f"{len(problem.classes)} classes",
            do="Leave out apart=True: the interval that is left holds for any number.",
        )
    if not result.is_bound:
        raise ParameterError("label_noise corrects a bound.", got=f"method {method.name!r}")
    alpha = 1 - problem.confidence
    halved = method.run(replace(problem, confidence=1 - alpha / 2))
    found = corrected_bound(
        halved.pmi, halved.pmi_lower, halved.pmi_upper, result.n_labels, noise, problem.confidence
    )
    return with_noise(result, found)
