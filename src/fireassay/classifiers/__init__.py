"""Models of any kind behind one protocol: counted, checked, bounded."""

from typing import TYPE_CHECKING

from fireassay.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from fireassay.classifiers.adapt import as_classifier
    from fireassay.classifiers.adapters import ADAPTERS, FILES, Adapter, ModelFile
    from fireassay.classifiers.base import BaseClassifier
    from fireassay.classifiers.block_ladder import BlockSizes
    from fireassay.classifiers.coded import CodedClassifier
    from fireassay.classifiers.decided import Decided
    from fireassay.classifiers.maite_adapter import MaiteArrays, maite_arrays
    from fireassay.classifiers.probe import ProbeResult, probe
    from fireassay.classifiers.protocol import ActivationClassifier, Classifier, GradientClassifier
    from fireassay.classifiers.temperature import TemperatureScaled, calibrate
    from fireassay.classifiers.views import numeric_view
    from fireassay.classifiers.wrapped import WrappedClassifier

__all__ = [
    "ADAPTERS",
    "FILES",
    "ActivationClassifier",
    "Adapter",
    "BaseClassifier",
    "BlockSizes",
    "Classifier",
    "CodedClassifier",
    "Decided",
    "GradientClassifier",
    "MaiteArrays",
    "ModelFile",
    "ProbeResult",
    "TemperatureScaled",
    "WrappedClassifier",
    "as_classifier",
    "calibrate",
    "maite_arrays",
    "numeric_view",
    "probe",
]

lazy_names(__name__)
