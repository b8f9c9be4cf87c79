"""Why no ambiguous inputs could be made, for people who know nothing of autoencoders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fireassay.core import NotEnoughEvidenceError
from fireassay.core.lazy_modules import pd
from fireassay.core.percent import percent

_SHOWN = 3


def no_ambiguous_inputs(report: pd.DataFrame, tries: int) -> NotEnoughEvidenceError:
    """The error of a generator of which no pair was accepted.

    Parameters
    ----------
    report
        `AmbiguityGenerator.report`: a row per pair of classes.
    tries
        Networks that were trained for each of them.
    """
    pairs = "the one pair" if len(report) == 1 else f"each of {len(report)} pairs"
    which = "A small network" if tries == 1 else f"{tries} small networks"
    told = [_of_pair(row) for row in report.head(_SHOWN).to_dict("records")]
    more = f"; and {len(report) - _SHOWN} pairs more" if len(report) > _SHOWN else ""
    return NotEnoughEvidenceError(
        f"No inputs between two classes could be made that are worth asking about. {which} "
        f"learnt {pairs} of classes, and on rows kept apart none was good enough: "
        f"{'; '.join(told)}{more}. So what the model does with inputs that belong to two classes "
        "was not tried; this says nothing for or against it.",
        do="Give more training rows ([data] train in fireassay.toml), or let more networks try: "
        f"tries = {max(4, 2 * tries)} under [ambiguity].",
    )


def _of_pair(row: Mapping[Any, Any]) -> str:
    from fireassay.ambiguity.acceptance import (  # needs torch, which has trained by now
        INDISTINGUISHABLE,
        allowed_real_fake,
        required_label_accuracy,
    )

    pair = f"“{row['first']}” and “{row['second']}”"
    reference, labels, real = (
        float(row[name]) for name in ("reference_accuracy", "label_accuracy", "real_fake_accuracy")
    )
    if reference < INDISTINGUISHABLE:
        return f"{pair} look alike, a classifier of the two is right on {_share(reference)}"
    required, (low, high) = required_label_accuracy(reference), allowed_real_fake(reference)
    faults = []
    if labels < required:
        faults.append(f"the right class named for {_share(labels)}, {_share(required)} are needed")
    if not low < real < high:
        faults.append(
            f"made-up rows told from real ones {_share(real)} of the time, where 50 % is best and "
            f"{_share(low)} to {_share(high)} will do"
        )
    return f"{pair}: {' and '.join(faults) or row['reason']}"


def _share(value: float) -> str:
    return percent(value, 1)
