"""Rows that wait for labels: a person sees them as the data set has them, in file and app."""

import csv
import json

import numpy as np
import pandas as pd
import pytest
from PIL import Image

pytest.importorskip("fastapi")

import fireassay as fa
from fireassay.assessment.coded_rows import coded
from fireassay.assessment.context import Context
from fireassay.assessment.parts import discovery
from fireassay.data import DataSet, from_frame
from fireassay.discovery import next_labels
from fireassay.engine import Executor, RunStore
from fireassay.web import queue_from_search
from fireassay.web.queue import read_queue

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
SMALL = discovery.Settings(search="low-confidence", budget=4, drawn=6)


def waiting(folder, model, test, field, **more):
    """The folder of a run whose discovery waits for labels of field rows."""
    with RunStore(folder) as store:
        context = Context(
            fa.as_classifier(model, classes=[0, 1]),
            test,
            operational=field,
            executor=Executor(store=store),
            **more,
        )
        discovery.run(coded(context), SMALL)
    return folder


def first_feature(X):
    p = 1 / (1 + np.exp(-3 * np.asarray(X, dtype=float).reshape(len(X), -1)[:, 0]))
    return np.column_stack([1 - p, p])


def asked(folder, count=3):
    rows = next_labels(folder, folder / "next.csv", count)
    with (folder / "next.csv").open(newline="") as lines:
        return rows, list(csv.DictReader(lines))


def queue_of(folder):
    return read_queue(queue_from_search(folder))


def test_names_dates_and_holes_are_shown_as_they_are(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.normal(size=90),
            "ward": rng.choice(["A", "Süd"], 90),
            "seen": pd.Timestamp("2026-01-01") + pd.to_timedelta(rng.integers(0, 99, 90), "D"),
        }
    )
    frame.loc[::5, "age"] = np.nan
    y = rng.integers(0, 2, 60)
    test, field = from_frame(frame[:60], label=False), from_frame(frame[60:], label=False)
    run = waiting(
        tmp_path / "run",
        lambda f: first_feature(f[["age"]].fillna(0)),
        DataSet(test.X, y, kinds=test.kinds, feature_names=test.feature_names),
        field,
    )
    _, lines = asked(run, 6)
    for line in lines:
        own = frame.iloc[60 + int(line["id"])]
        assert line["ward"] == own["ward"]
        assert line["seen"] == str(own["seen"].date())
        assert line["age"] == ("" if pd.isna(own["age"]) else line["age"])
        assert pd.isna(own["age"]) or float(line["age"]) == pytest.approx(own["age"], rel=1e-4)
    queue = queue_of(run)
    assert queue.kind == "row"
    assert queue.feature_names == ("age", "ward", "seen")
    assert set(np.asarray(queue.content)[:, 1]) == {"A", "Süd"}


def test_texts_are_shown_as_texts(tmp_path):
    rng = np.random.default_rng(1)
    texts = np.array([f"{v:.3f} is a number, =cmd()" for v in rng.random(90)], dtype=object)
    run = waiting(
        tmp_path / "run",
        lambda rows: first_feature([[float(t.split()[0])] for t in rows]),
        DataSet(texts[:60], rng.integers(0, 2, 60)),
        DataSet(texts[60:]),
    )
    _, lines = asked(run)
    assert [line["text"] for line in lines] == [texts[60 + int(line["id"])] for line in lines]
    assert queue_of(run).feature_names == ("text",)


def test_series_are_lines_and_each_channel_can_be_seen(tmp_path):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(90, 2, 30)) * np.array([1.0, 1000.0])[:, None]
    series = {"kinds": ("series",)}
    run = waiting(
        tmp_path / "run",
        first_feature,
        DataSet(X[:60], rng.integers(0, 2, 60), **series),
        DataSet(X[60:], **series),
    )
    _, lines = asked(run)
    with Image.open(run / lines[0]["picture"]) as picture:
        pixels = np.asarray(picture.convert("L"))
    assert all((half < 128).sum() > 200 for half in np.array_split(pixels, 2))  # a line in each
    queue = queue_of(run)
    assert queue.kind == "series"
    assert queue.content.shape[1:] == (30, 2)  # time first
    from fireassay.web.queue_pages import item_facts

    shown = json.dumps(item_facts(queue, None, 0)["series"].spec)
    assert "each from its lowest to its highest value" in shown


def test_normalised_images_with_channels_first_are_shown_in_their_colours(tmp_path):
    rng = np.random.default_rng(3)
    pixels = rng.random((90, 3, 8, 8))
    pixels[:, 2] *= 0.2  # hardly any blue
    m, s = (np.reshape(v, (3, 1, 1)) for v in (MEAN, STD))
    X = ((pixels - m) / s).astype(np.float32)
    run = waiting(
        tmp_path / "run",
        first_feature,
        DataSet(X[:60], rng.integers(0, 2, 60)),
        DataSet(X[60:]),
        normalisation=(MEAN, STD),
    )
    _, lines = asked(run)
    own = np.moveaxis(pixels[60 + int(lines[0]["id"])], 0, -1)
    with Image.open(run / lines[0]["picture"]) as picture:
        assert np.abs(np.asarray(picture) / 255 - own).max() < 0.01
    queue = queue_of(run)
    assert queue.kind == "image"
    assert queue.content.shape[1:] == (8, 8, 3)
