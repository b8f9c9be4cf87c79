import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.ensemble import ExtraTreesClassifier

from fireassay import as_classifier, reliability
from fireassay.core import DataError, ParameterError
from fireassay.reliability import PcaLatent, Ram, TopCells, VaeLatent, assess


@pytest.fixture(scope="module")
def digits():
    found = load_digits()
    X, y = found.images / 16.0, found.target
    flat = X.reshape(len(X), -1)
    forest = ExtraTreesClassifier(20, random_state=0).fit(flat[:900], y[:900])
    model = as_classifier(
        lambda rows: forest.predict_proba(rows.reshape(len(rows), -1)),
        classes=range(10),
        bounds=(0, 1),
    )
    return model, X, y


def test_top_cells_of_a_pca_latent(digits):
    model, X, y = digits
    latent = PcaLatent(3).fit(X[:900])
    top = TopCells(side=0.5, top_k=60, candidates=2000, decoded=3)

    def assess(top):
        method = reliability.Ram(latent=latent, top=top, radius=0.05)
        return reliability.assess(model, X[900:1400], y[900:1400], X[1400:], method=method)

    result = assess(top)
    found = result.details
    assert len(found.cells) == 60
    assert (np.diff(found.cells["mass"]) <= 1e-15).all()
    assert found.evaluated_mass == pytest.approx(found.cells["mass"].sum())
    assert 0 < found.evaluated_mass < 1
    inside = float(found.cells["mass"] @ found.cells["unastuteness"])
    assert found.pmi == pytest.approx(inside + 1 - found.evaluated_mass)
    assert result.pmi == found.pmi
    assert not result.is_bound
    average = TopCells(side=0.5, top_k=60, candidates=2000, decoded=3, rest="mean")
    assert assess(average).pmi == pytest.approx(inside / found.evaluated_mass)
    crossing = found.cells[found.cells["kind"] == "cross-boundary"]
    assert (crossing["unastuteness"] == 1).all()


def test_cells_stop_at_the_wanted_mass(digits):
    model, X, y = digits
    latent = PcaLatent(2).fit(X[:900])
    top = TopCells(side=1.0, top_k=10_000, mass=0.5, decoded=2)
    method = reliability.Ram(latent=latent, top=top, radius=0.01)
    found = reliability.assess(model, X[900:1400], y[900:1400], method=method).details
    lightest = found.cells["mass"].iloc[-1]
    assert 0.5 <= found.evaluated_mass < 0.5 + lightest + 1e-9


def test_balls_may_be_counted_by_splitting(digits):
    model, X, y = digits
    latent = PcaLatent(2).fit(X[:900])
    top = TopCells(side=1.0, top_k=2, decoded=1, balls=reliability.Splitting(50, 3, smallest=-3.0))
    method = reliability.Ram(latent=latent, top=top, radius=0.05)
    found = reliability.assess(model, X[900:1200], y[900:1200], method=method).details
    assert found.cells["unastuteness"].between(0, 1).all()


def test_images_without_a_latent_are_refused(digits):
    model, X, y = digits
    with pytest.raises(ParameterError, match="latent"):
        reliability.assess(model, X[:50], y[:50], method="ram")
    with pytest.raises(DataError, match="PCA"):
        PcaLatent(50).fit(X[:20])


@pytest.mark.extras
def test_a_vae_rebuilds_digits_and_is_repeatable():
    pytest.importorskip("torch")
    X = np.kron(load_digits().images[:300] / 16.0, np.ones((1, 3, 3)))
    latent = VaeLatent(8, epochs=30).fit(X)
    codes = latent.encode(X)
    rebuilt = latent.decode(codes)
    assert rebuilt.shape == X.shape
    assert rebuilt.min() >= 0
    assert rebuilt.max() <= 1
    error = ((rebuilt - X) ** 2).mean()
    assert error < 0.75 * ((X - X.mean(axis=0)) ** 2).mean()
    first, second = (VaeLatent(2, epochs=1).fit(X[:100]).encode(X[:5]) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    with pytest.raises(DataError, match=r"\[0, 1\]"):
        VaeLatent(2).fit(X * 16)


@pytest.mark.parametrize("name", ["constant", "flipped", "perfect"])
def test_odd_classifiers_in_latent_cells(digits, name):
    _, X, y = digits
    known = {row.tobytes(): label for row, label in zip(X, y, strict=True)}

    def answer(rows):
        truth = np.array([known.get(row.tobytes(), 0) for row in rows])
        column = {"constant": 0 * truth, "flipped": (truth + 1) % 10, "perfect": truth}[name]
        return np.eye(10)[column]

    model = as_classifier(answer, classes=range(10), bounds=(0, 1))
    top = TopCells(side=1.0, top_k=40, draws=30, candidates=300, decoded=2)
    found = reliability.assess(
        model,
        X[900:1200],
        y[900:1200],
        method=reliability.Ram(latent=PcaLatent(2).fit(X[:900]), top=top, radius=0.01),
    )
    error = {"constant": (y[900:1200] != 0).mean(), "flipped": 1.0, "perfect": 0.0}[name]
    assert found.n_errors / 300 == pytest.approx(error)
    assert 0 <= found.pmi <= found.pmi_upper <= 1
    assert "not a bound" in found.headline
    assert found.evidence().estimates["pmi_upper"].value >= error
    drawn = found.comparison[found.comparison["method"].str.contains("drawn")].iloc[0]
    assert 0 <= drawn["pmi"] <= drawn["pmi_upper"] <= 1


def test_the_papers_logarithm_makes_failures_rarer():
    images = np.random.default_rng(0).random((60, 4, 4))

    def bright(X):
        shares = np.asarray(X).reshape(len(X), -1).mean(axis=1)
        return np.column_stack([1 - shares, shares])

    def pmi(logarithm):
        top = TopCells(side=0.5, top_k=20, draws=0, rest="mean", logarithm=logarithm)
        ram = Ram(latent=PcaLatent(2).fit(images), top=top)
        return assess(bright, images, images.mean(axis=(1, 2)) > 0.5, method=ram).details.pmi

    assert 0 < pmi("common") < pmi("natural") < 1
