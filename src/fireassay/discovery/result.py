"""What a search found, and what may be concluded from it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from fireassay.core.arrays import BoolArray, FloatArray, IntArray
from fireassay.core.chart import Chart
from fireassay.core.estimate import Estimate
from fireassay.core.evidence import Assumption, Claim, Evidence, LeadingNumber, Provenance, Table
from fireassay.core.lazy import pd
from fireassay.core.result import Answer
from fireassay.core.words import p_text
from fireassay.discovery.estimators import errors_left, estimate_error, told_left
from fireassay.discovery.matched_random import MatchedRandom, matched_arm_test
from fireassay.discovery.measures import MEASURES, SENTENCES
from fireassay.discovery.ratio import DiscoveryRatio, running_ratio, sdr
from fireassay.discovery.space import bansal_weld_utility, spread
from fireassay.discovery.state import SearchState

CONFIDENCE = 0.95
KNOWN_CHANCES = Assumption(
    "Every row was drawn by lot, with the chance that the estimate weighs it by.",
    "supported",
    "the search draws so and keeps the chances.",
    "known-chances",
)
CALIBRATED = Assumption(
    "Confidences are calibrated, so that an excess of errors is news.",
    "untestable",
    "calibrate on labelled rows first; otherwise the ratio only shows overconfidence.",
    "calibrated",
)
_METHODS = {
    "fixed": "exact Poisson (Garwood)",
    "sequential": "confidence sequence by betting",
    "groups": "betting over groups",
}
_FEWEST_ANNOUNCED = 0.05  # errors that the confidences expect
_THEOREM = (
    "A ratio above 1 speaks of where the search looked, not of all inputs: a search does not draw "
    "by lot."
)
_SKILL = (
    "The ratio judges the confidences, not the skill of the search: that takes random rows of the "
    "same confidence."
)


@dataclass(frozen=True, eq=False)
class SearchResult(Answer):
    """Errors found by one search, with the ratio to what was to be expected.

    Attributes:
        state: The search itself: settings, candidates, what was asked and answered.
        ratio: Standardised discovery ratio with its parts, interval and p-value. It is "fixed" for
            a search that does not look at labels and has spent its preset budget, "sequential" for
            all others (valid at every step and under adaptive choice), "groups" for grouped rows.
        matched_random: Comparison with random rows of the same confidence, if there are any.
        spread, utility: Evenness over the pool (lower is better) and Bansal and Weld's utility.
        error_rate: Error rate of all candidates, if the search drew lots; otherwise None.
        left: Confident errors without a label; None before an audit or calibration rows tell.
        raw: The ratio to the confidences before calibration, where the model was calibrated.
        mended_p: Of "no more errors than announced", at the largest temperature allowed.
    """

    state: SearchState
    ratio: DiscoveryRatio
    matched_random: MatchedRandom | None
    spread: float
    utility: float
    error_rate: Estimate | None
    left: Estimate | None = None
    raw: DiscoveryRatio | None = None
    mended_p: float | None = None

    @cached_property
    def queried(self) -> IntArray:
        """Candidates that the search asked about and that are labelled, in order."""
        return np.asarray(self.state.asked_by("search"), dtype=np.int64)

    @property
    def rows(self) -> IntArray:
        """Their rows of X."""
        return self.state.rows[self.queried]

    @property
    def confidence(self) -> FloatArray:
        """The model's confidence in them."""
        return self.state.confidence[self.queried]

    @property
    def predicted(self) -> tuple[Any, ...]:
        """What the model said of them."""
        return tuple(self.state.classes[i] for i in self.state.predicted[self.queried])

    @property
    def labels(self) -> tuple[Any, ...]:
        """Labels of the rows that were asked, in order."""
        told = self.state.told
        return tuple(told[c] for c in self.queried.tolist())

    @cached_property
    def wrong(self) -> BoolArray:
        """Whether the model was wrong on them."""
        return self.state.wrong(self.queried.tolist())

    @property
    def sdr(self) -> float:
        """The ratio's value."""
        return self.ratio.value

    @property
    def errors(self) -> int:
        """Errors found."""
        return self.ratio.errors

    @property
    def expected(self) -> float:
        """Errors expected."""
        return self.ratio.expected

    @property
    def sdr_interval(self) -> tuple[float, float]:
        """The ratio's interval."""
        return self.ratio.interval

    @property
    def p_value(self) -> float:
        """Of "the confidences are right where the search looked"."""
        return self.ratio.p_value

    @property
    def valid_as(self) -> str:
        """ "fixed", "sequential" or "groups"."""
        return self.ratio.valid_as

    @property
    def pool_size(self) -> int:
        """Candidates in all."""
        return len(self.state.rows)

    def frame(self) -> pd.DataFrame:
        """One row per label, with the running ratio."""
        running = running_ratio(self.confidence, self.wrong)
        return pd.DataFrame(
            {
                "row": self.rows,
                "predicted": list(self.predicted),
                "confidence": self.confidence,
                "label": list(self.labels),
                "wrong": self.wrong,
                "errors": running.errors.astype(np.int64),
                "expected": running.expected,
                "sdr": running.values,
            }
        )

    def charts(self) -> dict[str, Chart]:
        """The curve of the ratio, and the distances with the queried rows (if measured)."""
        from fireassay.discovery.charts import distance_chart, ratio_chart

        state = self.state
        charts = {}
        if self._announces:
            charts["sdr"] = ratio_chart(running_ratio(self.confidence, self.wrong), state.name)
        if state.log_mae is not None:
            charts["adversarial distance"] = distance_chart(
                state.log_mae, state.confidence, self.queried, self.wrong
            )
        return charts

    @property
    def _announces(self) -> bool:
        """Whether the confidences announce errors at all: else a ratio to them says nothing."""
        return (self.raw or self.ratio).expected >= _FEWEST_ANNOUNCED

    def evidence(self) -> Evidence:
        """Headline, estimates with intervals, assumptions and limits for the report."""
        own, n, state = self.raw or self.ratio, self.ratio.n, self.state
        low, high = own.interval
        needs = ("chosen-before-labels", "calibrated", self._independent.id)
        estimates = {
            "sdr": _told(own, needs if self.raw is None else (needs[0], needs[2])),
            "errors_found": Estimate.count(self.errors, n),
            "errors_expected": Estimate.point(own.expected, n, "sum of 1 - confidence"),
        }
        if self.raw is not None:
            estimates["sdr_calibrated"] = _told(self.ratio, needs)
        if self.error_rate is not None:
            estimates["pool_error_rate"] = self.error_rate
        if self.left is not None:
            estimates["errors_left"] = self.left
        overconfident = own.p_value < 1 - CONFIDENCE
        said = "" if overconfident else ", which the confidences allow for"
        ratio = f"{own.expected:.1f} expected (ratio {own.value:.2f} [{low:.2f}, {high:.2f}])"
        expected = ratio if self._announces else "none expected"
        text = (
            "Where the search looked, the model is wrong more often than its own confidences say "
            f"({self.errors} errors, {own.expected:.1f} announced, {p_text(own.p_value)})."
        )
        claims = [Claim(text, holds=overconfident)]
        if self.mended_p is not None:
            text = (
                f"It is wrong there more often than its calibrated confidences say, too "
                f"({self.expected:.1f} announced, {p_text(self.mended_p)} at the largest "
                "temperature that the calibration rows allow)."
            )
            claims.append(Claim(text, holds=self.mended_p < 1 - CONFIDENCE))
        if self.matched_random is not None:
            skill = self.matched_random
            text = (
                "The search finds more errors than random rows of the same confidence "
                f"({skill.errors} against {skill.expected_random:.1f}, {p_text(skill.p_value)})."
            )
            claims.append(Claim(text, holds=skill.p_value < 1 - CONFIDENCE))
        if self.left is not None:
            claims.append(Claim(told_left(self.left, self.pool_size - len(state.told))))
        return Evidence(
            "discovery",
            headline=(
                f"{self.errors} confident error{'' if self.errors == 1 else 's'} in {n} labels, "
                f"{expected}{said}."
            ),
            claims=tuple(claims),
            estimates=estimates,
            assumptions=self._assumptions(),
            tables={"queried": Table.from_frame(self.frame(), "Labelled rows", index=False)},
            charts=self.charts(),
            measures=MEASURES,
            limits=(_THEOREM, _SKILL),
            **_answer(estimates, overconfident=overconfident, announces=self._announces),
            provenance=Provenance(
                state.seed, state.model_sha256, state.data_sha256, state.queries, len(state.told)
            ),
        )

    @property
    def _independent(self) -> Assumption:
        """What the interval counts: rows, or groups of them."""
        if self.valid_as == "groups":
            text, check = "Groups are wrong independently of each other.", "groups were given."
            return Assumption(text, "untestable", check, "independent-groups")
        text = "Rows are wrong independently of each other, given their confidences."
        check = "rows of one patient or device are not: give groups if there are any."
        return Assumption(text, "untestable", check, "independent-rows")

    def _assumptions(self) -> tuple[Assumption, ...]:
        chosen = {
            "fixed": "The rows were chosen without looking at labels, at a preset budget.",
            "sequential": "The next row depends only on what was known before its label.",
            "groups": "Groups were chosen without looking at their labels.",
        }[self.valid_as]
        found = [
            Assumption(
                chosen,
                "supported",
                f"the search '{self.state.name}' is built so.",
                "chosen-before-labels",
            ),
            CALIBRATED,
            self._independent,
        ]
        if self.error_rate is not None or self.left is not None:
            found.append(KNOWN_CHANCES)
        return tuple(found)


