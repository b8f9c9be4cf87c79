"""Texts, tables by name and images go to a real server on this machine."""

import base64
import io
import json

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from tests.classifiers.test_http_adapter import Server, server  # noqa: F401

import fireassay as fa
from fireassay.core import DataError, ParameterError

TEXTS = ['good "quoted" \\ thing', "bad\nthing", "größer good", ""] * 5


def _reply(find):
    def script(_number, body):
        p = [float(find(row)) for row in body["instances"]]
        answer = {"predictions": [[1 - value, value] for value in p]}
        return 200, {}, json.dumps(answer).encode()

    return script


def test_texts_are_strings(server: Server):  # noqa: F811
    server.script = _reply(lambda text: 0.9 if "good" in text else 0.1)
    found = fa.as_classifier(server.url).predict_proba(TEXTS)
    assert (found[:, 1] > 0.5).tolist() == ["good" in text for text in TEXTS]
    assert server.requests[0][3]["instances"] == TEXTS
    y = np.array(["good" in text for text in TEXTS]).astype(int)
    report = fa.evaluate(server.url, TEXTS, y, "accuracy")
    assert report["accuracy"].estimates["accuracy"].value == 1.0


def test_a_text_inside_the_text_of_a_question(server: Server):  # noqa: F811
    def script(_number, body):
        asked = body["messages"][0]["content"].removeprefix("Rate: ")
        assert asked in TEXTS
        return 200, {}, json.dumps({"p": [0.0, 1.0] if "good" in asked else [1.0, 0.0]}).encode()

    server.script = script
    model = fa.as_classifier(
        server.url, request='{"messages": [{"content": "Rate: {row}"}]}', answer="p"
    )
    assert model.predict(TEXTS).tolist() == [int("good" in text) for text in TEXTS]


def test_tables_by_column_names(server: Server):  # noqa: F811
    server.script = _reply(lambda row: 0.9 if row["age"] > 50 and row["city"] else 0.1)
    frame = pd.DataFrame({"age": [20, 60, 70], "city": ["A", "B", None]})
    model = fa.as_classifier(server.url, request='{"instances": {records}}')
    assert model.predict(frame).tolist() == [0, 1, 0]
    assert server.requests[0][3]["instances"][2] == {"age": 70, "city": None}
    server.script = _reply(lambda row: 0.9 if row["age"] > 50 else 0.1)
    numbers = fa.as_classifier(server.url, request='{"instances": {records}}')
    assert numbers.predict(frame[["age"]]).tolist() == [0, 1, 1]
    with pytest.raises(DataError, match="column names"):
        numbers.predict(frame[["age"]].to_numpy())


@pytest.mark.parametrize(("shape", "white"), [((8, 6), 1), ((8, 6, 3), 255), ((3, 8, 6), 1)])
def test_images_are_base64_pngs(server: Server, shape, white):  # noqa: F811
    def bright(text):
        image = Image.open(io.BytesIO(base64.b64decode(text)))
        assert image.size == (6, 8)
        return 0.9 if np.asarray(image).mean() > 128 else 0.1

    server.script = _reply(bright)
    X = np.stack([np.full(shape, v * white) for v in (0.0, 0.9, 0.2, 1.0)])
    options = {"request": '{"instances": {pngs}}', "bounds": (0, white) if white > 1 else None}
    assert fa.as_classifier(server.url, **options).predict(X).tolist() == [0, 1, 0, 1]
    with pytest.raises(DataError, match=r"between 0 and|bounds"):
        fa.as_classifier(server.url, **options).predict(2 * X)


def test_two_places_are_refused():
    with pytest.raises(ParameterError, match="once"):
        fa.as_classifier("http://127.0.0.1:1", request='{"a": {rows}, "b": {records}}')
