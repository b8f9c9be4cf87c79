"""How often will this classifier be wrong in the field, and how sure can one be?"""

from typing import Any

from numpy.typing import ArrayLike

from fireassay.core.errors import ParameterError
from fireassay.core.validation import check_choice, check_integer
from fireassay.reliability import modes
from fireassay.reliability.by_cells import by_cells
from fireassay.reliability.cell_settings import CellSettings
from fireassay.reliability.cell_shares import CellEstimator
from fireassay.reliability.conservative_bayes import ConservativePrior
from fireassay.reliability.latent import Latent
from fireassay.reliability.latent_cells import TopCells, by_latent_cells
from fireassay.reliability.naive import naive
from fireassay.reliability.problem import check_problem
from fireassay.reliability.result import ReliabilityResult

MODES = ("rectified", "worst-case", "conservative-bayes", "ram", "naive")


def assess(
    model: Any,
    X_test: ArrayLike,
    y_test: ArrayLike,
    operational: Any = None,
    mode: str = "rectified",
    alpha: float = 0.025,
    surrogate: Any = None,
    weights: Any = None,
    held_out: tuple[ArrayLike, ArrayLike] | None = None,
    seed: int = 0,
    *,
    cells: int | tuple[int, ...] | None = None,
    bounds: ArrayLike | None = None,
    bandwidth: float | str | None = None,
    samples: int = 10_000,
    weight_bound: float | None = None,
    prior: ConservativePrior | None = None,
    class_priors: dict[Any, float] | None = None,
    estimator: CellEstimator | None = None,
    latent: Latent | None = None,
    top: TopCells | None = None,
    radius: float | None = None,
    workers: int = 1,
    cluster: Any = None,
) -> ReliabilityResult:
    """Bound the probability of a misclassification per input (pmi).

    Parameters
    ----------
    model
        A `Classifier` or anything `as_classifier` takes.
    X_test, y_test
        Labelled rows that the model was not trained on, drawn from the operational profile. For
        ``mode="ram"``: all labelled rows.
    operational
        Unlabelled rows of the profile (others than X_test), or a profile object
        (`KdeProfile`, `DensityProfile`).
    mode
        ``"rectified"`` (default): the smaller of Clopper-Pearson and a rectified betting bound.
        ``"worst-case"``: no trust in unlabelled cells. ``"conservative-bayes"``: a partly stated
        prior. ``"ram"``: the published assessment by cells, for comparison. ``"naive"``: mean
        local unastuteness of the test rows, for comparison.
    alpha
        One-sided error probability, in (0, 1).
    surrogate
        A guess of the model's risk: None fits it on the labels step by step, ``(X_fit, y_fit)``
        fits it on other labels, a function of rows is used as it is. It never costs validity.
    weights
        Where labels were not drawn from the profile: its density over that of the labels, one per
        label or as a function of rows; ``"estimate"`` estimates them (then nothing is claimed).
    held_out
        ``(X, y)`` for the contradiction check of mode "ram", where X_test is all labelled rows.
    cells, bounds, bandwidth, samples
        Mode "ram": cells per axis (250), the box they divide (0 to 1), bandwidth of the profile
        (0.2; "loo" for the best one with folded borders), draws per cell (10,000).
    weight_bound
        The largest possible weight; the largest given one if None.
    prior
        Mode "conservative-bayes": what is believed before testing.
    class_priors
        Mode "ram": how often each class comes in operation.
    estimator
        Mode "ram": how class shares of cells are found, instead of the automatic choice.
    latent, top, radius
        Modes "ram" and "naive" on images: the latent space whose cells are used, how many of them,
        and the radius of the pixel ball (from r-separation if None).
    workers, cluster
        Where cells and balls are evaluated, as in `fireassay.engine.Executor`; the result does
        not depend on it.

    Returns
    -------
    ReliabilityResult

    Raises
    ------
    DataError, ParameterError, NotEnoughEvidenceError
        For data, settings or claims that cannot be used.

    >>> import numpy as np
    >>> from fireassay import as_classifier
    >>> step = as_classifier(lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]), classes=[0, 1])
    >>> X = np.random.default_rng(0).random((200, 1))
    >>> result = assess(step, X, (X[:, 0] > 0.5).astype(int))
    >>> round(result.pmi_upper, 4)
    0.0183
    """
    check_choice(mode, "mode", MODES)
    check_integer(samples, "samples", low=2)
    if weights is not None and mode != "rectified":
        raise ParameterError("weights are used by mode='rectified' only.", got=f"mode={mode!r}")
    problem = check_problem(
        model, X_test, y_test, operational, held_out, alpha, seed, workers=workers, cluster=cluster
    )
    settings = CellSettings(cells, bounds, bandwidth, samples, estimator)
    if mode == "rectified":
        return modes.rectified(problem, surrogate, weights, weight_bound)
    if mode == "conservative-bayes":
        return modes.conservative(problem, prior)
    if mode == "worst-case":
        return modes.worst_case(problem, settings)
    if mode == "naive":
        return naive(problem, settings, radius)
    if latent is not None:
        return by_latent_cells(problem, settings, latent, top or TopCells(), radius)
    return by_cells(problem, settings, class_priors)
