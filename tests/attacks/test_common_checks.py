"""What every attack must do: one table of attacks, crossed with the promises of the result."""

import warnings

import numpy as np
import pytest

from fireassay import attacks
from fireassay.attacks.norms import length
from fireassay.attacks.registry import accepts
from fireassay.classifiers import as_classifier
from fireassay.core.errors import DataError, ModelError, ParameterError

pytestmark = pytest.mark.extras
SIZES = {"l0": 12.0, "l1": 4.0, "l2": 1.0, "linf": 0.1}


def cases():
    """Every attack of the registry in every norm it has, and options that change the way."""
    for row in attacks.ATTACKS.values():
        for norm in row.norms:
            size = {"eps": SIZES[norm]} if row.fixed_size else {}
            limit = {} if row.needs_gradients else {"max_queries": 90}
            yield f"{row.name}-{norm}", (row.name, {"norm": norm, **size, **limit})
    yield "pgd-restarts", ("pgd", {"norm": "l2", "eps": 1.0, "restarts": 2})
    for loss in ("ce", "targeted"):
        yield f"apgd-{loss}", ("apgd", {"eps": 0.1, "loss": loss, "restarts": 2, "steps": 30})
    yield "deepfool-classes", ("deepfool", {"norm": "linf", "n_classes": 3})
    yield "deepfool-eps", ("deepfool", {"norm": "l2", "eps": 0.4})
    yield "hopskipjump-dct", ("hopskipjump", {"subspace": 4, "max_queries": 90})
    yield "hopskipjump-eps", ("hopskipjump", {"eps": 1.0, "max_queries": 90})
    yield "boundary-dct", ("boundary", {"subspace": "dct", "max_queries": 90})


ATTACKS = dict(cases())
BLACK_BOX = [k for k, (name, _) in ATTACKS.items() if not attacks.ATTACKS[name].needs_gradients]
DECISION_BASED = [k for k in BLACK_BOX if accepts(attacks.ATTACKS[ATTACKS[k][0]].function, "pool")]
every_attack = pytest.mark.parametrize("key", ATTACKS)


def run(key, model, X, y=None, **changes):
    name, parameters = ATTACKS[key]
    return attacks.make(name, **{**parameters, **changes})(model, X, y)


def assert_same(a, b, rows=slice(None)):
    for field in ("adversarial", "success", "distance", "queries", "gradient_queries", "status",
                  "queries_before_failure", "queries_to_failure"):  # fmt: skip
        np.testing.assert_array_equal(getattr(a, field)[rows], getattr(b, field), err_msg=field)


@every_attack
def test_success_agrees_with_the_model_asked_again(key, network, images):
    X, y = images[2][:25], images[3][:25]
    out = run(key, network, X, y)
    np.testing.assert_array_equal(network.predict(out.adversarial) != y, out.success)
    np.testing.assert_array_equal(out.success, out.status != "not found")
    assert out.adversarial.shape == X.shape
    assert out.adversarial.dtype == X.dtype
    assert (out.status == "found").sum() >= 3


@every_attack
def test_counts_are_exact(key, network, images):
    X, y = images[2][:12], images[3][:12]
    forward, backward = network.queries, network.gradient_queries
    out = run(key, network, X, y)
    assert network.queries - forward == out.queries.sum() + out.shared_queries
    assert network.gradient_queries - backward == out.gradient_queries.sum()


@every_attack
def test_points_stay_inside_bounds_and_ball_after_rounding(key, network, images):
    X, y = images[2][:25], images[3][:25]
    out = run(key, network, X, y)
    assert out.adversarial.min() >= 0
    assert out.adversarial.max() <= 1
    found = out.status == "found"
    differences = (out.adversarial.astype(np.float64) - X).reshape(len(X), -1)
    measured = length(differences, out.norm)
    np.testing.assert_allclose(out.distance[found], measured[found], rtol=1e-12)
    assert np.isinf(out.distance[out.status == "not found"]).all()
    limit = ATTACKS[key][1].get("eps", np.inf)
    assert (out.distance[found] <= limit).all()


@every_attack
def test_order_and_batch_do_not_matter(key, network, images):
    X, y = images[2][:10], images[3][:10]
    whole = run(key, network, X, y)
    order = np.array([7, 2, 9, 4])
    assert_same(whole, run(key, network, X[order], y[order]), order)
    assert_same(whole, run(key, network, X[3:4], y[3:4]), slice(3, 4))


