"""Gradient attacks where the truth is known: linear models, and ART as an oracle."""

import numpy as np
import pytest

from fireassay import attacks
from fireassay.classifiers import as_classifier
from fireassay.core.errors import ParameterError

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.extras


@pytest.fixture(scope="module")
def linear():
    """Three linear logits in 12 dimensions, without bounds, in double precision."""
    torch.manual_seed(0)
    module = torch.nn.Linear(12, 3).double()
    model = as_classifier(module, classes=[0, 1, 2], output="logits")
    X = np.random.default_rng(0).standard_normal((30, 12))
    weights, offsets = module.weight.detach().numpy(), module.bias.detach().numpy()
    scores = X @ weights.T + offsets
    best = scores.argmax(axis=1)
    gaps = scores[np.arange(30), best][:, None] - scores
    slopes = weights[best][:, None, :] - weights[None]
    return model, X, gaps, slopes


@pytest.mark.parametrize(("norm", "dual"), [("l2", 2), ("linf", 1)])
def test_deepfool_reaches_the_nearest_boundary_of_a_linear_model(linear, norm, dual):
    model, X, gaps, slopes = linear
    with np.errstate(invalid="ignore"):
        truth = np.nanmin(gaps / np.linalg.norm(slopes, dual, axis=2), axis=1)
    out = attacks.deepfool(model, X, norm=norm)
    assert (out.status == "found").all()
    assert (out.distance >= truth * (1 - 1e-6)).all()
    assert (out.distance <= 1.011 * truth).all()  # it ends on the boundary, within 1 %


@pytest.mark.parametrize(("norm", "dual"), [("l1", np.inf), ("l2", 2), ("linf", 1)])
def test_fmn_reaches_the_nearest_boundary_of_a_linear_model(linear, norm, dual):
    model, X, gaps, slopes = linear
    with np.errstate(invalid="ignore"):
        truth = np.nanmin(gaps / np.linalg.norm(slopes, dual, axis=2), axis=1)
    out = attacks.fmn(model, X, norm=norm)
    assert (out.status == "found").all()
    assert (out.distance >= truth * (1 - 1e-6)).all()
    assert np.median(out.distance / truth) < 1.03


def test_l0_counts_the_features_that_change(linear):
    model, X, *_ = linear
    out = attacks.fmn(model, X, norm="l0")
    np.testing.assert_array_equal(out.distance, (out.adversarial != X).sum(axis=1))
    assert np.median(out.distance) == 1  # nothing bounds a single feature here


def test_deepfool_with_two_classes_looks_at_the_likeliest_other_only(linear):
    model, X, gaps, slopes = linear
    second = np.argsort(gaps, axis=1)[:, 1]
    rows = np.arange(len(X))
    truth = gaps[rows, second] / np.linalg.norm(slopes[rows, second], axis=1)
    out = attacks.deepfool(model, X, n_classes=2)
    assert (out.distance <= 1.02 * truth * (1 + 1e-4)).all()


@pytest.mark.parametrize(("norm", "dual"), [("l1", np.inf), ("l2", 2), ("linf", 1)])
def test_one_step_breaks_exactly_the_samples_within_reach(norm, dual):
    """Two linear logits: a step of size eps crosses if and only if the boundary is nearer."""
    torch.manual_seed(1)
    module = torch.nn.Linear(12, 2).double()
    model = as_classifier(module, classes=[0, 1], output="logits")
    X = np.random.default_rng(1).standard_normal((60, 12))
    slope = (module.weight[0] - module.weight[1]).detach().numpy()
    gap = np.abs(X @ slope + float((module.bias[0] - module.bias[1]).detach()))
    truth = gap / np.linalg.norm(slope, dual)
    eps = float(np.median(truth)) * 1.001
    for attack in (attacks.fgm, attacks.bim, attacks.pgd):
        out = attack(model, X, norm=norm, eps=eps)
        np.testing.assert_array_equal(out.success, truth < eps, err_msg=attack.__name__)


def test_more_restarts_never_lose_a_sample(network, images):
    X, y = images[2][:40], images[3][:40]
    once = attacks.pgd(network, X, y, eps=0.06, steps=5)
    often = attacks.pgd(network, X, y, eps=0.06, steps=5, restarts=4)
    assert (often.success >= once.success).all()


def test_pgd_breaks_at_least_as_many_as_art(network, images):
    pytest.importorskip("art")
    X, y = images[2][:60], images[3][:60]
    theirs = attacks.art("ProjectedGradientDescentNumpy", eps=0.12, eps_step=0.03, max_iter=10)(
        network, X, y, norm="linf"
    )
    ours = attacks.pgd(network, X, y, norm="linf", eps=0.12, steps=10)
    assert ours.success.sum() >= theirs.success.sum()


@pytest.mark.parametrize("bad", [{"eps": 0}, {"eps": float("nan")}, {"steps": 0}, {"restarts": 0}])
def test_bad_parameters(network, images, bad):
    with pytest.raises(ParameterError):
        attacks.pgd(network, images[2][:2], images[3][:2], **bad)
    with pytest.raises(ParameterError, match="deepfool"):
        attacks.deepfool(network, images[2][:2], norm="l1")


@pytest.mark.parametrize("attack", [attacks.bim, attacks.pgd])
def test_what_seems_wrong_is_asked_again_in_one_call_at_the_end(attack):
    """Two forward calls whatever the number of steps: before and after."""
    torch.manual_seed(1)
    module = torch.nn.Sequential(torch.nn.Linear(12, 16), torch.nn.ReLU(), torch.nn.Linear(16, 3))
    model = as_classifier(module, classes=[0, 1, 2], bounds=(0, 1), output="logits")
    X = np.random.default_rng(2).random((40, 12), dtype=np.float32)
    asked = []
    answer = model.predict_proba
    model.predict_proba = lambda rows: asked.append(len(rows)) or answer(rows)
    out = attack(model, X, eps=0.1, steps=10)
    first = np.unique(out.queries_to_failure[out.status == "found"])
    assert len(first) > 2, "samples fall at different steps"
    assert len(asked) == 2
    np.testing.assert_array_equal(model.predict(out.adversarial) != model.predict(X), out.success)


def test_steps_of_linf_end_inside_the_ball_to_the_last_bit():
    torch.manual_seed(1)
    module = torch.nn.Linear(12, 3)
    model = as_classifier(module, classes=[0, 1, 2], bounds=(-7, 7), output="logits")
    X = np.random.default_rng(3).uniform(-7, 7, (60, 12)).astype(np.float32)
    mask = np.arange(12) != 4
    for eps in (0.1, 1 / 3, 0.7):
        out = attacks.pgd(model, X, eps=eps, steps=5, mask=mask)
        moved = out.adversarial.astype(np.float64) - X
        assert np.abs(moved).max() <= eps
        assert np.abs(moved).max() > 0.99 * eps
        assert (moved[:, 4] == 0).all()
