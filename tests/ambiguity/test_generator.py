import dataclasses

import numpy as np
import pytest

pytest.importorskip("torch")

from fireassay import ambiguity
from fireassay.ambiguity import AmbiguityGenerator, Preset
from fireassay.core import DataError, NotEnoughEvidenceError, ParameterError

pytestmark = pytest.mark.extras
SHORT = Preset(
    "short", steps=90, warm_up=30, batch=32, hidden=32, code_noise=0.0, relative_acceptance=False
)


def test_report_names_every_pair_with_its_figures(fitted):
    report = fitted.report
    assert list(zip(report["first"], report["second"], strict=True)) == [(3, 8), (4, 9), (1, 7)]
    assert (report["accepted"] == 2).all()
    assert (report["label_accuracy"] >= 0.9).all()
    assert report["real_fake_accuracy"].between(0.4, 0.6).all()
    assert (report["analytic_gap"] < 0.12).all()
    assert (report["reason"] == "").all()


def test_same_seed_same_weights_and_other_seed_other_weights(digits):
    rows = np.isin(digits.y, [3, 8])
    preset = dataclasses.replace(SHORT, steps=12, warm_up=5)

    def weights(seed):
        gen = AmbiguityGenerator(tries=2, preset=preset, seed=seed)
        stack = gen.fit(digits.X[rows], digits.y[rows]).fitted_.stacks[0]
        return b"".join(array.tobytes() for array in stack.weight_arrays())

    here = weights(5)
    assert weights(5) == here
    assert weights(6) != here


@pytest.mark.slow
def test_same_seed_same_bytes_for_any_number_of_workers(digits, monkeypatch):
    # Three groups of one autoencoder each, so that both workers have something to train.
    monkeypatch.setattr("fireassay.ambiguity.training._GROUP", 1)
    rows = np.isin(digits.y, [3, 8])

    def drawn(seed, workers):
        gen = AmbiguityGenerator(tries=3, preset=SHORT, seed=seed)
        gen.fit(digits.X[rows], digits.y[rows], workers=workers)
        return gen.sample(20, split="any")

    here = drawn(5, workers=1)
    assert drawn(5, workers=2).sha256 == here.sha256
    assert drawn(6, workers=1).sha256 != here.sha256


def test_groups_hold_every_autoencoder_once_and_fit_into_memory():
    from fireassay.ambiguity.training import _GROUP, _GROUP_WEIGHTS, _groups

    members = [(pair, attempt) for attempt in range(2) for pair in range(45)]
    groups = _groups(members, 64, 784, Preset("fast"))
    assert [member for group in groups for member in group] == members
    assert max(map(len, groups)) <= _GROUP
    assert max(map(len, groups)) - min(map(len, groups)) <= 1
    large = _groups(members, 64, 200_000, Preset("fast"))
    assert len(large) == len(members)
    assert _GROUP_WEIGHTS < 128 * 200_000


def test_sampling_does_not_change_the_generator(fitted):
    first = fitted.sample(30)
    fitted.sample(17, split="train")
    assert fitted.sample(30).sha256 == first.sha256


def test_train_and_test_samples_come_from_different_autoencoders(fitted):
    test, training = fitted.sample(60), fitted.sample(60, delta_max=0.4, split="train")
    assert not set(test.autoencoders) & set(training.autoencoders)
    both = fitted.sample(60, split="any")
    assert set(both.autoencoders) == set(test.autoencoders) | set(training.autoencoders)
    assert set(fitted.autoencoders["split"]) == {"test", "train"}


def test_pairs_may_be_named_in_any_order_and_are_labels(digits):
    names = np.array(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "n"])
    gen = AmbiguityGenerator([("three", "eight")], tries=1, preset=SHORT)
    amb = gen.fit(digits.X, names[digits.y]).sample(10)
    assert set(amb.pairs.ravel()) == {"three", "eight"}
    assert amb.classes == tuple(sorted(names.tolist()))
    assert amb.soft_labels[:, amb.classes.index("three")] == pytest.approx(
        1 - amb.soft_labels[:, amb.classes.index("eight")]
    )


