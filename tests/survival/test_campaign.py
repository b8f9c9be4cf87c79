"""Campaigns: crossed, journalled, resumed after a kill."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fireassay import survival
from fireassay.core.errors import AssumptionWarning, ConfigError, StoreError
from fireassay.engine import RunStore
from fireassay.survival.campaign_config import read_config

SMALL = {
    "models": ["logistic", "mlp"],
    "epochs": [1, 3],
    "seeds": [0, 1, 2],
    "width": 2,
    "max_train": 300,
    "samples": 12,
    "budget": 30,
    "batch_size": 12,
    "defences": [
        {"name": "none"},
        {"name": "gauss-in", "values": [0.3]},
        {"name": "fsq", "values": [2]},
    ],
    "attacks": [
        {"name": "fgm", "norm": "linf", "eps": [0.3]},
        {"name": "hopskipjump", "eps": [2.0]},
    ],
}


def test_axes_are_crossed_and_only_training_noise_trains_again():
    config = read_config(SMALL)
    trainings = config.trainings()
    assert len(trainings) == 2 * 2 * 3 * 2
    trials = [trial for row in trainings for trial in config.trials(row)]
    assert len(trials) == 2 * 2 * 3 * 3 * 2
    assert {(t["defence"], t["defence_value"]) for t in trials} == {
        ("none", 0.0), ("gauss-in", 0.3), ("fsq", 2.0),
    }  # fmt: skip


def test_the_papers_grid_is_read_whole():
    grid = Path(__file__).parents[2] / "studies" / "survival_paper_grid.toml"
    config = read_config(grid)
    rows = config.trainings()
    # Three data sets, five depths, five epochs, eight rates, ten seeds, plain and with six noises.
    assert len(rows) == 3 * 5 * 5 * 8 * 10 * 7
    # Two attacks with three norms and nine ε, four DeepFool, five Pixel, five Threshold, one HSJ.
    attacks = 2 * 3 * 9 + 4 + 5 + 5 + 1
    assert len(config.trials(rows[0])) == attacks * (1 + 5 + 6 + 6)
    assert len(config.trials(rows[1])) == attacks


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"models": ["vgg"]}, "unknown model"),
        ({"attacks": None}, "attacks"),
        ({"defences": [{"name": "conf"}]}, "needs values"),
        ({"defences": [{"name": "moat", "values": [1]}]}, "unknown defence"),
        ({"colour": "red"}, "colour"),
        ({"budget": 0}, "budget"),
    ],
)
def test_settings_that_are_not_understood_are_named(change, match):
    with pytest.raises(ConfigError, match=match):
        read_config({**SMALL, **change})


def test_a_share_of_the_trials_is_drawn_and_a_larger_one_holds_it():
    grid = read_config({**SMALL, "seeds": list(range(40))})
    shares = {}
    for share in (0.1, 0.3):
        drawn = grid.model_copy(update={"sample": share})
        rows = [(row["model_id"], str(t)) for row in drawn.trainings() for t in drawn.trials(row)]
        every = sum(len(grid.trials(row)) for row in grid.trainings())
        assert len(rows) / every == pytest.approx(share, abs=0.05)
        assert all(drawn.trials(row) for row in drawn.trainings())
        shares[share] = set(rows)
    assert shares[0.1] < shares[0.3]


def test_a_file_that_is_not_toml_is_refused(tmp_path):
    path = tmp_path / "campaign.toml"
    path.write_text("models = [")
    with pytest.raises(ConfigError, match="TOML"):
        survival.campaign(path)
    with pytest.raises(ConfigError, match="readable"):
        survival.campaign(tmp_path / "nowhere.toml")


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    pytest.importorskip("torch")
    store = tmp_path_factory.mktemp("campaign") / "run"
    return survival.campaign(SMALL, store=store, progress=False), store


@pytest.mark.extras
def test_a_finished_campaign_is_read_not_run(result):
    first, store = result
    with RunStore(store, read_only=True) as journal:
        before = journal.timings()
    again = survival.campaign(SMALL, store=store, progress=False)
    with RunStore(store, read_only=True) as journal:
        assert journal.timings() == before
    pd.testing.assert_frame_equal(first.table, again.table)
    assert len(first.trials) == 72


@pytest.mark.slow
@pytest.mark.extras
def test_tables_have_every_trial_and_its_group(result):
    found = result[0]
    assert found.table["model_id"].nunique() == 12
    assert set(found.accuracy()["attack"]) == {"fgm-linf", "hopskipjump"}
    with pytest.warns(AssumptionWarning, match="groups"):
        effects = found.fit().coefficients
    assert {"layers", "epochs", "attack[hopskipjump]", "defence[fsq]", "defence[gauss-in]"} <= set(
        effects.index
    )
    assert (effects["cluster_se"] > 0).all()
    cost = found.trash()
    assert len(cost) == 2 * 3
    assert (cost["low"] < cost["trash"]).all()
    assert (cost["trash"] < cost["high"]).all()
    assert (found.benign_cost()["ratio"] > 0).all()
    evidence = found.evidence()
    assert {"mean_queries_none", "effect_layers", "largest_trash"} <= set(evidence.estimates)
    assert {"log_rank", "families", "effects", "cost", "samples"} <= set(evidence.tables)
    assert set(found.log_ranks().index) == {"attack", "defence", "model", "layers", "epochs"}
    said = [claim.text.removeprefix("Not decided: ") for claim in evidence.claims]
    assert [text.split()[0] for text in said] == [
        "Depth", "More", "The", "The", "Breaking", "Comparing",
    ]  # fmt: skip
    assert all(("Not decided" in c.text) == (c.holds is None) for c in evidence.claims)
    assert set(evidence.charts) >= {"accuracy", "effects", "cost", "curves"}
    assert any("groups" in limit for limit in evidence.limits)


def finished(store):
    try:
        with RunStore(store, read_only=True) as journal:
            return len(journal.timings())
    except StoreError:  # not there yet, or being created
        return 0


@pytest.mark.extras
@pytest.mark.slow
def test_a_killed_campaign_goes_on_and_ends_the_same(result, tmp_path):
    script = tmp_path / "run.py"
    script.write_text(
        "import sys\nfrom fireassay import survival\n"
        f"survival.campaign({SMALL!r}, store=sys.argv[1], progress=False)\n"
    )
    store = tmp_path / "run"
    child = subprocess.Popen([sys.executable, str(script), str(store)])
    deadline = time.time() + 120
    while time.time() < deadline and child.poll() is None and finished(store) < 20:
        time.sleep(0.05)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    with RunStore(store, read_only=True) as journal:
        before = journal.timings()
    assert 20 <= len(before) < 96
    found = survival.campaign(SMALL, store=store, progress=False)
    with RunStore(store, read_only=True) as journal:
        after = journal.timings()
    assert {key: after[key] for key in before} == before
    pd.testing.assert_frame_equal(found.table, result[0].table)


@pytest.mark.extras
def test_reference_models_learn_and_same_seed_gives_same_weights():
    pytest.importorskip("torch")
    from fireassay import data

    digits = data.digits()
    X, y = digits.X[:300], digits.labels[:300]
    for name, epochs in (("logistic", 10), ("cnn", 10), ("resnet18", 4)):
        made, again = (
            survival.train_reference(name, X, y, epochs=epochs, width=4, seed=1, batch_size=32)
            for _ in range(2)
        )
        for key, values in made.model.weights.items():
            np.testing.assert_array_equal(values, again.model.weights[key])
        accuracy = (made.model.classifier().predict(X) == y).mean()
        assert accuracy > 0.4
        assert made.train_seconds > 0
        assert made.seconds_per_query > 0


@pytest.mark.extras
@pytest.mark.parametrize(
    ("depth", "expected"), [(18, 11_172_810), (34, 21_280_970), (50, 23_519_690)]
)
def test_resnets_have_the_papers_number_of_weights(depth, expected):
    pytest.importorskip("torch")
    from fireassay.networks.resnet import ResNet

    # The CIFAR variants of He et al.'s networks with 10 classes on 3 channels have 11,173,962,
    # 21,282,122 and 23,520,842 weights; one channel in place of three saves 2 × 64 × 9.
    network = ResNet(depth, (32, 32), 10)
    assert sum(p.numel() for p in network.parameters()) == expected


@pytest.fixture(scope="module")
def own_models(tmp_path_factory):
    """Two models in files, with the data they are attacked on, and a campaign beside them."""
    tmp_path = tmp_path_factory.mktemp("own")
    skops = pytest.importorskip("skops.io")
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB

    from fireassay import data

    digits = data.digits()
    X, y = digits.X.reshape(len(digits), -1), digits.labels
    kept = y < 3
    X, y = X[kept], y[kept]
    skops.dump(LogisticRegression(C=0.1, max_iter=300).fit(X[:200], y[:200]), tmp_path / "a.skops")
    skops.dump(GaussianNB(var_smoothing=0.1).fit(X[:200], y[:200]), tmp_path / "b.skops")
    np.savez(tmp_path / "test.npz", X=X[200:], y=y[200:])
    path = tmp_path / "campaign.toml"
    path.write_text(
        """
        data = ["test.npz"]
        models = []
        seeds = [0, 1]
        samples = 20
        budget = 40
        [[own_models]]
        name = "logistic regression"
        path = "a.skops"
        train_seconds = 0.5
        n_train = 200
        [[own_models]]
        name = "naive Bayes"
        path = "b.skops"
        train_seconds = 0.01
        n_train = 200
        seconds_per_query = 0.001
        [[defences]]
        name = "none"
        [[defences]]
        name = "gauss-in"
        values = [0.1]
        [[defences]]
        name = "fsq"
        values = [2]
        [[attacks]]
        name = "hopskipjump"
        eps = [2.0]
        """
    )
    return path


def test_own_models_are_attacked_as_they_are(own_models):
    store = own_models.parent / "run"
    found = survival.campaign(own_models, store=store, progress=False)
    # Two models × two seeds × (none, fsq): noise in training cannot be added to a trained model.
    assert len(found.trials) == 8
    assert set(found.trials["defence"]) == {"none", "fsq"}
    assert found.table["model_id"].nunique() == 2
    costs = found.models.groupby("model")["train_seconds_per_sample"].first()
    assert costs["logistic regression"] == pytest.approx(0.5 / 200)
    assert (found.models.query("model == 'naive Bayes'")["seconds_per_query"] == 0.001).all()
    # A store knows the models by content: nothing is attacked again.
    with RunStore(store, read_only=True) as journal:
        before = journal.timings()
    survival.campaign(own_models, store=store, progress=False)
    with RunStore(store, read_only=True) as journal:
        assert journal.timings() == before


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"models": []}, "models or own_models"),
        ({"own_models": [{"name": "a", "path": "a", "n_train": 1}]}, "train_seconds"),
        (
            {"own_models": [{"name": "mlp", "path": "a", "n_train": 1, "train_seconds": 1}]},
            "two models",
        ),
        (
            {
                "models": [],
                "own_models": [{"name": "a", "path": "a", "n_train": 1, "train_seconds": 1}],
                "defences": [{"name": "gauss-in", "values": [0.1]}],
            },
            "way to train",
        ),
    ],
)
def test_own_models_that_make_no_sense_are_refused(change, match):
    with pytest.raises(ConfigError, match=match):
        read_config({**SMALL, **change})


def test_a_report_has_every_table_figure_and_conclusion(own_models, tmp_path):
    from typer.testing import CliRunner

    from fireassay.cli.survival import app

    page = tmp_path / "report.html"
    store = own_models.parent / "run"
    arguments = ["campaign", own_models, "--store", store, "--report", page]
    shown = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert shown.exit_code == 0, shown.output
    for conclusion in ("Breaking a sample costs less than training", "The defence fsq"):
        assert conclusion in shown.stdout
    text = page.read_text()
    for part in ("Log-rank tests", "Median queries", "Cost of training over cost of attack"):
        assert part in text
    assert text.count("<svg") + text.count("data:image") >= 6
    assert "http://" not in text.replace("http://www.w3.org", "")
