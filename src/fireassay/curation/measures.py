"""The numbers of curation: what each one is called, its unit and what it means."""

from fireassay.core.measure import Measure

MEASURES: tuple[Measure, ...] = (
    Measure("kept_lfs", "Independent labelling functions", "count", "high",
            "Labelling functions that are not copies of others."),
    Measure("covered", "Samples with a vote", "share", "high",
            "Share of samples on which at least one labelling function votes."),
    Measure("order_auc", "Right labels stand before wrong ones", "auc", "high",
            "How often a rightly labelled sample stands before a wrongly labelled one."),
    Measure("first_accuracy", "Weak labels right, safest dataset", "share", "high",
            "Accuracy of the weak labels in the first, safest dataset."),
    Measure("last_accuracy", "Weak labels right, all samples", "share", "high",
            "Accuracy of the weak labels in all samples."),
    Measure("audit_auc", "Right labels stand before wrong ones, audited", "auc", "high",
            "The same as order_auc, from the audited samples alone."),
    Measure("audit_accuracy", "Weak labels right, from an audit", "share", "high",
            "Accuracy of the weak labels in all samples, from a few true labels."),
    Measure("classifier_accuracy_lower", "Model right without labels, at least", "share", "high",
            "Least accuracy of the model that the votes alone allow."),
    Measure("classifier_accuracy_upper", "Model right without labels, at most", "share", "high",
            "Greatest accuracy of the model that the votes alone allow."),
    Measure("agreement_auc", "Model leaves the weak labels where they get worse", "auc", "high",
            "How often the model agrees with the weak label earlier rather than later."),
    Measure("agreement", "Model agrees with the weak labels", "share", "neither",
            "Share of samples where the model and the weak label agree."),
    Measure("calibration_error", "Weak confidences off by", "share", "low",
            "Gap between the stated confidence of the weak labels and how often they are right."),
    Measure("recalibrated_error", "Weak confidences off by, recalibrated", "share", "low",
            "The same gap after recalibration on the true labels at hand."),
)  # fmt: skip
