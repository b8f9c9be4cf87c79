"""Inputs that truly belong to two classes, and what a model does on them."""

from typing import TYPE_CHECKING

from fireassay.core.lazy import lazy_names

if TYPE_CHECKING:
    from fireassay.ambiguity.ambiguous_set import AmbiguousSet as AmbiguousSet
    from fireassay.ambiguity.ambiguous_set import ControlSet as ControlSet
    from fireassay.ambiguity.ambiguous_set import MixedSet as MixedSet
    from fireassay.ambiguity.ambiguous_set import mix as mix
    from fireassay.ambiguity.export import Release as Release
    from fireassay.ambiguity.export import export_set as export_set
    from fireassay.ambiguity.export import read_release as read_release
    from fireassay.ambiguity.export import read_set as read_set
    from fireassay.ambiguity.export import write_release as write_release
    from fireassay.ambiguity.generator import AmbiguityGenerator as AmbiguityGenerator
    from fireassay.ambiguity.label_check import LabelCheck as LabelCheck
    from fireassay.ambiguity.label_check import check_soft_labels as check_soft_labels
    from fireassay.ambiguity.measures import MEASURES as MEASURES
    from fireassay.ambiguity.metrics import diversity as diversity
    from fireassay.ambiguity.metrics import top_pair_accuracy as top_pair_accuracy
    from fireassay.ambiguity.model_answers import AmbiguityEvaluation as AmbiguityEvaluation
    from fireassay.ambiguity.model_answers import evaluate as evaluate
    from fireassay.ambiguity.preset import PRESETS as PRESETS
    from fireassay.ambiguity.preset import Preset as Preset

lazy_names(__name__)
