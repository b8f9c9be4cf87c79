"""The numbers of ambiguity, declared once."""

from typing import Final

from fireassay.core.measure import Measure

SENTENCES: Final = {
    "pair": "On inputs between two classes, both come first on {} of inputs.",
    "entropy": "On inputs between its two classes, its uncertainty is {}; a coin has one.",
    "judge": "The generator decides which two classes an input lies between; have a person check "
    "a sample.",
}

MEASURES: tuple[Measure, ...] = (
    Measure("top_pair", "Top-two accuracy on ambiguous inputs", "share", "high",
        "Inputs between two classes for which exactly these two are its first two."),
    Measure("entropy", "Entropy on ambiguous inputs", "bits", "neither",
        "Mean entropy of its answers on these inputs; 1 bit is a fair coin between two."),
    Measure("separation", "AUROC of uncertainty for ambiguous against clear inputs", "auc", "high",
        "How often it is more uncertain on an ambiguous input than on a clear one that went "
        "through the same generator; 0.5 is a coin."),
    Measure("top1", "Top-one accuracy for the likelier class", "share", "high",
        "Inputs for which its first class is the more probable one of the two."),
    Measure("top2", "Top-two accuracy for the likelier class", "share", "high",
        "Inputs for which the more probable class is one of its first two."),
    Measure("top1_drawn", "Top-one accuracy on drawn labels", "share", "high",
        "The same for a label drawn from the two probabilities, as a data set would have it."),
    Measure("top2_drawn", "Top-two accuracy on drawn labels", "share", "high",
        "The same for a label drawn from the two probabilities, as a data set would have it."),
    Measure("top1_expected", "Expected top-one accuracy on drawn labels", "share", "high",
        "Expected over all labels that could be drawn; no model can pass the best possible."),
    Measure("top2_expected", "Expected top-two accuracy on drawn labels", "share", "high",
        "Expected over all labels that could be drawn."),
    Measure("top1_best", "Best possible top-one accuracy on drawn labels", "share", "neither",
        "What a perfect model would reach on these inputs, on average."),
    Measure("control_accuracy", "Accuracy on clear inputs of the same generator", "share", "high",
        "Accuracy on unambiguous rows that went through the same generator."),
    Measure("control_entropy", "Entropy on clear inputs of the same generator", "bits", "low",
        "Mean entropy of its answers on unambiguous rows that went through the same generator."),
    Measure("accepted_pairs", "Share of pairs of classes with usable inputs", "share", "neither",
        "Pairs for which at least one generator passed its checks."),
    Measure("label_error", "Distance of the soft labels from pair classifiers", "ratio", "low",
        "Mean absolute difference of the two probabilities of a class."),
)  # fmt: skip
