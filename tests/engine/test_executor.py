import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path

import cloudpickle
import numpy as np
import pytest

from fireassay.classifiers import as_classifier
from fireassay.core import BudgetExceededError, DataError, ParameterError, codec, generator
from fireassay.core.clock import seconds_in_workers
from fireassay.engine import ExecutionError, Executor, Failure, RunStore
from fireassay.engine import executor as executor_module
from fireassay.engine.executor import ALL_CORES

# Workers get the functions of this file themselves: they cannot import a test by its name.
cloudpickle.register_pickle_by_value(sys.modules[__name__])


def noisy_mean(row, X, scale=1.0):
    rng = generator(row["seed"], "noise")
    weights = X.T @ X  # rounding here depends on the number of threads
    return {"row": row["seed"], "mean": float(weights.mean() * scale), "noise": rng.normal(size=3)}


def fails_on_three(row):
    if row % 5 == 3:
        raise DataError("Rows must not end so.", got=str(row))
    return row * 2


def count_into(row, log):
    with open(log, "a") as file:
        file.write(f"{row}\n")
    if row == 2 and not Path(f"{log}.mended").exists():
        raise RuntimeError("not yet")
    return row


def writes_into_shared(row, X):
    X[0] += 1.0
    return float(X[0]) >= 1.0


def kills_its_process(row, flag):
    if row == 5:
        with contextlib.suppress(FileExistsError):
            os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
            os.kill(os.getpid(), 9)
    return row


def threads_of_blas(row):
    from threadpoolctl import threadpool_info

    np.ones((2, 2)) @ np.ones((2, 2))
    return max((pool["num_threads"] for pool in threadpool_info()), default=1)


def forgets_arguments(row, *, wrong_name):
    return row


def returns_a_set(row):
    return {row}


@pytest.mark.parametrize("workers", [2, pytest.param(8, marks=pytest.mark.slow)])
def test_results_are_in_the_order_of_rows_and_the_same_bytes_for_1_and_many_workers(workers):
    X = generator(0, "X").normal(size=(300, 40))
    rows = [{"seed": seed} for seed in range(24)]
    one = Executor(1).map(noisy_mean, rows, {"X": X, "scale": 2.0})
    many = Executor(workers).map(noisy_mean, rows, {"X": X, "scale": 2.0})
    assert [result["row"] for result in many] == list(range(24))
    assert codec.to_bytes(one) == codec.to_bytes(many)


def test_every_worker_has_one_thread():
    assert set(Executor(1).map(threads_of_blas, range(3))) == {1}
    assert set(Executor(2).map(threads_of_blas, range(3))) == {1}


def test_no_rows_and_one_row():
    assert Executor(1).map(abs, []) == []
    assert Executor(2).map(abs, [-1]) == [1]


@pytest.mark.parametrize("workers", [1, 2])
def test_failures_are_listed_after_the_others_are_done(workers):
    with pytest.raises(
        ExecutionError, match=r"All 10 tasks of doubling.*2 failed.*row 3"
    ) as caught:
        Executor(workers).map(fails_on_three, range(10), name="doubling")
    assert [failure.position for failure in caught.value.failures] == [3, 8]
    assert caught.value.failures[0].kind == "DataError"
    assert "fails_on_three" in caught.value.failures[0].details

    results = Executor(workers).map(fails_on_three, range(10), on_error="return")
    assert [i for i, result in enumerate(results) if isinstance(result, Failure)] == [3, 8]
    assert results[9] == 18


def test_a_task_with_wrong_arguments_is_a_failure_that_says_so():
    with pytest.raises(ExecutionError, match="unexpected keyword argument"):
        Executor().map(forgets_arguments, [1], {"other": 2})


