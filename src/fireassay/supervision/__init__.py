"""Supervisors: which runtime monitor catches which kind of trouble, at what threshold."""

from typing import TYPE_CHECKING

from fireassay.core.lazy import lazy_names

if TYPE_CHECKING:
    from fireassay.supervision.compare import compare
    from fireassay.supervision.detection_metrics import DetectionMetrics, detection_metrics
    from fireassay.supervision.distance_scores import dsa_scores
    from fireassay.supervision.gaussian_scores import mdsa_scores
    from fireassay.supervision.lsa import lsa_scores
    from fireassay.supervision.measures import MEASURES
    from fireassay.supervision.onnx_graph import onnx_names, to_onnx
    from fireassay.supervision.prioritise import Prioritisation, prioritise
    from fireassay.supervision.reading import NotAvailableError, Reading, SampleSummary
    from fireassay.supervision.registry import SUPERVISORS, load, make, names
    from fireassay.supervision.root_cause import Diagnosis, LeftOut, RootCause, leave_one_kind_out
    from fireassay.supervision.supervisor import AlarmRule, Supervisor, alarm_rule
    from fireassay.supervision.supervisor_comparison import SupervisorComparison
    from fireassay.supervision.trouble_sets import (
        AdversarialSet,
        CorruptedSet,
        adversarial_set,
        corrupted_set,
    )

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
