import mmap
import sys
import time

import numpy as np
import pytest

from fireassay import as_classifier
from fireassay.assessment import initialise
from fireassay.assessment.context import Context, Cost
from fireassay.assessment.plan.plan import Speed, measure_speed
from fireassay.assessment.run.first_look import first_look
from fireassay.assessment.run.preflight import check_before_run, verified_order
from fireassay.data import DataSet


class Timed:
    """A model that takes so long for a call and for each row, and counts both."""

    def __init__(self, per_call: float, per_row: float) -> None:
        self.per_call, self.per_row = per_call, per_row
        self.sizes: list[int] = []

    def __call__(self, X):
        self.sizes.append(len(X))
        time.sleep(self.per_call + self.per_row * len(X))
        p = 1 / (1 + np.exp(-X[:, :1]))
        return np.hstack([p, 1 - p])


def speed_of(model, rows=600):
    X = np.random.default_rng(0).standard_normal((rows, 3))
    return measure_speed(Context(as_classifier(model), DataSet(X, np.zeros(rows, dtype=int))))


def test_a_slow_model_is_measured_with_few_rows():
    model = Timed(0.0, 0.009)
    found = speed_of(model)
    assert sum(model.sizes) <= 48
    assert found.per_query == pytest.approx(0.009, rel=0.2)


def test_a_run_measures_by_its_first_look():
    model = Timed(0.03, 0.0001)
    X = np.random.default_rng(0).standard_normal((600, 3))
    own = Context(as_classifier(model), DataSet(X, np.zeros(600, dtype=int)))
    first_look(own).ask(np.arange(600))
    found = measure_speed(own)
    assert model.sizes == [256, 256, 88, 28, 4]
    assert found.per_query == pytest.approx(0.0001 + 0.03 / 256, rel=0.3)
    assert found.per_call == pytest.approx(0.03, rel=0.3)


def test_blocks_that_are_filled_up_are_counted():
    speed = Speed(per_query=1.0, per_call=0.0, per_gradient=0.0, probed=0, block=256)
    assert speed.seconds(Cost(queries=64, data_rows=64)) == 256
    assert speed.seconds(Cost(queries=600, data_rows=500), known=500) == 100


def test_few_rows_are_measured_as_they_are():
    model = Timed(0.0, 0.0005)
    assert speed_of(model, rows=10).per_query == pytest.approx(0.0005, rel=0.5)
    assert max(model.sizes) == 10


def test_the_look_at_the_door_keeps_to_its_rows():
    X = np.random.default_rng(0).standard_normal((600, 3))
    y = (X[:, 0] < 0).astype(int)
    context = check_before_run(Context(as_classifier(Timed(0.0, 0.0)), DataSet(X, y)), most=70)
    order = verified_order(context)
    assert order is not None
    assert order.n == 70


def test_init_asks_few_rows_and_fills_up_no_block(tmp_path):
    X = np.random.default_rng(0).standard_normal((40, 3))
    np.savez(tmp_path / "test.npz", X=X, y=(X[:, 0] < 0).astype(int))
    (tmp_path / "counted_rows.py").write_text(
        "import numpy as np\nsizes = []\n"
        "def model(X):\n    sizes.append(len(X))\n"
        "    p = 1 / (1 + np.exp(-X[:, :1]))\n    return np.hstack([p, 1 - p])\n"
    )
    initialise("counted_rows:model", {"test": "test.npz"}, folder=tmp_path, trust=True)
    assert max(sys.modules["counted_rows"].sizes) == 17


def test_gradients_are_measured_without_filling_up():
    torch = pytest.importorskip("torch")
    sizes = []

    class Counted(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(3, 2)

        def forward(self, x):
            if x.requires_grad:
                sizes.append(len(x))
            return self.linear(x)

    X = np.random.default_rng(0).standard_normal((600, 3)).astype(np.float32)
    model = as_classifier(Counted().eval(), classes=(0, 1), output="logits")
    found = measure_speed(Context(model, DataSet(X, np.zeros(600, dtype=int))), gradients=True)
    assert found.per_gradient > 0
    assert sizes == [32]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere only the most is known")
def test_what_a_slow_model_will_hold_for_a_whole_block_is_foreseen():
    model = Timed(0.0, 0.009)
    held = [b""]

    def holding(X):  # as a runtime does that gives nothing back, a megabyte for each row
        if len(X) * 2**20 > len(held[0]):
            held[:] = [mmap.mmap(-1, len(X) * 2**20)]  # new pages, whatever the process has freed
            np.frombuffer(held[0], dtype=np.uint8)[:] = 1
        return model(X)

    assert speed_of(holding).unseen_mb == pytest.approx(256 - 28, rel=0.1)
