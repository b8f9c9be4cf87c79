"""The numbers of survival: what each is called, and what it means."""

from typing import Final

from fireassay.core.measure import Better, Measure, Unit

SENTENCES: Final = {
    "flips": "With {budget} tries and changes {sizes}, attackers flip {told} of its right answers.",
    "within": "Attacked within {sizes}, {budget} queries per row. Larger changes and longer "
    "attacks were not tried.",
    "not tried": "Not tried: {names}.",
}

_ROWS: Final[tuple[tuple[str, str, Unit, Better, str], ...]] = (
    ("standing_share", "Robust accuracy of right answers", "share", "high",
     "Rows that were right before and that no attack broke within the budget."),
    ("robust_accuracy", "Robust accuracy", "share", "high",
     "Rows that are right and stay right under every attack tried, of all sampled rows."),
    ("attack_success_rate", "Attack success rate", "share", "low",
     "Share of the right answers that an attack flipped within the budget."),
    ("benign_accuracy", "Accuracy before any attack", "share", "high",
     "Share of the sampled rows that the model gets right as they are."),
    ("benign_rejection_rate", "Rejection rate without any attack", "share", "low",
     "Share of the sampled rows whose answer the defence withholds."),
    ("survival_*", "Robustness against {}", "share", "high",
     "Share of rows that stand when the budget of this attack is spent."),
    ("mean_queries_*", "Mean number of queries to success: {}", "queries", "high",
     "How many questions a row withstands on average, counted up to the budget."),
    ("survival_end_*", "Survival of {} at the end", "share", "high",
     "Share of rows that stand at the last time that was watched."),
    ("rmst_*", "Restricted mean survival time: {}", "ratio", "high",
     "Mean time to failure up to the horizon, in the unit of the times."),
    ("effect_*", "Effect of {}", "ratio", "neither",
     "Change of the log time to failure (in Cox's model of the log hazard) per unit."),
    ("test_concordance_*", "Concordance of {} on test rows", "share", "high",
     "Share of pairs of the test part whose order of failure the family gets right."),
    ("trash", "Cost of training over cost of breaking", "ratio", "low",
     "Above one, breaking a sample costs less than training on one did."),
    ("largest_trash", "Largest cost of training over cost of breaking", "ratio", "low",
     "The worst model and defence: above one, breaking a sample is cheaper than training on it."),
    ("mean_time", "Mean survival time", "ratio", "high",
     "Fitted mean time to failure up to the horizon, in the unit of the times."),
    ("never_falls", "Cure fraction (never falls)", "share", "high",
     "Share of samples that no number of queries breaks, by a mixture model."),
    ("survival_at_horizon", "Survival at the horizon", "share", "high",
     "Fitted share of samples that no attack breaks up to the horizon."),
)  # fmt: skip
MEASURES: tuple[Measure, ...] = tuple(Measure(*row) for row in _ROWS)
