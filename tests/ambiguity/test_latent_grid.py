import numpy as np
import pytest

torch = pytest.importorskip("torch")

from fireassay.ambiguity.sampling import LatentGrid, jacobian_norms, latent_grid  # noqa: E402
from fireassay.ambiguity.stacked_networks import (  # noqa: E402
    CELLS,
    analytic_probability,
    confined_anchors,
)

pytestmark = pytest.mark.extras


def test_anchors_fill_the_space_between_the_class_means():
    anchors, size = confined_anchors(3.0)
    assert anchors.shape == (CELLS**2, 2)
    assert anchors.min(axis=0) == pytest.approx([-3 + size[0] / 2, -3 + size[1] / 2])
    assert anchors.max(axis=0) == pytest.approx([3 - size[0] / 2, 3 - size[1] / 2])
    assert len(np.unique(anchors.round(9), axis=0)) == CELLS**2
    tall, tall_size = confined_anchors(5.0)
    assert tall[:, 1].max() == pytest.approx(5 - tall_size[1] / 2)
    assert tall[:, 0].max() < 3


def test_points_fall_into_the_cell_that_was_drawn():
    # A sampler that swaps the two axes puts them elsewhere.
    anchors, size = confined_anchors(3.0)
    weights = np.zeros(len(anchors))
    chosen = 7 * CELLS + 41
    weights[chosen] = 1.0
    points = LatentGrid(anchors, size, weights).draw(500, np.random.default_rng(0))
    assert (np.abs(points - anchors[chosen]) <= size / 2).all()
    assert points.std(axis=0) == pytest.approx(size / np.sqrt(12), rel=0.1)


def test_weights_are_the_jacobian_norm_of_the_decoder(fitted):
    net = fitted.fitted_.net(0)
    grid = latent_grid(net, 0.25, 3.0)
    codes = torch.from_numpy(grid.anchors.astype(np.float32))
    norms = jacobian_norms(net, codes[None])
    for row in range(0, len(codes), 17):
        jacobian = torch.autograd.functional.jacobian(
            lambda z: net.decode(z.reshape(1, 1, 2))[0, 0], codes[row]
        )
        assert norms[row] == pytest.approx(float(jacobian.norm()), rel=1e-4)
    assert grid.weights == pytest.approx(norms / norms.sum())
    assert grid.weights.sum() == pytest.approx(1.0)
    uniform = latent_grid(net, 0.25, 3.0, weighted=False)
    assert np.ptp(uniform.weights) == 0.0


@pytest.mark.parametrize("delta_max", [0.003, 0.1, 0.4])
def test_every_anchor_is_ambiguous_enough(fitted, delta_max):
    net = fitted.fitted_.net(1)
    grid = latent_grid(net, delta_max, 3.0)
    with torch.no_grad():
        codes = torch.from_numpy(grid.anchors.astype(np.float32))[None]
        second = net.second_class_probability(codes)[0].numpy()
    assert len(second) > 0
    assert (np.abs(2 * second - 1) <= delta_max).all()


def test_analytic_posterior_is_bayes_rule_for_the_prior():
    from scipy.stats import norm

    x = np.linspace(-1, 1, 9)
    first, second = norm.pdf(x, -3, 1), norm.pdf(x, 3, 1)
    assert analytic_probability(x) == pytest.approx(second / (first + second))


def test_labels_follow_the_posterior_of_the_prior(fitted):
    # The discriminator is trained on the prior; between the classes it should be near Bayes' rule.
    x = np.linspace(-3, 3, 25)
    codes = np.stack([x, np.zeros_like(x)], axis=1).astype(np.float32)
    for member in fitted.fitted_.members("any"):
        with torch.no_grad():
            second = fitted.fitted_.net(member).second_class_probability(
                torch.from_numpy(codes)[None]
            )[0]
        gap = np.abs(second.numpy() - analytic_probability(x))
        assert gap.mean() < 0.06
        assert (np.diff(second.numpy()) > -0.02).all()
