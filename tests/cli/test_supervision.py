"""The supervise commands, on files."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from typer.testing import CliRunner

from fireassay.cli.supervision import app
from fireassay.core import DataError, ModelError, ParameterError
from fireassay.data import breast_cancer, corrupt

runner = CliRunner()


def run(*arguments, **more):
    result = runner.invoke(app, [str(a) for a in arguments], **more)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    pytest.importorskip("skops")
    import skops.io

    folder = tmp_path_factory.mktemp("supervise")
    data = breast_cancer()
    X = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
    order = np.random.default_rng(0).permutation(len(X))
    X, y = X[order], data.y[order]
    model = LogisticRegression().fit(X[:300], y[:300])
    skops.io.dump(model, folder / "model.skops")
    np.savez(folder / "train.npz", X=X[:300], y=y[:300])
    np.savez(folder / "nominal.npz", X=X[300:], y=y[300:])
    np.savez(folder / "noise.npz", X=corrupt(X[300:], "noise", 5), y=y[300:])
    np.save(folder / "rows.npy", X[300:310] * 50)
    return folder


def options(files):
    return ["--model", files / "model.skops", "--train", files / "train.npz"]


@pytest.mark.extras
def test_fit_then_score_files_and_streams(files, tmp_path):
    monitor = tmp_path / "monitor.npz"
    fitted = run(
        "fit", "mdsa", *options(files), "--nominal", files / "nominal.npz", "-o", monitor,
        "--layer", "inputs",
    )  # fmt: skip
    assert fitted.exit_code == 0, fitted.output
    assert "95 % confidence" in fitted.output
    model = ["--model", files / "model.skops"]
    far = run("score", monitor, files / "rows.npy", *model, "--json")
    assert far.exit_code == 1
    answer = json.loads(far.output)
    assert all(row["alarm"] for row in answer["rows"])
    near = np.load(files / "train.npz")["X"][0]
    lines = f"{json.dumps(near.tolist())}\n\n[1, 2]\nnonsense\n{json.dumps([80.0] * 30)}\n"
    stream = run("score", monitor, "-", *model, input=lines)
    rows = [json.loads(line) for line in stream.output.splitlines()]
    assert [row["row"] for row in rows] == [0, 2, 3, 4]
    assert rows[0]["alarm"] is False
    assert "error" in rows[1]
    assert "error" in rows[2]
    assert rows[3]["alarm"] is True
    assert stream.exit_code == 1


@pytest.mark.extras
def test_columns_of_tables_are_found_by_name(files, tmp_path):
    data = np.load(files / "train.npz")
    columns = [f"f{i}" for i in range(data["X"].shape[1])]
    table = pd.DataFrame(data["X"], columns=columns).assign(label=data["y"])
    table.to_csv(tmp_path / "train.csv", index=False)
    nominal = np.load(files / "nominal.npz")["X"]
    shuffled = pd.DataFrame(nominal, columns=columns)[columns[::-1]]
    shuffled.assign(label=0).to_csv(tmp_path / "nominal.csv", index=False)
    shuffled.drop(columns="f3").to_csv(tmp_path / "narrow.csv", index=False)
    monitor, model = tmp_path / "monitor.npz", ["--model", files / "model.skops"]
    fitted = run(
        "fit", "mdsa", *model, "--train", tmp_path / "train.csv", "--nominal",
        tmp_path / "nominal.csv", "-o", monitor, "--layer", "inputs",
    )  # fmt: skip
    assert fitted.exit_code == 0, fitted.output
    by_name = json.loads(run("score", monitor, tmp_path / "nominal.csv", *model, "--json").output)
    np.save(tmp_path / "nominal.npy", nominal)
    in_order = json.loads(run("score", monitor, tmp_path / "nominal.npy", *model, "--json").output)
    assert by_name["rows"] == in_order["rows"]
    with pytest.raises(DataError, match="without 'f3'"):
        run("score", monitor, tmp_path / "narrow.csv", *model)
    named = json.dumps(dict(shuffled.iloc[0]))
    stream = run("score", monitor, "-", *model, input=f'{named}\n{{"f0": 1}}\n')
    first, second = map(json.loads, stream.output.splitlines())
    assert first["score"] == pytest.approx(in_order["rows"][0]["score"])
    assert "no f1" in second["error"]


@pytest.mark.extras
def test_ensembles_take_further_models(files, tmp_path):
    monitor, model = tmp_path / "monitor.npz", files / "model.skops"
    members = ["--member", model, "--member", model]
    nominal = ["--nominal", files / "nominal.npz", "-o", monitor]
    fitted = run("fit", "ensemble-mean-softmax", *options(files), *members, *nominal)
    assert fitted.exit_code == 0, fitted.output
    scored = run("score", monitor, files / "rows.npy", "--model", model, *members, "--json")
    assert len(json.loads(scored.output)["rows"]) == 10
    with pytest.raises(ModelError, match="--member"):
        run("score", monitor, files / "rows.npy", "--model", model)


@pytest.mark.extras
def test_compare(files, tmp_path):
    found = run(
        "compare", *options(files), "--nominal", files / "nominal.npz", "--set",
        f"noise={files / 'noise.npz'}", "--supervisor", "pcs", "--supervisor", "dsa", "-o",
        tmp_path / "result.npz",
    )  # fmt: skip
    assert found.exit_code == 0, found.output
    assert "dsa: not available" in found.output
    assert "auroc_noise" in found.output
    assert (tmp_path / "result.npz").exists()
    with pytest.raises(ParameterError, match="NAME=PATH"):
        run("compare", *options(files), "--nominal", files / "nominal.npz", "--set", "noise")


def test_names():
    found = run("names", "--json")
    assert len(json.loads(found.output)) == 28
    assert "needs probabilities" in run("names").output


@pytest.mark.extras
def test_a_file_that_is_no_monitor(files):
    with pytest.raises(DataError, match="saved by fireassay"):
        run("score", files / "train.npz", files / "rows.npy", "--model", files / "model.skops")
