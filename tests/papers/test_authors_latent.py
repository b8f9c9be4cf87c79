"""The authors' MNIST network: density and cells against others' code, errors as printed."""

import os
from pathlib import Path

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

pytest.importorskip("torch")

from fireassay.data import mnist
from fireassay.papers.authors_latent import (
    BANDWIDTH,
    LOW,
    PROFILE_DRAWS,
    SIDE,
    AuthorsMnist,
    cells_of,
    log_density,
    separation,
    wrong_in_balls,
)


@pytest.fixture(scope="module")
def folder():
    if not os.environ.get("FIREASSAY_DATA"):
        pytest.skip("FIREASSAY_DATA is not set")
    return Path(os.environ["FIREASSAY_DATA"]) / "reasdl"


@pytest.fixture(scope="module")
def test_rows():
    if not os.environ.get("FIREASSAY_DATA"):
        pytest.skip("FIREASSAY_DATA is not set")
    data = mnist("test")
    return data.X.reshape(-1, 784).astype("float32"), data.labels


def test_density_is_that_of_scipy():
    rng = np.random.default_rng(0)
    rows, points = (rng.normal(size=(n, 8)).astype("float32") for n in (300, 40))
    kernels = np.stack(
        [multivariate_normal.logpdf(points, row, BANDWIDTH**2 * np.eye(8)) for row in rows]
    )
    theirs = logsumexp(kernels, axis=0) - np.log(len(rows))
    assert log_density(points, rows) == pytest.approx(theirs, abs=1e-3)


def test_cells_have_the_label_of_their_rows():
    latent = np.array([[0.01, 0.01], [0.02, 0.03], [0.31, 0.31], [0.32, 0.33]], dtype="float32")
    cells = cells_of(latent, np.array([3, 3, 4, 5]))
    at = {tuple(np.round((c - LOW) / SIDE).astype(int)): n for n, c in enumerate(cells["corner"])}
    assert cells["label"][at[45, 45]] == 3
    assert cells["label"][at[48, 48]] == -2  # of two classes
    assert (cells["label"] == -1).sum() == len(cells["label"]) - 2
    assert len(cells["label"]) <= PROFILE_DRAWS + 2


def test_the_network_errs_as_printed(folder, test_rows):
    X, y = test_rows
    assert (AuthorsMnist(folder).predict(X) != y).mean() == pytest.approx(0.0235)


def test_decoding_alone_misleads_it(folder, test_rows):
    network = AuthorsMnist(folder)
    X, y = test_rows[0][:2000], test_rows[1][:2000]
    decoded = network.decode(network.encode(X))
    assert np.abs(decoded - X).mean() < 0.06  # it is the digit: another picture is .15 away
    assert (network.predict(decoded) != y).mean() > 2 * (network.predict(X) != y).mean()


def test_balls_of_an_image_are_judged_by_its_label(folder, test_rows):
    X, y = test_rows[0][:2], test_rows[1][:2]
    own = wrong_in_balls({"start": 0, "end": 2}, str(folder), X, y)["wrong"]
    other = wrong_in_balls({"start": 0, "end": 2}, str(folder), X, (y + 1) % 10)["wrong"]
    assert max(own) < 0.5 < min(other)


def test_separation_is_half_the_distance_of_the_nearest_classes():
    points = np.array([[0, 0], [0, 1], [3, 4], [3, 1]], dtype=np.float32)
    assert separation(points, np.array([0, 0, 1, 1])) == 1.5
