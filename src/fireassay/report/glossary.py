"""Words of the report, explained for readers who are not statisticians."""

GLOSSARY = {
    "interval": "A range that, by the stated method, contains the true value in the stated share "
    "of repetitions of the whole study. Wider means: less is known.",
    "n": "The number of independent observations behind a number.",
    "upper bound": "A value that the true number does not exceed, with the stated confidence.",
    "pmi": "Probability of misclassification per input: how often the classifier is wrong on "
    "inputs drawn as they occur in the field.",
    "SDR": "Standardised discovery ratio: errors found, divided by the errors that the "
    "classifier's own confidence had announced. Above 1: it is more sure than it should be.",
    "AUROC": "The probability that a monitor ranks a troubled input above a normal one. "
    "0.5 is a coin, 1 is perfect.",
    "supported": "The data was asked, and agrees with the assumption.",
    "contradicted": "The data was asked, and disagrees: numbers that rest on this assumption "
    "must not be relied on.",
    "untestable": "The data at hand cannot answer; someone must argue for it.",
    "not available": "The question could not be asked with what was given. This is not a pass.",
    "failed": "The question was asked and the computation broke. This is not a pass.",
    "query": "One row sent to the classifier.",
    "censored": "The observation ended before the event happened: we know 'longer than', no more.",
}

# What the numbers of each part are, by the longest name that a number's own name starts with.
_NUMBERS = {
    "accuracy": {
        "accuracy": "share of labelled rows that it gets right",
        "accuracy_curated": "the same in the last, hardest of the curated datasets",
        "error": "share of labelled rows that it gets wrong",
        "calibration_error": "mean gap between its confidence and how often it is right",
    },
    "curation": {
        "kept_lfs": "labelling functions that are not copies of others",
        "covered": "share of samples with at least one vote",
        "order_auc": "how often a rightly labelled sample stands before a wrongly labelled one",
        "first_accuracy": "of the weak labels in the first, safest dataset",
        "last_accuracy": "of the weak labels in all samples",
        "classifier_accuracy_lower": "least accuracy of the classifier that votes alone allow",
        "classifier_accuracy_upper": "greatest accuracy of the classifier that votes alone allow",
        "agreement_auc": "how often it agrees with the weak label earlier rather than later",
        "agreement": "share of samples where the classifier agrees with the weak label",
        "calibration_error": "gap between the weak confidences and the truth",
    },
    "ambiguity": {
        "top1": "its first class is the more probable one of the two",
        "top2": "that class is among its first two",
        "top_pair": "its first two classes are exactly the two",
        "entropy": "its uncertainty in bits; two equal classes would be 1",
        "top1_drawn": "as top1, for labels drawn from the two probabilities",
        "top2_drawn": "as top2, for labels drawn from the two probabilities",
        "top1_expected": "expected top1 over such labels",
        "top2_expected": "expected top2 over such labels",
        "top1_best": "the best expected top1 that any classifier can have",
        "control_accuracy": "on unambiguous rows that went through the same generator",
        "control_entropy": "uncertainty on those, in bits",
        "separation": "AUROC of its entropy, ambiguous against control rows",
    },
    "supervision": {
        "auroc_": "how well the monitor tells this trouble from normal rows",
        "caught_": "share of this trouble that raises the alarm",
        "false_alarm": "share of normal rows that raise the alarm",
    },
    "discovery": {
        "sdr": "errors found over errors that the confidences announce",
        "errors_found": "confident predictions that are wrong",
        "errors_expected": "as many as the confidences announce",
        "drawn_error_rate": "error rate of all rows, from labels drawn by lot",
    },
    "reliability": {
        "pmi": "probability that an input of the field is misclassified",
        "pmi_upper": "upper bound of that probability",
        "field_error_rate": "error rate of the field rows, from labels drawn by lot",
        "field_pmi_upper": "upper bound from these labels alone",
    },
    "survival": {
        "standing_share": "attacked rows that no attack broke",
        "benign_accuracy": "share of the sampled rows that it gets right before any attack",
        "benign_rejection_rate": "share of them that a defence refuses to answer",
        "survival_": "share of rows that stand when the budget is spent",
        "mean_queries_": "mean queries until a row falls, up to the budget",
    },
}


def meaning_of(question: str, number: str) -> str:
    """What a number of a part is, in a few words; empty for numbers of other parts."""
    known = _NUMBERS.get(question, {})
    starts = [name for name in known if number.startswith(name)]
    return known[max(starts, key=len)] if starts else ""
