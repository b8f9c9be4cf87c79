"""Samples as evidence: which rows prove what a part says, how they are shown, and how left out."""

import base64
import io
import json

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import fireassay as fa
from fireassay.assessment import read_config, run_assessment
from fireassay.assessment.context import Context
from fireassay.assessment.run.folder import read_report
from fireassay.assessment.samples.gallery import Gallery
from fireassay.core import Sample
from fireassay.core.errors import ParameterError
from fireassay.data import DataSet


def _at_half(X):
    share = X.reshape(len(X), -1).mean(axis=1)
    return np.column_stack([1 - share, share])


@pytest.fixture(scope="module")
def images():
    rng = np.random.default_rng(0)
    X = np.clip(rng.uniform(0.1, 0.9, (160, 1, 1)) + rng.normal(0, 0.02, (160, 8, 8)), 0, 1)
    y = (X.mean(axis=(1, 2)) > 0.4).astype(int)
    model = fa.as_classifier(_at_half, classes=[0, 1], bounds=(0.0, 1.0))
    return model, X, y


def _pixels(uri):
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(uri.partition(",")[2]))))


def test_accuracy_shows_its_wrong_answers_the_most_confident_first(images):
    model, X, y = images
    report = fa.evaluate(model, X, y, parts="accuracy")
    samples = report["accuracy"].samples
    answers = _at_half(X)
    wrong = np.flatnonzero(answers.argmax(axis=1) != y)
    expected = wrong[np.argsort(-answers.max(axis=1)[wrong], kind="stable")][:12]
    assert [sample.row for sample in samples] == expected.tolist()
    assert all(sample.title == "1 → 0" for sample in samples)
    assert samples[0].confidence == pytest.approx(answers.max(axis=1)[expected[0]])
    shown = _pixels(samples[0].pictures["input"])
    assert np.array_equal(shown, np.round(X[expected[0]] * 255))
    assert report["accuracy"].provenance.queries == len(X)  # no further questions


def test_survival_shows_the_original_and_the_difference(images):
    model, X, y = images
    settings = {"survival": {"samples": 20, "budget": 60, "eps": 0.3}}
    found = fa.evaluate(model, X, y, parts="survival", settings=settings)["survival"]
    assert 1 <= len(found.samples) <= 12
    assert len({sample.row for sample in found.samples}) == len(found.samples)
    for sample in found.samples:
        assert sample.truth == str(y[sample.row])
        assert sample.said != sample.truth
        assert set(sample.pictures) == {"input", "original", "difference"}
        assert np.array_equal(_pixels(sample.pictures["original"]), np.round(X[sample.row] * 255))
    queries = [sample.scores["queries"] for sample in found.samples]
    assert queries == sorted(queries)


def test_a_table_row_marks_what_deviates_from_its_class():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {"age": rng.normal(50, 5, 200), "dose": rng.normal(1, 0.1, 200), "sex": ["f", "m"] * 100}
    )
    frame.loc[7, "dose"] = 9.0
    frame.loc[8, "sex"] = "x"
    data = DataSet(frame, np.repeat([0, 1], 100))
    model = fa.as_classifier(lambda X: np.full((len(X), 2), 0.5), classes=[0, 1])
    gallery = Gallery(Context(model, data), data)
    cells = gallery.at(7, "far off").cells
    assert (cells[0].name, cells[0].value, cells[0].unusual) == ("dose", "9", True)
    assert not any(cell.unusual for cell in cells[1:])
    by_name = {cell.name: cell for cell in gallery.at(8, "rare").cells}
    assert by_name["sex"].unusual
    assert not by_name["age"].unusual


def test_a_table_with_names_is_shown_as_the_user_has_it():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"dose": rng.normal(1, 0.1, 120), "ward": ["north", "south"] * 60})
    y = (frame["dose"] > 1).astype(int).to_numpy()

    def model(X):
        share = 1 / (1 + np.exp(-40 * (X["dose"].to_numpy() - 1.03)))
        return np.column_stack([1 - share, share])

    report = fa.evaluate(fa.as_classifier(model, classes=[0, 1]), frame, y, parts="accuracy")
    samples = report["accuracy"].samples
    assert samples
    for sample in samples:
        shown = {cell.name: cell.value for cell in sample.cells}
        assert shown["ward"] == frame["ward"][sample.row]
        assert float(shown["dose"]) == pytest.approx(frame["dose"][sample.row], rel=1e-3)


def test_texts_and_series_are_shown_as_what_they_are():
    model = fa.as_classifier(lambda X: np.full((len(X), 2), 0.5), classes=[0, 1])
    texts = DataSet(["all is well", "nothing is"], [0, 1])
    words = Gallery(Context(model, texts), texts).at(1, "wrong").text
    assert [token for token, _ in words] == ["nothing", "is"]
    waves = np.sin(np.linspace(0, 6, 500))[None, None, :].repeat(2, axis=1).repeat(3, axis=0)
    series = DataSet(waves, [0, 1, 1], kinds=("series",))
    lines = Gallery(Context(model, series), series).at(0, "wrong").series
    assert list(lines) == ["channel 0", "channel 1"]
    assert len(lines["channel 0"]) <= 120
    assert lines["channel 0"][1] == pytest.approx(np.sin(6 / 499 * 5), abs=1e-3)


