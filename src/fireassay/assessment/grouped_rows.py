"""Rows that belong together: which column counts, how large a group can be, what can pass."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from fireassay.core import DataError, generator
from fireassay.core.arrays import AnyArray
from fireassay.core.groups import Groups, largest_group
from fireassay.core.words import percent
from fireassay.data import DataSet
from fireassay.report.gates import Gate
from fireassay.statistics.groups.group_bound import group_upper, too_few_groups

if TYPE_CHECKING:
    from fireassay.assessment.sections import DataSection

# Numbers that are shares of all rows, and whether it is the right ones.
_SHARES = {"error": False, "pmi": False, "pmi_upper": False, "accuracy": True}
_ALPHA = 0.025


def group_columns(section: DataSection) -> tuple[str, ...]:
    """The columns that say what belongs together, the outermost first."""
    named = section.group
    return () if named is None else (named,) if isinstance(named, str) else named


def with_groups(test: DataSet, section: DataSection, seed: int) -> tuple[DataSet, tuple[str, ...]]:
    """The test rows with the largest group that can occur, or some of each; and what to say."""
    columns = group_columns(section)
    if test.groups is None:
        asked = {"largest_group": section.largest_group, "rows_per_group": section.rows_per_group}
        for name, value in asked.items():
            if value is not None:
                raise DataError(f"[data] {name} needs groups.", do="Name their column: group.")
        return test, ()
    notes: tuple[str, ...] = ()
    if len(columns) > 1:
        inner = " and ".join(columns[1:])
        notes = (f"Each {columns[0]} counts once; {inner} within it are not counted.",)
    most = section.rows_per_group
    if most is not None:
        drawn_rows = _some_of_each(np.asarray(test.groups), most, seed)
        left = (("not drawn by lot", len(test) - len(drawn_rows)),)
        test = replace(test.subset(drawn_rows), left_out=(*test.left_out, *left))
        drawn = (
            f"At most {most} rows of each {columns[0]} were drawn by lot: numbers are about the "
            f"rows of a {columns[0]}, where large ones count no more than small ones."
        )
        notes = (*notes, drawn)
    largest = most if section.largest_group is None else section.largest_group
    groups = np.asarray(test.groups)
    sizes = np.unique(groups, return_counts=True)[1]
    if largest is not None and sizes.max() > largest:
        raise DataError(
            f"[data] largest_group: no group has more than {largest:,} rows.",
            got=f"one of {sizes.max():,}",
            do="Say the most rows that one can have.",
        )
    return replace(test, groups=Groups(groups, largest)), notes


def _some_of_each(groups: AnyArray, most: int, seed: int) -> AnyArray:
    """So many rows of each group, drawn by lot, in the order of the file."""
    order = generator(seed, "rows per group").permutation(len(groups))
    member = np.unique(groups[order], return_inverse=True)[1].ravel()
    together = np.argsort(member, kind="stable")
    sizes = np.bincount(member)
    nth = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.sort(order[together[nth < most]])


def strictest(test: DataSet) -> tuple[str, ...]:
    """The lowest error rate that these groups could show, in a sentence."""
    if test.groups is None:
        return ()
    sizes = np.unique(test.groups, return_counts=True)[1]
    best = group_upper(np.zeros(len(sizes)), sizes, _ALPHA, largest_group(test.groups))
    said = f"{len(sizes):,} groups: no result can pass a limit below {percent(best, 1)} wrong"
    return (f"{said}, not even one without an error",)


def hopeless(test: DataSet, gates: Iterable[Gate]) -> tuple[str, ...]:
    """A sentence for each limit that no result on these groups can keep."""
    if test.groups is None:
        return ()
    sizes = np.unique(test.groups, return_counts=True)[1]
    said = []
    for gate in gates:
        right = _SHARES.get(gate.number.rpartition(".")[2])
        if right is not None:
            limit = 1.0 - gate.limit if right else gate.limit
            why = too_few_groups(sizes, limit, _ALPHA, largest_group(test.groups))
            said += [] if why is None else [f"{gate.number}: {why}"]
    return tuple(said)
