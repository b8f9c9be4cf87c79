"""A CSV file of texts and labels goes to models of texts as it is."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from fireassay.cli.main import app
from fireassay.core.errors import DataError
from fireassay.data import from_frame, load

_GOOD, _BAD = ["lovely", "great", "superb", "fine"], ["awful", "poor", "sad", "broken"]
_FILL = ["the", "film", "story", "with", "actors", "music", "plot", "scene", "ending"]
_FUNCTION = f"""
import numpy as np
GOOD, BAD = set({_GOOD!r}), set({_BAD!r})

def model(texts):
    counts = [sum((w in GOOD) - (w in BAD) for w in text.split()) for text in texts]
    p = 1 / (1 + np.exp(-1.5 * np.array(counts)))
    return np.column_stack([1 - p, p])
"""


def _reviews(n: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    texts = [
        " ".join(rng.permutation([*rng.choice(_GOOD if v else _BAD, 2), *rng.choice(_FILL, 8)]))
        for v in y
    ]
    return pd.DataFrame({"text": texts, "label": np.where(y, "good", "bad")})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    import skops.io
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    monkeypatch.chdir(tmp_path)
    train = _reviews(200, 1)
    train.to_csv("train.csv", index=False)
    _reviews(150, 2).to_csv("test.csv", index=False)
    _reviews(60, 3).drop(columns="label").to_csv("field.csv", index=False)
    pipeline = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(train.text, train.label)
    skops.io.dump(pipeline, "model.skops")
    Path("words.py").write_text(_FUNCTION)
    return tmp_path


@pytest.mark.parametrize("model", ["model.skops", "words:model"])
def test_texts_go_through_init_run_and_check(folder: Path, model: str) -> None:
    files = ["--data", "test.csv", "--train", "train.csv", "--operational", "field.csv"]
    begun = CliRunner().invoke(app, ["init", "--model", model, *files, "--trust"])
    assert begun.exit_code == 0, begun.output
    assert "form        text: one text per row, column 'text'" in begun.output
    config = Path("fireassay.toml")
    limit = '[gates.min]\n"accuracy.accuracy" = 0.8\n'
    config.write_text(config.read_text().replace("[gates.min]\n", limit))
    ran = CliRunner().invoke(app, ["run", "--trust"])
    assert "Failed" not in ran.output, ran.output
    checked = CliRunner().invoke(app, ["check", "fireassay-run"])
    assert checked.exit_code == 0, ran.output + checked.output
    assert "accuracy.accuracy" in checked.output


def test_one_column_of_texts_is_texts() -> None:
    data = from_frame(_reviews(40, 0))
    assert data.rows.form == "text"
    assert data.feature_names == ("text",)
    assert isinstance(data.X[0], str)


def test_short_texts_are_texts_and_few_names_are_a_table() -> None:
    names = pd.DataFrame({"surname": [f"name{i}" for i in range(30)], "label": [0, 1] * 15})
    assert from_frame(names).rows.form == "text"
    wards = pd.DataFrame({"ward": ["A", "B", "C"] * 10, "label": [0, 1] * 15})
    assert from_frame(wards).rows.form == "table"
    assert from_frame(wards, kind="text").rows.form == "text"
    assert from_frame(names, kind="table").rows.form == "table"
    assert from_frame(names, categorical=["surname"]).rows.form == "table"


def test_a_text_among_other_columns_is_a_frame() -> None:
    data = from_frame(_reviews(40, 0).assign(age=3))
    assert data.rows.form == "table"
    assert list(data.X.columns) == ["text", "age"]
    with pytest.raises(DataError, match="only feature"):
        from_frame(_reviews(40, 0).assign(age=3), kind="text")


def test_a_row_without_text_is_named(tmp_path: Path) -> None:
    frame = _reviews(40, 0)
    frame.loc[5, "text"] = None
    frame.to_csv(tmp_path / "holes.csv", index=False)
    with pytest.raises(DataError, match="1 without, first in line 7"):
        load(tmp_path / "holes.csv")
