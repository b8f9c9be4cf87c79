"""Naturally adversarial datasets from weak labels: which field samples are hard?"""

from typing import TYPE_CHECKING

from fireassay.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from fireassay.curation.accuracy_bounds import AccuracyBounds
    from fireassay.curation.analysis import analyse
    from fireassay.curation.audit import Audit, AuditPlan
    from fireassay.curation.curate import Curation, curate
    from fireassay.curation.findings import CurationFindings
    from fireassay.curation.functions import (
        LabellingError,
        LabellingFunction,
        apply,
        labelling_function,
    )
    from fireassay.curation.label_calibration import LabelCalibration
    from fireassay.curation.labelers import (
        LABELERS,
        DawidSkene,
        GivenProbabilities,
        Labeler,
        MajorityVote,
        Snorkel,
        Triplet,
    )
    from fireassay.curation.measures import MEASURES
    from fireassay.curation.robustness import Robustness
    from fireassay.curation.simulation import IntervalCoverage, simulate_votes, simulated_coverage
    from fireassay.curation.stability import Stability
    from fireassay.curation.stream import StreamedCuration, curate_stream
    from fireassay.curation.trend import Trend
    from fireassay.curation.votes import ABSTAIN
    from fireassay.curation.windows import Window, Windows

__all__ = [
    "ABSTAIN",
    "LABELERS",
    "MEASURES",
    "AccuracyBounds",
    "Audit",
    "AuditPlan",
    "Curation",
    "CurationFindings",
    "DawidSkene",
    "GivenProbabilities",
    "IntervalCoverage",
    "LabelCalibration",
    "Labeler",
    "LabellingError",
    "LabellingFunction",
    "MajorityVote",
    "Robustness",
    "Snorkel",
    "Stability",
    "StreamedCuration",
    "Trend",
    "Triplet",
    "Window",
    "Windows",
    "analyse",
    "apply",
    "curate",
    "curate_stream",
    "labelling_function",
    "simulate_votes",
    "simulated_coverage",
]

lazy_names(__name__)
