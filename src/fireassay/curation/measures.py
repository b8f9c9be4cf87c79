"""The numbers of curation: what each one is called, its unit and what it means."""

from typing import Final

from fireassay.core.measure import Measure

SENTENCES: Final = {
    "robust": "Good sign: where weak labels get unreliable, the model stops copying them (AUC {}).",
    "not robust": "Bad sign: where weak labels get unreliable, the model still copies them (AUC "
    "{}).",
    "last_accuracy": "Inconclusive on hard cases; the weak labels are right on {} of samples.",
    "covered": "Inconclusive on hard cases; functions vote on {} of samples.",
}

MEASURES: tuple[Measure, ...] = (
    Measure("kept_lfs", "Number of independent labelling functions", "count", "high",
            "Labelling functions that are not copies of others."),
    Measure("covered", "Coverage of the samples by votes", "share", "high",
            "Share of samples on which at least one labelling function votes."),
    Measure("order_auc", "AUC of the order (right labels first)", "auc", "high",
            "How often a rightly labelled sample stands before a wrongly labelled one."),
    Measure("first_accuracy", "Accuracy of the weak labels in the safest dataset", "share", "high",
            "Accuracy of the weak labels in the first, safest dataset."),
    Measure("last_accuracy", "Accuracy of the weak labels on all samples", "share", "high",
            "Accuracy of the weak labels in all samples."),
    Measure("audit_auc", "Audited AUC of the order", "auc", "high",
            "The same as order_auc, from the audited samples alone."),
    Measure("audit_accuracy", "Audited accuracy of the weak labels", "share", "high",
            "Accuracy of the weak labels in all samples, from a few true labels."),
    Measure("classifier_accuracy_lower", "Accuracy without labels, at least", "share", "high",
            "Least accuracy of the model that the votes alone allow."),
    Measure("classifier_accuracy_upper", "Accuracy without labels, at most", "share", "high",
            "Greatest accuracy of the model that the votes alone allow."),
    Measure("agreement_auc", "AUC of agreement by safety of the weak labels", "auc", "high",
            "How often the model agrees with the weak label earlier rather than later."),
    Measure("agreement", "Agreement with the weak labels", "share", "neither",
            "Share of samples where the model and the weak label agree."),
    Measure("calibration_error", "Calibration error of the weak labels", "share", "low",
            "Gap between the stated confidence of the weak labels and how often they are right."),
    Measure("recalibrated_error", "Calibration error after recalibration", "share", "low",
            "The same gap after recalibration on the true labels at hand."),
)  # fmt: skip
