"""Two runs on the same rows: the paired difference of their accuracies."""

from pathlib import Path

from fireassay.assessment.parts.accuracy import AccuracyResult
from fireassay.assessment.run_folder import read_results
from fireassay.core import Estimate
from fireassay.statistics import paired_difference


def paired_accuracy(before: Path, after: Path) -> Estimate | None:
    """The change in accuracy row by row, or None if the runs do not share their test rows."""
    old, new = (read_results(folder).get("accuracy") for folder in (before, after))
    if not (isinstance(old, AccuracyResult) and isinstance(new, AccuracyResult)):
        return None
    if old.provenance.data_sha256 != new.provenance.data_sha256:
        return None
    return paired_difference(old.correct, new.correct, new.accuracy.confidence)
