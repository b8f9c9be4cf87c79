"""Frames and texts in smaller blocks: only where they give the bytes of the largest one."""

import numpy as np
import pandas as pd
import pytest

from fireassay.classifiers import CodedClassifier
from fireassay.classifiers.backends.callable import CallableClassifier
from fireassay.classifiers.blocks import distinct_objects, kind_of_objects
from fireassay.data import Codebook, Rows


class Padded(CallableClassifier):
    """A function whose blocks are filled up, as those of networks and files are."""

    pads_blocks = True


WARDS = ("north", "east", None)


def frame(n=400):
    rng = np.random.default_rng(0)
    ward = pd.Series(np.array(WARDS, dtype=object)[rng.integers(3, size=n)])
    return pd.DataFrame({"ward": ward, "age": rng.normal(size=n)})


def by_row(X):
    one = 1 / (1 + np.exp(-X["age"].to_numpy() - (X["ward"] == "north").to_numpy()))
    return np.column_stack([1 - one, one])


def by_block(X):
    """Rounds differently in blocks of another size, as some libraries do."""
    answers = by_row(X)
    return answers + np.array([1e-12, -1e-12]) * len(X)


@pytest.mark.parametrize(("rule", "sent"), [(by_row, 4), (by_block, 256)])
def test_a_small_call_about_a_table_goes_in_a_small_block_with_the_same_bytes(rule, sent):
    rows = Rows(frame())
    codes = rows.encode()
    whole = Padded(rule).predict_proba(rows.values)
    model = CodedClassifier(Padded(rule), Codebook.of(rows))
    model.decide_block_sizes(codes)
    before = model.rows_delivered
    few = model.predict_proba(codes[:3])
    assert model.rows_delivered - before == sent
    assert few.tobytes() == whole[:3].tobytes()


def test_too_few_different_rows_decide_nothing():
    rows = Rows(pd.concat([frame(40)] * 10, ignore_index=True))
    model = CodedClassifier(Padded(by_row), Codebook.of(rows))
    assert model.decide_block_sizes(rows.encode()).to_dict() == {}
    assert distinct_objects(rows.values, 41) is None
    assert len(distinct_objects(rows.values, 40)) == 40


def test_texts_are_decided_by_themselves():
    model = Padded(lambda X: [[len(x) / 9, 1 - len(x) / 9] for x in X])
    texts = [f"{i:03}" for i in range(300)]
    decided = model.decide_block_sizes(texts).to_dict()
    assert [sizes for name, sizes in decided.items() if name.startswith("objects texts")] == [
        [1, 2, 4, 8, 16, 32, 64, 128, 256]
    ]
    before = model.rows_delivered
    model.predict_proba(texts[:5])
    assert model.rows_delivered - before == 8
    assert kind_of_objects(frame()) != kind_of_objects(frame().rename(columns={"age": "years"}))
