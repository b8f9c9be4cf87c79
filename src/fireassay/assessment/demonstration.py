"""The demo: a small model on built-in data, assessed with everything there is."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from fireassay.assessment.about_run import about_arrays, begun, facts_of
from fireassay.assessment.context import Context
from fireassay.assessment.parts import PARTS, settings_models
from fireassay.assessment.run_folder import under_way
from fireassay.assessment.run_outcome import RunOutcome
from fireassay.assessment.running import Run, Say, silent
from fireassay.classifiers import Classifier, as_classifier
from fireassay.core import derived_seed
from fireassay.core.extras import is_installed
from fireassay.data import DataSet, digits, split
from fireassay.engine import Executor, RunStore
from fireassay.papers.alarm_functions import ALARM_FUNCTIONS, alarm_votes
from fireassay.papers.alarms import alarms
from fireassay.report import About

# Alarms without a decision count as suppressible, as in the paper; this label model shows a case
# where the published rule and the calibrated test disagree.
_SETTINGS: dict[str, dict[str, Any]] = {"curation": {"labeler": "dawid-skene", "default_class": 1}}

# One is kept, one broken and one undecided, so that the first report anyone sees shows all three.
GATES: dict[str, dict[str, float]] = {
    "max": {"reliability.pmi_upper": 0.08},
    "min": {"accuracy.accuracy": 0.95, "survival.standing_share": 0.5},
}


def run_demo(
    folder: Path, *, seed: int = 0, say: Say = silent, progress: bool | None = None
) -> RunOutcome:
    """Train a small network on scikit-learn's digits and assess it.

    Parameters
    ----------
    folder
        The run folder.
    seed, say, progress
        As in `run_assessment`.
    """
    train, test = split(digits(), (0.6, 0.4), seed=seed)
    with RunStore(folder) as store, under_way(store):
        executor = Executor(store=store, progress=False)
        context = Context(demo_model(train, seed), test, train, seed=seed, executor=executor)
        other = alarm_context(seed, executor)
        run = Run(
            context,
            tuple(PARTS),
            {name: model(**_SETTINGS.get(name, {})) for name, model in settings_models().items()},
            instead={"curation": other},
            title="fireassay demo: digits, and alarms of a patient monitor",
            gates=GATES,
            about=begun(_about(context, other), folder),
            say=say,
            progress=progress,
        )
        report = run.go()
    return RunOutcome(folder, report, run.costs, gates=run.gates)


def _about(context: Context, other: Context) -> About:
    found = about_arrays(context, "a small network, made for the demo")
    alarms_of = facts_of(other.test, "alarms", "for curation")
    return replace(found, data=(*found.data, alarms_of))


def demo_model(train: DataSet, seed: int) -> Classifier:
    """A small convolutional network; without torch, one with a hidden layer on flat pixels."""
    if is_installed("torch"):
        from fireassay.networks.cnn import Cnn
        from fireassay.networks.training import train as fit

        module = Cnn(train.X.shape[1:], 10, seed=derived_seed(seed, "demo weights"))
        fit(module, train.X, train.labels, epochs=25, batch_size=32, seed=seed)
        return as_classifier(module, classes=tuple(range(10)), bounds=(0.0, 1.0), output="logits")
    from sklearn.neural_network import MLPClassifier

    network = MLPClassifier((32,), random_state=derived_seed(seed, "demo"), max_iter=2000)
    network.fit(train.X.reshape(len(train), -1), train.y)
    return as_classifier(network, bounds=(0.0, 1.0))


def alarm_context(seed: int, executor: Executor) -> Context:
    """Alarms of a simulated patient monitor, votes of clinicians' rules, and a small forest."""
    from sklearn.ensemble import RandomForestClassifier

    learned, met = alarms(800, seed=seed), alarms(1200, seed=seed + 1)
    forest = RandomForestClassifier(
        50, min_samples_leaf=5, random_state=derived_seed(seed, "demo alarms")
    ).fit(learned.features(), learned.y)
    return Context(
        as_classifier(forest),
        DataSet(met.features(), met.y, name="alarms"),
        votes=alarm_votes(met),
        vote_names=tuple(function.name for function in ALARM_FUNCTIONS),
        groups=met.patient,
        seed=seed,
        executor=executor,
    )
