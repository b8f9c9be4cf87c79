"""A file of answers: damage, kills and strangers' files lead to nothing but asking again."""

import warnings

import numpy as np
import pytest

from fireassay.core.errors import FireassayWarning, StoreError
from fireassay.engine.answer_file import AnswerFile

ANSWERS = np.array([[0.25, 0.75], [1.0, 0.0]])


def written(folder, name="a" * 64):
    file = AnswerFile(folder / "answers" / "a.bin", name, n=9)
    for place in (0, 2, 4):
        file.append(np.array([place, place + 1]), ANSWERS)
    return file


def places(file):
    return [found.tolist() for found, _ in file.read()]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_answers_come_back_bit_by_bit(tmp_path, dtype):
    file = AnswerFile(tmp_path / "answers" / "a.bin", "name", n=3)
    file.append(np.array([2]), np.array([[1 / 3, 2 / 3]], dtype=dtype))
    ((found, answers),) = file.read()
    assert answers.dtype == dtype
    assert (found.tolist(), answers.tolist()) == ([2], [[dtype(1 / 3), dtype(2 / 3)]])


@pytest.mark.parametrize("cut", range(1, 75, 7))
def test_a_record_that_a_kill_cut_short_is_left_out_and_written_over(tmp_path, cut):
    path = written(tmp_path).path
    path.write_bytes(path.read_bytes()[:-cut])
    file = AnswerFile(path, "a" * 64, n=9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        file.append(np.array([6, 7]), ANSWERS)
    assert places(file) == [[0, 1], [2, 3], [6, 7]]


def test_every_damaged_byte_is_found(tmp_path):
    path = written(tmp_path).path
    whole = path.read_bytes()
    for at in range(len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 64]) + whole[at + 1 :])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FireassayWarning)
            left = places(AnswerFile(path, "a" * 64, n=9))
        assert left in ([], [[0, 1]], [[0, 1], [2, 3]])


def test_answers_of_another_model_or_set_are_not_taken(tmp_path):
    path = written(tmp_path).path
    with pytest.warns(FireassayWarning, match="damaged"):
        assert places(AnswerFile(path, "b" * 64, n=9)) == []


def test_what_is_no_probability_or_no_row_is_not_taken(tmp_path):
    file = AnswerFile(tmp_path / "answers" / "a.bin", "name", n=3)
    file.append(np.array([0]), np.array([[np.nan, 1.0]]))
    with pytest.warns(FireassayWarning, match="damaged"):
        assert places(file) == []
    far = AnswerFile(tmp_path / "answers" / "b.bin", "name", n=100)
    far.append(np.array([50]), ANSWERS[:1])
    with pytest.warns(FireassayWarning, match="damaged"):
        assert places(AnswerFile(far.path, "name", n=3)) == []


def test_a_link_is_refused(tmp_path):
    path = written(tmp_path).path
    path.with_name("b.bin").symlink_to(path)
    with pytest.raises(StoreError, match="a link"):
        AnswerFile(path.with_name("b.bin"), "name", n=9)
