"""The numbers of survival: what each is called, and what it means."""

from fireassay.core.measure import Measure

MEASURES: tuple[Measure, ...] = (
    Measure(
        "standing_share", "Stands against the attacks tried", "share", "high",
        "Rows that were right before and that no attack broke within the budget.",
    ),
    Measure(
        "benign_accuracy", "Right before any attack", "share", "high",
        "Share of the sampled rows that the model gets right as they are.",
    ),
    Measure(
        "benign_rejection_rate", "Answers withheld without any attack", "share", "low",
        "Share of the sampled rows whose answer the defence withholds.",
    ),
    Measure(
        "survival_*", "Stands against {}", "share", "high",
        "Share of rows that stand when the budget of this attack is spent.",
    ),
    Measure(
        "mean_queries_*", "Queries until it falls, {}", "queries", "high",
        "How many questions a row withstands on average, counted up to the budget.",
    ),
    Measure(
        "survival_end_*", "Still standing at the end, {}", "share", "high",
        "Share of rows that stand at the last time that was watched.",
    ),
    Measure(
        "rmst_*", "Mean time until it falls, {}", "ratio", "high",
        "Mean time to failure up to the horizon, in the unit of the times.",
    ),
    Measure(
        "effect_*", "Effect of {}", "ratio", "neither",
        "Change of the log time to failure (in Cox's model of the log hazard) per unit.",
    ),
    Measure(
        "test_concordance_*", "Pairs in the right order, {}", "share", "high",
        "Share of pairs of the test part whose order of failure the family gets right.",
    ),
    Measure(
        "trash", "Cost of training over cost of breaking", "ratio", "low",
        "Above one, breaking a sample costs less than training on one did.",
    ),
    Measure(
        "largest_trash", "Largest cost of training over cost of breaking", "ratio", "low",
        "The worst model and defence: above one, breaking a sample is cheaper than training on it.",
    ),
    Measure(
        "mean_time", "Mean time until it falls", "ratio", "high",
        "Fitted mean time to failure up to the horizon, in the unit of the times.",
    ),
    Measure(
        "never_falls", "Never falls", "share", "high",
        "Share of samples that no number of queries breaks, by a mixture model.",
    ),
    Measure(
        "survival_at_horizon", "Still standing at the horizon", "share", "high",
        "Fitted share of samples that no attack breaks up to the horizon.",
    ),
)  # fmt: skip
