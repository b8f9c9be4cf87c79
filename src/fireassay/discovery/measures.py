"""The numbers of discovery: what each is called, and what it means."""

from typing import Final

from fireassay.core.measure import Measure

SENTENCES: Final = {
    "worse": "Where the search looked, it is wrong {} times as often as its confidence says.",
    "open": "Inconclusive: the search found {found} confident errors where {expected} were "
    "expected; that can be chance.",
    "fewer": "The search found {found} confident errors, no more than the {expected} expected.",
    "found": "The search found {} confident error{} where its confidence announces none.",
    "nothing": "The search found no confident error.",
}

MEASURES: tuple[Measure, ...] = (
    Measure("sdr", "Standardised discovery ratio (errors found over expected)", "ratio", "low",
        "Confident errors that were found, over as many as the model's own confidences announce; "
        "above 1 the model is more sure than it should be where the search looked."),
    Measure("sdr_calibrated", "Standardised discovery ratio after calibration", "ratio", "low",
        "The same with a temperature that other labelled rows fitted."),
    Measure("errors_found", "Number of confident errors found", "count", "low",
        "Labelled predictions that are confident and wrong."),
    Measure("errors_expected", "Number of confident errors expected", "count", "neither",
        "As many errors as the model's confidences announce on the labelled rows."),
    Measure("pool_error_rate", "Error rate among all candidates", "share", "low",
        "Share of all confident predictions that are wrong, from the rows that were drawn by lot."),
    Measure("errors_left", "Number of confident errors left", "count", "low",
        "Confident predictions that nobody has labelled and that are wrong, from rows that were "
        "drawn by lot at the end."),
    Measure("drawn_error_rate", "Error rate of rows drawn by lot", "share", "low",
        "Share of all rows that the model gets wrong, from the rows that were drawn by lot."),
    Measure("sdr_*", "Standardised discovery ratio: {}", "ratio", "neither",
        "How many errors this search finds, over as many as the confidences announce."),
)  # fmt: skip
