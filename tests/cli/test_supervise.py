"""The supervise commands, on files."""

import json

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from typer.testing import CliRunner

from fireassay.cli.supervise import app
from fireassay.core import DataError, ParameterError
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
    assert "95% confidence" in fitted.output
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
