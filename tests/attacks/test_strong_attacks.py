"""Attacks whose strength must not depend on how a model states its confidence."""

import numpy as np
import pytest

from fireassay import attacks
from fireassay.attacks.directions import hill, make_layout
from fireassay.attacks.losses import log_odds, logit_ratio, target_ratio
from fireassay.classifiers import as_classifier
from fireassay.classifiers.protocol import backward_passes

pytestmark = pytest.mark.extras


class Foreign:
    """A gradient classifier with the protocol's own methods and nothing else."""

    def __init__(self, inner):
        self.inner = inner

    classes = property(lambda self: self.inner.classes)
    bounds = property(lambda self: self.inner.bounds)
    queries = property(lambda self: self.inner.queries)
    gradient_queries = property(lambda self: self.inner.gradient_queries)
    sha256 = "f" * 64

    def predict_proba(self, X):
        return self.inner.predict_proba(X)

    def predict(self, X):
        return self.inner.predict(X)

    def logits(self, X):
        return self.inner.logits(X)

    def loss_gradient(self, X, y):
        return self.inner.loss_gradient(X, y)

    def logit_gradients(self, X, columns):
        return self.inner.logit_gradients(X, columns)


@pytest.fixture(scope="module")
def sharpened(network):
    """The network with all logits 100 times as large: the same decisions."""
    torch = pytest.importorskip("torch")

    class Sharp(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = network.module

        def forward(self, x):
            return 100.0 * self.inner(x)

    return as_classifier(
        Sharp().eval(), classes=range(10), bounds=(0, 1), output="logits", batch_size=64
    )


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("fgm", {}),
        ("pgd", {}),
        ("apgd", {"loss": "ce"}),
        ("apgd", {}),
        ("square", {}),
        ("auto", {}),
    ],
    ids=["fgm", "pgd", "apgd-ce", "apgd-dlr", "square", "auto"],
)
def test_larger_logits_hide_nothing(name, parameters, network, sharpened, images):
    X, y = images[2][:60], images[3][:60]
    np.testing.assert_array_equal(network.predict(X), sharpened.predict(X))
    attack = attacks.make(name, eps=0.12, **parameters)
    plain, sharp = attack(network, X, y), attack(sharpened, X, y)
    assert (plain.status == "found").sum() >= 20
    assert sharp.success.mean() >= plain.success.mean() - (0.05 if name == "auto" else 0.1)


@pytest.mark.parametrize("loss", [log_odds, logit_ratio, target_ratio])
@pytest.mark.parametrize("classes", [2, 3, 6])
def test_weights_point_the_way_the_loss_grows(loss, classes):
    """Central differences of the value, up to a positive factor per row."""
    rng = np.random.default_rng(classes)
    logits = 3 * rng.standard_normal((20, classes))
    goal = rng.integers(0, classes, 20)
    columns = np.column_stack([goal, (goal + 1) % classes])
    _, weights = loss(logits, columns)
    slopes = np.zeros_like(logits)
    for k in range(classes):
        step = np.zeros(classes)
        step[k] = 1e-6
        slopes[:, k] = (loss(logits + step, columns)[0] - loss(logits - step, columns)[0]) / 2e-6
    # The ratio is constant where the attacked class comes third: that row has fallen long ago.
    moving = np.linalg.norm(slopes, axis=1) > 1e-6
    assert moving.sum() >= 10
    weights, slopes = weights[moving], slopes[moving]
    cosine = (weights * slopes).sum(axis=1)
    cosine /= np.linalg.norm(weights, axis=1) * np.linalg.norm(slopes, axis=1)
    np.testing.assert_allclose(cosine, 1.0, atol=1e-6)


def test_log_odds_is_cross_entropy_before_the_last_logarithm(network, images):
    X, y = images[2][:10], images[3][:10]
    logits, slope = network.score_gradient(X, y[:, None], lambda z, c: log_odds(z, c)[1])
    _, known = network.loss_gradient(X, y)
    wrong = 1.0 - network.predict_proba(X)[np.arange(10), y]
    np.testing.assert_allclose(slope * wrong[:, None, None], known, rtol=2e-3, atol=1e-6)
    np.testing.assert_allclose(np.log1p(np.exp(log_odds(logits, y[:, None])[0])),
                               -np.log1p(-wrong), rtol=1e-5)  # fmt: skip


def test_a_classifier_that_is_not_ours_pays_for_every_class(network, images):
    X, y = images[2][:8], images[3][:8]
    foreign = Foreign(network)
    assert (backward_passes(network), backward_passes(foreign)) == (1, 10)
    before = network.gradient_queries
    own, other = (attacks.apgd(m, X, y, eps=0.1, steps=5) for m in (network, foreign))
    np.testing.assert_array_equal(other.gradient_queries, 10 * own.gradient_queries)
    spent = own.gradient_queries.sum() + other.gradient_queries.sum()
    assert network.gradient_queries - before == spent
    np.testing.assert_allclose(own.adversarial, other.adversarial, atol=1e-5)