@pytest.fixture(scope="module")
def few_of_one_class(digits):
    """All pairs of four classes at one try; of the last class there are ten rows only."""
    last = (digits.y == 3) & (np.cumsum(digits.y == 3) <= 10)
    rows = (digits.y <= 2) | last
    return AmbiguityGenerator(tries=1, preset=SHORT).fit(digits.X[rows], digits.y[rows])


def test_all_pairs_and_too_few_samples_of_one_class_is_a_named_rejection(few_of_one_class):
    report = few_of_one_class.report.set_index(["first", "second"])
    assert list(report.index) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    for pair in ((0, 1), (0, 2), (1, 2)):
        assert report.loc[pair, "accepted"] == 1
    for pair in ((0, 3), (1, 3), (2, 3)):
        assert report.loc[pair, "accepted"] == 0
        assert report.loc[pair, "reason"].startswith("too few samples: 10 of one class")
    amb = few_of_one_class.sample(9)
    assert amb.soft_labels.shape == (9, 4)
    assert {tuple(pair) for pair in amb.pairs} == {(0, 1), (0, 2), (1, 2)}


def test_one_try_leaves_nothing_for_the_training_split(few_of_one_class):
    with pytest.raises(NotEnoughEvidenceError, match=r"first one is for the test split.*tries=4"):
        few_of_one_class.sample(4, split="train")


def test_colour_images(digits):
    rows = np.isin(digits.y, [0, 1])
    colour = np.stack([digits.X[rows], 1 - digits.X[rows], 0.5 * digits.X[rows]], axis=-1)
    amb = AmbiguityGenerator(tries=1, preset=SHORT).fit(colour, digits.y[rows]).sample(12)
    assert amb.X.shape == (12, 8, 8, 3)
    assert amb.X[..., 1] == pytest.approx(1 - amb.X[..., 0], abs=0.25)


def test_table_rows_keep_their_scale():
    from fireassay.data import breast_cancer

    data = breast_cancer()
    gen = AmbiguityGenerator(tries=1, preset=Preset("short", steps=150, batch=32, hidden=32))
    amb = gen.fit(data.X, data.y).sample(80)
    assert amb.X.dtype == data.X.dtype
    assert (amb.X.min(axis=0) >= data.X.min(axis=0) - 1e-9).all()
    assert (amb.X.max(axis=0) <= data.X.max(axis=0) + 1e-9).all()
    # What lies between the classes has means between theirs, feature by feature.
    first, second = (data.X[data.y == label].mean(axis=0) for label in (0, 1))
    far = np.abs(first - second) > 0.8 * data.X.std(axis=0)
    middle = amb.X.mean(axis=0)
    between = (middle - np.minimum(first, second)) * (np.maximum(first, second) - middle) > 0
    assert between[far].mean() > 0.9


def test_time_series_windows():
    rng = np.random.default_rng(0)
    time = np.linspace(0, 2 * np.pi, 24)
    y = np.repeat([0, 1], 60)
    phase = rng.normal(0, 0.2, (120, 1))
    waves = np.where(y[:, None] == 0, np.sin(time + phase), np.sin(2 * time + phase))
    X = np.stack([5 * waves, -2 * waves + 1], axis=-1) + rng.normal(0, 0.1, (120, 24, 2))
    amb = AmbiguityGenerator(tries=1, preset=SHORT).fit(X, y).sample(10)
    assert amb.X.shape == (10, 24, 2)
    assert amb.X.min() < -1


def test_confused_pairs_come_from_the_model(digits):
    calls = []

    def model(X):
        calls.append(len(X))
        # Takes every 3 for an 8 and is right otherwise.
        return np.eye(10)[np.where(truth(X) == 3, 8, truth(X))]

    lookup = {image.tobytes(): label for image, label in zip(digits.X, digits.y, strict=True)}

    def truth(X):
        return np.array([lookup.get(np.float32(image).tobytes(), 0) for image in X])

    gen = AmbiguityGenerator("confused", tries=1, preset=SHORT, model=model)
    gen.fit(digits.X, digits.y)
    assert gen.report[["first", "second"]].to_numpy().tolist() == [[3, 8]]
    assert calls
    manifest = gen.sample(3).manifest
    assert manifest["independence"]["model_chose_pairs"]
    with pytest.raises(ParameterError, match="model=…"):
        AmbiguityGenerator("confused").fit(digits.X, digits.y)

    def perfect(X):
        return np.eye(10)[truth(X)]

    with pytest.raises(NotEnoughEvidenceError, match="no confusion"):
        AmbiguityGenerator("confused", model=perfect).fit(digits.X, digits.y)


