"""Every row of a run as a table: what it says is what the model said, the same bytes each time."""

import itertools
import json

import numpy as np
import pandas as pd
import pytest

from fireassay.assessment.context import Context
from fireassay.assessment.parts.table import settings_models
from fireassay.assessment.run.loop import Run
from fireassay.assessment.samples.content import shown_content
from fireassay.assessment.samples.gallery import Gallery
from fireassay.classifiers import as_classifier
from fireassay.data import DataSet
from fireassay.engine import Executor, RunStore


def two_classes(X):
    p = np.clip(np.asarray(X, dtype=float).reshape(len(X), -1)[:, 0], 0, 1)
    return np.column_stack([1 - p, p])


def assessed(folder, parts=("accuracy",), *, model=two_classes, classes=("a", "b"), samples=True,
             settings=None, **sets):  # fmt: skip
    with RunStore(folder) as store:
        context = Context(
            as_classifier(model, classes=classes, bounds=(0.0, 1.0)),
            executor=Executor(store=store, progress=False),
            **sets,
        )
        own = {
            name: kind(**(settings or {}).get(name, {})) for name, kind in settings_models().items()
        }
        Run(context, parts, own, samples=samples).go()
    return folder / "samples"


def column(folder, name, of="test"):
    return np.load(folder / f"{of}-{name}.npy")


def rows(n=40, width=2, seed=0):
    X = np.random.default_rng(seed).random((n, width))
    y = np.where(np.random.default_rng(seed + 1).random(n) < X[:, 0], "b", "a")
    return DataSet(X, y, slices={"site": ["north", "south"] * (n // 2)})


def test_the_columns_are_what_the_model_said(tmp_path):
    data = rows()
    made = assessed(tmp_path / "run", test=data)
    answers = two_classes(data.X)
    np.testing.assert_array_equal(column(made, "said"), answers.argmax(axis=1))
    np.testing.assert_array_equal(column(made, "truth"), (data.y == "b").astype(int))
    np.testing.assert_allclose(column(made, "confidence"), answers.max(axis=1), rtol=1e-6)
    np.testing.assert_array_equal(column(made, "top")[:, 0], answers.argmax(axis=1))
    np.testing.assert_allclose(column(made, "top_p").sum(axis=1), 1, rtol=1e-6)
    np.testing.assert_allclose(column(made, "rows-content"), data.X, rtol=1e-6)
    told = json.loads((made / "samples.json").read_text())["sets"]["test"]
    assert told["slices"] == [{"name": "site", "column": "slice-0", "levels": ["north", "south"]}]
    np.testing.assert_array_equal(column(made, "slice-0"), [0, 1] * 20)


def test_the_same_run_leaves_the_same_bytes_and_is_not_written_again(tmp_path):
    one = assessed(tmp_path / "one", test=rows())
    two = assessed(tmp_path / "two", test=rows())
    files = sorted(file.name for file in one.iterdir())
    assert files == sorted(file.name for file in two.iterdir())
    assert all((one / name).read_bytes() == (two / name).read_bytes() for name in files)
    before = (one / "samples.json").stat().st_mtime_ns
    assessed(tmp_path / "one", test=rows())
    assert (one / "samples.json").stat().st_mtime_ns == before


def test_asked_to_keep_no_samples_no_row_is_kept(tmp_path):
    made = assessed(tmp_path / "run", test=rows(), samples=False)
    assert not list(made.glob("*rows*"))
    told = json.loads((made / "samples.json").read_text())["sets"]["test"]
    assert told["kind"] == "none"
    assert "no samples" in told["content"]["reason"]


def shown(X, y=None, **more):
    data = DataSet(X, y, **more)
    context = Context(as_classifier(two_classes, classes=("a", "b"), bounds=(0.0, 1.0)), data)
    return shown_content(Gallery(context, data))


def test_pictures_are_bytes_with_channels_last():
    X = np.random.default_rng(0).random((5, 3, 8, 9)).astype(np.float32)
    kept = shown(X)
    assert (kept.kind, kept.facts["side"]) == ("image", [8, 9])
    expected = np.rint(255 * np.moveaxis(X, 1, -1).astype(float))
    np.testing.assert_array_equal(kept.arrays["content"], expected)


def test_large_pictures_are_made_smaller_by_means():
    X = np.zeros((2, 600, 600), dtype=np.float32)
    X[:, :300] = 1.0
    kept = shown(X).arrays["content"]
    assert kept.shape == (2, 200, 200, 1)
    assert (kept[:, :100] == 255).all()
    assert (kept[:, 100:] == 0).all()


def test_tables_keep_names_and_holes():
    frame = pd.DataFrame({"age": [40.5, np.nan, 3.0], "ward": ["north", None, "south"]})
    kept = shown(frame)
    assert kept.kind == "table"
    assert kept.facts["names"] == ["age", "ward"]
    levels = kept.facts["levels"]["1"]
    codes = kept.arrays["content"][:, 1].astype(int)
    assert [levels[i] for i in codes] == ["north", "missing", "south"]
    np.testing.assert_array_equal(np.isnan(kept.arrays["content"][:, 0]), [False, True, False])


def test_texts_of_any_length_and_series_with_time_last():
    texts = np.array(["short", "ein längerer Text " * 40], dtype=object)
    kept = shown(texts)
    starts = kept.arrays["starts"]
    found = [bytes(kept.arrays["bytes"][a:b]).decode() for a, b in itertools.pairwise(starts)]
    assert found == list(texts)
    kept = shown(np.random.default_rng(0).random((4, 500, 2)), kinds=("series",))
    assert kept.kind == "series"
    assert kept.arrays["content"].shape == (4, 2, 167)


@pytest.mark.slow
def test_attacks_and_monitors_stand_at_their_rows(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.random((400, 3))
    y = np.where(X[:, 0] > 0.5, "b", "a")
    test, train = DataSet(X[:200], y[:200]), DataSet(X[200:], y[200:])

    def sharp(rows):
        p = 1 / (1 + np.exp(-20 * (np.asarray(rows)[:, 0] - 0.5)))
        return np.column_stack([1 - p, p])

    made = assessed(
        tmp_path / "run", ("accuracy", "survival", "supervision"), model=sharp, test=test,
        train=train, settings={"survival": {"samples": 12, "budget": 60}},
    )  # fmt: skip
    told = json.loads((made / "samples.json").read_text())["sets"]["test"]
    bits = {name: 1 << i for i, name in enumerate([*told["parts"], *told["marks"]])}
    flags = column(made, "flags")
    attacked = np.flatnonzero(flags & bits["survival"])
    assert len(attacked) == 12
    np.testing.assert_array_equal(np.unique(column(made, "attack_row")), attacked)
    fell = column(made, "attack_row")[column(made, "attack_fell")]
    np.testing.assert_array_equal(
        np.flatnonzero(flags & bits["fell to an attack"]), np.unique(fell)
    )
    changed = column(made, "adversarial-content")
    assert len(changed) == column(made, "attack_fell").sum()
    crossed = (changed[:, 0] > 0.5) != (X[fell, 0] > 0.5)
    assert crossed.all()
    score = next(s for s in told["scores"] if s["name"] == "max-softmax")
    held = column(made, score["column"])
    np.testing.assert_allclose(held, 1 - sharp(X[:200]).max(axis=1), atol=1e-5)
    best = next(s for s in told["scores"] if s["recommended"])
    alarm = column(made, best["column"]) > np.float32(best["threshold"])
    np.testing.assert_array_equal(
        np.flatnonzero(flags & bits["raises the alarm"]), np.flatnonzero(alarm)
    )
