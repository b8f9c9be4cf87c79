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
    "pass": "Every limit that was set is kept, even at the unfavourable end of its interval.",
    "fail": "A limit is broken even at the favourable end of its number's interval.",
    "not enough evidence": "No limit is broken for sure, but one is undecided: its number is not "
    "known well enough, was not measured, or rests on an assumption that the data contradicts.",
    "no limits set": "Nobody said what is good enough, so nothing here is a pass.",
    "stale": "The answer is older than the model, the data or the settings it should be about.",
    "not available": "The question could not be asked with what was given. This is not a pass.",
    "failed": "The question was asked and the computation broke. This is not a pass.",
    "query": "One row sent to the classifier.",
    "censored": "The observation ended before the event happened: we know 'longer than', no more.",
}
