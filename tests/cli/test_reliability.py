import json

import numpy as np
import pandas as pd
import pytest
import typer
from sklearn.tree import DecisionTreeClassifier
from typer.testing import CliRunner

from fireassay import load
from fireassay.cli.reliability import _latent, reliability
from fireassay.core import DataError, ParameterError
from fireassay.data import unit_square
from fireassay.reliability import PcaLatent, VaeLatent

skops = pytest.importorskip("skops.io")
pytestmark = pytest.mark.extras
app = typer.Typer(pretty_exceptions_enable=False)
app.command()(reliability)


def call(*arguments):
    found = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception
    return found


@pytest.fixture
def files(tmp_path):
    data, field = unit_square(700, seed=0), unit_square(1500, seed=1)
    tree = DecisionTreeClassifier(max_depth=6, random_state=0).fit(data.X[:300], data.y[:300])
    skops.dump(tree, tmp_path / "model.skops")
    np.savez(tmp_path / "test.npz", X=data.X[300:], y=data.y[300:])
    np.savez(tmp_path / "field.npz", X=field.X)
    np.savez(tmp_path / "bare.npz", X=data.X)
    return tmp_path


def test_the_bound_is_printed_with_what_it_rests_on(files):
    found = call(
        files / "model.skops", files / "test.npz", "--operational", files / "field.npz",
        "--target", 0.01, "--output", files / "out.npz",
    )  # fmt: skip
    assert "reliability: At most" in found.stdout
    assert "Clopper-Pearson" in found.stdout
    assert "drawn like the inputs in the field" in found.stdout
    assert "368 labels without an error" in found.stdout
    assert load(files / "out.npz").n_labels == 400


def test_json_is_strict(files):
    found = call(
        files / "model.skops", files / "test.npz", "--method", "ram", "--cells", 30, "--json"
    )
    evidence = json.loads(found.stdout)
    assert evidence["estimates"]["pmi_upper"]["method"] == "Clopper-Pearson"
    assert evidence["status"] == "done"


def test_missing_labels_and_bad_settings_are_refused(files):
    with pytest.raises(DataError, match="labels"):
        call(files / "model.skops", files / "bare.npz")
    with pytest.raises(ParameterError, match="confidence"):
        call(files / "model.skops", files / "test.npz", "--confidence", 1)


@pytest.mark.parametrize(
    ("method", "options", "message"),
    [
        ("rectified", ("--cells", 5), "--cells is an option of worst-case, ram"),
        ("exact", ("--theta", 0.9), "--theta is an option of conservative-bayes"),
        ("ram", ("--floor", 0.1), "--floor is an option of conservative-bayes"),
        ("exact", ("--estimate-weights",), "rectified"),
        ("ram", ("--side", 0.5), "no --latent"),
        ("rectifed", (), "Did you mean rectified"),
    ],
)
def test_options_of_other_methods_are_refused(files, method, options, message):
    with pytest.raises(ParameterError, match=message):
        call(files / "model.skops", files / "test.npz", "--method", method, *options)


def test_a_prior_is_stated_by_its_options(files):
    arguments = (files / "model.skops", files / "test.npz", "--method", "conservative-bayes")
    found = call(*arguments, "--epsilon", 0.01, "--floor", 0.005, "--json")
    belief = json.loads(found.stdout)["assumptions"][0]["statement"]
    assert belief == "Before testing, P(pmi ≤ 0.01) = 0.5 and pmi ≥ 0.005."


def test_cells_of_a_table_with_names_are_left_to_the_whole_run(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"age": rng.integers(18, 90, 400), "region": rng.choice(["n", "s"], 400)})
    table["decision"] = np.where((table["age"] > 50) ^ (table["region"] == "n"), "yes", "no")
    table.to_csv(tmp_path / "test.csv", index=False)
    numbers = table[["age"]].to_numpy()
    skops.dump(DecisionTreeClassifier().fit(numbers, table["decision"]), tmp_path / "model.skops")
    arguments = (tmp_path / "model.skops", tmp_path / "test.csv", "--label", "decision")
    with pytest.raises(DataError, match="run --only reliability"):
        call(*arguments, "--method", "ram", "--cells", 4)


def test_many_features_and_rows_on_disk(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((900, 20))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    skops.dump(DecisionTreeClassifier(max_depth=4).fit(X[:300], y[:300]), tmp_path / "model.skops")
    np.savez(tmp_path / "test.npz", X=X[300:500], y=y[300:500])
    np.save(tmp_path / "field.npy", X[500:])
    arguments = (tmp_path / "model.skops", tmp_path / "test.npz")
    found = call(*arguments, "--operational", tmp_path / "field.npy")
    assert "At most" in found.stdout
    found = call(*arguments, "--method", "ram", "--latent", 2, "--side", 1)
    assert "of the profile" in found.stdout
    with pytest.raises(ParameterError, match="--latent 3"):
        call(*arguments, "--method", "ram")


def test_latent_spaces_by_name():
    X = np.random.default_rng(0).random((60, 8, 8))
    assert isinstance(_latent("2", X), PcaLatent)
    assert _latent("pca:3", X).encode(X).shape == (60, 3)
    vae = _latent("vae:2", X)
    assert isinstance(vae, VaeLatent)
    assert vae.encode(X).shape == (60, 2)
    for wrong in ("0", "vae:x", "umap", "vae:0"):
        with pytest.raises(ParameterError, match="vae:8"):
            _latent(wrong, X)
