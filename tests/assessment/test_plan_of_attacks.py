"""Plans of parts that attack: what a model's first answers say, and who attacks in whose place."""

from dataclasses import replace

import numpy as np
import pytest

from fireassay.assessment.context import Context
from fireassay.assessment.parts import table
from fireassay.assessment.parts.table import settings_models
from fireassay.assessment.plan.costs import Budget
from fireassay.assessment.plan.machine import share_right, share_sure, slowness
from fireassay.assessment.plan.plan import Speed, measure_speed, price_parts, spread_rows
from fireassay.assessment.run.loop import Run
from fireassay.classifiers import as_classifier
from fireassay.core import clock
from fireassay.data import DataSet
from fireassay.engine import Executor, RunStore

SETTINGS = {name: each() for name, each in settings_models().items()}
PARTS = ("supervision", "survival")
SETTINGS["supervision"] = SETTINGS["supervision"].model_copy(
    update={"supervisors": ("max-softmax", "pcs"), "samples": 60}
)


def steep(X):
    """Surely right on both sides of a line, which few attacks of a tenth of the range cross."""
    p = 1 / (1 + np.exp(-30 * (X[:, 0] - 0.5)))
    return np.column_stack([1 - p, p])


def context(store=None, model=steep, n=200, sort=False):
    X = np.random.default_rng(3).random((n + 150, 4))
    y = (X[:, 0] > 0.5).astype(int)
    train, test = DataSet(X[n:], y[n:]), DataSet(X[:n], y[:n])
    if sort:
        test = test.subset(np.argsort(y[:n], kind="stable"))
    wrapped = as_classifier(model, classes=(0, 1), bounds=(0, 1))
    return Context(wrapped, test, train, executor=Executor(store=store))


def test_without_survival_supervision_is_planned_with_its_own_attacks():
    alone, after = (
        price_parts(context(), PARTS[:1], SETTINGS),
        price_parts(context(), PARTS, SETTINGS),
    )
    own = context()
    Run(own, PARTS[:1], SETTINGS).go()
    assert after.row("supervision").queries < own.model.queries <= alone.row("supervision").queries
    assert alone.row("supervision").seconds > after.row("supervision").seconds
    # The same, if survival was planned, but gave nothing; and not, if it is there already.
    assert after.row("supervision", ["survival"]).queries == alone.row("supervision").queries
    given = price_parts(context(), PARTS[:1], SETTINGS, given=["survival"])
    assert given.row("supervision").queries == after.row("supervision").queries


def test_a_budget_that_refuses_survival_refuses_supervision_which_would_attack(tmp_path):
    few = 3000  # enough for supervision, were it not for the attacks
    with RunStore(tmp_path) as store:
        own = context(store)
        assert price_parts(own, PARTS, SETTINGS).row("supervision").queries < few
        report = Run(own, PARTS, SETTINGS, budget=Budget(max_queries=few)).go()
    for part in PARTS:
        assert report[part].status == "not available"
        assert "run.max_queries" in report[part].reason
    assert own.model.queries <= few


def test_supervision_that_attacks_sends_few_rows_in_small_blocks():
    own = context()
    report = Run(own, PARTS[:1], SETTINGS).go()
    assert report["supervision"].status == "done"
    assert own.model.rows_delivered < 1.3 * own.model.queries


def torch_network():
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Dropout(0.2), torch.nn.Linear(8, 8),
        torch.nn.ReLU(), torch.nn.Dropout(0.2), torch.nn.Linear(8, 2),
    ).eval()  # fmt: skip


def sklearn_network():
    from sklearn.neural_network import MLPClassifier

    rows = np.random.default_rng(0).random((100, 4))
    return MLPClassifier((8,), max_iter=500, tol=0.1).fit(rows, (rows[:, 0] > 0.5).astype(int))


