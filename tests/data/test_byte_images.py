"""Very many images of bytes are never held as floats, and give what the same floats give."""

import pickle
import tracemalloc

import numpy as np
import pytest

from fireassay import as_classifier
from fireassay.assessment import evaluate
from fireassay.classifiers import kept_answers, wrapped
from fireassay.classifiers.kept_answers import KeptAnswers, KeptSet
from fireassay.core import mapped as byte_images
from fireassay.core import sha256
from fireassay.core.mapped import ByteImages
from fireassay.core.row_index import RowIndex
from fireassay.data import DataSet, dataset, load, pixel_range


@pytest.fixture
def images():
    return np.random.default_rng(0).integers(0, 256, (600, 8, 8, 3), dtype=np.uint8)


@pytest.fixture
def many(monkeypatch):
    """From here on 1,000 numbers are very many; blocks of them are not."""
    monkeypatch.setattr(dataset, "LEAST_NUMBERS", 1000)
    monkeypatch.setattr(byte_images, "LEAST_NUMBERS", 600 * 8 * 8 * 3)


def bright(rows):
    assert rows.dtype == np.float32
    p = rows.mean(axis=(1, 2, 3), dtype=np.float64)[:, None] / 255
    return np.hstack([p, 1 - p])


def test_bytes_stay_and_rows_are_floats(images, many):
    X = DataSet(images).X
    assert isinstance(X, ByteImages)
    assert np.shares_memory(X.stored, images)
    assert (X[:3].dtype, X[5].dtype, X[[1, 4]].dtype) == (np.float32,) * 3
    assert isinstance(X[0:], ByteImages)


def test_loaded_images_are_scaled_row_by_row(images, many, monkeypatch, tmp_path):
    np.savez(tmp_path / "test.npz", X=images, y=np.arange(600) % 2)
    before = load(tmp_path / "test.npz")
    monkeypatch.setattr(pixel_range, "LEAST_NUMBERS", 1000)
    X = load(tmp_path / "test.npz").X
    assert isinstance(X, ByteImages)
    assert not isinstance(before.X, ByteImages)
    assert np.array_equal(X[7:90], before.X[7:90])
    assert (float(X.min()), float(X.max())) == (0.0, 1.0)
    after = load(tmp_path / "test.npz")
    assert (after.rows.kinds, after.rows.is_plain) == (before.rows.kinds, True)
    assert after.sha256 == load(tmp_path / "test.npz").sha256
    assert after.sha256 != DataSet(images, after.y, after.ids).sha256  # not divided


def test_copies_and_hashes_know_the_scale(images):
    plain, scaled = ByteImages(images), ByteImages(images, 255)
    assert sha256(plain) != sha256(scaled)
    again = pickle.loads(pickle.dumps(scaled))
    assert isinstance(again, ByteImages)
    assert np.array_equal(again[3], scaled[3])
    assert float(again[3].max()) <= 1.0


def test_the_model_gets_the_same_floats(images, many):
    model = as_classifier(bright, bounds=(0, 255))
    found = model.predict_proba(DataSet(images).X)
    assert np.array_equal(found, model.predict_proba(images.astype(np.float32)))


def test_no_copy_of_all_rows_is_made(many):
    images = np.zeros((2000, 32, 32, 3), dtype=np.uint8)
    X, model = DataSet(images).X, as_classifier(bright, bounds=(0, 255))
    tracemalloc.start()
    model.predict_proba(X)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < images.nbytes


def test_accuracy_and_reliability_are_the_same(images, monkeypatch):
    y = (images.mean(axis=(1, 2, 3)) < 127.5).astype(int)

    def numbers():
        model = as_classifier(lambda rows: bright(rows.astype(np.float32)), bounds=(0, 255))
        found = evaluate(model, images, y, parts=("accuracy", "reliability"))
        return {p.question: p.estimates for p in found.parts if p.status == "done"}

    before = numbers()
    monkeypatch.setattr(dataset, "LEAST_NUMBERS", 1000)
    monkeypatch.setattr(byte_images, "LEAST_NUMBERS", images.size)
    assert numbers() == before
    assert set(before) == {"accuracy", "reliability"}


def test_rows_that_are_not_known_yet_are_copied_a_few_at_a_time(monkeypatch):
    monkeypatch.setattr(kept_answers, "_NUMBERS_COPIED", 300 * 192)  # one block of 256 rows
    X = np.random.default_rng(1).random((1000, 8, 8, 3), dtype=np.float32)
    model = as_classifier(lambda rows: bright(255 * rows))
    expected = model.predict_proba(X)
    model.kept = KeptAnswers([KeptSet(RowIndex(X))], like=expected)
    model.predict_proba(X[400:410])
    before, sizes = model.queries, []
    taken = model._in_blocks
    model._in_blocks = lambda *given, **options: (
        sizes.append(len(given[2])),
        taken(*given, **options),
    )[1]
    assert np.array_equal(model.predict_proba(X), expected)
    assert model.queries - before == 1000
    assert sizes == [256, 256, 256, 222]
    assert model.kept.held.all()


def test_nothing_takes_a_byte_for_the_number(images):
    kept = ByteImages(images, divisor=255)
    floats = images.astype(np.float32) / np.float32(255)
    assert kept.dtype == np.float32
    assert np.array_equal(np.asarray(kept), floats)
    assert np.array_equal(np.asarray(kept, dtype=np.float64), floats.astype(np.float64))
    assert np.array_equal(np.concatenate([kept, floats]), np.concatenate([floats, floats]))
    assert np.array_equal(2 * kept - 1, 2 * floats - 1)
    assert np.array_equal(kept.mean(axis=0), floats.mean(axis=0))
    assert np.array_equal(kept.reshape(len(kept), -1)[3:5], floats.reshape(len(kept), -1)[3:5])
    assert not hasattr(kept, "iloc")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::fireassay.core.errors.AssumptionWarning")
def test_every_part_is_the_same(monkeypatch):
    torch = pytest.importorskip("torch")
    from sklearn.datasets import load_digits
    from sklearn.linear_model import LogisticRegression

    digits = load_digits()
    X, y = (digits.images * 15.9).astype(np.uint8), digits.target
    fitted = LogisticRegression(max_iter=300).fit(X[:700].reshape(700, -1) / 255, y[:700])
    layer = torch.nn.Linear(64, 10)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor(fitted.coef_))
        layer.bias.copy_(torch.tensor(fitted.intercept_))
    network = torch.nn.Sequential(torch.nn.Flatten(), layer)
    few = {"ambiguity": {"samples": 60}, "survival": {"samples": 20}, "discovery": {"budget": 10}}

    def numbers(made):
        model = as_classifier(network, output="logits", classes=range(10), bounds=(0, 1))
        found = evaluate(
            model, made(X[700:1300]), y[700:1300], train=(made(X[:700]), y[:700]),
            operational=made(X[1300:]), settings=few,
        )  # fmt: skip
        return {p.question: p.estimates for p in found.parts if p.status == "done"}

    before = numbers(lambda rows: rows.astype(np.float32) / np.float32(255))
    for module in (dataset, wrapped):
        monkeypatch.setattr(module, "LEAST_NUMBERS", 1000)
    monkeypatch.setattr(byte_images, "LEAST_NUMBERS", 30_000)  # whole sets stay bytes
    assert numbers(lambda rows: ByteImages(rows, divisor=255)) == before
    assert len(before) == 6
