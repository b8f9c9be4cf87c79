import json

import numpy as np
import pytest

from fireassay import discovery
from fireassay.engine.labels.records import GivenAnswer, Slot, consensus
from fireassay.web.queue import read_queue, write_queue
from fireassay.web.queue_state import curve, live, queue_status


@pytest.fixture
def labelled(tmp_path):
    rng = np.random.default_rng(1)
    n = 40
    confidence, predicted = rng.uniform(0.7, 0.98, n), rng.integers(0, 3, n)
    truth = np.where(rng.random(n) < 0.4, (predicted + 1) % 3, predicted)
    names = ["a", "b", "c"]

    def labelling(count, budget=None, skip=()):
        queue = read_queue(
            write_queue(
                tmp_path,
                np.zeros((n, 2)),
                classes=names,
                predicted=[names[i] for i in predicted],
                confidence=confidence,
                budget=budget,
            )
        )
        answers = [
            GivenAnswer(
                i, i, "ada", "answer", -1 if i in skip else int(truth[i]), "", 1.0, "", False
            )
            for i in range(count)
        ]
        slots = [Slot(i + 1, i) for i in range(count)]
        return queue, slots, consensus(answers)

    return labelling, confidence, truth != predicted


def test_the_curve_is_discoverys_own(labelled):
    labelling, confidence, wrong = labelled
    running = curve(*labelling(30), adaptive=False)
    found = running.now
    expected = discovery.sdr(confidence[:30], wrong[:30])
    assert found.value == float(expected)
    assert (found.errors, found.expected) == (expected.errors, expected.expected)
    assert (found.low, found.high) == discovery.sequential_interval(confidence[:30], wrong[:30])
    assert found.p_value == discovery.sequential_p_value(confidence[:30], wrong[:30])
    assert found.valid_as == "sequential"
    assert [point.n for point in running.points()] == list(range(1, 31))
    point = running.points()[9]
    assert point.value == float(discovery.sdr(confidence[:10], wrong[:10]))
    assert (point.low, point.high) == discovery.sequential_interval(confidence[:10], wrong[:10])


def test_a_spent_budget_of_a_fixed_order_gives_the_exact_interval(labelled):
    labelling, confidence, wrong = labelled
    fixed = curve(*labelling(30, budget=30), adaptive=False).now
    assert fixed.valid_as == "fixed"
    assert (fixed.low, fixed.high) == discovery.sdr(confidence[:30], wrong[:30]).interval
    assert curve(*labelling(30, budget=30), adaptive=True).now.valid_as == "sequential"
    assert curve(*labelling(29, budget=30), adaptive=False).now.valid_as == "sequential"


def test_items_that_nobody_can_tell_do_not_count(labelled):
    labelling, confidence, wrong = labelled
    found = curve(*labelling(10, skip={2, 5}), adaptive=False).now
    kept = [i for i in range(10) if i not in {2, 5}]
    assert found.value == float(discovery.sdr(confidence[kept], wrong[kept]))


def test_without_labels_there_is_no_curve(labelled):
    assert curve(*labelled[0](0), adaptive=False) is None


def test_other_counts_as_an_error(tmp_path):
    queue = read_queue(
        write_queue(
            tmp_path, np.zeros((2, 1)), classes="ab", predicted=["a", "b"], confidence=[0.9, 0.9]
        )
    )
    given = [GivenAnswer(0, 0, "x", "answer", -2, "", None, "", False)]
    assert curve(queue, [Slot(1, 0)], consensus(given), adaptive=False).now.errors == 1


def test_certain_and_right_is_not_a_number(tmp_path):
    queue = read_queue(
        write_queue(
            tmp_path, np.zeros((2, 1)), classes="ab", predicted=["a", "b"], confidence=[1.0, 1.0]
        )
    )
    given = [GivenAnswer(0, 0, "x", "answer", 0, "", None, "", False)]
    status = queue_status(queue, [Slot(1, 0)], given, adaptive=False)
    assert np.isnan(status.curve.now.value)
    assert live(queue, status)["sdr"] is None
    json.dumps(live(queue, status), allow_nan=False)
