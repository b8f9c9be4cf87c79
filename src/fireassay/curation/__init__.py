"""Naturally adversarial datasets from weak labels: which field samples are hard?"""

from fireassay.curation.alarm_functions import ALARM_FUNCTIONS, alarm_votes, alarm_windows
from fireassay.curation.analysis import analyse
from fireassay.curation.answer import CurationAnswer
from fireassay.curation.applying import LabellingError, apply
from fireassay.curation.audit import Audit
from fireassay.curation.audit_plan import AuditPlan
from fireassay.curation.bounds import Bounds
from fireassay.curation.calibration import Calibration
from fireassay.curation.comparison import Comparison, compare_approaches
from fireassay.curation.coverage import Coverage, simulate_votes, simulated_coverage
from fireassay.curation.curate import curate
from fireassay.curation.functions import LabellingFunction, labelling_function
from fireassay.curation.labelers import (
    DawidSkene,
    GivenProbabilities,
    Labeler,
    MajorityVote,
    Snorkel,
    Triplet,
)
from fireassay.curation.result import Curation
from fireassay.curation.robustness import Robustness
from fireassay.curation.stability import Stability
from fireassay.curation.stream import StreamedCuration, curate_stream
from fireassay.curation.validation import Trend
from fireassay.curation.votes import ABSTAIN
from fireassay.curation.windows import Window, Windows

__all__ = [
    "ABSTAIN",
    "ALARM_FUNCTIONS",
    "Audit",
    "AuditPlan",
    "Bounds",
    "Calibration",
    "Comparison",
    "Coverage",
    "Curation",
    "CurationAnswer",
    "DawidSkene",
    "GivenProbabilities",
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
    "alarm_votes",
    "alarm_windows",
    "analyse",
    "apply",
    "compare_approaches",
    "curate",
    "curate_stream",
    "labelling_function",
    "simulate_votes",
    "simulated_coverage",
]
