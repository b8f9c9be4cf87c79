"""The numbers of supervision, as people read them."""

from typing import Final

from fireassay.core.measure import Measure

SENTENCES: Final = {
    "caught": "With false alarms held to {promised}, the monitor catches {told} of {kind}, its "
    "weakest case.",
    "auroc": "Without a promise on alarms, the monitor's AUROC for {kind} is {told}.",
    "none": "No monitor works here: none beats a coin, with an AUROC of {told} at best for {kind}.",
    "copied": "Assumption broken: {copied} test rows are also in the training data.",
}

MEASURES: tuple[Measure, ...] = (
    Measure("auroc_*", "AUROC of the monitor on {}", "auc", "high",
        "The chance that a row of this trouble looks more suspicious than a normal row."),
    Measure("auroc_best_*", "AUROC of the best monitor on {}", "auc", "high",
        "The same for the monitor that is best on this trouble, where it is not the chosen one."),
    Measure("caught_*", "Detection rate of the monitor on {}", "share", "high",
        "The share of this trouble that raises the alarm."),
    Measure("false_alarm", "False-alarm rate of the monitor", "share", "low",
        "The share of normal rows that raise the alarm."),
    Measure("worst_slice_false_alarm_upper", "False-alarm rate in the worst slice, at most",
        "share", "low",
        "Upper bound of the share of false alarms in every slice that was named, all at once."),
    Measure("worst_slice_false_alarm_lower", "False-alarm rate in the worst slice, at least",
        "share", "low",
        "Lower bound of the share of false alarms in the worst slice."),
)  # fmt: skip
