"""Numbers of the best of many supervisors that stay true although it was chosen for being best."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import BoolArray, FloatArray, IntArray
from fireassay.core.errors import DataError, ParameterError
from fireassay.core.estimate import Estimate
from fireassay.core.seeds import generator
from fireassay.core.validation import check_labels
from fireassay.statistics import delong, delong_interval, simultaneous_aucs, worse_than_best
from fireassay.statistics.clustered_auc import clustered_logits, simultaneous_clustered_aucs
from fireassay.supervision.detection_metrics import joined
from fireassay.supervision.entrants import CALIBRATION, NOMINAL, Scores

Groups = Mapping[str, IntArray]


@dataclass(frozen=True)
class Field:
    """All supervisors on one set: intervals that hold at once, and who is worse than the best."""

    intervals: dict[str, Estimate]
    worse: dict[str, bool]


def judge_together(
    scores: Scores, set_name: str, groups: Groups | None, confidence: float
) -> Field:
    """Simultaneous AUROC intervals of all supervisors on a set, and a Tukey-type comparison."""
    nominal, suspicious = scores[NOMINAL], scores[set_name]
    names = [name for name in suspicious if name in nominal]
    if not names:
        return Field({}, {})
    pooled = [joined(nominal[name], suspicious[name]) for name in names]
    table, marks = np.stack([values for values, _ in pooled]), pooled[0][1]
    if groups is not None:
        together = np.concatenate([groups[NOMINAL], groups[set_name]])
        found = simultaneous_clustered_aucs(table, marks, together, confidence)
        aucs, covariance, _ = clustered_logits(table, marks, together)
        slope = aucs * (1.0 - aucs)
        known = np.isfinite(np.diag(covariance))
        covariance = np.where(np.outer(known, known), covariance, 0.0) * np.outer(slope, slope)
    elif min(marks.sum(), (~marks).sum()) < 2:
        single = 1.0 - (1.0 - confidence) / len(names)
        found = [delong_interval(row, marks, single) for row in table]
        return Field(dict(zip(names, found, strict=True)), dict.fromkeys(names, False))
    else:
        found = simultaneous_aucs(table, marks, confidence)
        aucs, covariance = delong(table, marks)
    worse = worse_than_best(aucs, covariance, confidence)
    return Field(dict(zip(names, found, strict=True)), dict(zip(names, worse, strict=True)))


def numbered_groups(
    groups: Mapping[str, ArrayLike] | None, sizes: Mapping[str, int]
) -> dict[str, IntArray] | None:
    """One number per group over all sets; rows of sets without groups stand for themselves."""
    if groups is None:
        return None
    unknown = sorted(set(groups) - set(sizes))
    if unknown:
        raise ParameterError(
            "The 'groups' must name sets.", got=", ".join(unknown), do=f"Use {', '.join(sizes)}."
        )
    labels = []
    for name, n in sizes.items():
        if name in groups:
            given = check_labels(groups[name], name=f"groups[{name!r}]", n=n)
            labels.append(np.char.add("group ", np.asarray(given).astype(str)))
        else:
            labels.append(np.array([f"{name} row {i}" for i in range(n)]))
    _, numbers = np.unique(np.concatenate(labels), return_inverse=True)
    ends = np.cumsum(list(sizes.values()))[:-1]
    return dict(zip(sizes, np.split(numbers.ravel(), ends), strict=True))


def group_halves(numbers: IntArray, share: float, seed: int, *names: str) -> BoolArray:
    """Which rows fall into the first part, about ``share`` of the rows, groups kept whole."""
    which, sizes = np.unique(numbers, return_counts=True)
    order = generator(seed, "supervision", *names).permutation(len(which))
    before = np.cumsum(sizes[order]) - sizes[order]
    first = which[order[before < share * len(numbers)]]
    return np.isin(numbers, first)


def split_for_choice(
    scores: Scores, confirm: float, groups: Groups | None, seed: int
) -> dict[str, BoolArray]:
    """For each set, the rows on which to choose; the others are for the report."""
    names = [name for name in scores if name != CALIBRATION]
    sizes = {name: len(next(iter(scores[name].values()))) for name in names}
    numbers = (
        np.arange(sum(sizes.values()))
        if groups is None
        else np.concatenate([groups[name] for name in names])
    )
    ends = np.cumsum(list(sizes.values()))[:-1]
    if groups is None:
        parts = [
            group_halves(part, 1.0 - confirm, seed, "confirm", name)
            for name, part in zip(names, np.split(numbers, ends), strict=True)
        ]
    else:
        parts = np.split(group_halves(numbers, 1.0 - confirm, seed, "confirm"), ends)
    found = dict(zip(names, parts, strict=True))
    for name, choosing in found.items():
        if min(choosing.sum(), (~choosing).sum()) < 2:
            raise DataError(
                f"'confirm' needs at least two rows of {name!r} on either side.",
                got=f"{int(choosing.sum())} and {int((~choosing).sum())}",
                do="Give more rows, or leave confirm out: intervals are then simultaneous.",
            )
    return found


def part_of(scores: Scores, chosen: Mapping[str, BoolArray]) -> Scores:
    """The scores of some rows of each set; calibration rows stay."""
    return {
        name: by_name
        if name not in chosen
        else {k: np.asarray(values[chosen[name]]) for k, values in by_name.items()}
        for name, by_name in scores.items()
    }


def auroc_points(scores: Scores) -> dict[str, dict[str, float]]:
    """AUROC by set and supervisor, without intervals."""
    found: dict[str, dict[str, float]] = {}
    for set_name, by_name in scores.items():
        if set_name not in (NOMINAL, CALIBRATION):
            found[set_name] = {
                name: _auc(scores[NOMINAL][name], values)
                for name, values in by_name.items()
                if name in scores[NOMINAL]
            }
    return found


def _auc(nominal: FloatArray, suspicious: FloatArray) -> float:
    return delong_interval(*joined(nominal, suspicious)).value
