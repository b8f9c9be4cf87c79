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


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A linear model of digits and labelled rows, as files in the working directory."""
    skops = pytest.importorskip("skops.io")
    from sklearn.linear_model import LogisticRegression

    from fireassay import data

    monkeypatch.chdir(tmp_path)
    digits = data.digits()
    X, y = digits.X.reshape(len(digits), -1), digits.labels
    skops.dump(LogisticRegression(max_iter=200).fit(X[:800], y[:800]), "model.skops")
    np.savez("test.npz", X=X[800:840], y=y[800:840])
    return tmp_path


def test_model_and_data_from_files(files):
    shown = call(
        "model", "model.skops", "test.npz", "--bounds", 0, 1,
        "-a", "hopskipjump:eps=1.0", "--budget", 40, "-o", "rows.csv",
    )  # fmt: skip
    assert "standing_share" in shown
    assert {"lower", "upper", "attack"} <= set(pd.read_csv(files / "rows.csv").columns)
    with pytest.raises(ParameterError, match="has its own eps"):
        call("model", "model.skops", "test.npz", "-a", "boundary", "--eps", 0.1)


@pytest.mark.parametrize("bounds", [(), ("0", "1")])
def test_the_command_and_the_whole_run_give_the_same_bytes(files, bounds):
    from fireassay.cli.main import app as whole

    given = f"bounds = [{', '.join(bounds)}]" if bounds else ""
    (files / "fireassay.toml").write_text(
        f"[model]\npath = 'model.skops'\n{given}\n[data]\ntest = 'test.npz'\n"
        "[run]\nseed = 3\n[survival]\nsamples = 25\nbudget = 40\neps = 0.08\n"
    )
    run = runner.invoke(whole, ["run", "--only", "survival", "--json"])
    assert run.exit_code == 0, run.output
    part = json.loads(run.stdout)["parts"]["survival"]
    only_a_run = "unseen-rows"  # which rows were trained on, nobody tells the command alone
    part["assumptions"] = [one for one in part["assumptions"] if one["id"] != only_a_run]
    for estimate in part["estimates"].values():
        estimate["rests_on"] = [name for name in estimate["rests_on"] if name != only_a_run]
    limits = ["--samples", 25, "--budget", 40, "--eps", 0.08, "--seed", 3]
    told = ["--bounds", *bounds] if bounds else []
    alone = json.loads(call("model", "model.skops", "test.npz", *limits, *told, "--json"))
    assert 0 < alone["estimates"]["standing_share"]["value"] < 1
    for name, value in alone.items():
        if name not in ("question", "provenance", "samples"):  # only the run shows rows
            assert json.dumps(part[name]) == json.dumps(value), name
    for name in ("seed", "model_sha256", "data_sha256", "queries", "labels"):
        assert part["provenance"][name] == alone["provenance"][name]


def test_names_are_those_of_the_registries():
    from fireassay import attacks, survival

    listed = json.loads(call("names", "--json"))
    assert listed["attacks"].keys() == attacks.ATTACKS.keys()
    assert listed["defences"].keys() == survival.DEFENCES.keys()
    assert listed["families"]["cox"] in call("names")


def test_attacks_and_defences_are_read():
    from fireassay.cli.options import read_attack, read_defence

    assert read_attack("pgd:norm=linf,eps=0.1,steps=5") == (
        "pgd", {"norm": "linf", "eps": 0.1, "steps": 5},
    )  # fmt: skip
    assert read_attack("art:PixelAttack:th=3") == ("art:PixelAttack", {"th": 3})
    assert read_defence("conf=0.9") == ("conf", 0.9)
    for wrong in ("pgd:eps", "pgd:=,"):
        with pytest.raises(ParameterError):
            read_attack(wrong) if "=" not in wrong else read_defence("conf")
