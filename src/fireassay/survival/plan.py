"""How many samples does it take to see that one model stands longer than another?"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fireassay.core import ParameterError, Result
from fireassay.core.lazy import pd, stats
from fireassay.core.validation import check_integer, check_real
from fireassay.core.words import percent
from fireassay.survival.families import ErrorDistribution, aft_family


@dataclass(frozen=True)
class SamplePlan(Result):
    """Samples per model arm for the asked power.

    Attributes:
        samples: Per arm, by comparing survival (times with censoring).
        samples_by_adversarial_accuracy: Per arm, by comparing the share that stands at the budget
            only.
        samples_by_benign_accuracy: Per arm, by comparing accuracy without attack (NaN if no
            accuracies were given).
        models: Models per arm once models differ among themselves: more samples of the same model
            cannot replace them.
    """

    time_ratio: float
    power: float
    confidence: float
    samples: int
    samples_by_adversarial_accuracy: int
    samples_by_benign_accuracy: float
    models: int
    samples_per_model: int
    failure_share: float

    def summary(self) -> str:
        """Samples and models in one sentence."""
        return (
            f"To see a time ratio of {self.time_ratio:g} with {percent(self.power)} power: "
            f"{self.samples} samples per arm, on at least {self.models} models each."
        )

    @property
    def saving(self) -> float:
        """Samples by adversarial accuracy over samples by survival."""
        return self.samples_by_adversarial_accuracy / self.samples

    def frame(self) -> pd.DataFrame:
        """Samples per arm by what is compared."""
        rows = {
            "survival": self.samples,
            "adversarial accuracy": self.samples_by_adversarial_accuracy,
            "benign accuracy": self.samples_by_benign_accuracy,
        }
        table = pd.DataFrame({"samples_per_arm": rows})
        table["relative"] = table["samples_per_arm"] / self.samples
        table.index.name = "compared by"
        return table


def plan(
    time_ratio: float = 1.2,
    power: float = 0.8,
    *,
    confidence: float = 0.95,
    family: str = "weibull",
    scale: float = 1.0,
    failure_share: float = 0.5,
    between_model_sd: float = 0.0,
    samples_per_model: int = 100,
    benign_accuracies: tuple[float, float] | None = None,
) -> SamplePlan:
    """Plan a comparison of two arms whose times to failure differ by a factor.

    Args:
        time_ratio: The factor worth seeing, > 0 and not 1.
        power, confidence: Probability of seeing it, and of not seeing one that is not there
            (two-sided).
        family, scale: Law of the log time and its σ.
        failure_share: Share of the first arm's samples that fail within the budget, in (0, 1).
        between_model_sd: Standard deviation of the log time between models of one arm.
        samples_per_model: Samples observed on each model.
        benign_accuracies: Accuracy of the two arms without attack.

    The variance of the estimated log ratio is the inverse Fisher information of a sample with
    censoring at the budget, σ known; two proportions by the usual normal formula.

    >>> print(plan(1.5, failure_share=0.7).summary())
    To see a time ratio of 1.5 with 80 % power: 155 samples per arm, on at least 2 models each.
    """
    ratio = check_real(time_ratio, "time_ratio", low=0.0)
    if ratio == 1.0:
        raise ParameterError("The 'time_ratio' must differ from 1.", got="1")
    alpha = 1.0 - check_real(confidence, "confidence", low=0.0, high=1.0)
    check_real(power, "power", low=alpha, high=1.0)
    chosen = aft_family(family)
    sigma = check_real(scale, "scale", low=0.0)
    share = check_real(failure_share, "failure_share", low=0.0, high=1.0)
    spread = check_real(between_model_sd, "between_model_sd", low=0.0, inclusive="low")
    per_model = check_integer(samples_per_model, "samples_per_model", low=1)
    law = chosen.law(0.0)
    effect = abs(math.log(ratio))
    z = float(stats.norm.ppf(1 - alpha / 2) + stats.norm.ppf(power))
    budget = chosen.failed_by(share)
    other = budget - math.log(ratio) / sigma
    information = [_information(law, at) / sigma**2 for at in (budget, other)]
    variance = 1 / information[0] + 1 / information[1]
    samples = math.ceil(z**2 * variance / effect**2)
    shares = [share, float(np.exp(law.log_failure(np.array([other])))[0])]
    models = math.ceil(z**2 * (variance / per_model + 2 * spread**2) / effect**2)
    benign = float("nan")
    if benign_accuracies is not None:
        benign = float(_two_proportions(*benign_accuracies, z_sum=(alpha, power)))
    return SamplePlan(
        ratio,
        power,
        confidence,
        samples,
        _two_proportions(*shares, z_sum=(alpha, power)),
        benign,
        max(models, 1),
        per_model,
        share,
    )


def _information(law: ErrorDistribution, end: float) -> float:
    """Fisher information of one sample about its location (σ = 1), censored at ``end``."""
    grid = np.linspace(min(-40.0, end - 40.0), end, 20_001)
    density = np.exp(law.log_density(grid))
    seen = float(np.trapezoid(law.score(grid) ** 2 * density, grid))
    at = np.array([end])
    hazard = np.exp(law.log_density(at) - law.log_survival(at))
    return seen + float((hazard**2 * np.exp(law.log_survival(at)))[0])


def _two_proportions(first: float, second: float, *, z_sum: tuple[float, float]) -> int:
    if first == second:
        return 2**31 - 1
    alpha, power = z_sum
    mean = 0.5 * (first + second)
    null = stats.norm.ppf(1 - alpha / 2) * math.sqrt(2 * mean * (1 - mean))
    other = stats.norm.ppf(power) * math.sqrt(first * (1 - first) + second * (1 - second))
    return math.ceil(((null + other) / (first - second)) ** 2)