def test_every_part_of_a_model_names_its_samples(images):
    model, X, y = images
    rng = np.random.default_rng(2)
    votes = np.where(rng.random((160, 4)) < 0.8, y[:, None], 1 - y[:, None])
    report = fa.evaluate(
        model,
        X,
        y,
        parts=["curation", "supervision", "discovery"],
        train=(X[::-1] * 0.9, y[::-1]),
        votes=votes,
        settings={
            "discovery": {"pool": 60, "max_queries": 30, "drawn": 0, "threshold": 0.5},
            "supervision": {"supervisors": ("max-softmax",), "false_alarm": 0.3},
        },
    )
    assert [part.status for part in report.parts] == ["done"] * 3
    curation, supervision, discovery = (part.samples for part in report.parts)
    assert len(curation) == 12
    assert {sample.truth == str(y[sample.row]) for sample in curation} == {True}
    assert all(sample.scores["score"] > sample.scores["threshold"] for sample in supervision)
    assert 1 <= len(discovery) <= 12
    for sample in discovery:
        assert sample.truth == str(y[sample.row]) != sample.said


CONFIG = """
[model]
path = "half_of_images:model"
bounds = [0.0, 1.0]
classes = [0, 1]
[data]
test = "test.npz"
[run]
parts = ["accuracy"]
{more}
"""


@pytest.fixture
def folder(tmp_path, images):
    _, X, y = images
    np.savez(tmp_path / "test.npz", X=X, y=y)
    (tmp_path / "half_of_images.py").write_text(
        "import numpy as np\n"
        "def model(X):\n"
        "    m = X.reshape(len(X), -1).mean(axis=1)\n"
        "    return np.column_stack([1 - m, m])\n"
    )
    return tmp_path


def _result(folder):
    return json.loads((folder / "fireassay-run" / "result.json").read_text())["parts"]["accuracy"]


def test_the_document_names_rows_and_keeps_no_picture(folder):
    (folder / "fireassay.toml").write_text(CONFIG.format(more=""))
    outcome = run_assessment(read_config(folder / "fireassay.toml"), trust=True)
    kept = _result(folder)["samples"]
    assert [s["row"] for s in kept] == [s.row for s in outcome.report["accuracy"].samples]
    assert "base64" not in json.dumps(kept)
    read = read_report(folder / "fireassay-run")["accuracy"].samples
    assert read == outcome.report["accuracy"].samples  # pictures come back from the journal


@pytest.mark.parametrize("how", ["flag", "file"])
def test_samples_are_left_out_on_request_everywhere(folder, how):
    more = "samples = false" if how == "file" else ""
    (folder / "fireassay.toml").write_text(CONFIG.format(more=more))
    run_assessment(read_config(folder / "fireassay.toml"), samples=how != "flag", trust=True)
    kept = _result(folder)
    assert kept["samples"] == []
    assert kept["withheld"] > 0
    page = (folder / "fireassay-run" / "report.html").read_text()
    assert "data:image/png" not in page
    again = read_report(folder / "fireassay-run")["accuracy"]
    assert again.samples == ()
    assert again.withheld == kept["withheld"]


def test_a_picture_is_a_picture():
    with pytest.raises(ParameterError):
        Sample(1, "", pictures={"input": "https://elsewhere/x.png"})


def test_words_of_a_text_that_mattered_are_weighed_by_leaving_them_out():
    asked = []

    def model(texts):
        asked.extend(texts)
        sick = np.array([0.9 if "fever" in text else 0.2 for text in texts])
        return np.column_stack([1 - sick, sick])

    texts = DataSet(["high fever today"] * 8, [0] * 8)
    gallery = Gallery(Context(fa.as_classifier(model, classes=[0, 1]), texts), texts)
    weights = dict(gallery.at(0, "wrong").text)
    assert weights == {"high": 0.0, "fever": pytest.approx(0.7), "today": 0.0}
    assert set(asked) >= {"high fever today", "fever today", "high today", "high fever"}
    for position in range(1, 6):
        gallery.at(position, "wrong")
    before = len(asked)
    assert dict(gallery.at(6, "wrong").text) == {"high": 0.0, "fever": 0.0, "today": 0.0}
    assert len(asked) == before  # a page shows a few texts: no more are paid for


def test_a_changed_cell_says_what_it_was_with_digits_that_tell_the_two_apart():
    rows = DataSet(np.array([[1.0, 2.0], [3.0, 4.0]]), [0, 1], feature_names=("a", "b"))
    model = fa.as_classifier(lambda X: np.full((len(X), 2), 0.5), classes=[0, 1])
    (cell,) = Gallery(Context(model, rows), rows).changed([[1.0, 2.0]], [[1.00001, 2.0]])
    assert (cell.name, cell.value, cell.was) == ("a", "1.00001", "1")
