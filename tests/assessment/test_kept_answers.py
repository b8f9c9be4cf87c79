"""A row of the data is sent to the model once in a run, and nothing in the result shows it."""

import pickle
from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from fireassay.assessment.context import Context
from fireassay.assessment.parts.table import settings_models
from fireassay.assessment.run import asked_once
from fireassay.assessment.run.first_look import first_look
from fireassay.assessment.run.loop import Run
from fireassay.classifiers import as_classifier
from fireassay.classifiers.kept_answers import asking_anew
from fireassay.core.errors import (
    BudgetExceededError,
    FireassayWarning,
    ReproducibilityWarning,
)
from fireassay.data import DataSet
from fireassay.engine import Executor, RunStore

SETTINGS = {name: each() for name, each in settings_models().items()}
RNG = np.random.default_rng(0)
TEST, TRAIN, FIELD = RNG.random((300, 2)), RNG.random((400, 2)), RNG.random((500, 2))
FAST = ("accuracy", "reliability")


def as_bytes(rows):
    return {row.tobytes() for row in rows}


def model(X):
    return np.column_stack([1 - X[:, 0], X[:, 0]])


def answers_of(row, model, X):
    return model.predict_proba(X[row : row + 150])


def context(model=model, store=None):
    def labelled(X):
        return DataSet(X, (X[:, 0] + X[:, 1] / 8 > 0.55).astype(int))

    return Context(
        as_classifier(model, classes=(0, 1)),
        labelled(TEST),
        labelled(TRAIN),
        DataSet(FIELD),
        executor=Executor(store=store),
    )


def begin(own):
    """The first look at all test rows."""
    look = first_look(own)
    look.ask(np.arange(len(own.test)))
    return look


def run(folder, parts=FAST, only=None, kept=True, model=model):
    """A run in a folder; how often each row was delivered, and the run."""
    sent = Counter()

    def counting(rows):
        sent.update(row.tobytes() for row in rows)
        return model(rows)

    inner = context(model).model
    inner.identify()
    with RunStore(folder) as store:
        own = context(counting, store)
        own.model._identity = inner._identity  # of the function that is counted, not of the counter
        made = Run(own, parts, SETTINGS, only=only)
        if not kept:
            begin(own)
            own.model.kept = None
        made.go()
    return sent, made


def asked(made):
    return {name: cost["actual"]["queries"] for name, cost in made.costs.items()}


def test_a_row_of_the_data_is_sent_once_and_the_result_is_the_same(tmp_path):
    sent = compare(tmp_path, FAST)
    assert any(sent[row.tobytes()] for row in TEST)


@pytest.mark.slow
def test_in_a_whole_run_too(tmp_path):
    sent = compare(tmp_path, ("accuracy", "supervision", "discovery", "reliability"))
    assert any(sent[row.tobytes()] for row in TRAIN)


def compare(folder, parts):
    sent, made = run(folder / "kept", parts)
    assert {sent[row] for row in as_bytes(TRAIN) | as_bytes(FIELD)} <= {0, 1}
    assert sum(sent[row.tobytes()] for row in FIELD) == len(FIELD)
    if parts == FAST:  # attacks ask the model itself
        assert sum(sent[row.tobytes()] for row in TEST) == len(TEST) + 32 + 16
    _, without = run(folder / "not kept", parts, kept=False)
    result = (folder / "kept" / "result.json").read_bytes()
    assert result == (folder / "not kept" / "result.json").read_bytes()
    assert asked(made) == asked(without)
    delivered = made.costs["reliability"]["actual"]["delivered"]
    assert delivered < without.costs["reliability"]["actual"]["delivered"]
    return sent


@pytest.mark.slow
def test_another_order_of_parts_gives_the_same_bytes(tmp_path):
    run(tmp_path / "all")
    run(tmp_path / "steps", only=("reliability",))
    run(tmp_path / "steps")
    result = (tmp_path / "all" / "result.json").read_bytes()
    assert result == (tmp_path / "steps" / "result.json").read_bytes()


@pytest.mark.slow
def test_float32_answers_give_the_same_bytes_kept_or_not_and_in_steps(tmp_path):
    def narrow(X):
        return model(X).astype(np.float32)

    run(tmp_path / "kept", model=narrow)
    run(tmp_path / "not kept", model=narrow, kept=False)
    run(tmp_path / "steps", model=narrow, only=("accuracy",))
    run(tmp_path / "steps", model=narrow)
    results = {(folder / "result.json").read_bytes() for folder in tmp_path.iterdir()}
    assert len(results) == 1


def test_the_next_start_takes_what_was_put_down(tmp_path):
    run(tmp_path, only=("accuracy",))
    sent, _ = run(tmp_path, only=("reliability",))
    assert sum(sent[row.tobytes()] for row in TEST) == 32 + 16, "asked again, before and after"


def test_kept_answers_that_the_model_does_not_give_are_thrown_away(tmp_path):
    run(tmp_path, only=("accuracy",))

    def other(X):
        return model(np.clip(X + 1e-3, 0, 1))

    name = context().model.sha256
    with RunStore(tmp_path) as store:
        own = context(other, store)
        type(own.model).sha256 = property(lambda self: name)  # a server whose model was exchanged
        try:
            look = begin(own)
            with (
                pytest.warns(ReproducibilityWarning),
                pytest.warns(FireassayWarning, match="not those that the model gives now"),
            ):
                look.again()
            got = own.model.predict_proba(TEST)
        finally:
            del type(own.model).sha256
    np.testing.assert_array_equal(got[:, 1], np.clip(TEST[:, 0] + 1e-3, 0, 1))


