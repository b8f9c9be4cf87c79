"""The numbers of each part as estimates, by the names that gates use."""

from typing import TYPE_CHECKING

import numpy as np

from fireassay.core.estimate import Estimate

if TYPE_CHECKING:
    from fireassay.curation.audit import Audit
    from fireassay.curation.bounds import Bounds
    from fireassay.curation.result import Curation
    from fireassay.curation.robustness import Robustness
    from fireassay.curation.validation import Trend


def curation_estimates(curation: "Curation") -> dict[str, Estimate]:
    """Counts that need no labels."""
    covered = int(curation.patterns.counts[curation.table.n_votes > 0].sum())
    share = covered / curation.n
    return {
        "kept_lfs": Estimate.bound(
            float(len(curation.kept_lfs)), 0.95, len(curation.lf_names), "count"
        ),
        "covered": Estimate.bound(share, 0.95, curation.n, "share of samples with a vote, exact"),
    }


def trend_estimates(trend: "Trend") -> dict[str, Estimate]:
    """The AUC, and the accuracy of the first and the last dataset."""
    low, high = trend.auc_interval
    ends = trend.exact_interval
    found = {
        "order_auc": Estimate(
            trend.auc, min(low, trend.auc), max(high, trend.auc), 0.95, trend.n, trend.method
        )
    }
    for name, i in (("first_accuracy", 0), ("last_accuracy", -1)):
        if not np.isnan(trend.accuracy[i]):
            found[name] = Estimate(
                trend.accuracy[i],
                ends[i, 0],
                ends[i, 1],
                0.95,
                int(trend.sizes[i]),
                "Clopper-Pearson",
            )
    return found


def audit_estimates(audit: "Audit") -> dict[str, Estimate]:
    """The AUC and the accuracy of all weak labels, from audited samples."""
    low, high = audit.auc_interval
    found = {
        "audit_auc": Estimate(
            audit.auc, min(low, audit.auc), max(high, audit.auc), 0.95, audit.n, "Mann-Whitney"
        )
    }
    if not np.isnan(audit.accuracy[-1]):
        found["audit_accuracy"] = Estimate(
            audit.accuracy[-1], audit.low[-1], audit.high[-1], 0.95, audit.n, "prediction-powered"
        )
    return found


def bounds_estimates(bounds: "Bounds") -> dict[str, Estimate]:
    """The classifier's accuracy on all samples, as two bounds."""
    confidence, n = 1 - bounds.delta, int(bounds.sizes[-1])
    return {
        "classifier_accuracy_lower": Estimate.bound(bounds.low[-1], confidence, n, "Fréchet"),
        "classifier_accuracy_upper": Estimate.bound(bounds.high[-1], confidence, n, "Fréchet"),
    }


def robustness_estimates(found: "Robustness") -> dict[str, Estimate]:
    """The classifier's agreement with the weak labels."""
    low, high = found.auc_interval
    ends = found.agreement_interval[-1]
    n = int(found.sizes[-1])
    return {
        "agreement_auc": Estimate(
            found.auc, min(low, found.auc), max(high, found.auc), 0.95, n, "Mann-Whitney"
        ),
        "agreement": Estimate(found.agreement[-1], ends[0], ends[1], 0.95, n, "Clopper-Pearson"),
    }