@every_attack
def test_a_seed_repeats_the_result(key, network, images):
    X, y = images[2][:8], images[3][:8]
    assert_same(run(key, network, X, y, seed=5), run(key, network, X, y, seed=5))


@every_attack
def test_samples_that_are_wrong_already(key, network, images):
    X = images[2][:6]
    wrong = (network.predict(X) + 1) % 10
    out = run(key, network, X, wrong)
    assert (out.status == "already wrong").all()
    assert (out.distance == 0).all()
    assert (out.queries_to_failure == 0).all()
    assert (out.queries == 1).all()
    np.testing.assert_array_equal(out.adversarial, X)


@every_attack
def test_without_labels_the_predicted_class_is_attacked(key, network, images):
    X = images[2][:15]
    out = run(key, network, X)
    assert not (out.status == "already wrong").any()
    np.testing.assert_array_equal(
        network.predict(out.adversarial) != network.predict(X), out.success
    )


@every_attack
@pytest.mark.parametrize("limit", [0, 1, 2, 3, 7, 40])
def test_the_limit_is_hard(key, limit, network, images):
    X, y = images[2][:8], images[3][:8]
    before = network.queries
    out = run(key, network, X, y, max_queries=limit)
    assert out.queries.max() <= limit
    assert network.queries - before == out.queries.sum() + out.shared_queries
    if limit == 0:
        assert (out.status == "not found").all()
    else:
        np.testing.assert_array_equal(network.predict(out.adversarial) != y, out.success)


@every_attack
def test_failure_lies_between_two_checks(key, network, images):
    X, y = images[2][:25], images[3][:25]
    out = run(key, network, X, y)
    found, standing = out.status == "found", out.status == "not found"
    assert (out.queries_before_failure[found] < out.queries_to_failure[found]).all()
    assert (out.queries_to_failure[found] <= out.queries[found]).all()
    assert np.isinf(out.queries_to_failure[standing]).all()
    assert (out.queries_before_failure[standing] <= out.queries[standing]).all()
    gradients = out.gradient_queries_before_failure[found]
    assert (gradients <= out.gradient_queries_to_failure[found]).all()


@every_attack
def test_masked_features_are_left_alone(key, network, images):
    X, y = images[2][:10], images[3][:10]
    mask = np.ones((8, 8), dtype=bool)
    mask[:, :3] = False
    out = run(key, network, X, y, mask=mask)
    np.testing.assert_array_equal(out.adversarial[:, ~mask], X[:, ~mask])
    assert (out.status == "found").any()


@every_attack
def test_a_constant_model_cannot_be_broken(key, images):
    torch = pytest.importorskip("torch")

    class Constant(torch.nn.Module):
        def forward(self, x):
            return x.flatten(1)[:, :2] * 0.0 + torch.tensor([1.0, 0.0])

    model = as_classifier(Constant(), classes=[0, 1], bounds=(0, 1), output="logits")
    out = run(key, model, images[2][:3])
    assert (out.status == "not found").all()
    assert np.isinf(out.distance).all()


@every_attack
def test_bad_inputs_get_typed_errors(key, network, images):
    X, y = images[2][:4], images[3][:4]
    with pytest.raises(DataError, match="bounds"):
        run(key, network, X * 255, y)
    with pytest.raises(DataError, match="finite"):
        run(key, network, np.full_like(X, np.nan), y)
    with pytest.raises(DataError, match="at least 1 row"):
        run(key, network, X[:0])
    with pytest.raises(DataError, match="classes of the model"):
        run(key, network, X, y + 100)
    with pytest.raises(DataError, match="same number of rows"):
        run(key, network, X, y[:2])
    with pytest.raises(DataError, match="mask"):
        run(key, network, X, y, mask=[True, False])
    with pytest.raises(ParameterError, match="norm"):
        run(key, network, X, y, norm="l7")
    with pytest.raises(ParameterError, match="seed"):
        run(key, network, X, y, seed=-1)
    with pytest.raises(ParameterError, match="max_queries"):
        run(key, network, X, y, max_queries=-1)


@pytest.mark.parametrize("key", [k for k in ATTACKS if k not in BLACK_BOX])
def test_gradient_attacks_say_what_to_do_without_gradients(key):
    model = as_classifier(lambda X: np.tile([0.3, 0.7], (len(X), 1)), classes=[0, 1])
    with pytest.raises(ModelError, match="hopskipjump"):
        run(key, model, np.zeros((2, 3)))


