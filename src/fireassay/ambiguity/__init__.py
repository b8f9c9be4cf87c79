"""Inputs that truly belong to two classes, and what a model does on them."""

from typing import TYPE_CHECKING

from fireassay.core.lazy import lazy_names

if TYPE_CHECKING:
    from fireassay.ambiguity.ambiguous_set import AmbiguousSet, ControlSet, MixedSet, mix
    from fireassay.ambiguity.export import (
        Release,
        export_set,
        read_release,
        read_set,
        write_release,
    )
    from fireassay.ambiguity.generator import AmbiguityGenerator
    from fireassay.ambiguity.label_check import LabelCheck, check_soft_labels
    from fireassay.ambiguity.measures import MEASURES
    from fireassay.ambiguity.metrics import diversity, top_pair_accuracy
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
    "Release",
    "check_soft_labels",
    "diversity",
    "evaluate",
    "export_set",
    "mix",
    "read_release",
    "read_set",
    "top_pair_accuracy",
    "write_release",
]

lazy_names(__name__)
