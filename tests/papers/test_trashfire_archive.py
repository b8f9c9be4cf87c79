import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fireassay.core.errors import AssumptionWarning
from fireassay.papers.trashfire_archive import PRINTED, SCORES, cost_ratios, read_archive

ROOT = Path(__file__).resolve().parents[2]


def experiments(n=400, seed=0):
    rng = np.random.default_rng(seed)
    attack = rng.choice(["FGM", "HSJ"], n)
    model = rng.choice(["ResNet18", "ResNet50"], n)
    layers = np.where(model == "ResNet18", 18, 50)
    epochs = rng.integers(1, 9, n) * 10
    return pd.DataFrame({
        "attack_size": 100, "attack": attack, "model_name": model, "model_layers": layers,
        "adv_fit_time": np.where(attack == "FGM", 0.1, 100.0) * rng.lognormal(0, 0.2, n),
        "adv_accuracy": 0.01, "adv_success": rng.choice([0.0, 0.5], n), "epochs": epochs,
        "accuracy": rng.random(n), "train_time": epochs * layers * rng.lognormal(0, 0.1, n),
        "predict_time": layers * rng.lognormal(0, 0.3, n), "train_time_per_sample": 0.01,
        "lr": rng.choice([0.1, 0.01], n), "split_seed": rng.integers(0, 10, n),
    })  # fmt: skip


def test_the_cost_ratio_is_seconds_of_training_over_seconds_of_attack():
    found = cost_ratios(experiments()).set_index(["attack", "model"])
    for model in ("ResNet18", "ResNet50"):
        fast, slow = found.loc[("FGM", model)], found.loc[("HSJ", model)]
        assert fast["low"] < 10 / np.exp(0.02) < fast["high"]  # 0.01 / 0.001, lognormal mean
        assert slow["high"] < 1 < fast["low"]
    assert cost_ratios(pd.DataFrame({"attack": ["FGM"]})).empty


def test_all_six_families_stand_beside_the_printed_ones(tmp_path):
    path = tmp_path / "table.csv"
    experiments().to_csv(path, index=False)
    with pytest.warns(AssumptionWarning, match="No row is censored"):
        found = read_archive(path)
    table = found.beside_printed()
    assert set(table.index) == set(PRINTED)
    assert list(table.columns) == [c for s in SCORES for c in (s, f"printed {s}")]
    assert table.at["gengamma", "printed concordance"] == 0.51
    plain = found.to_dict()
    assert plain["censored"] == 0
    assert 0 < plain["unchanged"] < 400
    assert list(found.charts()) == ["fig_1", "fig_2", "fig_3", "fig_4"]


@pytest.mark.slow
def test_the_study_reads_a_table_of_ones_own(tmp_path):
    before = (ROOT / "studies" / "results" / "survival_archive.json").read_bytes()
    table = experiments(200)[["adv_fit_time", "adv_accuracy", "epochs"]]
    table.to_csv(tmp_path / "table.csv", index=False)
    study = [sys.executable, str(ROOT / "studies" / "survival_archive.py"), "--work", tmp_path]
    done = subprocess.run(
        [*study, "--table", tmp_path / "table.csv"], capture_output=True, text=True, check=True
    )
    assert "Warning: No row is censored" in done.stdout
    assert "loglogistic" in done.stdout
    assert "printed concordance" in done.stdout
    made = {path.name for path in tmp_path.iterdir()}
    assert {"survival_archive.json", "survival_fig_2.svg", "survival_fig_3.svg"} <= made
    assert (ROOT / "studies" / "results" / "survival_archive.json").read_bytes() == before