def _told(ratio: DiscoveryRatio, rests_on: tuple[str, ...]) -> Estimate:
    ends, method = (ratio.value, *ratio.interval), _METHODS[ratio.valid_as]
    return Estimate.around(
        *ends, confidence=CONFIDENCE, n=ratio.n, method=method, rests_on=rests_on
    )


def _answer(
    estimates: dict[str, Estimate], *, overconfident: bool, announces: bool
) -> LeadingNumber:
    """The ratio in one sentence; where it cannot be had, how many errors were found."""
    name = "sdr" if announces and not math.isnan(estimates["sdr"].value) else "errors_found"
    measure = next(m for m in MEASURES if m.name == name)
    told = measure.told(estimates[name])
    if name == "errors_found":
        which = "nothing" if told == "0" else "found"
    elif overconfident:
        which = "worse"
    else:
        which = "open" if estimates["sdr"].value > 1 else "fewer"
    if which in ("open", "fewer"):
        name = "errors_found"
    counts = {
        "found": f"{estimates['errors_found'].value:.0f}",
        "expected": f"{estimates['errors_expected'].value:.1f}",
    }
    text = SENTENCES[which].format(told, "" if told == "1" else "s", **counts)
    return {"answer": name, "sentence": text}


def conclude(state: SearchState, *, adaptive: bool) -> SearchResult:
    """The result of a search as it stands."""
    queried, matched = state.asked_by("search"), state.asked_by("matched")
    at = np.asarray(queried, dtype=np.int64)
    confidence, wrong = state.confidence[at], state.wrong(queried)
    told = len(state.labels)
    fixed = not adaptive and told > 0 and told >= min(state.budget, len(state.rows))
    skill = None
    if matched:
        other = np.asarray(matched, dtype=np.int64)
        groups = None if state.groups is None else (state.groups[at], state.groups[other])
        skill = matched_arm_test(
            confidence, wrong, state.confidence[other], state.wrong(matched), groups=groups
        )
    rate = None
    drawn = np.array(state.probabilities[: len(queried)])
    # A gap in the draws (a skipped or matched row) would break the estimate.
    whole = list(state.asked[: len(queried)]) == queried
    if len(drawn) and np.isfinite(drawn).all() and whole:
        rate = estimate_error(at, wrong, drawn, len(state.rows), confidence=CONFIDENCE)
        rate = replace(rate, rests_on=(KNOWN_CHANCES.id,))

    def ratio_to(stated: FloatArray) -> DiscoveryRatio:
        if state.groups is not None:
            return sdr(stated[at], wrong, CONFIDENCE, groups=state.groups[at])
        return running_ratio(stated[at], wrong, fixed=fixed, interval_confidence=CONFIDENCE).now

    known = state.announced
    return SearchResult(
        state=state,
        ratio=ratio_to((known or {}).get("calibrated", state.confidence)),
        raw=None if known is None else ratio_to(known["raw"]),
        # The interval of the temperature spends half of the error.
        mended_p=None if known is None else min(1.0, 2.0 * ratio_to(known["largest"]).p_value),
        matched_random=skill,
        spread=spread(state.features, at),
        utility=bansal_weld_utility(state.features, state.confidence, at[wrong]),
        error_rate=rate,
        left=errors_left(state, CONFIDENCE),
    )
