from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from fireassay.core import DataError, sha256
from fireassay.core.hashing import sha256_file


@dataclass
class Settings:
    a: int
    b: np.ndarray


def test_layout_in_memory_does_not_count():
    array = np.arange(12.0).reshape(3, 4)
    assert sha256(array) == sha256(np.asfortranarray(array))
    assert sha256(array[:, ::2]) == sha256(array[:, ::2].copy())


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (np.zeros(2), np.zeros(3)),
        (np.zeros((2, 3)), np.zeros((3, 2))),
        (np.zeros(2), np.zeros(2, dtype=np.float32)),
        (1, 1.0),
        ("1", 1),
        (["a", "bc"], ["ab", "c"]),
        (True, 1),
        ({"a": 1}, {"a": 2}),
        (np.array(["a", "b"]), np.array(["a", "c"])),
        (np.array(["a", None], dtype=object), np.array(["a", "b"], dtype=object)),
        (pd.DataFrame({"a": [1]}), pd.DataFrame({"b": [1]})),
        (Settings(1, np.zeros(2)), Settings(2, np.zeros(2))),
        (scipy.sparse.eye_array(3).tocsr(), scipy.sparse.eye_array(4).tocsr()),
    ],
)
def test_different_content_different_hash(a, b):
    assert sha256(a) != sha256(b)


def test_sparse_formats_agree():
    matrix = scipy.sparse.random_array((5, 4), density=0.5, rng=np.random.default_rng(0))
    assert sha256(matrix.tocsr()) == sha256(matrix.tocsc())


def test_an_object_says_its_own_hash_or_is_refused():
    class Known:
        sha256 = "ab" * 32

    assert sha256(Known()) == sha256(Known())
    with pytest.raises(DataError, match="sha256"):
        sha256(object())


def test_file_hash_is_the_well_known_one(tmp_path):
    (tmp_path / "f").write_bytes(b"abc")
    assert sha256_file(tmp_path / "f") == (
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    )
