"""What a search found, and what may be concluded from it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fireassay.core.estimate import Estimate
from fireassay.core.evidence import Assumption, Claim, Evidence, Provenance, Table
from fireassay.core.pictures import picture
from fireassay.core.result import Answer
from fireassay.discovery.discovery_ratio import poisson_ratio_interval, ratio
from fireassay.discovery.estimators import estimate_error
from fireassay.discovery.matched_random import MatchedRandom, matched_arm_test
from fireassay.discovery.sequential import sequential_interval, sequential_p_value
from fireassay.discovery.space import bansal_weld_utility, spread
from fireassay.discovery.state import SearchState
from fireassay.statistics import poisson_binomial_tail

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

LEVEL = 0.95
_THEOREM = (
    "An SDR above 1 proves overconfidence only for rows drawn independently at random; a search "
    "does not draw so. It shows that the confidences are too high where the search looked."
)
_SKILL = (
    "The p-value tests the model's confidences on the queried rows, not the skill of the search: "
    "skill needs random rows of the same confidence (matched_random)."
)


@dataclass(frozen=True)
class SearchResult(Answer):
    """Errors found by one search, with the ratio to what was to be expected.

    Attributes
    ----------
    rows, confidence, predicted, labels, wrong
        Of the rows that the search asked about and that are labelled, in order.
    sdr, errors, expected
        Standardised discovery ratio and its two parts.
    sdr_interval, p_value, valid_as
        Interval of the ratio, and p-value of "the confidences are right where the search looked".
        ``valid_as`` is "fixed" for a search that does not look at labels and has spent its preset
        budget (exact Poisson interval, Poisson-binomial p); "sequential" for all others (valid
        at every step and under adaptive choice).
    matched_random
        Comparison with random rows of the same confidence, None if there is nothing to compare.
    spread, utility
        Evenness over the pool (lower is better) and Bansal and Weld's utility.
    error_rate
        Error rate of all candidates, if the search drew lots; otherwise None.
    """

    search: str
    adaptive: bool
    budget: int
    pool_size: int
    threshold: float
    critical_class: Any
    rows: NDArray[np.int64]
    confidence: NDArray[np.float64]
    predicted: tuple[Any, ...]
    labels: tuple[Any, ...]
    wrong: NDArray[np.bool_]
    sdr: float
    errors: int
    expected: float
    sdr_interval: tuple[float, float]
    p_value: float
    valid_as: str
    matched_random: MatchedRandom | None
    spread: float
    utility: float
    error_rate: Estimate | None
    pool_confidence: NDArray[np.float64]
    pool_scores: NDArray[np.float64] | None
    pool_log_mae: NDArray[np.float64] | None
    queried: NDArray[np.int64]
    seed: int
    model_sha256: str
    data_sha256: str
    queries: int

    def frame(self) -> "pd.DataFrame":
        """One row per label, with the running ratio."""
        import pandas as pd

        errors, expected = np.cumsum(self.wrong), np.cumsum(1 - self.confidence)
        return pd.DataFrame(
            {
                "row": self.rows,
                "predicted": list(self.predicted),
                "confidence": self.confidence,
                "label": list(self.labels),
                "wrong": self.wrong,
                "errors": errors,
                "expected": expected,
                "sdr": [ratio(a, b) for a, b in zip(errors, expected, strict=True)],
            }
        )

    def figures(self) -> "dict[str, Figure]":
        """The curve of the ratio, and the distances with the queried rows (if measured)."""
        from fireassay.discovery.figures import curve_figure, loess_figure

        figures = {"sdr": curve_figure(self.confidence, self.wrong, self.search)}
        if self.pool_log_mae is not None:
            figures["adversarial distance"] = loess_figure(
                self.pool_log_mae, self.pool_confidence, self.queried, self.wrong
            )
        return figures

    def evidence(self) -> Evidence:
        """Headline, estimates with intervals, assumptions and limits for the report."""
        low, high = self.sdr_interval
        value = self.sdr
        method = {
            "fixed": "exact Poisson (Garwood)",
            "sequential": "confidence sequence by betting",
        }[self.valid_as]
        n = len(self.wrong)
        estimates = {
            "sdr": Estimate(value, min(low, value), max(high, value), LEVEL, n, method),
            "errors_found": Estimate.bound(self.errors, LEVEL, n, "count"),
            "errors_expected": Estimate.bound(self.expected, LEVEL, n, "sum of 1 - confidence"),
        }
        if self.error_rate is not None:
            estimates["pool_error_rate"] = self.error_rate
        overconfident = self.p_value < 1 - LEVEL
        said = "" if overconfident else ", which the confidences allow for"
        claims = [
            Claim(
                f"Where the search looked, the model is wrong more often than its confidence says"
                f" (p = {self.p_value:.3g}).",
                holds=overconfident,
            )
        ]
        if self.matched_random is not None:
            skill = self.matched_random
            claims.append(
                Claim(
                    f"The search finds more errors than random rows of the same confidence"
                    f" ({skill.errors} against {skill.expected_random:.1f},"
                    f" p = {skill.p_value:.3g}).",
                    holds=skill.p_value < 1 - LEVEL,
                )
            )
        return Evidence(
            "discovery",
            headline=(
                f"{self.errors} confident error{'' if self.errors == 1 else 's'} in {n} labels, "
                f"{self.expected:.1f} expected"
                f" (ratio {value:.2f} [{low:.2f}, {high:.2f}]){said}."
            ),
            claims=tuple(claims),
            estimates=estimates,
            assumptions=self._assumptions(),
            tables={"queried": Table.from_frame(self.frame(), "Labelled rows", index=False)},
            figures={
                name: picture(figure, name, f"{name} of the search {self.search}")
                for name, figure in self.figures().items()
            },
            limits=(_THEOREM, _SKILL),
            provenance=Provenance(
                self.seed, self.model_sha256, self.data_sha256, self.queries, labels=n
            ),
        )

    def _assumptions(self) -> tuple[Assumption, ...]:
        chosen = {
            "fixed": "The rows were chosen without looking at labels, at a preset budget.",
            "sequential": "The next row depends only on what was known before its label.",
        }[self.valid_as]
        return (
            Assumption(chosen, "supported", f"the search '{self.search}' is built so."),
            Assumption(
                "Confidences are calibrated, so that an excess of errors is news.",
                "untestable",
                "calibrate on labelled rows first; otherwise the ratio only shows overconfidence.",
            ),
        )


def conclude(state: SearchState, told: dict[int, Any], *, adaptive: bool) -> SearchResult:
    """The result of a search as it stands."""
    arms = dict(zip(state.asked, state.arms, strict=True))
    chances = dict(zip(state.asked, state.probabilities, strict=True))
    # In the order they were asked: that is the order of the draws.
    queried = [c for c in state.asked if c in told and arms[c] == "search"]
    matched = [c for c in state.asked if c in told and arms[c] == "matched"]
    at = np.asarray(queried, dtype=np.int64)
    confidence = state.confidence[at]
    wrong = _wrong(state, told, queried)
    errors, expected = int(wrong.sum()), float((1 - confidence).sum())
    budget = min(state.budget, len(state.rows))
    fixed = not adaptive and len(told) >= budget and len(told) > 0
    if fixed:
        interval = poisson_ratio_interval(errors, expected, LEVEL)
        p_value = poisson_binomial_tail(1 - confidence, errors)
    else:
        interval = sequential_interval(confidence, wrong, LEVEL)
        p_value = sequential_p_value(confidence, wrong)
    skill = None
    if matched:
        other = np.asarray(matched, dtype=np.int64)
        skill = matched_arm_test(
            confidence, wrong, state.confidence[other], _wrong(state, told, matched)
        )
    drawn = np.array([chances[c] for c in queried])
    rate = None
    # A gap in the draws (a skipped or matched row) would break the estimate.
    whole = list(state.asked[: len(queried)]) == queried
    if len(drawn) and np.isfinite(drawn).all() and whole:
        rate = estimate_error(at, wrong, drawn, len(state.rows), level=LEVEL)
    found = at[wrong]
    return SearchResult(
        search=state.name,
        adaptive=adaptive,
        budget=state.budget,
        pool_size=len(state.rows),
        threshold=state.threshold,
        critical_class=state.critical_class,
        rows=state.rows[at],
        confidence=confidence,
        predicted=tuple(state.classes[i] for i in state.predicted[at]),
        labels=tuple(told[c] for c in queried),
        wrong=wrong,
        sdr=ratio(errors, expected),
        errors=errors,
        expected=expected,
        sdr_interval=interval,
        p_value=p_value,
        valid_as="fixed" if fixed else "sequential",
        matched_random=skill,
        spread=spread(state.features, at),
        utility=bansal_weld_utility(state.features, state.confidence, found),
        error_rate=rate,
        pool_confidence=state.confidence,
        pool_scores=state.scores,
        pool_log_mae=state.log_mae,
        queried=at,
        seed=state.seed,
        model_sha256=state.model_sha256,
        data_sha256=state.data_sha256,
        queries=state.queries,
    )


def _wrong(state: SearchState, told: dict[int, Any], candidates: list[int]) -> NDArray[np.bool_]:
    flags = [state.classes[state.predicted[c]] != told[c] for c in candidates]
    return np.asarray(flags, dtype=np.bool_)
