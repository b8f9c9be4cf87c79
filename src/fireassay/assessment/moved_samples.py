"""Rows whose answer changed between two runs, as samples: what it said before, what it says now."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from fireassay.assessment.accuracy_result import AccuracyResult
from fireassay.assessment.config import Config
from fireassay.assessment.context import Context
from fireassay.assessment.inputs import load_sets
from fireassay.assessment.paired_runs import PairedRuns
from fireassay.assessment.run_folder import configuration, read_results
from fireassay.assessment.shown_rows import MOST, Gallery
from fireassay.core import FireassayError, Result, Sample
from fireassay.report import MovedAnswers


def moved_answers(before: Path, after: Path, pairs: PairedRuns) -> MovedAnswers | None:
    """A few of the rows that became wrong or right; None where the runs share no rows.

    The rows themselves are shown if the later run's configuration still names them, and does not
    keep samples out.

    Parameters
    ----------
    before, after
        The run folders.
    pairs
        What `pair_runs` found in them.
    """
    old, new = (read_results(run).get("accuracy") for run in (before, after))
    if not _share_rows(old, new):
        return None
    assert isinstance(old, AccuracyResult)  # or they share no rows
    assert isinstance(new, AccuracyResult)
    config = configuration(after)
    gallery = None if config is None or not config.run.samples else _gallery(config)

    def shown(ids: tuple[Any, ...], word: str) -> tuple[Sample, ...]:
        return tuple(_sample(one, word, old, new, gallery) for one in ids[:MOST])

    return MovedAnswers(
        shown(pairs.newly_wrong, "newly wrong"),
        shown(pairs.newly_right, "newly right"),
        len(pairs.newly_wrong),
        len(pairs.newly_right),
    )


def _share_rows(old: Result | None, new: Result | None) -> bool:
    if not (isinstance(old, AccuracyResult) and isinstance(new, AccuracyResult)):
        return False
    return bool(np.isin(new.rows.marks, old.rows.marks).any())


def _sample(
    identity: Any, word: str, old: AccuracyResult, new: AccuracyResult, gallery: Gallery | None
) -> Sample:
    here = int(np.flatnonzero(new.rows.ids == identity)[0])
    there = int(np.flatnonzero(old.rows.marks == new.rows.marks[here])[0])
    was, now = old.classes[old.rows.predicted[there]], new.classes[new.rows.predicted[here]]
    row = identity if isinstance(identity, int) else str(identity)
    content = {} if gallery is None else _content(gallery, identity)
    return Sample(
        row,
        f"{word} (truth: before → after)",
        said=f"{new.classes[new.rows.labels[here]]}: {was} → {now}",
        confidence=None if new.sure is None else float(new.sure[here]),
        **content,
    )


def _content(gallery: Gallery, identity: Any) -> dict[str, Any]:
    ids = np.asarray(gallery.data.ids)
    places = np.flatnonzero(ids.astype(str) == str(identity))
    if not len(places):
        return {}
    sample = gallery.at(int(places[0]), "")
    return {name: getattr(sample, name) for name in ("pictures", "cells", "text", "series")}


def _gallery(config: Config) -> Gallery | None:
    """The labelled rows of a configuration; None where they are not there any more."""
    try:
        test = load_sets(config.data.model_copy(update=_TEST_ALONE), config.folder)["test"]
    except (FireassayError, OSError):
        return None  # the page then names rows without showing them
    model: Any = SimpleNamespace(bounds=config.model.bounds)
    # Nobody is to be asked: there is no model here.
    return Gallery(Context(model=model, test=test, hard_labels=True), test)


_TEST_ALONE = {"train": None, "operational": None, "votes": None, "groups": None}
