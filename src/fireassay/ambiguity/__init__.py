"""Inputs that truly belong to two classes, and what a model does on them."""

from fireassay.ambiguity.ambiguous_set import AmbiguousSet, ControlSet
from fireassay.ambiguity.calibration import LabelCalibration, calibrate_labels
from fireassay.ambiguity.diversity import diversity
from fireassay.ambiguity.evaluation import AmbiguityEvaluation, evaluate
from fireassay.ambiguity.export import export_set, read_set
from fireassay.ambiguity.generator import AmbiguityGenerator
from fireassay.ambiguity.metrics import top_pair_accuracy
from fireassay.ambiguity.mixing import MixedSet, mix
from fireassay.ambiguity.preset import Preset
from fireassay.ambiguity.vae_baseline import BaselineSet, VaeBaseline

__all__ = [
    "AmbiguityEvaluation",
    "AmbiguityGenerator",
    "AmbiguousSet",
    "BaselineSet",
    "ControlSet",
    "LabelCalibration",
    "MixedSet",
    "Preset",
    "VaeBaseline",
    "calibrate_labels",
    "diversity",
    "evaluate",
    "export_set",
    "mix",
    "read_set",
    "top_pair_accuracy",
]