@pytest.mark.parametrize("key", [k for k in DECISION_BASED if "dct" not in k])
def test_decision_attacks_reach_a_known_boundary(key, plane):
    """The distance to a hyperplane is known; the attack may not undercut it and comes near."""
    model, normal = plane
    X = np.random.default_rng(3).standard_normal((20, 20)).clip(-2, 2)
    out = run(key, model, X, eps=None, max_queries=1500)
    gap = np.abs(X @ normal - 0.1)
    truth = gap if out.norm == "l2" else gap / np.abs(normal).sum()
    assert (out.status == "found").all()
    assert (out.distance >= truth * (1 - 1e-9)).all()
    assert np.median(out.distance / truth) < (1.05 if out.norm == "l2" else 1.6)


@pytest.mark.parametrize("key", DECISION_BASED)
def test_a_pool_start_is_nearer_and_its_queries_are_shared(key, network, images):
    X, pool = images[2][:20], images[0][:300]
    before = network.queries
    near = run(key, network, X, pool=pool, max_queries=12)
    assert near.shared_queries == 300
    assert network.queries - before == near.queries.sum() + 300
    labels = network.predict(pool)
    again = run(key, network, X, pool=(pool, labels), max_queries=12)
    assert again.shared_queries == 0
    np.testing.assert_array_equal(near.distance, again.distance)
    far = run(key, network, X, max_queries=12)
    if near.norm == "l2" and "eps" not in key:
        assert np.median(near.distance) < np.median(far.distance)


@pytest.mark.parametrize("key", DECISION_BASED)
def test_a_pool_of_one_class_falls_back_to_noise(key, network, images):
    X = images[2][:30]
    predicted = network.predict(X)
    same = X[predicted == predicted[0]]
    out = run(key, network, same[:1], pool=same)
    assert out.status[0] in ("found", "not found")
    assert out.queries[0] > 1


def test_float64_and_float32_samples_keep_their_type(network, images):
    X = images[2][:5].astype(np.float64)
    out = attacks.hopskipjump(network, X, max_queries=60)
    assert out.adversarial.dtype == np.float64
    np.testing.assert_array_equal(
        network.predict(out.adversarial) != network.predict(X), out.success
    )


def test_rows_without_declared_bounds_are_attacked_within_their_range(plane):
    _, normal = plane
    model = as_classifier(
        lambda X: np.column_stack([X @ normal <= 0.1, X @ normal > 0.1]).astype(float),
        classes=["left", "right"],
    )
    X = np.random.default_rng(4).standard_normal((10, 20))
    out = attacks.hopskipjump(model, X, max_queries=400)
    truth = np.abs(X @ normal - 0.1)
    assert (out.distance >= truth * (1 - 1e-9)).all()
    assert np.median(out.distance / truth) < 1.5


def test_labels_alone_are_enough_for_decision_attacks(network, images):
    model = as_classifier(network.predict, classes=range(10), bounds=(0, 1), output="labels")
    out = attacks.boundary(model, images[2][:5], max_queries=80)
    assert (out.status == "found").all()


def test_what_a_row_says_is_what_the_attack_does(network, images):
    X, y = images[2][:6], images[3][:6]
    for row in attacks.ATTACKS.values():
        settings = row.within(60, 2.0, {"eps": 0.1})
        out = attacks.make(row.name, **settings)(network, X, y)
        if row.name != "auto":  # it takes what the model has
            assert (out.gradient_queries.sum() > 0) == row.needs_gradients
        assert out.queries.max() <= settings.get("max_queries", 60)
        if row.most_queries is not None:
            assert out.queries.max() == row.most_queries


def test_the_suite_is_one_command_in_the_range_of_the_model(network, plane):
    for model in (network, plane[0]):
        low, high = model.bounds
        assert attacks.suite(model) == [("auto", {"norm": "linf", "eps": 0.1 * (high - low)})]
    unbounded = as_classifier(lambda X: np.tile([0.3, 0.7], (len(X), 1)), classes=[0, 1])
    with pytest.raises(ParameterError, match="bounds"):
        attacks.suite(unbounded)
    assert attacks.suite(unbounded, eps=0.2)[0][1]["eps"] == 0.2


def test_make_names_the_attacks_it_knows():
    with pytest.raises(ParameterError, match="hopskipjump"):
        attacks.make("unknown")


def test_no_warning_leaves_an_attack(network, images):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        out = attacks.pgd(network, images[2][:3], images[3][:3], eps=1e-9)
    assert len(out.success) == 3