@pytest.mark.parametrize("kind", ["random", "by place"])
def test_of_models_whose_answers_vary_the_first_look_alone_is_kept(kind):
    drawn = np.random.default_rng(0)

    def model(X):
        moved = drawn.random(len(X)) if kind == "random" else np.arange(len(X)) / len(X)
        return np.column_stack([0.5 + 1e-9 * moved, 0.5 - 1e-9 * moved])

    own = context(model)
    look = begin(own)
    assert not own.model.kept.grows
    first = look.given(np.arange(300))
    assert own.model.predict_proba(TEST[::-1])[::-1].tobytes() == first.tobytes()
    before = own.model.rows_delivered
    for _ in range(2):
        own.model.predict_proba(TRAIN)
    assert own.model.rows_delivered - before == 800


def test_a_budget_is_of_rows_that_are_delivered_and_leaves_no_row_to_be_asked_twice():
    own = replace(context(), model=as_classifier(model, classes=(0, 1), max_queries=400))
    look = begin(own)
    assert own.model.rows_delivered == 300
    assert "budget" in look.assumption().check
    own.model.predict_proba(TEST)
    with pytest.raises(BudgetExceededError, match=r"100 are left\. Got a call with 150"):
        own.model.predict_proba(np.concatenate([TEST[:100], TRAIN[:150]]))
    own.model.predict_proba(np.concatenate([TEST[:60], TRAIN[:100]]))
    assert own.model.rows_delivered == 400


def test_rows_are_answered_in_any_mixture():
    own = context()
    begin(own)
    mixed = np.concatenate([TEST[5:9], TRAIN[:3] / 2, TEST[5:7], FIELD[[3, 3]], TRAIN[::-7]])
    for rows in (mixed, mixed[::-1], TRAIN, TEST[3:80:3]):
        np.testing.assert_array_equal(own.model.predict_proba(rows), model(rows))


def test_attacks_and_hooks_ask_the_model_itself():
    own = context()
    begin(own)
    own.model.predict_proba(TEST)
    sent = own.model.rows_delivered
    with asking_anew(own.model):
        own.model.predict_proba(TEST)
    own.model.predict_proba(TEST)
    assert own.model.rows_delivered - sent == 300


def test_a_copy_in_another_process_knows_what_was_known_when_it_was_sent():
    own = context(model)
    begin(own)
    first = own.model.predict_proba(TEST)
    copy = pickle.loads(pickle.dumps(own.model))
    before = copy.rows_delivered, copy.queries
    again = copy.predict_proba(TEST[::-1])[::-1]
    assert again.tobytes() == first.tobytes()
    assert (copy.rows_delivered, copy.queries - before[1]) == (before[0], 300)
    copy.predict_proba(TRAIN)  # not asked before, hence not known there
    assert copy.rows_delivered - before[0] >= 400
    assert copy.kept.held.sum() == 300


def test_a_table_that_is_large_or_empty_is_not_sent(monkeypatch):
    own = context(model)
    begin(own)
    own.model.predict_proba(TEST)
    monkeypatch.setattr("fireassay.classifiers.kept_answers._MOST_SENT", 300 * 32 - 1)
    assert pickle.loads(pickle.dumps(own.model)).kept is None
    monkeypatch.setattr("fireassay.classifiers.kept_answers._MOST_SENT", 300 * 32)
    assert pickle.loads(pickle.dumps(own.model)).kept is not None
    own.model.kept.held[:] = False
    assert pickle.loads(pickle.dumps(own.model)).kept is None


@pytest.mark.slow
def test_workers_do_not_ask_again_what_is_known():
    def sent(workers):
        own = replace(context(model), executor=Executor(workers=workers))
        begin(own)
        own.model.predict_proba(TEST)
        before = own.model.rows_delivered
        answers = own.executor.map(answers_of, [0, 150], {"model": own.model, "X": TEST})
        return own.model.rows_delivered - before, own.model.queries, np.vstack(answers).tobytes()

    assert sent(2) == sent(1)
    assert sent(2)[0] == 0


def test_more_than_the_limit_is_not_kept(monkeypatch):
    monkeypatch.setattr("fireassay.classifiers.kept_answers.MOST_BYTES", 1000)
    own = context()
    begin(own)
    own.model.predict_proba(TEST)
    own.model.predict_proba(TEST)
    assert own.model.rows_delivered >= 600


def test_tables_of_categories_are_kept_by_their_codes(tmp_path):
    frame = pd.DataFrame({"sex": ["f", "m", "x"] * 20, "age": np.arange(60.0)})
    sent = []

    def model(X):
        sent.append(len(X))
        risk = X["age"].to_numpy() / 100 + (X["sex"] == "m").to_numpy() * 0.3
        return np.column_stack([1 - risk, risk])

    data = DataSet(frame, (np.arange(60) > 40).astype(int))
    with RunStore(tmp_path) as store:
        own = Context(as_classifier(model, classes=(0, 1)), data, executor=Executor(store=store))
        made = Run(own, ("accuracy", "reliability"), SETTINGS)
        made.go()
    assert made.costs["accuracy"]["actual"]["queries"] == 60
    assert made.costs["reliability"]["actual"]["delivered"] == 0
    assert list((tmp_path / asked_once.FOLDER).iterdir())