@pytest.mark.extras
@pytest.mark.parametrize(
    ("network", "names"),
    [
        (torch_network, ("max-softmax", "mc-dropout-variation-ratio")),
        (torch_network, ("max-softmax", "mdsa")),
        (sklearn_network, ("max-softmax", "mdsa")),
    ],
)
def test_supervision_of_a_network_is_planned_with_its_training_rows_and_dropout(network, names):
    settings = SETTINGS["supervision"].model_copy(update={"supervisors": names})
    options = {"output": "logits"} if network is torch_network else {}
    model = as_classifier(network(), classes=(0, 1), bounds=(0, 1), **options)
    own = replace(context(), model=model)
    own = replace(own, test=replace(own.test, y=None))  # nothing is attacked
    planned = table.PARTS["supervision"].cost(own, settings).queries
    table.PARTS["supervision"].run(own, settings)
    assert model.queries <= planned
    # Inputs between two classes were counted in, and are not there; dropout needs no training.
    thinned = names[1].startswith("mc-dropout")
    assert planned - model.queries <= (101 * 500 + 150 if thinned else 550)


@pytest.mark.parametrize("steepness", [2.0, 8.0, 30.0])
def test_discovery_is_planned_by_how_many_rows_the_model_is_sure_of(steepness):
    def model(X):
        p = 1 / (1 + np.exp(-steepness * (X[:, 0] - 0.5)))
        return np.column_stack([1 - p, p])

    settings = SETTINGS["discovery"].model_copy(update={"calibration_share": 0.0})
    own = context(model=model, sort=True)
    measure_speed(own)
    cost = table.PARTS["discovery"].cost(own, settings)
    expected = (1 - cost.spared) * cost.queries
    table.PARTS["discovery"].run(own, settings)
    assert own.model.queries == pytest.approx(expected, rel=0.15)
    assert own.model.queries <= cost.queries


def test_first_answers_are_those_to_rows_from_all_over_the_set():
    own = context(n=2000, sort=True, model=lambda X: np.tile([0.9, 0.1], (len(X), 1)))
    assert share_right(own) == share_sure(own, 0.65, calibrated=False) == 1.0  # nobody asked
    measure_speed(own)
    assert share_right(own) == pytest.approx(0.5, abs=0.05)
    assert share_sure(own, 0.65, calibrated=False) == 1.0
    assert share_sure(own, 0.65, calibrated=True) == 0.0  # right in half of the cases
    for many in (4, 32, 256):  # few of them are from all over, too
        assert np.diff(np.sort(spread_rows(2000, 256)[:many])).max() <= 3 * 2000 / many


def test_only_rows_that_the_model_gets_right_are_attacked():
    right, wrong = context(), context()
    wrong = replace(wrong, test=replace(wrong.test, y=1 - wrong.test.labels))
    costs = []
    for own in (right, wrong):
        measure_speed(own)
        costs.append(table.PARTS["survival"].cost(own, SETTINGS["survival"]))
    assert [cost.spared for cost in costs] == pytest.approx([0.8, 1.0])
    assert costs[0].queries == costs[1].queries  # at the most


def test_own_seconds_are_those_of_this_machine():
    cost = table.PARTS["reliability"].cost(context(), SETTINGS["reliability"])
    there, here = (Speed(0.0, 0.0, 0.0, 0, slowness=s).seconds(cost) for s in (1.0, 2.5))
    assert here == pytest.approx(2.5 * there)
    assert measure_speed(context()).slowness == pytest.approx(slowness(), rel=3)


def test_standing_in_line_between_two_looks_at_the_clocks_does_not_count(monkeypatch):
    """The kernel's count of waiting is later than our clock: five seconds were lost between."""
    now, waited, looks = [10.0], [0], []

    class Kernel:
        def read_bytes(self):
            if len(looks) == 1:  # others had the processor just after the clock was read
                now[0], waited[0] = now[0] + 5.0, 5_000_000_000
            looks.append(waited[0])
            return b"0 %d 0" % waited[0]

    monkeypatch.setattr(clock, "_WAITED", Kernel())
    monkeypatch.setattr(clock.time, "perf_counter", lambda: now[0])
    assert clock.quiet_seconds() == pytest.approx(10.0)
