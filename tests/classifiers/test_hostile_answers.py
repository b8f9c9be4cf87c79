"""Models that misbehave when they are asked."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import fireassay as fa
from fireassay.cli.main import app
from fireassay.core import DataError, ModelError, ProbabilityError

X = np.random.default_rng(0).random((20, 2))


def halves(rows: Any) -> Any:
    return np.full((len(rows), 2), 0.5)


@pytest.mark.parametrize("code", [0, 1, None])
def test_a_model_that_exits_is_an_error(code: Any) -> None:
    def leave(rows: Any) -> Any:
        del rows
        sys.exit(code)

    with pytest.raises(ModelError, match="SystemExit"):
        fa.as_classifier(leave).predict_proba(X)


def test_a_model_that_exits_does_not_end_a_run_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "leaving_model.py").write_text("import sys\ndef model(X): sys.exit(0)\n")
    np.savez(tmp_path / "test.npz", X=X, y=(X[:, 0] > 0.5).astype(int))
    (tmp_path / "fireassay.toml").write_text(
        '[model]\npath = "leaving_model:model"\n[data]\ntest = "test.npz"\n'
        '[run]\nparts = ["accuracy"]\n'
    )
    done = CliRunner().invoke(app, ["run"])
    assert done.exit_code in (2, 3)
    assert "SystemExit" in done.output


def test_a_model_that_changes_its_input_changes_nothing_else() -> None:
    def careless(rows: Any) -> Any:
        rows[:] = 7.0
        return halves(rows)

    before = X.copy()
    fa.as_classifier(careless).predict_proba(X)
    np.testing.assert_array_equal(X, before)


def test_masked_arrays_are_refused_as_rows_and_as_answers() -> None:
    hidden = np.ma.masked_array(X, mask=X > 0.5)
    with pytest.raises(DataError, match="masked"):
        fa.as_classifier(halves).predict_proba(hidden)
    masked = fa.as_classifier(lambda rows: np.ma.masked_array(halves(rows), mask=True))
    with pytest.raises(ProbabilityError, match="masked"):
        masked.predict_proba(X)
