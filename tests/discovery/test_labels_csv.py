import csv
import io

import numpy as np
import pytest

from fireassay.core import DataError
from fireassay.discovery.label_files import from_csv, to_csv
from fireassay.engine.labels.records import GivenAnswer
from fireassay.web.queue import read_queue, write_queue

HOSTILE = ["=cmd()", "+1", "@x", "plain"]


@pytest.fixture
def queue(tmp_path):
    return read_queue(
        write_queue(
            tmp_path,
            np.zeros((4, 2)),
            classes=HOSTILE,
            ids=["=id", "b", "c", "d"],
            rows=[9, 8, 7, 6],
            predicted=HOSTILE,
            confidence=[0.9, 0.8, 0.7, 0.6],
        )
    )


def answer(number, item, choice, **more):
    fields = {"annotator": "ada", "kind": "answer", "comment": "", "seconds": 1.5} | more
    return GivenAnswer(
        number=number, item=item, choice=choice, created="t", after_reveal=False, **fields
    )


def rows(queue, answers):
    return list(csv.DictReader(io.StringIO("".join(to_csv(queue, answers)))))


def test_nothing_in_the_file_is_a_formula(queue):
    text = "".join(to_csv(queue, [answer(1, 0, 0, comment="=1+1", annotator="-eve")]))
    for row in csv.reader(io.StringIO(text)):
        assert not any(cell.startswith(("=", "+", "-", "@")) for cell in row)


def test_the_models_answer_is_there_only_for_labelled_items(queue):
    first, second = rows(queue, [answer(1, 1, 3), answer(2, 2, None, kind="skip")])
    assert (first["predicted"], first["confidence"], first["wrong"]) == ("'+1", "0.8", "yes")
    assert (first["row"], first["outcome"], first["seconds"]) == ("8", "settled", "1.5")
    assert (second["predicted"], second["confidence"], second["kind"]) == ("", "", "skip")


def test_what_goes_out_comes_back(queue):
    given = [answer(1, 0, 0, comment="=x"), answer(2, 1, -1), answer(3, 2, -2), answer(4, 3, 3)]
    back = from_csv(queue, "".join(to_csv(queue, given)), "nobody")
    assert [(label.item, label.annotator, label.choice) for label in back] == [
        (a.item, "ada", a.choice) for a in given
    ]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_files_of_spreadsheets_are_read(queue, separator):
    text = f"\ufeffid{separator}label\r\nb{separator}plain\r\nc{separator}\r\n"
    assert [label.entry for label in from_csv(queue, text, "eve")] == [(1, "eve", 3, "")]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name,label\nb,plain", "columns 'label' and 'row' or 'id'"),
        ("id,label\nb,lizard", "Line 2: a label must be"),
        ("id,label\nb,plain\nzz,plain", "Line 3: there is no such id"),
        ("", "columns"),
    ],
)
def test_a_bad_line_is_named(queue, text, said):
    with pytest.raises(DataError, match=said):
        from_csv(queue, text, "eve")
