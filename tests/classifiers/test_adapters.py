"""A new kind of model is one module and one row; everything that lists them reads the rows."""

import importlib
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import fireassay as fa
from fireassay.classifiers import ADAPTERS, FILES, Adapter, BaseClassifier, ModelFile
from fireassay.classifiers.adapters import ALL_OPTIONS, every_kind, models_table
from fireassay.cli.main import app
from fireassay.core import ModelError, ParameterError, UntrustedFileError
from fireassay.core.lazy import EXTRAS


@pytest.mark.parametrize("row", [*ADAPTERS.values(), *FILES.values()], ids=lambda row: row.name)
def test_every_row_names_what_is_there(row: Adapter) -> None:
    module = importlib.import_module(row.module)
    assert callable(getattr(module, row.maker))
    assert isinstance(row, ModelFile) or callable(module.accepts)
    assert row.extra is None or row.extra in EXTRAS
    assert set(row.takes) <= set(ALL_OPTIONS)
    assert not isinstance(row, ModelFile) or row.endings or row.members


def test_doctor_shows_which_kinds_can_be_read() -> None:
    done = CliRunner().invoke(app, ["doctor", "--json"])
    models = json.loads(done.output)["models"]
    assert set(models) == {row.name for row in every_kind()}
    assert models["function"] is True


def test_what_no_row_takes_is_refused_with_all_kinds() -> None:
    with pytest.raises(ModelError) as raised:
        fa.as_classifier(3)
    assert all(
        row.summary in str(raised.value) for row in every_kind() if "trust" not in row.summary
    )
    with pytest.raises(ParameterError, match=r"'device' parameter is for a `torch\.nn\.Module`"):
        fa.as_classifier(lambda rows: rows, device="cpu")


class Lookup:
    """A user's own kind of model: a table of answers, neither callable nor an estimator."""

    def __init__(self, share: float) -> None:
        self.share = share


class LookupClassifier(BaseClassifier):
    def __init__(self, table: Lookup, **options: Any) -> None:
        super().__init__(**options)
        self.table = table

    def _raw(self, block: np.ndarray) -> Any:
        return np.tile([self.table.share, 1 - self.table.share], (len(block), 1))

    def _content_hash(self) -> str:
        return f"{self.table.share}"


@pytest.fixture
def own_module(monkeypatch: pytest.MonkeyPatch) -> str:
    module: Any = ModuleType("lookup_adapter")
    module.accepts = lambda obj: isinstance(obj, Lookup)
    module.adapt = lambda obj, **options: LookupClassifier(
        obj if isinstance(obj, Lookup) else Lookup(float(obj.read_text()[1:])), **options
    )
    monkeypatch.setitem(sys.modules, "lookup_adapter", module)
    monkeypatch.setattr(ADAPTERS, "_rows", dict(ADAPTERS._rows))
    monkeypatch.setattr(FILES, "_rows", dict(FILES._rows))
    return "lookup_adapter"


def test_one_row_is_enough_for_a_new_kind_of_object(own_module: str) -> None:
    ADAPTERS.register(Adapter("lookup", "a `Lookup` table", own_module))
    model = fa.as_classifier(Lookup(0.25), classes=["a", "b"])
    assert model.predict_proba([[1.0]]).tolist() == [[0.25, 0.75]]
    assert model.classes == ("a", "b")
    assert "| a `Lookup` table | – | – | – |" in models_table()
    with pytest.raises(ParameterError, match="name of its own"):
        ADAPTERS.register(Adapter("lookup", "again", own_module))


def test_one_row_is_enough_for_a_new_kind_of_file(own_module: str, tmp_path: Path) -> None:
    (tmp_path / "m.lookup").write_text("L0.5")
    (tmp_path / "m.other").write_text("L0.5")
    with pytest.raises(ModelError, match=r"\.onnx or \.skops"):
        fa.as_classifier(tmp_path / "m.lookup")
    FILES.register(ModelFile("lookup", "`m.lookup`", own_module, endings=(".lookup",)))
    assert fa.as_classifier(tmp_path / "m.lookup").predict_proba([[1.0]]).tolist() == [[0.5, 0.5]]
    with pytest.raises(ModelError, match=r"\.skops or \.lookup"):
        fa.as_classifier(tmp_path / "m.other")
    FILES.register(
        ModelFile("risky", "`m.risky`", own_module, heads=(b"L0",), endings=(".r",), runs_code=True)
    )
    with pytest.raises(UntrustedFileError, match="risky"):
        fa.as_classifier(tmp_path / "m.other")
    assert fa.as_classifier(tmp_path / "m.other", trust=True).queries == 0


def test_the_base_of_adapters_says_what_is_missing() -> None:
    with pytest.raises(TypeError, match="_content_hash"):
        BaseClassifier()  # type: ignore[abstract]