def test_manifest_says_what_took_part(amb, digits):
    independence = amb.manifest["independence"]
    assert not independence["model_chose_pairs"]
    assert independence["pair_classifier_judged_acceptance"]
    assert not independence["classifier_filtered_or_labelled_samples"]
    assert amb.manifest["seed"] == 0
    assert amb.manifest["versions"]["torch"]
    assert len(amb.manifest["data_sha256"]) == 64


@pytest.mark.slow
def test_paper_preset_uses_its_own_schedule_and_rules(digits):
    from fireassay.ambiguity.preset import PAPER

    assert (PAPER.hidden, PAPER.batch, PAPER.epochs, PAPER.latent_sd) == (128, 1000, 80, 5.0)
    assert PAPER.total_steps(12_000, 784) == 80 * 12
    rows = np.isin(digits.y, [0, 1])
    short = dataclasses.replace(PAPER, epochs=40)
    gen = AmbiguityGenerator(tries=1, preset=short).fit(digits.X[rows], digits.y[rows])
    assert np.isnan(gen.report["reference_accuracy"]).all()
    amb_or_reason = gen.report["reason"][0] or np.abs(gen.sample(50).codes[:, 1]).max()
    assert isinstance(amb_or_reason, str) or amb_or_reason > 3.0


def test_unknown_preset_is_named():
    with pytest.raises(ParameterError, match="fast, paper"):
        AmbiguityGenerator(preset="quick").fit(np.eye(4), [0, 1, 0, 1])


def test_must_be_fitted():
    with pytest.raises(ParameterError, match="Call fit"):
        AmbiguityGenerator().sample(3)


BAD_DATA = {
    "one class": (lambda X, y: (X, np.zeros(len(X), dtype=int)), "at least two classes"),
    "constant images": (lambda X, y: (np.full_like(X, 0.5), y), "identical rows"),
    "0 to 255": (lambda X, y: (np.round(X * 255), y), "Divide by 255"),
    "NaN": (lambda X, y: (np.where(X > 0.9, np.nan, X), y), "must be finite"),
    "lengths": (lambda X, y: (X, y[:-1]), "same number of rows"),
    "two rows each": (lambda X, y: (X[:4], [0, 0, 1, 1]), "too few samples"),
    "constant within classes": (
        lambda X, y: (np.where((y == 0)[:, None, None], X[0], X[1]), (y == 0).astype(int)),
        "constant: within each of the two classes",
    ),
}


@pytest.mark.parametrize("name", BAD_DATA)
def test_bad_data_is_refused_in_words(digits, name):
    spoil, message = BAD_DATA[name]
    X, y = spoil(digits.X, digits.y)
    with pytest.raises((DataError, NotEnoughEvidenceError), match=message):
        AmbiguityGenerator(tries=1, preset=SHORT).fit(X, y)


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ("some", "'all', 'confused' or a list"),
        ([], "at least one pair"),
        ([(3, 3)], "two different classes"),
        ([(3, 11)], "classes in y"),
        ([(3, 8), (8, 3)], "once"),
        ([3, 8], "two class labels"),
        (["38"], "two class labels"),
    ],
)
def test_bad_pairs_are_refused_in_words(digits, pairs, message):
    with pytest.raises(ParameterError, match=message):
        AmbiguityGenerator(pairs).fit(digits.X, digits.y)


def test_identical_classes_are_a_named_rejection(digits):
    rng = np.random.default_rng(0)
    X = digits.X[np.isin(digits.y, [4, 5])]
    y = rng.integers(0, 2, len(X))
    preset = dataclasses.replace(SHORT, steps=40, relative_acceptance=True)
    gen = AmbiguityGenerator(tries=1, preset=preset).fit(X, y)
    assert gen.report["accepted"].sum() == 0
    assert "cannot be told apart" in gen.report["reason"][0]
    with pytest.raises(NotEnoughEvidenceError, match="cannot be told apart"):
        gen.sample(5)


def test_without_torch_the_package_still_imports():
    assert ambiguity.top_pair_accuracy([[0.5, 0.5, 0]], [[0.4, 0.5, 0.1]]) == 1.0
