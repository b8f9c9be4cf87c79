"""The demo: a small model on built-in data, assessed with everything there is."""

from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from fireassay.assessment.context import Context
from fireassay.assessment.parts import PARTS, settings_models
from fireassay.assessment.running import Outcome, Say, run_parts, silent
from fireassay.classifiers import Classifier, as_classifier
from fireassay.core import derived_seed
from fireassay.data import DataSet, digits, split
from fireassay.engine import Executor, RunStore


def run_demo(folder: Path, *, seed: int = 0, say: Say = silent) -> Outcome:
    """Train a small network on scikit-learn's digits and assess it."""
    train, test = split(digits(), (0.6, 0.4), seed=seed)
    with RunStore(folder) as store:
        context = Context(
            demo_model(train, seed), test, train, seed=seed, executor=Executor(store=store)
        )
        settings = {name: model() for name, model in settings_models().items()}
        report = run_parts(context, tuple(PARTS), settings, title="fireassay demo: digits", say=say)
    return Outcome(folder, report)


def demo_model(train: DataSet, seed: int) -> Classifier:
    """A network with one hidden layer on flattened pixels."""
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    network = MLPClassifier((32,), random_state=derived_seed(seed, "demo"), max_iter=2000)
    pipeline = make_pipeline(FunctionTransformer(flatten), network).fit(train.X, train.y)
    return as_classifier(pipeline, bounds=(0.0, 1.0))


def flatten(images: NDArray[Any]) -> NDArray[Any]:
    """Images as rows."""
    return images.reshape(len(images), -1)
