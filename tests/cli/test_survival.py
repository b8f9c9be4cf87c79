import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from fireassay.cli.survival import app
from fireassay.core.errors import ParameterError

runner = CliRunner()


def call(*arguments):
    found = runner.invoke(app, [str(argument) for argument in arguments])
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception
    assert found.exit_code == 0, found.output
    return found.stdout


@pytest.fixture
def rows(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=300), "model_id": np.arange(300) % 15})
    time = np.exp(1 + 0.6 * frame["x"]) * rng.exponential(size=300)
    frame["lower"] = np.minimum(time, 9.0)
    frame["upper"] = np.where(time > 9, np.inf, time)
    path = tmp_path / "rows.csv"
    frame.to_csv(path, index=False)
    return path


def test_fit_from_a_file(rows, tmp_path):
    shown = call("fit", rows, "-c", "x", "--groups", "model_id", "-o", tmp_path / "fit.npz")
    assert "cluster_se" in shown
    assert (tmp_path / "fit.npz").exists()
    evidence = json.loads(call("fit", rows, "-c", "x", "--json"))
    assert evidence["estimates"]["effect_x"]["value"] == pytest.approx(0.6, abs=0.2)


def test_compare_from_a_file(rows):
    shown = call("compare", rows, "-c", "x")
    assert "gengamma" in shown
    assert "test_concordance" in shown


def test_plan():
    assert json.loads(call("plan", "--time-ratio", "1.5", "--json"))["samples"] > 50
    assert "models per arm" in call("plan", "--time-ratio", "1.5")


def test_paper_says_that_nothing_is_censored(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"adv_fit_time": rng.exponential(size=200) + 0.1, "adv_accuracy": 0.4})
    table["epochs"] = rng.integers(1, 90, 200)
    path = tmp_path / "table.csv"
    table.to_csv(path, index=False)
    found = runner.invoke(app, ["paper", str(path)])
    assert "No row is censored" in found.stderr
    assert "loglogistic" in found.stdout


def test_model_and_data_from_files(tmp_path):
    skops = pytest.importorskip("skops.io")
    from sklearn.linear_model import LogisticRegression

    from fireassay import data

    digits = data.digits()
    X, y = digits.X.reshape(len(digits), -1), digits.labels
    skops.dump(LogisticRegression(max_iter=200).fit(X[:800], y[:800]), tmp_path / "model.skops")
    np.savez(tmp_path / "test.npz", X=X[800:840], y=y[800:840])
    shown = call(
        "model", tmp_path / "model.skops", tmp_path / "test.npz",
        "-a", "hopskipjump:eps=1.0", "--budget", 40, "-o", tmp_path / "rows.csv",
    )  # fmt: skip
    assert "standing_share" in shown
    assert {"lower", "upper", "attack"} <= set(pd.read_csv(tmp_path / "rows.csv").columns)


def test_attacks_and_defences_are_read():
    from fireassay.cli.survival import _attack, _defence

    assert _attack("pgd:norm=linf,eps=0.1,steps=5") == (
        "pgd", {"norm": "linf", "eps": 0.1, "steps": 5},
    )  # fmt: skip
    assert _attack("art:PixelAttack:th=3") == ("art:PixelAttack", {"th": 3})
    assert _defence("conf=0.9") == ("conf", 0.9)
    for wrong in ("pgd:eps", "pgd:=,"):
        with pytest.raises(ParameterError):
            _attack(wrong) if "=" not in wrong else _defence("conf")