def test_failed_tasks_are_tried_again_and_finished_ones_are_not(tmp_path):
    log = str(tmp_path / "log")
    with RunStore(tmp_path / "run") as store:
        executor = Executor(store=store)
        with pytest.raises(ExecutionError, match="not yet"):
            executor.map(count_into, range(5), {"log": log}, name="counting")
        assert store.progress("counting").failed == 1
        (tmp_path / "log.mended").touch()
        assert executor.map(count_into, range(5), {"log": log}, name="counting") == [0, 1, 2, 3, 4]
        assert store.progress("counting").done == 5
    assert (tmp_path / "log").read_text().split() == ["0", "1", "2", "3", "4", "2"]


def test_changed_data_are_new_tasks(tmp_path):
    rows = [{"seed": 1}]
    with RunStore(tmp_path / "run") as store:
        executor = Executor(store=store)
        first = executor.map(noisy_mean, rows, {"X": np.eye(3)}, name="means")
        second = executor.map(noisy_mean, rows, {"X": 2 * np.eye(3)}, name="means")
        assert store.progress("means").done == 2
    assert second[0]["mean"] == 4 * first[0]["mean"]


def test_equal_rows_are_run_once_with_a_store(tmp_path):
    log = str(tmp_path / "log")
    with RunStore(tmp_path / "run") as store:
        assert Executor(store=store).map(count_into, [1, 1, 0, 1], {"log": log}) == [1, 1, 0, 1]
    assert (tmp_path / "log").read_text().split() == ["1", "0"]


def test_a_fresh_and_a_resumed_run_return_the_same_types(tmp_path):
    rows = [{"seed": seed} for seed in range(3)]
    with RunStore(tmp_path / "run") as store:
        executor = Executor(store=store)
        fresh = executor.map(noisy_mean, rows, {"X": np.eye(3)})
        resumed = executor.map(noisy_mean, rows, {"X": np.eye(3)})
        plain = Executor().map(noisy_mean, rows, {"X": np.eye(3)})
    assert codec.to_bytes(fresh) == codec.to_bytes(resumed) == codec.to_bytes(plain)
    assert [type(v) for v in fresh[0].values()] == [type(v) for v in resumed[0].values()]


def test_results_that_cannot_be_kept_are_refused_by_name(tmp_path):
    with RunStore(tmp_path / "run") as store, pytest.raises(DataError, match=r"saved.*set"):
        Executor(store=store).map(returns_a_set, [1])


def test_inner_functions_are_refused_with_a_store_only(tmp_path):
    captured = 3
    inner = lambda row: row + captured  # noqa: E731
    assert Executor().map(inner, [1]) == [4]
    with RunStore(tmp_path / "run") as store, pytest.raises(ParameterError, match="top level"):
        Executor(store=store).map(inner, [1])


def test_shared_arrays_are_copies_that_no_other_process_sees():
    X = np.zeros(200_000)
    assert all(Executor(2).map(writes_into_shared, range(4), {"X": X}))
    assert X[0] == 0.0


def test_a_worker_that_dies_is_replaced(tmp_path):
    flag = str(tmp_path / "died")
    assert Executor(2).map(kills_its_process, range(12), {"flag": flag}) == list(range(12))
    assert Path(flag).exists()


@pytest.mark.slow
def test_a_worker_that_has_grown_is_replaced_without_a_hang():
    program = str(Path(__file__).with_name("growing_workers.py"))
    done = subprocess.run(
        [sys.executable, program], capture_output=True, text=True, timeout=240, check=False
    )
    assert done.stdout.strip() == str(list(range(14))), done.stderr


def kills_every_process(row):
    os.kill(os.getpid(), 9)


@pytest.mark.slow
def test_workers_that_keep_dying_end_the_run_with_a_reason():
    with pytest.raises(ExecutionError, match="workers that died"):
        Executor(2).map(kills_every_process, range(2))


