"""Rows of very many features: decoders learn components of them."""

import dataclasses

import numpy as np
import pytest

pytest.importorskip("torch")

from fireassay.ambiguity import AmbiguityGenerator, Preset
from fireassay.ambiguity.preset import PRESETS
from fireassay.ambiguity.scaling import MOST_FEATURES, ReducedTargets, principal_inputs

SIDE = 36


def bars(n, rng):
    """Images of 36 × 36: a dark or bright left half, with some unevenness."""
    y = np.arange(n) % 2
    X = 0.2 + 0.1 * rng.random((n, 1, 1)) * np.linspace(0, 1, SIDE) + np.zeros((n, SIDE, SIDE))
    X[:, :, : SIDE // 2] += 0.5 * y[:, None, None]
    return X + 0.02 * rng.random(X.shape), y


def components(flat, count=8):
    return ReducedTargets.of(flat, principal_inputs(flat, count, seed=0))


def test_components_stand_for_the_rows_and_lead_back_to_them():
    rng = np.random.default_rng(0)
    basis = rng.random((8, MOST_FEATURES + 1))
    flat = (rng.dirichlet(np.ones(8), 60) @ basis).astype(np.float32)
    reduced = components(flat)
    values = reduced.reduced(flat)
    assert values.shape == (60, 8)
    assert values.min() > 0
    assert values.max() < 1
    assert np.allclose(reduced.restored(values), flat, atol=1e-4)
    apart = np.linalg.norm(values[0] - values[1]) * reduced.scale
    assert apart == pytest.approx(np.linalg.norm(flat[0] - flat[1]), rel=1e-4)


def test_restored_rows_stay_within_the_range_of_features():
    flat = np.random.default_rng(0).random((60, MOST_FEATURES + 1)).astype(np.float32)
    reduced = components(flat)
    far = reduced.restored(np.ones((1, 8), dtype=np.float32))
    assert far.min() >= 0
    assert far.max() <= 1


def test_few_features_stand_for_themselves():
    flat = np.random.default_rng(0).random((60, 40)).astype(np.float32)
    reduced = components(flat)
    assert reduced.reduced(flat) is flat
    assert reduced.restored(flat) is flat


def test_wide_images_are_generated_from_small_decoders():
    X, y = bars(200, np.random.default_rng(0))
    quick: Preset = dataclasses.replace(PRESETS["fast"], steps=120)
    generator = AmbiguityGenerator(preset=quick, tries=1, seed=0).fit(X, y)
    assert generator.fitted_.stacks[0].decoder.sizes[-1] == quick.components
    assert generator.report["accepted"].tolist() == [1]
    made = generator.sample(40, split="any")
    assert made.X.shape == (40, SIDE, SIDE)
    left = made.X[:, :, : SIDE // 2].mean(axis=(1, 2)) - made.X[:, :, SIDE // 2 :].mean(axis=(1, 2))
    assert 0.05 < left.mean() < 0.45  # neither as the dark class, at 0, nor as the bright one
