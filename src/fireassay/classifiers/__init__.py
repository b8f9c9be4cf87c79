"""Models of any kind behind one protocol: counted, checked, bounded."""

from typing import TYPE_CHECKING

from fireassay.core.lazy import lazy_names

if TYPE_CHECKING:
    from fireassay.classifiers.adapt import as_classifier as as_classifier
    from fireassay.classifiers.adapters import ADAPTERS as ADAPTERS
    from fireassay.classifiers.adapters import FILES as FILES
    from fireassay.classifiers.adapters import Adapter as Adapter
    from fireassay.classifiers.adapters import ModelFile as ModelFile
    from fireassay.classifiers.backends.maite import MaiteArrays as MaiteArrays
    from fireassay.classifiers.backends.maite import maite_arrays as maite_arrays
    from fireassay.classifiers.base import BaseClassifier as BaseClassifier
    from fireassay.classifiers.blocks import BlockSizes as BlockSizes
    from fireassay.classifiers.coded import CodedClassifier as CodedClassifier
    from fireassay.classifiers.decided import Decided as Decided
    from fireassay.classifiers.probe import ProbeResult as ProbeResult
    from fireassay.classifiers.probe import probe as probe
    from fireassay.classifiers.protocol import ActivationClassifier as ActivationClassifier
    from fireassay.classifiers.protocol import Classifier as Classifier
    from fireassay.classifiers.protocol import GradientClassifier as GradientClassifier
    from fireassay.classifiers.recorded import RecordedAnswers as RecordedAnswers
    from fireassay.classifiers.temperature import TemperatureScaled as TemperatureScaled
    from fireassay.classifiers.temperature import calibrate as calibrate
    from fireassay.classifiers.wrapped import WrappedClassifier as WrappedClassifier
    from fireassay.classifiers.wrapped import numeric_view as numeric_view

lazy_names(__name__)
