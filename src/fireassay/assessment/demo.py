"""The demo: a small model on built-in data, assessed with everything there is."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from fireassay.assessment.context import Context
from fireassay.assessment.parts.part import marks_of
from fireassay.assessment.parts.table import PARTS, settings_models
from fireassay.assessment.run.folder import TEST_ROWS, note, under_way
from fireassay.assessment.run.judging import Judge, RowSketch
from fireassay.assessment.run.loop import Run, Say, silent
from fireassay.assessment.run.start import RunOutcome, about_arrays, begun, facts_of
from fireassay.classifiers import Classifier, as_classifier
from fireassay.core import derived_seed
from fireassay.core.lazy import is_installed
from fireassay.curation.windows import ALARM_FUNCTIONS, alarm_votes
from fireassay.data import DataSet, digits, split
from fireassay.data.alarms import alarms
from fireassay.engine import Executor, RunStore
from fireassay.report import About
from fireassay.report.gates import parse_gates

# Alarms without a decision count as suppressible, as in the paper; this label model shows a case
# where the published rule and the calibrated test disagree.
_SETTINGS: dict[str, dict[str, Any]] = {
    "curation": {"labeler": "dawid-skene", "default_class": 1},
    "survival": {"eps": 0.1},  # the digits have 17 grey levels: 8/255 is half of one
}

# One is met, one is not and one is undecided, so that the first report anyone sees shows all three.
GATES: dict[str, dict[str, float]] = {
    "max": {"reliability.pmi_upper": 0.08},
    "min": {"accuracy.accuracy": 0.95, "survival.robust_accuracy": 0.5},
}

PREDICTIONS, CLINICAL = "synthetic-admissions.csv", "clinical"
COSTS = {"sepsis -> no sepsis": 20.0, "no sepsis -> sepsis": 1.0}
CLINICAL_GATES: dict[str, dict[str, float]] = {
    "max": {"gap.specificity{ward}": 0.1},
    "min": {"sensitivity": 0.85, "specificity": 0.85},
}


def run_demo(
    folder: Path, *, seed: int = 0, say: Say = silent, progress: bool | None = None
) -> RunOutcome:
    """Train a small network on scikit-learn's digits and assess it; then judge a clinical table.

    The table is synthetic: predictions of sepsis for admissions of patients. Its predictions are in
    ``synthetic-admissions.csv``, its report is in ``clinical/report.html``.

    Args:
        folder: The run folder.
        seed, say, progress: As in `run_assessment`.
    """
    train, test = split(digits(), (0.6, 0.4), seed=seed)
    with RunStore(folder) as store, under_way(store):
        executor = Executor(store=store, progress=False)
        context = Context(demo_model(train, seed), test, train, seed=seed, executor=executor)
        other = alarm_context(seed, executor)
        sketch = RowSketch.of(marks_of(context, test.labels))
        note(store, {TEST_ROWS: asdict(sketch)})
        judge = Judge(parse_gates(GATES), folder.resolve().parent, sketch)
        run = Run(
            context,
            tuple(PARTS),
            {name: model(**_SETTINGS.get(name, {})) for name, model in settings_models().items()},
            instead={"curation": other},
            title="fireassay demo: digits, and alarms of a patient monitor",
            judge=judge,
            about=begun(_about(context, other), folder),
            say=say,
            progress=progress,
        )
        report = run.go()
        clinical(folder, seed)
    judged = run.judged or judge.judge(report)
    return RunOutcome(folder, report, judged.verdict, run.costs)


def clinical(folder: Path, seed: int) -> Path:
    """A synthetic clinical table, judged from its predictions alone; the folder of its report."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from fireassay.assessment.judge import Terms, judged_report
    from fireassay.assessment.parts.operating_point import Decision
    from fireassay.data.builtin import MEASURED, admissions
    from fireassay.data.predictions import read_predictions

    learned, met = admissions(800, seed=seed + 1), admissions(700, seed=seed)
    risk = make_pipeline(StandardScaler(), LogisticRegression())
    risk.fit(learned[list(MEASURED)], learned["sepsis"] == "sepsis")
    table = met[["admission", "patient", "ward", "sex", "age"]].copy()
    table["truth"] = met["sepsis"]
    table["probability"] = risk.predict_proba(met[list(MEASURED)])[:, 1].round(4)
    file, target = folder / PREDICTIONS, folder / CLINICAL
    table.to_csv(file, index=False)
    found = read_predictions(file, group="patient", positive="sepsis", threshold=0.1)
    decision = Decision.of(COSTS, None, "sepsis", {"sepsis": 0.02}, ())
    terms = Terms(("ward", "sex"), decision, seed=seed)
    judged_report(found, terms, CLINICAL_GATES, target)
    return target


def _about(context: Context, other: Context) -> About:
    found = about_arrays(context, "a small network, made for the demo")
    alarms_of = facts_of(other.test, "alarms", "for curation")
    return replace(found, data=(*found.data, alarms_of))


def demo_model(train: DataSet, seed: int) -> Classifier:
    """A small convolutional network; without torch, one with a hidden layer on flat pixels."""
    if is_installed("torch"):
        from fireassay.networks.small_networks import Cnn
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
