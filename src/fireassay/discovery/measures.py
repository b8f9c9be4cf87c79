"""The numbers of discovery: what each is called, and what it means."""

from fireassay.core.measure import Measure

MEASURES: tuple[Measure, ...] = (
    Measure(
        "sdr",
        "Errors found, over errors expected",
        "ratio",
        "low",
        "Confident errors that were found, over as many as the model's own confidences announce; "
        "above 1 the model is more sure than it should be where the search looked.",
    ),
    Measure(
        "errors_found",
        "Confident errors found",
        "count",
        "low",
        "Labelled predictions that are confident and wrong.",
    ),
    Measure(
        "errors_expected",
        "Confident errors expected",
        "count",
        "neither",
        "As many errors as the model's confidences announce on the labelled rows.",
    ),
    Measure(
        "pool_error_rate",
        "Wrong among all candidates",
        "share",
        "low",
        "Share of all confident predictions that are wrong, from the rows that were drawn by lot.",
    ),
    Measure(
        "drawn_error_rate",
        "Wrong among all rows, by lot",
        "share",
        "low",
        "Share of all rows that the model gets wrong, from the rows that were drawn by lot.",
    ),
    Measure(
        "sdr_*",
        "Errors found, over errors expected: {}",
        "ratio",
        "neither",
        "How many errors this search finds, over as many as the confidences announce.",
    ),
)
