"""The numbers of supervision, as people read them."""

from fireassay.core.measure import Measure

MEASURES: tuple[Measure, ...] = (
    Measure(
        "auroc_*",
        "How well the monitor tells {} from normal rows",
        "auc",
        "high",
        "The chance that a row of this trouble looks more suspicious than a normal row.",
    ),
    Measure(
        "auroc_best_*",
        "How well the best monitor for {} alone tells it from normal rows",
        "auc",
        "high",
        "The same for the monitor that is best on this trouble, where it is not the chosen one.",
    ),
    Measure(
        "caught_*",
        "Caught by the monitor: {}",
        "share",
        "high",
        "The share of this trouble that raises the alarm.",
    ),
    Measure(
        "false_alarm",
        "False alarms of the monitor",
        "share",
        "low",
        "The share of normal rows that raise the alarm.",
    ),
    Measure(
        "worst_slice_false_alarm_upper",
        "False alarms in the worst slice, at most",
        "share",
        "low",
        "Upper bound of the share of false alarms in every slice that was named, all at once.",
    ),
    Measure(
        "worst_slice_false_alarm_lower",
        "False alarms in the worst slice, at least",
        "share",
        "low",
        "Lower bound of the share of false alarms in the worst slice.",
    ),
)
