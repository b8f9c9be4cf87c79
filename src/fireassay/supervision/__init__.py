"""Supervisors: which runtime monitor catches which kind of trouble, at what threshold."""

from typing import TYPE_CHECKING

from fireassay.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from fireassay.supervision.adversarial import AdversarialSet, adversarial_set
    from fireassay.supervision.alarm_threshold import AlarmRule, alarm_rule
    from fireassay.supervision.compare import compare
    from fireassay.supervision.corrupted import CorruptedSet, corrupted_set
    from fireassay.supervision.detection_metrics import DetectionMetrics, detection_metrics
    from fireassay.supervision.dsa import dsa_scores
    from fireassay.supervision.gaussian_scores import mdsa_scores
    from fireassay.supervision.lsa import lsa_scores
    from fireassay.supervision.measures import MEASURES
    from fireassay.supervision.onnx_export import onnx_names, to_onnx
    from fireassay.supervision.prioritise import Prioritisation, prioritise
    from fireassay.supervision.reading import NotAvailableError, Reading, SampleSummary
    from fireassay.supervision.registry import SUPERVISORS, make, names
    from fireassay.supervision.root_cause import Diagnosis, LeftOut, RootCause, leave_one_kind_out
    from fireassay.supervision.storage import load
    from fireassay.supervision.supervisor import Supervisor
    from fireassay.supervision.supervisor_comparison import SupervisorComparison

__all__ = [
    "MEASURES",
    "SUPERVISORS",
    "AdversarialSet",
    "AlarmRule",
    "CorruptedSet",
    "DetectionMetrics",
    "Diagnosis",
    "LeftOut",
    "NotAvailableError",
    "Prioritisation",
    "Reading",
    "RootCause",
    "SampleSummary",
    "Supervisor",
    "SupervisorComparison",
    "adversarial_set",
    "alarm_rule",
    "compare",
    "corrupted_set",
    "detection_metrics",
    "dsa_scores",
    "leave_one_kind_out",
    "load",
    "lsa_scores",
    "make",
    "mdsa_scores",
    "names",
    "onnx_names",
    "prioritise",
    "to_onnx",
]

lazy_names(__name__)
