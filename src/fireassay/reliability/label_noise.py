"""Labels that are wrong: what rows labelled twice say about the bound."""

import math
from dataclasses import dataclass
from typing import Literal

from fireassay.core import Assumption, Estimate, ParameterError
from fireassay.core.validation import check_integer
from fireassay.statistics import clopper_pearson, share

NOISE = "second-labels-independent"
APART = "label-errors-apart"
_TRUTH = "second-labels-right"
_STATEMENTS = {
    _TRUTH: "The second labels, by which the first are judged, are right.",
    NOISE: "Two people who label the same row err independently, and equally often.",
    APART: "Labels are wrong no more often where the model is wrong, and there are two classes.",
}


@dataclass(frozen=True)
class LabelNoise:
    """Rows that were labelled twice, and what may be assumed about it.

    Args:
        differ, n: How many of the rows labelled twice have two different labels, of how many; drawn
            from the labelled rows by lot.
        second: ``"independent"``: both labels are given alike, by people who err independently;
            then they differ on 2e(1-e) of the rows, with more than two classes on no fewer.
            ``"truth"``: the second label is that of an expert, and right.
        apart: Assume that label errors have nothing to do with the model's, for two classes: then
            the true error rate is a point, (q - e)/(1 - 2e). Otherwise it can be anything from q -
            e to q + e.

    >>> noise = LabelNoise(differ=12, n=300)
    >>> low, high = noise.error_rate(0.975)
    >>> print(f"{noise.rate:.3f}, {low:.3f} to {high:.3f}")
    0.020, 0.011 to 0.036
    """

    differ: int
    n: int
    second: Literal["independent", "truth"] = "independent"
    apart: bool = False

    def __post_init__(self) -> None:
        check_integer(self.n, "n", low=1)
        check_integer(self.differ, "differ", low=0)
        if self.differ > self.n:
            raise ParameterError("No more rows can differ than were labelled twice.", got="more")
        if self.second not in ("independent", "truth"):
            raise ParameterError("second must be independent or truth.", got=repr(self.second))

    @property
    def rate(self) -> float:
        """The error rate of one label, estimated."""
        return self._of_share(self.differ / self.n)

    def error_rate(self, confidence: float) -> tuple[float, float]:
        """Lower and upper limit of a label's error rate, each one-sided at this confidence."""
        low = float(clopper_pearson(self.differ, self.n, confidence, "lower")[0])
        high = float(clopper_pearson(self.differ, self.n, confidence, "upper")[1])
        return self._of_share(low), self._of_share(high)

    def _of_share(self, share_differing: float) -> float:
        if self.second == "truth":
            return share_differing
        return (1.0 - math.sqrt(max(0.0, 1.0 - 2.0 * share_differing))) / 2.0

    @property
    def told(self) -> str:
        """The labels that differ, as a sentence."""
        return f"{self.differ} of {self.n} rows labelled twice have two different labels."

    def assumptions(self) -> tuple[Assumption, ...]:
        """What the correction rests on; two labels alone cannot show it."""
        names = [_TRUTH if self.second == "truth" else NOISE, *([APART] if self.apart else [])]
        return tuple(Assumption(_STATEMENTS[name], "untestable", self.told, name) for name in names)


@dataclass(frozen=True)
class CorrectedBound:
    """The error rate against the truth instead of against the labels.

    Attributes:
        low, upper: One-sided limits, each at ``confidence``.
        value: The estimate; nan where only an interval is identified.
        label_error: The error rate of the labels, with its interval.
        confidence, n: Of each limit; the labelled rows.
        noise: What it was made from.

    >>> found = corrected_bound(0.05, 0.03, 0.08, 400, LabelNoise(0, 5000, "truth"), 0.975)
    >>> round(found.upper, 4), found.how
    (0.0809, 'corrected for wrong labels, identified interval')
    """

    low: float
    upper: float
    value: float
    label_error: Estimate
    confidence: float
    n: int
    noise: LabelNoise

    @property
    def how(self) -> str:
        """The method in a few words."""
        kind = "a point for two classes" if self.noise.apart else "identified interval"
        return f"corrected for wrong labels, {kind}"

    def estimates(self, rests_on: tuple[str, ...]) -> dict[str, Estimate]:
        """The corrected limits, to stand beside the uncorrected ones."""
        needs = (*(a for a in rests_on if a != "labels-right"),)
        needs += tuple(a.id for a in self.noise.assumptions())

        def bound(value: float) -> Estimate:
            return Estimate.bound(value, self.confidence, self.n, self.how, rests_on=needs)

        return {
            "corrected_pmi_upper": bound(self.upper),
            "corrected_pmi_lower": bound(self.low),
            "label_error": self.label_error,
        }


def corrected_bound(
    pmi: float, low: float, upper: float, n: int, noise: LabelNoise, confidence: float
) -> CorrectedBound:
    """Limits of the true error rate from those of the rate against the labels."""
    # The true rate is within e of the measured one, whatever both errors have to do with each
    # other; if nothing, and with two classes, q = p(1-e) + (1-p)e.
    least, most = noise.error_rate(1.0 - (1.0 - confidence) / 2.0)
    both = max(2.0 * confidence - 1.0, 0.01)
    plain = share(noise.differ, noise.n, both)
    label_error = Estimate.around(
        noise.rate,
        *noise.error_rate(1.0 - (1.0 - both) / 2.0),
        confidence=both,
        n=noise.n,
        method=f"{plain.method} of rows labelled twice",
    )
    value = math.nan
    if noise.apart:
        if not upper < 0.5 or not most < 0.5:
            raise ParameterError(
                "Label errors can be taken out only where both rates are below one half.",
                got=f"model up to {upper:.2f}, labels up to {most:.2f}",
            )
        value = _apart(pmi, noise.rate)
        limits = _apart(low, most), _apart(upper, least)
    else:
        limits = max(0.0, low - most), min(1.0, upper + most)
    return CorrectedBound(*limits, value, label_error, confidence, n, noise)


def _apart(rate: float, error: float) -> float:
    """The true rate where label errors do not depend on the model's, two classes."""
    return min(1.0, max(0.0, (rate - error) / (1.0 - 2.0 * error)))
