"""Supervisors: which runtime monitor catches which kind of trouble, at what threshold."""

from typing import TYPE_CHECKING

from fireassay.core.lazy import lazy_names

if TYPE_CHECKING:
    from fireassay.supervision.compare import compare as compare
    from fireassay.supervision.detection_metrics import DetectionMetrics as DetectionMetrics
    from fireassay.supervision.detection_metrics import detection_metrics as detection_metrics
    from fireassay.supervision.distance_scores import dsa_scores as dsa_scores
    from fireassay.supervision.gaussian_scores import mdsa_scores as mdsa_scores
    from fireassay.supervision.lsa import lsa_scores as lsa_scores
    from fireassay.supervision.measures import MEASURES as MEASURES
    from fireassay.supervision.onnx_graph import onnx_names as onnx_names
    from fireassay.supervision.onnx_graph import to_onnx as to_onnx
    from fireassay.supervision.prioritise import Prioritisation as Prioritisation
    from fireassay.supervision.prioritise import prioritise as prioritise
    from fireassay.supervision.reading import NotAvailableError as NotAvailableError
    from fireassay.supervision.reading import Reading as Reading
    from fireassay.supervision.reading import SampleSummary as SampleSummary
    from fireassay.supervision.registry import SUPERVISORS as SUPERVISORS
    from fireassay.supervision.registry import load as load
    from fireassay.supervision.registry import make as make
    from fireassay.supervision.registry import names as names
    from fireassay.supervision.root_cause import Diagnosis as Diagnosis
    from fireassay.supervision.root_cause import LeftOut as LeftOut
    from fireassay.supervision.root_cause import RootCause as RootCause
    from fireassay.supervision.root_cause import leave_one_kind_out as leave_one_kind_out
    from fireassay.supervision.supervisor import AlarmRule as AlarmRule
    from fireassay.supervision.supervisor import Supervisor as Supervisor
    from fireassay.supervision.supervisor import alarm_rule as alarm_rule
    from fireassay.supervision.supervisor_comparison import (
        SupervisorComparison as SupervisorComparison,
    )
    from fireassay.supervision.trouble_sets import AdversarialSet as AdversarialSet
    from fireassay.supervision.trouble_sets import CorruptedSet as CorruptedSet
    from fireassay.supervision.trouble_sets import adversarial_set as adversarial_set
    from fireassay.supervision.trouble_sets import corrupted_set as corrupted_set

lazy_names(__name__)