@pytest.mark.parametrize("workers", [1, 2])
def test_a_budget_stops_in_time_and_the_next_run_goes_on(tmp_path, workers):
    with RunStore(tmp_path / "run") as store:
        with pytest.raises(BudgetExceededError, match=r"of 40 tasks done"):
            Executor(workers, store=store, budget_seconds=0.2).map(
                time.sleep, [0.02 + 1e-6 * i for i in range(40)], name="naps"
            )
        done = store.progress("naps").done
        assert 0 < done < 40
        Executor(workers, store=store).map(
            time.sleep, [0.02 + 1e-6 * i for i in range(40)], name="naps"
        )
        assert store.progress("naps").done == 40


def asks(rows, model):
    return float(model.predict_proba(np.zeros((rows, 1)))[0, 0])


def asks_or_breaks(rows, model):
    if rows == 1:
        raise DataError("Rows must be more than one.", got="one")
    return asks(rows, model)


def test_tasks_that_a_models_budget_ended_are_stopped_not_broken(tmp_path):
    def model():
        half = as_classifier(lambda X: np.full((len(X), 2), 0.5), classes=(0, 1))
        half.max_queries = 6
        return half

    with RunStore(tmp_path / "run") as store:
        with pytest.raises(BudgetExceededError, match=r"budget is 6 queries") as stopped:
            Executor(store=store).map(asks, [4, 3, 2], {"model": model()}, name="questions")
        assert isinstance(stopped.value.__cause__, ExecutionError)
        assert store.progress("questions").done == 2
    with pytest.raises(ExecutionError):  # something else broke besides
        Executor().map(asks_or_breaks, [4, 3, 1], {"model": model()})


def burns(seconds):
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


@pytest.mark.parametrize(("workers", "elsewhere"), [(1, 0.0), (2, 0.2)])
def test_what_other_processes_do_is_added_up(workers, elsewhere):
    before = seconds_in_workers.seconds
    Executor(workers).map(burns, [0.05] * 4)
    added = seconds_in_workers.seconds - before
    assert elsewhere <= added <= 2 * elsewhere


def test_progress_is_reported_with_what_was_done_before(tmp_path):
    seen = []
    with RunStore(tmp_path / "run") as store:
        Executor(store=store).map(abs, [1, 2])
        Executor(store=store, progress=lambda *at: seen.append(at)).map(abs, [1, 2, 3, 4])
    assert seen == [(3, 4), (4, 4)]


@pytest.mark.parametrize(
    "settings", [{"workers": 0}, {"workers": 1.5}, {"budget_seconds": 0.0}, {"budget_seconds": "1"}]
)
def test_settings_are_checked(settings):
    with pytest.raises(ParameterError, match=next(iter(settings))):
        Executor(**settings)


def test_on_error_is_checked():
    with pytest.raises(ParameterError, match="on_error"):
        Executor().map(abs, [1], on_error="ignore")


def _slept(row, seconds):
    time.sleep(seconds)
    return os.getpid()


@pytest.mark.parametrize(("said", "here"), [(None, True), (60.0, False)])
def test_all_cores_are_used_where_the_work_is_worth_it(monkeypatch, said, here):
    monkeypatch.setattr(executor_module, "cores", lambda: 2)
    executor = Executor(workers=ALL_CORES)
    assert executor.processes == 2
    found = executor.map(_slept, range(4), {"seconds": 0.01}, seconds=said)
    assert (set(found) == {os.getpid()}) == here


def test_a_run_that_turns_out_long_goes_on_in_processes(monkeypatch):
    monkeypatch.setattr(executor_module, "cores", lambda: 2)
    monkeypatch.setattr(executor_module, "_WORTH_S", 0.05)
    found = Executor(workers=ALL_CORES).map(_slept, range(5), {"seconds": 0.1})
    assert found[0] == os.getpid()
    assert os.getpid() not in found[1:]


def test_one_core_means_this_process(monkeypatch):
    monkeypatch.setattr(executor_module, "cores", lambda: 1)
    assert Executor(workers=ALL_CORES).is_alone
