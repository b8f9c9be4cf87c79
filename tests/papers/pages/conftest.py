"""Stored results, the same with some replaced, and what a section says of an item or a claim."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fireassay.papers.pages.section import Results, Section
from fireassay.papers.verdicts import PaperVerdict

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def stored() -> Results:
    """What the studies and the benchmarks left."""
    return Results(ROOT / "studies" / "results", ROOT / "benchmarks" / "results")


@pytest.fixture
def changed(stored: Results) -> Callable[..., Callable[[str], Any]]:
    """The stored results with some of them replaced."""

    def replaced(**instead: Any) -> Callable[[str], Any]:
        return lambda name: instead.get(name.replace("/", "_").replace("-", "_"), stored(name))

    return replaced


@pytest.fixture
def told() -> Callable[[Section, str], PaperVerdict]:
    """The verdict on the first item or claim that starts with some words; ``here``: in ours."""

    def first(section: Section, start: str, *, here: bool = False) -> PaperVerdict:
        rows = [*section.details, *section.rows]
        every = [(f"{row.item}, {row.shows}", row.verdict) for row in rows]
        every += [(c.text, (c.also if here else None) or c.verdict) for c in section.claims]
        return next(verdict for text, verdict in every if text.startswith(start))

    return first
