"""The authors' own files: what is read from them, and what a calibrated archive would give."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fireassay.papers.authors_archives import baseline_labels, cats_and_dogs, pooled_fits, searched


def data():
    if not os.environ.get("FIREASSAY_DATA"):
        pytest.skip("FIREASSAY_DATA is not set")
    return Path(os.environ["FIREASSAY_DATA"])


def test_labels_of_one_class_are_counted(tmp_path):
    soft = np.array([[1.0, 0.0], [0.6, 0.4], [0.0, 1.0], [0.5, 0.5]])
    for part in ("test", "train"):
        np.save(tmp_path / f"mukh_y_{part}.npy", soft)
    assert baseline_labels(tmp_path)["test"] == {"rows": 4, "one class": 2}


def test_random_search_of_a_calibrated_archive_has_ratio_one():
    rng = np.random.default_rng(0)
    confidence = rng.uniform(0.66, 0.99, 4_000)
    wrong = rng.random(4_000) > confidence
    found = searched(confidence, rng.normal(size=4_000), wrong, seed=0)
    assert found["sdr"]["random"] == pytest.approx(1, abs=0.1)
    assert found["sdr"]["adversarial distance"] == pytest.approx(1, abs=0.35)  # distances are noise


def test_temperature_brings_an_overconfident_archive_to_ratio_one(tmp_path):
    rng = np.random.default_rng(1)
    logits = rng.normal(2, 1, 6_000)
    wrong = rng.random(6_000) > 1 / (1 + np.exp(-logits))
    table = pd.DataFrame({"Confidence": 1 / (1 + np.exp(-3 * logits)), "Misclassified": wrong,
                          "MAE": rng.uniform(0.01, 0.1, 6_000)})  # fmt: skip
    table.to_csv(tmp_path / "rows.csv")
    found = cats_and_dogs(tmp_path / "rows.csv")
    assert found["temperature"] == pytest.approx(3, abs=0.3)
    assert found["raw"]["sdr"]["random"] > 1.5
    assert found["scaled"]["sdr"]["random"] == pytest.approx(1, abs=0.15)


def test_the_files_of_the_authors_give_what_is_stored():
    folder = data()
    assert baseline_labels(folder / "ambiguess")["test"]["one class"] == 2219  # printed 37 %
    fits = pooled_fits(folder / "deckard")
    assert fits["fits"]["weibull"]["model_layers"] == pytest.approx([0.00595, 0.00016], abs=1e-5)
    assert fits["rates of the exponential"] == 2
    assert fits["scores"]["cox"]["AIC"] is None
