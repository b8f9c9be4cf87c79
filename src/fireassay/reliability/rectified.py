"""The default method: labels, operational rows and a guess of the model's risk."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from fireassay.core.arrays import AnyArray, FloatArray
from fireassay.core.errors import DataError, NotEnoughEvidenceError, ParameterError
from fireassay.core.validation import check_class_indices, check_features, check_real
from fireassay.core.words import percent
from fireassay.reliability.betting_bound import RectifiedBound, rectified_bound
from fireassay.reliability.inputs import Inputs, Known
from fireassay.reliability.label_bounds import assess_groups, exact_limits, exact_row
from fireassay.reliability.ledger import full_ledger, unseen_labels
from fireassay.reliability.problem import Problem, too_few_labels
from fireassay.reliability.result import FROM_THE_FIELD, ReliabilityResult, build_result
from fireassay.reliability.surrogate import Risk, fit_risk, user_risk
from fireassay.statistics.betting import betting_interval


@dataclass(frozen=True)
class Rectified:
    """The smaller of Clopper-Pearson and a rectified betting bound, the error split beforehand.

    Args:
        surrogate: A guess of the model's risk: None fits it on the labels step by step, ``(X_fit,
            y_fit)`` fits it on other labels, a function of rows is used as it is. It never costs
            validity as long as it has not seen the labels: rows that are among them are refused.
        weight_bound: With ``weights``: the largest possible weight. Without it nothing is claimed.

    >>> from fireassay.reliability import assess
    >>> half = lambda X: np.column_stack([1 - X[:, 0], X[:, 0]])
    >>> X = (np.arange(200)[:, None] + 0.5) / 200
    >>> found = assess(half, X, X[:, 0] > 0.5, method=Rectified())
    >>> round(found.pmi_upper, 4)  # no error, no operational rows: 1 - 0.025 ** (1 / 200)
    0.0183
    """

    surrogate: "Callable[[AnyArray], Any] | tuple[Any, Any] | None" = None
    weight_bound: float | None = None

    name: ClassVar[str] = "rectified"
    summary: ClassVar[str] = (
        "the smaller of Clopper-Pearson and a rectified betting bound; holds at any sample size"
    )
    uses: ClassVar[tuple[str, ...]] = ("weights", "groups")

    def run(self, problem: Problem) -> ReliabilityResult:
        """Bound the pmi; with groups from the labels alone, by counting groups."""
        if problem.groups is not None:
            if problem.weights is not None or self != Rectified():
                raise ParameterError(
                    "With groups the bound rests on the labels alone, without weights.",
                    got="weights, a surrogate or a weight_bound",
                    do="Leave them out, or give one row per group.",
                )
            return assess_groups(problem, self.name)
        risk = _risk(problem, self.surrogate)
        kind, weights, bound = _checked_weights(problem, self.weight_bound)
        found = rectified_bound(
            problem.labelled,
            problem.y,
            problem.field,
            alpha=problem.alpha,
            risk=risk,
            weights=weights,
            weight_bound=bound,
            weights_are=kind or "given",
            seed=problem.seed,
        )
        assumptions = full_ledger(problem, weights=kind)
        if risk is not None:
            found = replace(found, given_surrogate=True)
            fitted = len(self.surrogate[1]) if isinstance(self.surrogate, tuple | list) else None
            assumptions = (*assumptions, unseen_labels(fitted))
        shifted = any(a.id == FROM_THE_FIELD and a.status == "contradicted" for a in assumptions)
        return build_result(
            problem,
            self.name,
            found,
            limits=(min(_lower(problem, weights, bound), found.pmi), found.pmi, found.pmi_upper),
            comparison=_bounds(problem, found, shifted=shifted),
            assumptions=assumptions,
            notes=self._notes(problem, found, bound),
            is_bound=found.claimed,
        )

    def _notes(
        self, problem: Problem, found: RectifiedBound, bound: float | None
    ) -> tuple[str, ...]:
        notes = [*too_few_labels(len(problem.y), problem.confidence)]
        if problem.n_operational < len(problem.y):
            notes.append(
                "With fewer operational rows than labels the bound rests on the labels alone."
            )
        elif found.weights is None:
            explained = percent(max(0.0, found.explained))
            notes.append(f"The surrogate explains {explained} of the errors' variance.")
        if shared := problem.shared_rows:
            notes.append(f"{shared} operational rows are labelled rows as well and were left out.")
        if found.weights is not None and self.weight_bound is None:
            notes.append(
                f"The largest weight seen, {bound:.3g}, need not be the largest possible one: "
                "pass Rectified(weight_bound=…) for a bound that holds."
            )
        return tuple(notes)


def _bounds(
    problem: Problem, found: RectifiedBound, *, shifted: bool
) -> list[tuple[str, float, float, str]]:
    """The headline and what it is made of, side by side."""
    claim = "holds" if found.claimed else "none"
    claim = "does not hold: labels not from the profile" if shifted else claim
    rows = [("headline", found.pmi, found.pmi_upper, claim)]
    if found.weights is None:
        share = found.betting_share
        if share:
            exact, betting = found.clopper_pearson, found.betting
            rows.append((f"Clopper-Pearson at {1 - share:.1f} α", found.pmi, exact, claim))
            rows.append((f"rectified betting at {share:.1f} α", found.pmi, betting, claim))
        rows.append(exact_row(problem))
    normal = min(1.0, found.normal_upper)
    return [*rows, ("prediction-powered, normal", found.pmi, normal, "asymptotic")]


def _lower(problem: Problem, weights: FloatArray | None, bound: float | None) -> float:
    """A lower bound from the labels alone, weighted where they were drawn elsewhere."""
    if weights is None or bound is None:
        return exact_limits(problem.errors, len(problem.y), problem.confidence)[0]
    values = weights * problem.wrong
    return betting_interval(values, problem.confidence, (0, bound), "lower")[0]


def _risk(problem: Problem, surrogate: Any) -> Risk | None:
    if surrogate is None:
        return None
    if callable(surrogate):
        return user_risk(surrogate, problem.row_shape)
    if isinstance(surrogate, tuple | list) and len(surrogate) == 2:
        rows = check_features(surrogate[0], name="surrogate X")
        classes = problem.model.classes
        y = check_class_indices(surrogate[1], classes, name="surrogate y", n=len(rows))
        inputs = Inputs.ask(problem.model, rows)
        seen = int(Known(problem.labelled.X).among(inputs.X).sum())
        if seen:
            raise DataError(
                "The surrogate must not have seen the labels that it is to be corrected by.",
                got=f"{seen} of its {len(rows)} rows among the labelled rows",
                do="Leave the surrogate out (it is then fitted step by step), or fit it elsewhere.",
            )
        return fit_risk(inputs, y)
    raise ParameterError(
        "The 'surrogate' must be None, a pair (X_fit, y_fit) or a function of rows.",
        got=type(surrogate).__name__,
    )


def _checked_weights(
    problem: Problem, weight_bound: float | None
) -> tuple[str | None, FloatArray | None, float | None]:
    """Whether weights are given or estimated, one per label, and the largest possible."""
    weights = problem.weights
    if weights is None:
        if weight_bound is not None:
            raise ParameterError(
                "weight_bound is the largest of the weights.",
                got="no weights",
                do="Pass weights= to assess as well.",
            )
        return None, None, None
    if isinstance(weights, str):
        if weights != "estimate" or problem.operational is None:
            raise ParameterError(
                "weights must be an array, a function, or 'estimate' (with operational rows).",
                got=repr(weights),
            )
        values = _estimated_weights(problem.labelled.X, problem.operational.X, problem.seed)
        return "estimated", values, float(values.max())
    n = len(problem.y)
    rows = problem.labelled.X.reshape(n, *problem.row_shape)
    values = np.asarray(weights(rows) if callable(weights) else weights, dtype=np.float64)
    if values.shape != (n,) or not np.isfinite(values).all() or (values < 0).any():
        raise DataError(
            "weights must be one finite number >= 0 per labelled row: profile over label density.",
            got=f"shape {values.shape}",
        )
    if not values.max() > 0:
        raise DataError("At least one weight must be positive.", got="all zero")
    largest = float(values.max())
    if weight_bound is not None:
        largest = check_real(weight_bound, "weight_bound", low=largest, inclusive="low")
        return "given", values, largest
    return "unbounded", values, largest


def _estimated_weights(labelled: FloatArray, operational: FloatArray, seed: int) -> FloatArray:
    """Density ratios by a cross-validated classifier, capped at their 99.5 % quantile, mean one."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures, StandardScaler

    if min(len(labelled), len(operational)) < 20:
        raise NotEnoughEvidenceError(
            "Estimating weights needs at least 20 labelled and 20 operational rows.",
            got=f"{len(labelled)} and {len(operational)}",
            do="Pass the weights, or draw the labels from the profile.",
        )
    rows = np.vstack([labelled, operational])
    side = np.repeat([0, 1], [len(labelled), len(operational)])
    degree = 2 if rows.shape[1] <= 20 else 1
    model = make_pipeline(
        StandardScaler(), PolynomialFeatures(degree), LogisticRegression(max_iter=2000)
    )
    folds = StratifiedKFold(5, shuffle=True, random_state=seed % 2**32)
    p = cross_val_predict(model, rows, side, cv=folds, method="predict_proba")[: len(labelled), 1]
    odds = p / np.maximum(1 - p, 1e-6) * len(labelled) / len(operational)
    odds = np.minimum(odds, np.quantile(odds, 0.995))
    return np.asarray(odds / odds.mean(), dtype=np.float64)
