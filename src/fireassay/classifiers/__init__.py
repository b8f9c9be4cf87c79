"""Models of any kind behind one protocol: counted, checked, bounded."""

from fireassay.classifiers.adapt import as_classifier
from fireassay.classifiers.base import BaseClassifier
from fireassay.classifiers.protocol import ActivationClassifier, Classifier, GradientClassifier

__all__ = [
    "ActivationClassifier",
    "BaseClassifier",
    "Classifier",
    "GradientClassifier",
    "as_classifier",
]
