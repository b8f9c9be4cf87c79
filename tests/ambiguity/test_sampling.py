import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from fireassay.ambiguity.sampling import member_quotas, soft_labels  # noqa: E402
from fireassay.core import ParameterError  # noqa: E402

pytestmark = pytest.mark.extras


@given(st.lists(st.integers(1, 2**40 - 1), min_size=1, max_size=30))
def test_soft_labels_sum_to_exactly_one_with_two_non_zeros(steps):
    second = np.array(steps) / 2.0**40
    pairs = np.stack([np.arange(len(steps)) % 4, 4 + np.arange(len(steps)) % 3], axis=1)
    labels = soft_labels(pairs, second, 7)
    assert labels.dtype == np.float64
    assert (labels.sum(axis=1) == 1.0).all()
    assert ((labels > 0).sum(axis=1) == 2).all()


@given(st.lists(st.integers(0, 5), min_size=1, max_size=12), st.integers(1, 200))
def test_quotas_are_even_over_pairs_and_their_autoencoders(members, n):
    pairs = [(member, member + 1) for member in members]
    quotas = member_quotas(pairs, n, np.random.default_rng(0))
    assert sum(quotas) == n
    totals = dict.fromkeys(pairs, 0)
    for pair, quota in zip(pairs, quotas, strict=True):
        totals[pair] += quota
    assert max(totals.values()) - min(totals.values()) <= 1
    for pair in totals:
        own = [q for p, q in zip(pairs, quotas, strict=True) if p == pair]
        assert max(own) - min(own) <= 1


@settings(max_examples=8, deadline=None)
@given(st.floats(0.005, 1.0), st.integers(1, 60), st.sampled_from(["test", "train", "any"]))
def test_every_sample_is_as_ambiguous_as_asked(fitted, delta_max, n, split):
    amb = fitted.sample(n, delta_max=delta_max, split=split)
    ordered = np.sort(amb.soft_labels, axis=1)
    assert len(amb) == len(amb.X) == n
    assert (ordered[:, -1] - ordered[:, -2] <= delta_max).all()
    assert (amb.soft_labels.sum(axis=1) == 1.0).all()
    assert ((amb.soft_labels > 0).sum(axis=1) == 2).all()
    rows = np.arange(n)
    first = np.searchsorted(amb.classes, amb.pairs[:, 0])
    second = np.searchsorted(amb.classes, amb.pairs[:, 1])
    assert (amb.soft_labels[rows, first] > 0).all()
    assert (amb.soft_labels[rows, second] > 0).all()
    assert ((amb.labels == amb.pairs[:, 0]) | (amb.labels == amb.pairs[:, 1])).all()
    assert (amb.X >= 0).all()
    assert (amb.X <= 1).all()


def test_labels_are_the_discriminators_at_the_latent_points(fitted, amb):
    for row in range(0, len(amb), 37):
        net = fitted.fitted_.net(int(amb.autoencoders[row]))
        code = torch.from_numpy(amb.codes[row].astype(np.float32)).reshape(1, 1, 2)
        with torch.no_grad():
            second = float(net.second_class_probability(code))
            image = net.decode(code)[0, 0].numpy()
        assert amb.soft_labels[row].max() == pytest.approx(max(second, 1 - second), abs=1e-6)
        assert amb.X[row].ravel() == pytest.approx(image, abs=1e-5)


def test_drawn_labels_follow_the_soft_labels(fitted):
    amb = fitted.sample(3000, delta_max=0.9)
    rows = np.arange(len(amb))
    second = amb.soft_labels[rows, amb.pair_positions[:, 1]]
    drawn = amb.labels == amb.pairs[:, 1]
    for low, high in ((0.0, 0.35), (0.35, 0.65), (0.65, 1.0)):
        part = (second >= low) & (second < high)
        assert drawn[part].mean() == pytest.approx(second[part].mean(), abs=0.05)


def test_control_rows_are_reconstructions_of_held_out_rows(fitted, amb, digits):
    control = amb.control
    assert len(control) > 50
    assert control.shape[1:] == digits.X.shape[1:]
    assert fitted.held_out_[control.rows].all()
    assert (control.labels == digits.y[control.rows]).all()
    own = np.abs(control.X - digits.X[control.rows]).mean()
    other = np.abs(control.X - digits.X[control.rows[::-1]]).mean()
    assert own < 0.7 * other
    assert np.asarray(control).shape == control.X.shape


def test_weighted_and_uniform_sampling_differ(fitted):
    weighted, uniform = fitted.sample(200), fitted.sample(200, weighted=False)
    assert weighted.sha256 != uniform.sha256
    assert not uniform.manifest["weighted"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 0}, "'n' parameter"),
        ({"n": 5, "delta_max": 0.0}, "'delta_max' parameter"),
        ({"n": 5, "delta_max": 1.5}, "'delta_max' parameter"),
        ({"n": 5, "split": "validation"}, "'split' parameter"),
    ],
)
def test_bad_arguments_are_named(fitted, arguments, message):
    with pytest.raises(ParameterError, match=message):
        fitted.sample(**arguments)
