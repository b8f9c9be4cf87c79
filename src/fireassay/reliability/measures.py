"""What the numbers of reliability are: shares of inputs, better if low, and what n is worth."""

from typing import Final

from fireassay.core.measure import Measure

SENTENCES: Final = {
    "pmi_upper": "If the field looks like this test set, at most {} of inputs are misclassified.",
    "pmi": "If the field looks like this test set, about {} of inputs are misclassified: no bound.",
    "contradicted": "At most {} of the field is misclassified; the test rows do not agree.",
}
LARGEST, RARE = "largest-group", "rare-groups"  # assumptions of bounds over groups

_NUMBERS = {
    "pmi": ("Field error rate", "Probability that an input of the field is misclassified."),
    "pmi_upper": (
        "Field error rate, at most",
        "Upper bound of the probability that an input of the field is misclassified.",
    ),
    "pmi_lower": (
        "Field error rate, at least",
        "Lower bound of the probability that an input of the field is misclassified.",
    ),
    "field_error_rate": (
        "Field error rate from labels drawn by lot",
        "Error rate of the field rows, from the labels that discovery drew among them.",
    ),
    "field_pmi_upper": (
        "Field error rate from labels drawn by lot, at most",
        "Upper bound from the labels that discovery drew among the field rows alone.",
    ),
    "corrected_pmi_upper": (
        "Field error rate with wrong labels allowed for, at most",
        "Upper bound of how often its answer is not the truth, where labels may be wrong.",
    ),
    "corrected_pmi_lower": (
        "Field error rate with wrong labels allowed for, at least",
        "Lower bound of how often its answer is not the truth, where labels may be wrong.",
    ),
    "label_error": (
        "Label error rate",
        "How often a label is wrong, from rows that were labelled twice.",
    ),
    "test_pmi": (
        "Error rate by the test rows (the field contradicts it)",
        "Estimate from the test rows; labels from the field do not agree with it.",
    ),
    "test_pmi_upper": (
        "Error rate by the test rows (the field contradicts it), at most",
        "Upper bound from the test rows; labels from the field do not agree with it.",
    ),
    "test_pmi_lower": (
        "Error rate by the test rows (the field contradicts it), at least",
        "Lower bound from the test rows; labels from the field do not agree with it.",
    ),
    "worst_slice_upper": (
        "Error rate in the worst slice, at most",
        "Upper bound of the error rate of every slice that was named, all at once.",
    ),
    "worst_slice_lower": (
        "Error rate in the worst slice, at least",
        "Lower bound of the error rate of the worst slice.",
    ),
    "pmi_ram": (
        "Field error rate by the published cells",
        "The published estimate; most cells are labelled by the model itself.",
    ),
    "pmi_upper_published": (
        "Published bound (does not hold)",
        "Kept to compare with the paper; the labels contradict it.",
    ),
    "acu": (
        "Error rate inside an average cell",
        "Mean share of a cell that the model gets wrong, every cell counted alike.",
    ),
}
EFFECTIVE_N = Measure(
    "effective_n",
    "Effective sample size",
    "count",
    "high",
    "Rows of one patient, device or document repeat each other; this is what they are worth.",
)
LARGEST_GROUP = Measure(
    "largest_group",
    "Size of the largest group",
    "count",
    "neither",
    "The most rows that a patient, device or document can have: declared, or the most seen.",
)
MEASURES = (
    *(Measure(name, label, "share", "low", text) for name, (label, text) in _NUMBERS.items()),
    EFFECTIVE_N,
)
