import importlib

import numpy as np
import pytest

from fireassay.statistics import alike_rows, clumped_rows, near_duplicates


@pytest.mark.parametrize("columns", [20, 400, 20_000])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_the_checks_together_say_what_each_says_alone(columns, kind):
    rng = np.random.default_rng(columns)
    patients = np.repeat(rng.normal(size=(40, columns)), 3, axis=0)
    rows = (patients + 0.3 * rng.normal(size=patients.shape)).astype(kind)
    rows[1] = rows[0]
    found = alike_rows(rows)
    assert found.repeated == near_duplicates(rows)
    assert found.clumped == clumped_rows(rows)
    assert found.clumped.many
    assert found.repeated.count == 2


@pytest.mark.parametrize("columns", [20, 20_000])
def test_very_wide_rows_are_mixed_once_for_all_checks(monkeypatch, columns):
    seen = []
    mixed = importlib.import_module("fireassay.statistics.projected_rows").standardised
    for name in ("alike_rows", "clumped_rows", "independence"):
        module = importlib.import_module(f"fireassay.statistics.{name}")
        monkeypatch.setattr(module, "standardised", lambda *a: seen.append(1) or mixed(*a))
    alike_rows(np.random.default_rng(0).normal(size=(80, columns)))
    assert len(seen) == 1


def test_a_large_offset_does_not_hide_what_varies():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 17_000))
    shifted = (rows + 1e4).astype(np.float32)  # of 24 bits 14 are the offset's
    shifted[1::4] = shifted[::4]
    assert near_duplicates(shifted).count == 100
