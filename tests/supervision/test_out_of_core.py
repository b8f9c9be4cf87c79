"""Arrays on disk and several workers: bounded memory, the same numbers."""

import tracemalloc

import numpy as np
import pytest
from sklearn.neural_network import MLPClassifier

from fireassay import supervision
from fireassay.supervision import Reading, row_blocks
from fireassay.supervision.gaussian_scores import fit_shared, nearest_class_distance

BLOCK = 32 * 1024


@pytest.fixture
def on_disk(tmp_path, monkeypatch):
    """Activations of 2.5 MiB on disk, eighty times the size of a block."""
    monkeypatch.setattr(row_blocks, "BLOCK_BYTES", BLOCK)
    rng = np.random.default_rng(0)
    classes = rng.integers(0, 5, 20_000)
    rows = rng.standard_normal((5, 32))[classes] + 0.7 * rng.standard_normal((20_000, 32))
    saved = np.lib.format.open_memmap(tmp_path / "a.npy", "w+", np.float32, rows.shape)
    saved[:] = rows
    saved.flush()
    return np.load(tmp_path / "a.npy", mmap_mode="r"), classes


def peak_of(function, *arguments):
    tracemalloc.start()
    try:
        value = function(*arguments)
        return value, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def in_memory(function, monkeypatch, *arguments):
    with monkeypatch.context() as patch:
        patch.setattr(row_blocks, "BLOCK_BYTES", 2**30)
        return function(*(np.array(a) for a in arguments))


@pytest.mark.parametrize("name", ["dsa_scores", "mdsa_scores"])
def test_scores_of_arrays_on_disk_in_bounded_memory(name, on_disk, monkeypatch):
    train, classes = on_disk
    # Distances held at once, for a block of references and of points.
    monkeypatch.setattr("fireassay.supervision.distance_scores._CELLS", BLOCK // 8)
    arguments = train, classes, train[:50] + np.float32(0.1), classes[:50]
    found, peak = peak_of(getattr(supervision, name), *arguments)
    # Blocks and what is made of them, and a handful of integers per row.
    assert peak < 20 * BLOCK + 60 * len(train) < train.nbytes
    expected = in_memory(getattr(supervision, name), monkeypatch, *arguments)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_mahalanobis_of_an_array_on_disk_in_bounded_memory(on_disk, monkeypatch):
    train, classes = on_disk
    state, peak = peak_of(fit_shared, train, classes)
    assert peak < 20 * BLOCK + 60 * len(train) < train.nbytes
    expected = in_memory(fit_shared, monkeypatch, train, classes)
    np.testing.assert_allclose(state["means"], expected["means"], rtol=1e-9)
    found, peak = peak_of(nearest_class_distance, state, train)
    assert peak < 20 * BLOCK + 8 * 5 * 2 * len(train) < train.nbytes
    np.testing.assert_allclose(found[:50], nearest_class_distance(expected, train[:50]), rtol=1e-7)


@pytest.mark.parametrize("name", ["mdsa", "dsa", "knn", "lsa", "vim"])
def test_readings_on_disk_give_the_scores_of_readings_in_memory(name, on_disk):
    train, classes = on_disk
    weights = np.random.default_rng(1).standard_normal((5, 32))

    def reading(rows):
        logits = np.asarray(rows, dtype=float) @ weights.T
        more = {"logits": logits, "head": (weights, np.zeros(5))}
        return Reading(features=rows, probabilities=np.eye(5)[classes[: len(rows)]], **more)

    disk, memory = reading(train[:700]), reading(np.asarray(train[:700], dtype=np.float64))
    first, second = (supervision.make(name).fit_reading(r, classes[:700]) for r in (disk, memory))
    np.testing.assert_allclose(
        first.score_reading(disk), second.score_reading(memory), rtol=1e-6, atol=1e-9
    )


def recipe(X, y, seed):
    return MLPClassifier((4,), max_iter=400, tol=1e-2, random_state=seed).fit(X, y)


@pytest.mark.slow
def test_the_numbers_do_not_depend_on_the_number_of_workers(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((260, 4))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    model = recipe(X, y, 0)
    nominal, strange = rng.standard_normal((2300, 4)), 3 + rng.standard_normal((90, 4))
    names = ["mdsa", "dsa", "softmax-entropy", "ensemble-mean-softmax", "mc-dropout-mean-softmax"]

    def compared(workers):
        found = supervision.compare(
            model, X, y, nominal, {"strange": strange}, names, train=recipe, n_members=2,
            workers=workers,
        )  # fmt: skip
        return found, found.frame().drop(columns="cost")

    (one, first), (two, second) = compared(1), compared(2)
    assert first.equals(second)
    assert one.queries == two.queries
    fitted = supervision.make("dsa").fit(model, X, y)
    np.testing.assert_array_equal(fitted.score(nominal), fitted.score(nominal, workers=2))
    assert (fitted.score(nominal[2040:2060]) == fitted.score(nominal)[2040:2060]).all()
