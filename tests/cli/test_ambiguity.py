import json
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from fireassay.cli.ambiguity import app

runner = CliRunner()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    pytest.importorskip("torch")
    from fireassay.data import digits

    path = tmp_path_factory.mktemp("ambiguity")
    data = digits()
    rows = data.y < 3
    np.savez(path / "train.npz", X=data.X[rows], y=data.y[rows])
    arguments = ["generate", str(path / "train.npz"), "--pair", "0,1", "--tries", "1", "-n", "30"]
    result = runner.invoke(app, [*arguments, "-o", str(path / "set"), "--json"])
    assert result.exit_code == 0, result.output
    summary = json.loads(result.output)
    assert summary["n"] == 30
    assert summary["pairs"][0]["accepted"] == 1
    return path


@pytest.mark.extras
def test_generated_set_can_be_evaluated(folder, monkeypatch):
    module = type(sys)("guessing_model")
    module.guess = lambda X: np.tile([0.5, 0.4, 0.1], (len(X), 1))
    monkeypatch.setitem(sys.modules, "guessing_model", module)
    saved = folder / "evaluation.npz"
    result = runner.invoke(
        app,
        ["evaluate", "guessing_model:guess", str(folder / "set"), "--json", "-o", str(saved)],
    )
    assert result.exit_code == 0, result.output
    estimates = json.loads(result.output)["estimates"]
    assert estimates["top_pair"]["value"] == 1.0
    assert estimates["top_pair"]["n"] == 30
    assert estimates["entropy"]["value"] == pytest.approx(1.361, abs=0.001)
    from fireassay.ambiguity import AmbiguityEvaluation

    assert AmbiguityEvaluation.load(saved).top_pair.value == 1.0


@pytest.mark.extras
def test_unknown_pairs_and_missing_folders_are_errors_in_words(folder):
    from fireassay.core import DataError, ParameterError

    arguments = ["generate", str(folder / "train.npz"), "-o", str(folder / "other")]
    bad_pair = runner.invoke(app, [*arguments, "--pair", "0,7"])
    assert isinstance(bad_pair.exception, ParameterError)
    assert "classes 0, 1, 2" in str(bad_pair.exception)
    missing = runner.invoke(app, ["evaluate", "guessing_model:guess", str(folder / "nowhere")])
    assert isinstance(missing.exception, DataError)


def test_names_of_classes_may_have_commas():
    from fireassay.cli.ambiguity import _pairs
    from fireassay.core import ParameterError

    classes = ("fraud", "doubtful, see note", "fine", 3)
    assert _pairs(["doubtful, see note,fine", "3, fraud"], classes) == [
        ("doubtful, see note", "fine"),
        (3, "fraud"),
    ]
    for text in ("fraud", "fraud,", "fraud,none", "fraud,fine,3"):
        with pytest.raises(ParameterError, match="two of the classes"):
            _pairs([text], classes)


def test_help_has_examples():
    for command in ("generate", "evaluate"):
        result = runner.invoke(app, [command, "--help"])
        assert result.exit_code == 0
        assert "Example:" in result.output