def test_square_breaks_what_decisions_alone_do_not(network, images):
    """Probabilities alone, the same queries: scores tell more than decisions."""
    X, y = images[2][:60], images[3][:60]
    model = as_classifier(network.predict_proba, classes=range(10), bounds=(0, 1))
    by_score = attacks.square(model, X, y, eps=0.12, max_queries=150)
    by_decision = attacks.hopskipjump(model, X, y, norm="linf", eps=0.12, max_queries=150)
    assert by_score.success.mean() >= by_decision.success.mean() + 0.1


def test_square_finds_the_corner_of_a_table(plane):
    """Blocks of features: a linear model falls exactly where its linf distance allows."""
    model, normal = plane
    X = np.random.default_rng(5).standard_normal((40, 20)).clip(-2, 2)
    reach = np.abs(X @ normal - 0.1) / np.abs(normal).sum()
    out = attacks.square(model, X, eps=0.3, max_queries=600)
    assert not (out.success & (reach > 0.3)).any()
    near = reach < 0.25
    assert near.sum() >= 10
    assert out.success[near].mean() > 0.9


@pytest.mark.parametrize("shape", [(28, 28), (3, 8, 10), (8, 10, 3), (12,)])
def test_windows_have_the_size_they_say(shape):
    size = int(np.prod(shape))
    layout = make_layout(shape, np.ones(size, dtype=bool))
    sides = layout.sides(0.25)
    corners = layout.drawn(sides, np.linspace(0, 0.999, 7))
    inside = layout.inside(corners, sides)
    assert (inside.sum(axis=1) == sides[0] * sides[1] * layout.channels).all()
    np.testing.assert_allclose(np.square(hill(sides)).sum(), 1.0)
    painted = layout.painted(corners, sides, np.ones(sides))
    np.testing.assert_array_equal(painted, inside.astype(float))


def test_one_budget_for_all_of_auto(network, images):
    X, y = images[2][:40], images[3][:40]
    tiny = attacks.auto(network, X, y, eps=0.01, budget=100)
    spent = tiny.queries + 2 * tiny.gradient_queries
    assert spent.max() <= 100
    assert spent[tiny.status == "not found"].min() >= 85
    fell = attacks.auto(network, X, y, eps=0.15, budget=100)
    assert set(fell.made_by[fell.status == "found"]) <= {m.name for m in attacks.members(network)}
    assert (fell.made_by[fell.status != "found"] == "").all()
    by_pgd = attacks.pgd(network, X, y, eps=0.15, steps=10)
    assert fell.success[by_pgd.success & (by_pgd.queries_to_failure <= 5)].all()


def test_auto_says_what_it_could_not_try(network, images):
    X, y = images[2][:12], images[3][:12]
    scores = as_classifier(network.predict_proba, classes=range(10), bounds=(0, 1))
    labels = as_classifier(network.predict, classes=range(10), bounds=(0, 1), output="labels")
    assert [m.name for m in attacks.members(scores)] == ["square", "hopskipjump"]
    assert [m.name for m in attacks.members(labels)] == ["hopskipjump"]
    out = attacks.auto(scores, X, y, eps=0.12, budget=60)
    assert any(text.startswith("apgd") and "gradients" in text for text in out.not_tried)
    out = attacks.auto(labels, X, y, eps=0.3, budget=60)
    assert any(text.startswith("square") and "labels" in text for text in out.not_tried)


def test_flat_gradients_leave_the_budget_to_square(images, network):
    """Probabilities that are rounded have no gradient; square still finds the way."""
    torch = pytest.importorskip("torch")

    class Rounded(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = network.module

        def forward(self, x):
            scores = self.inner(x)
            return torch.round(20 * scores) / 20

    model = as_classifier(Rounded().eval(), classes=range(10), bounds=(0, 1), output="logits")
    X, y = images[2][:40], images[3][:40]
    out = attacks.auto(model, X, y, eps=0.12, budget=300)
    found = out.status == "found"
    assert found.sum() >= 8
    assert set(out.made_by[found]) <= {"square", "pgd"}
    assert out.gradient_queries.max() <= 20


def test_every_change_of_fmn_in_l0_is_needed(network, images):
    _, _, X, y = (part[:60] for part in images)
    out = attacks.fmn(network, X, y, norm="l0", steps=15)
    fell = np.flatnonzero((out.status == "found") & (out.distance > 1) & (out.distance <= 16))
    assert len(fell) >= 5
    for row in fell:
        places = np.argwhere(out.adversarial[row] != X[row])
        undone = np.repeat(out.adversarial[row][None], len(places), axis=0)
        for point, place in zip(undone, places, strict=True):
            point[tuple(place)] = X[row][tuple(place)]
        assert (network.predict(undone) == y[row]).all()
