"""Models of any kind behind one protocol: counted, checked, bounded."""

from typing import TYPE_CHECKING

from fireassay.core.lazy import lazy_names

if TYPE_CHECKING:
    from fireassay.classifiers.adapt import as_classifier
    from fireassay.classifiers.adapters import ADAPTERS, FILES, Adapter, ModelFile
    from fireassay.classifiers.backends.maite import MaiteArrays, maite_arrays
    from fireassay.classifiers.base import BaseClassifier
    from fireassay.classifiers.blocks import BlockSizes
    from fireassay.classifiers.coded import CodedClassifier
    from fireassay.classifiers.decided import Decided
    from fireassay.classifiers.probe import ProbeResult, probe
    from fireassay.classifiers.protocol import ActivationClassifier, Classifier, GradientClassifier
    from fireassay.classifiers.recorded import RecordedAnswers
    from fireassay.classifiers.temperature import TemperatureScaled, calibrate
    from fireassay.classifiers.wrapped import WrappedClassifier, numeric_view

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
    "RecordedAnswers",
    "TemperatureScaled",
    "WrappedClassifier",
    "as_classifier",
    "calibrate",
    "maite_arrays",
    "numeric_view",
    "probe",
]

lazy_names(__name__)
