"""Attacks on tokens and categories in a whole run: every row that is sent is a row there could be.

The models refuse what they do not know, so that one invalid row fails the part; the rows that
fooled them are read back from the run folder and looked at one by one.
"""

import json
import re
import sys

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from fireassay.assessment.coded_rows import coded
from fireassay.assessment.config import read_config
from fireassay.assessment.context import load_context
from fireassay.assessment.run.stale import read_made
from fireassay.cli.main import app
from fireassay.engine import RunStore

TOKENS = """
import numpy as np
def model(X):
    assert X.dtype == np.int32 and X.shape[1] == 12 and X.min() >= 0 and X.max() <= 9, X
    score = (X == 5).sum(axis=1) - (X == 0).sum(axis=1) + 0.1 * (X[:, 0] - 4.5)
    p = 1 / (1 + np.exp(-score))
    return np.column_stack([1 - p, p])
"""
TABLE = """
import numpy as np
def model(X):
    assert list(X.columns) == ["ward", "sex", "age", "bmi", "visits"], X.columns
    assert X["ward"].isin(["north", "east", "south", "west"]).all()
    assert X["sex"].isin(["f", "m"]).all()
    assert X["visits"].dtype.kind == "i" and (X["age"].isna() | X["age"].between(20, 90)).all()
    score = (X["ward"].map({"north": -1.0, "east": 0.0, "south": 0.4, "west": 1.0}).to_numpy()
             + 0.03 * (X["age"].fillna(55.0).to_numpy() - 55) + 0.15 * (X["bmi"].to_numpy() - 25)
             + 0.4 * (X["visits"].to_numpy() - 3))
    p = 1 / (1 + np.exp(-score))
    return np.column_stack([1 - p, p])
"""
FIXED = 'columns = {sex = "fixed", age = "fixed"}'


def tokens(folder):
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 300)
    X = np.where(rng.random((300, 12)) < 0.25, 5 * y[:, None], rng.integers(0, 10, (300, 12)))
    np.savez(folder / "test.npz", X=X.astype(np.int32), y=y)
    return X.astype(np.int32)


def patients(folder):
    rng = np.random.default_rng(6)
    frame = pd.DataFrame(
        {
            "ward": rng.choice(["north", "east", "south", "west"], 300),
            "sex": rng.choice(["f", "m"], 300),
            "age": np.where(rng.random(300) < 0.1, np.nan, rng.uniform(20, 90, 300).round(1)),
            "bmi": rng.normal(25, 4, 300).round(1),
            "visits": rng.poisson(3, 300),
        }
    )
    names = {}
    exec(TABLE, names)  # the model itself says what is right
    frame["outcome"] = names["model"](frame).argmax(axis=1)
    frame.to_csv(folder / "test.csv", index=False)
    return frame.drop(columns="outcome")


def fooled(project, text, *arguments, columns="# columns = {}"):
    """The rows that fooled the model in a run, as it takes them, and whose changes they are."""
    (project / "picky.py").write_text(text)
    call = CliRunner().invoke
    started = call(app, ["init", "--model", "picky:model", *arguments])
    assert started.exit_code == 0, started.output
    config = project / "fireassay.toml"
    config.write_text(re.sub(r"# columns = .*", columns, config.read_text()))
    run = call(app, ["run", "--only", "survival", "--json"])
    assert json.loads(run.output)["parts"]["survival"]["status"] == "done", run.output
    with RunStore(project / "fireassay-run") as store:
        key = read_made(store)["survival"]["key"]
        kept = store.finished([key])[key]["result"].kept
    context = coded(load_context(read_config(config), trust=True))
    return context.model.book.decode(kept["adversarial"]), kept["samples"]


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "picky", raising=False)
    return tmp_path


@pytest.mark.slow
def test_tokens_stay_tokens(project):
    X = tokens(project)
    after, rows = fooled(project, TOKENS, "--data", "test.npz")
    before = X[rows]
    assert len(after) > 80
    assert after.dtype == np.int32
    assert after.min() >= 0
    assert after.max() <= 9
    assert (after != before).any(axis=1).all()


@pytest.mark.slow
def test_categories_stay_known_and_fixed_columns_as_they_were(project):
    frame = patients(project)
    after, rows = fooled(project, TABLE, "--data", "test.csv", "--label", "outcome", columns=FIXED)
    before, after = frame.iloc[rows].reset_index(drop=True), after.reset_index(drop=True)
    assert len(after) > 60
    for fixed in ("sex", "age"):  # holes, too, stay where they are
        pd.testing.assert_series_equal(after[fixed], before[fixed], check_dtype=False)
    assert after["ward"].isin(frame["ward"].unique()).all()
    assert after["visits"].dtype.kind == "i"
    for name in ("bmi", "visits"):
        assert after[name].between(frame[name].min(), frame[name].max()).all()
    moved = {name: (after[name] != before[name]).mean() for name in ("ward", "bmi", "visits")}
    assert all(share > 0.1 for share in moved.values()), moved
    assert before["age"].isna().any()
