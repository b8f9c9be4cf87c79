"""Naturally adversarial datasets from weak labels: which field samples are hard?"""

from typing import TYPE_CHECKING

from fireassay.core.lazy import lazy_names

if TYPE_CHECKING:
    from fireassay.curation.accuracy_bounds import AccuracyBounds as AccuracyBounds
    from fireassay.curation.analysis import analyse as analyse
    from fireassay.curation.audit import Audit as Audit
    from fireassay.curation.audit import AuditPlan as AuditPlan
    from fireassay.curation.curate import Curation as Curation
    from fireassay.curation.curate import curate as curate
    from fireassay.curation.findings import CurationFindings as CurationFindings
    from fireassay.curation.functions import LabellingError as LabellingError
    from fireassay.curation.functions import LabellingFunction as LabellingFunction
    from fireassay.curation.functions import apply as apply
    from fireassay.curation.functions import labelling_function as labelling_function
    from fireassay.curation.label_calibration import LabelCalibration as LabelCalibration
    from fireassay.curation.labelers import LABELERS as LABELERS
    from fireassay.curation.labelers import DawidSkene as DawidSkene
    from fireassay.curation.labelers import GivenProbabilities as GivenProbabilities
    from fireassay.curation.labelers import Labeler as Labeler
    from fireassay.curation.labelers import MajorityVote as MajorityVote
    from fireassay.curation.labelers import Snorkel as Snorkel
    from fireassay.curation.labelers import Triplet as Triplet
    from fireassay.curation.measures import MEASURES as MEASURES
    from fireassay.curation.robustness import Robustness as Robustness
    from fireassay.curation.simulation import IntervalCoverage as IntervalCoverage
    from fireassay.curation.simulation import simulate_votes as simulate_votes
    from fireassay.curation.simulation import simulated_coverage as simulated_coverage
    from fireassay.curation.stability import Stability as Stability
    from fireassay.curation.stream import StreamedCuration as StreamedCuration
    from fireassay.curation.stream import curate_stream as curate_stream
    from fireassay.curation.trend import Trend as Trend
    from fireassay.curation.votes import ABSTAIN as ABSTAIN
    from fireassay.curation.windows import Window as Window
    from fireassay.curation.windows import Windows as Windows

lazy_names(__name__)
