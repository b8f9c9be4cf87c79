"""Inputs that truly belong to two classes, and what a model does on them."""

from typing import TYPE_CHECKING

from fireassay.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from fireassay.ambiguity.ambiguous_set import AmbiguousSet, ControlSet
    from fireassay.ambiguity.diversity import diversity
    from fireassay.ambiguity.export import export_set, read_set
    from fireassay.ambiguity.generator import AmbiguityGenerator
    from fireassay.ambiguity.label_check import LabelCheck, check_soft_labels
    from fireassay.ambiguity.measures import MEASURES
    from fireassay.ambiguity.metrics import top_pair_accuracy
    from fireassay.ambiguity.mixing import MixedSet, mix
    from fireassay.ambiguity.model_answers import AmbiguityEvaluation, evaluate
    from fireassay.ambiguity.preset import PRESETS, Preset

__all__ = [
    "MEASURES",
    "PRESETS",
    "AmbiguityEvaluation",
    "AmbiguityGenerator",
    "AmbiguousSet",
    "ControlSet",
    "LabelCheck",
    "MixedSet",
    "Preset",
    "check_soft_labels",
    "diversity",
    "evaluate",
    "export_set",
    "mix",
    "read_set",
    "top_pair_accuracy",
]

lazy_names(__name__)
