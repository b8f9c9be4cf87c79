"""Images that were normalised: attacks, corruptions and pictures in their natural range."""

import numpy as np
import pytest

import fireassay as fa
from fireassay.assessment.context import Context
from fireassay.assessment.parts import troubles
from fireassay.assessment.parts.attack_space import attack_space
from fireassay.assessment.samples.content import shown_content
from fireassay.assessment.samples.gallery import Gallery
from fireassay.data import DataSet

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
M, S = (np.reshape(values, (3, 1, 1)) for values in (MEAN, STD))


def images(n=160, seed=0):
    """Dark and bright photographs of 8 × 8, normalised as for ImageNet."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    pixels = 0.6 * rng.random((n, 3, 8, 8)) + 0.12 * y[:, None, None, None]
    return ((pixels - M) / S).astype(np.float32), y


def brighter(X):
    score = 40 * ((X * S + M).mean(axis=(1, 2, 3)) - 0.36)
    p = 1 / (1 + np.exp(-score))
    return np.column_stack([1 - p, p])


def context(**more):
    X, y = images()
    return Context(fa.as_classifier(brighter, classes=[0, 1]), DataSet(X, y), **more)


def test_the_attack_moves_in_the_natural_range_of_each_channel():
    _, space = attack_space(context(normalisation=(MEAN, STD)))
    low, high = (end.reshape(3, 8, 8) for end in (space.low, space.high))
    assert np.allclose(low, -M / S)
    assert np.allclose(high, (1 - M) / S)
    assert np.allclose(space.unit.reshape(3, 8, 8), 1 / S)  # so that eps is a share of 0 to 1


def test_corrupted_images_are_valid_natural_images():
    natural = context(normalisation=(MEAN, STD))
    kept = troubles.Troubles()
    troubles.add_made(kept, natural, np.arange(60), severity=3)
    pixels = kept.sets["corrupted"] * S + M
    assert pixels.min() > -1e-5
    assert pixels.max() < 1 + 1e-5
    own = natural.test.X[:60] * S + M
    assert pixels.max() > own.max() + 0.1  # brightness and noise reach up to white
    changed = np.abs(pixels - own).max(axis=(1, 2, 3))
    assert (changed > 0.01).mean() > 0.9


@pytest.mark.parametrize("given", [True, False])
def test_the_report_says_how_the_range_was_found(given):
    X, y = images()
    train = images(200, seed=1)
    more = {"mean": MEAN, "std": STD} if given else {}
    report = fa.evaluate(
        fa.as_classifier(brighter, classes=[0, 1]),
        X,
        y,
        ["survival", "supervision"],
        train=train,
        settings={
            "survival": {"samples": 10, "budget": 20},
            "supervision": {"samples": 59, "supervisors": ["max-softmax"]},
        },
        **more,
    )
    found = "mean and std as given: -2.12 to 2.25" if given else "each channel in the test rows"
    for part in ("survival", "supervision"):
        said = " ".join(claim.text for claim in report[part].claims)
        assert found in said, report[part].status
    assert "auroc_corrupted" in report["supervision"].estimates


def test_bounds_beside_mean_are_refused():
    X, y = images()
    model = fa.as_classifier(brighter, classes=[0, 1], bounds=(-3, 3))
    with pytest.raises(fa.core.ParameterError, match="Leave bounds out"):
        fa.evaluate(model, X, y, "accuracy", mean=MEAN, std=STD)


@pytest.mark.parametrize(
    ("X", "mean", "message"),
    [
        (np.zeros((9, 4)), (0.5,), "are of images"),
        (np.full((9, 3, 8, 8), 7.0), (0.5,) * 3, "range that mean and std give"),
        (np.zeros((9, 3, 8, 8)), (0.5,) * 2, "one number per channel"),
    ],
)
def test_a_mean_that_does_not_fit_is_refused_at_the_door(X, mean, message):
    half = fa.as_classifier(lambda X: np.full((len(X), 2), 0.5), classes=[0, 1])
    std = (0.25,) * len(mean)
    with pytest.raises(fa.core.FireassayError, match=message):
        fa.evaluate(half, X, np.arange(9) % 2, "accuracy", mean=mean, std=std)


@pytest.mark.parametrize("last", [False, True])
def test_the_app_shows_the_pictures_as_they_were_before_normalisation(last):
    X, y = images()
    natural = (X * S + M).clip(0, 1)
    if last:
        X, natural = np.moveaxis(X, 1, -1), np.moveaxis(natural, 1, -1)
    model = fa.as_classifier(lambda X: np.tile([0.5, 0.5], (len(X), 1)), classes=[0, 1])
    kept = Context(model, DataSet(X, y), normalisation=(MEAN, STD))
    content = shown_content(Gallery(kept, kept.test))
    expected = natural if last else np.moveaxis(natural, 1, -1)
    assert content.kind == "image"
    assert np.abs(content.arrays["content"] / 255 - expected).max() < 0.003
