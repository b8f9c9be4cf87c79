"""What a run does with the model itself: the same attacks with and without bounds, block sizes."""

from typing import Any

import numpy as np
import pytest

import fireassay as fa
from fireassay.assessment.context import Context
from fireassay.assessment.parts.table import settings_models
from fireassay.assessment.plan.costs import Budget
from fireassay.assessment.run.loop import Run
from fireassay.data import DataSet
from fireassay.engine import Executor, RunStore

X = np.random.default_rng(0).random((400, 8)).astype(np.float32)
X[0], X[1] = 0.0, 1.0  # every feature spans the whole range
SETTINGS = {name: each() for name, each in settings_models().items()}
SETTINGS["survival"] = settings_models()["survival"](samples=24, budget=60)


def network(**options: Any) -> Any:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 3))
    return fa.as_classifier(module, output="logits", classes=[0, 1, 2], **options)


def answered(model: Any) -> DataSet:
    return DataSet(X, np.asarray(model.predict(X)))


@pytest.mark.extras
def test_a_network_meets_the_same_attacks_with_and_without_bounds() -> None:
    reports = {}
    for name, options in (("declared", {"bounds": (0, 1)}), ("not declared", {})):
        model = network(**options)
        labels = answered(model).labels
        survival = {"samples": 60, "budget": 200, "eps": 0.1}
        report = fa.evaluate(model, X, labels, parts="survival", settings={"survival": survival})
        reports[name] = report["survival"]
    declared, plain = reports["declared"], reports["not declared"]
    assert declared.status == plain.status == "done"
    assert set(plain.estimates) == set(declared.estimates)
    assert any(a.id == "gradients-not-masked" for a in plain.assumptions)
    for name, estimate in declared.estimates.items():
        near = pytest.approx(estimate.value, abs=0.05, rel=0.02)  # shares; queries by the hundred
        assert plain.estimates[name].value == near, name


@pytest.mark.slow
@pytest.mark.extras
@pytest.mark.parametrize("how", ["workers"])
def test_block_sizes_are_decided_once_and_a_resumed_run_does_not_probe(
    tmp_path: Any, how: str
) -> None:
    def run(store: RunStore, parts: list[str]) -> tuple[Any, Any]:
        model = network(bounds=(0, 1))
        data = answered(network(bounds=(0, 1)))
        workers = 2 if how == "workers" else 1
        given = Context(model, data, executor=Executor(workers=workers, store=store))
        budget = Budget(max_queries=10**6) if how == "budget" else None
        return model, Run(given, parts, SETTINGS, budget=budget).go()

    with RunStore(tmp_path / "run") as store:
        first, _ = run(store, ["survival"])
        kinds = [question.split(" <")[0] for question, _ in first.block_sizes.decided]
        assert kinds == [
            "logit gradients",
            "logits",
            "loss gradient",
            "probabilities",
            "score gradient",
        ]
        second, resumed = run(store, ["survival", "accuracy"])
    assert second.block_sizes == first.block_sizes
    assert second.rows_delivered < len(answered(network(bounds=(0, 1)))) + 64, "nothing decided"
    with RunStore(tmp_path / "alone") as store:
        data = answered(network(bounds=(0, 1)))
        plain = network(bounds=(0, 1), batch_size=256, max_queries=10**9)  # never probes
        alone = Run(
            Context(plain, data, executor=Executor(store=store)), ["survival", "accuracy"], SETTINGS
        ).go()
    assert plain.block_sizes.decided == ()
    assert alone["survival"].estimates == resumed["survival"].estimates
