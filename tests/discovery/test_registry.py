"""Adding a search is one class and one row: then every door knows it."""

import numpy as np
import pytest
from typer.testing import CliRunner

from fireassay import discovery
from fireassay.core.errors import ParameterError
from fireassay.discovery import SEARCHES, Candidates, Choice, Strategy


class HighConfidence(Strategy):
    """The surest predictions first."""

    name, adaptive = "high-confidence", False
    summary = "highest confidence first"

    def __init__(self, candidates: Candidates) -> None:
        self._confidence = candidates.confidence

    def choose(self, free, rng):
        return Choice(int(free[np.argmax(self._confidence[free])]))


@pytest.fixture
def registered(monkeypatch):
    monkeypatch.setattr(SEARCHES, "_rows", dict(SEARCHES._rows))
    return SEARCHES.register(HighConfidence).name


def test_a_new_search_works_by_name(registered, corner, tmp_path):
    search = discovery.Search(
        registered, model=corner.model, X=corner.X, budget=7, path=tmp_path / "search.npz"
    )
    result = search.run(lambda row: corner.y[row])
    confidence = corner.model.predict_proba(corner.X).max(axis=1)
    np.testing.assert_array_equal(np.sort(confidence)[::-1][:7], result.confidence)
    assert result.valid_as == "fixed"
    assert discovery.Search.load(tmp_path / "search.npz").result.ratio == result.ratio


def test_a_new_search_is_compared_with_all_others(registered, corner):
    compared = discovery.compare(
        corner.model, corner.X, corner.y, budget=3, subset=50, replications=1, workers=1,
        scores=corner.scores, progress=False,
    )  # fmt: skip
    assert registered in compared.searches
    assert f"sdr_{registered}" in compared.evidence().estimates


def test_a_new_search_is_listed_and_runs_from_the_configuration(registered, corner):
    from fireassay.assessment.context import Context
    from fireassay.assessment.parts import discovery as part
    from fireassay.cli.main import app
    from fireassay.data import DataSet
    from fireassay.engine import Executor

    listed = CliRunner().invoke(app, ["discovery", "--searches"])
    assert listed.exit_code == 0
    assert "high-confidence" in listed.stdout
    assert "highest confidence first" in listed.stdout
    settings = part.Settings(search=registered, budget=5, matched_share=0.0, drawn=0)
    context = Context(corner.model, DataSet(corner.X, corner.y), executor=Executor(workers=1))
    assert part.cost(context, settings).calls == 0
    found = part.run(context, settings)
    assert found.result.state.name == registered
    assert found.result.ratio.n == 5


def test_a_name_is_taken_once_and_a_misspelt_one_is_helped(registered):
    with pytest.raises(ParameterError, match="name of its own"):
        SEARCHES.register(HighConfidence)
    with pytest.raises(ParameterError, match="Did you mean bansal-weld"):
        discovery.Search("bansal-wels", model=lambda X: X, X=[[1.0]])
