"""One table per kind of thing, and what is made from it."""

from dataclasses import dataclass

import pytest

from fireassay.core import ParameterError
from fireassay.core.registry import Registry


@dataclass(frozen=True)
class Metal:
    name: str
    summary: str


def test_rows_are_found_listed_and_described():
    metals = Registry("metal", [Metal("gold", "survives")])
    silver = metals.register(Metal("silver", "tarnishes"))
    assert metals["silver"] is silver
    assert metals.listed() == "gold, silver"
    assert "| `silver` | tarnishes |" in metals.markdown()


def test_unknown_and_repeated_names_are_refused():
    metals = Registry("metal", [Metal("gold", "survives")])
    with pytest.raises(ParameterError, match=r"one of gold\. Got 'glod'\. Did you mean gold\?"):
        metals["glod"]
    with pytest.raises(ParameterError, match="name of its own"):
        metals.register(Metal("gold", "again"))


def test_a_row_can_be_taken_back():
    metals = Registry("metal", [Metal("gold", "survives"), Metal("lead", "melts")])
    assert metals.unregister("lead").summary == "melts"
    assert list(metals) == ["gold"]
    metals.register(Metal("lead", "melts again"))
    with pytest.raises(ParameterError, match="one of gold, lead"):
        metals.unregister("tin")
