"""How long this machine takes for what a plan knows in seconds of another one."""

import sys
import time
import warnings
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from fireassay.assessment.context import Context
from fireassay.core import ConvergenceWarning
from fireassay.core.arrays import FloatArray, IntArray
from fireassay.statistics.temperature import fit_temperature

# Processor seconds of one piece on the machine where the parts' own seconds were measured.
_THERE: Final = 0.0011
_PIECES: Final = 5


def slowness() -> float:
    """Processor seconds here for one of those that the parts' own work was measured in."""
    # The quickest piece: others at work only make a piece slower.
    numbers = np.random.default_rng(0).random(20_000)
    return min(_piece(numbers) for _ in range(_PIECES)) / _THERE


def _piece(numbers: FloatArray) -> float:
    """Seconds of this thread; nothing that a library would share among several."""
    begun, total = time.thread_time(), 0
    for i in range(12_000):
        total += i * i
    for _ in range(3):
        np.exp(numbers)
    np.sort(numbers)
    return time.thread_time() - begun


_STATUS, _FORGET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def held_mb() -> float:
    """Megabytes of memory that this process holds now (elsewhere than on Linux: at its most)."""
    return _from_status("VmRSS:")


def most_held_mb() -> float:
    """The most megabytes since `forget_most` (elsewhere than on Linux: since the start)."""
    return _from_status("VmHWM:")


def forget_most() -> None:
    """Start to look for the most again, where the system allows it."""
    if _FORGET.exists():
        try:
            _FORGET.write_text("5")
        except OSError:  # a container may forbid it: then the most since the start is shown
            return


def _from_status(field: str) -> float:
    if _STATUS.exists():
        for line in _STATUS.read_text().splitlines():
            if line.startswith(field):
                return int(line.split()[1]) / 1024
    if sys.platform == "win32":
        return float("nan")
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (1024**2 if sys.platform == "darwin" else 1024)


_KEPT: Final = "first answers"
_TINY: Final = 1e-12


def keep_first_answers(context: Context, rows: IntArray, answers: FloatArray) -> None:
    """Remember the probabilities that the model gave for these test rows, and their labels."""
    labels = None if context.test.y is None else context.test.labels[rows]
    context.known[_KEPT] = answers, labels


def share_right(context: Context) -> float:
    """The share of rows that it gets right; 1 where nobody knows."""
    known = _known(context)
    if known is None:
        return 1.0
    answers, truth = known
    return float((answers.argmax(axis=1) == truth).mean())


def share_sure(context: Context, threshold: float, *, calibrated: bool) -> float:
    """The share of rows that it is surer of than a threshold; 1 where nobody knows."""
    known = _known(context)
    if known is None:
        return 1.0
    answers, truth = known
    logits = np.log(np.maximum(answers, _TINY))
    if calibrated and len(np.unique(truth)) > 1:
        with warnings.catch_warnings():
            # All right or constant: the temperature is far out, and so is the part's.
            warnings.simplefilter("ignore", ConvergenceWarning)
            logits = logits / fit_temperature(logits, truth)
    logits = logits - logits.max(axis=1, keepdims=True)
    return float((1.0 / np.exp(logits).sum(axis=1) > threshold).mean())


def _known(context: Context) -> tuple[FloatArray, NDArray[np.int64]] | None:
    """Answers about rows whose label is a class of the model, and where that class stands."""
    answers, labels = context.known.get(_KEPT, (None, None))
    if labels is None:
        return None
    places = {label: place for place, label in enumerate(context.model.classes)}
    truth = np.array([places.get(label, -1) for label in labels.tolist()])
    named = truth >= 0
    return (answers[named], truth[named]) if named.any() else None
