import re
import warnings
from pathlib import Path

import pytest

import fireassay
from fireassay.core import DeprecatedNameWarning
from fireassay.core.errors import deprecated
from fireassay.curation import curate, simulate_votes

SOURCES = Path(fireassay.__file__).parent.rglob("*.py")
LAST = re.compile(r"@deprecated\([^)]*gone_in=\"([\d.]+)\"\)")


def numbers(version):
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2])


@deprecated("length_of", gone_in="9.1")
def size_of(rows, *, twice=False):
    """How many."""
    return len(rows) * (1 + twice)


def test_an_old_name_works_and_warns_where_it_is_used():
    with pytest.warns(DeprecatedNameWarning) as caught:
        assert size_of([1, 2, 3], twice=True) == 6
    message = "size_of is now length_of; fireassay 9.1 drops the old name."
    assert [str(warning.message) for warning in caught] == [message]
    assert caught[0].filename == __file__
    assert size_of.__doc__ == "How many."


def test_python_shows_the_warning_without_being_asked():
    with warnings.catch_warnings(record=True) as caught:
        warnings.resetwarnings()
        warnings.simplefilter("ignore", DeprecationWarning)  # as outside of __main__
        size_of([])
    assert len(caught) == 1


def test_an_old_attribute_of_a_result():
    result = curate(simulate_votes([0.8] * 5, 0.9, 60, seed=0)[0])
    with pytest.warns(DeprecatedNameWarning, match=r"Curation\.rings is now Curation\.added_rows"):
        old = result.rings
    assert [rows.tolist() for rows in old] == [rows.tolist() for rows in result.added_rows]


def test_no_name_outlives_the_version_that_drops_it():
    found = {path: LAST.findall(path.read_text("utf-8")) for path in SOURCES}
    assert sum(map(len, found.values())) >= 1
    late = [
        p
        for p, last in found.items()
        if any(numbers(fireassay.__version__) >= numbers(v) for v in last)
    ]
    assert late == []
