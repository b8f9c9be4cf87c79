"""Is it still the model that was judged? What no hash covers is asked a few rows again.

Kept are row numbers and answers: eight rows of the lowest margin and eight by lot. Equal labels and
probabilities within 0.001 are the same model; of a model that is declared to answer at random, four
draws of each row are compared by an exact test.
"""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np

from fireassay.assessment.config import Config
from fireassay.assessment.context import Context, load_context
from fireassay.assessment.run.asked_once import FILE, Meter, meter_of
from fireassay.assessment.run.first_look import CHALLENGED, DRAWS, FirstLook
from fireassay.assessment.run.folder import DIGESTS, FILES, note, noted, read_noted
from fireassay.assessment.run.reproducibility import ROUNDING
from fireassay.classifiers.base import BaseClassifier, innermost
from fireassay.classifiers.import_path import is_import_path
from fireassay.classifiers.probe import answers_again
from fireassay.classifiers.read_files import Opened, digests, moved
from fireassay.core import FireassayError, UntrustedFileError, generator
from fireassay.core.arrays import FloatArray, IntArray
from fireassay.data.rows import taken
from fireassay.engine import RunStore
from fireassay.report import Report

_LEAST_SURE = _BY_LOT = CHALLENGED // 2
_TOLERANCE: Final = 1e-3  # of a probability
_LEVEL: Final = 1e-4
_KEPT, _TIMES, RECORDED = "challenge", "models exchanged", "recorded answers"
_SEEN: Final = (
    "A change of 30 % of the answers would be seen, one of 5 % in about half of the cases."
)
ModelState = Literal["same", "other", "no answer", "not compared", "recorded", ""]


@dataclass(frozen=True)
class ModelCheck:
    """Whether the model that is there now is the one that was judged, and how that is known."""

    state: ModelState = ""
    text: str = ""


OF_A_FILE: Final = ModelCheck(
    "recorded", "A file of answers; which model gave them was not checked."
)


def is_hashed_whole(config: Config) -> bool:
    """Whether a model's files tell all that it is; code and servers may change without them."""
    return "://" not in config.model.path and not is_import_path(config.model.path)


def same_model(
    store: RunStore, config: Config, context: Context, say: Any, most: int | None = None
) -> ModelCheck:
    """Compare a model that was just loaded with the one that this folder's answers are of."""
    # Another one gets an identity of its own: nothing that was kept is taken for its answer.
    if context.recorded:
        note(store, {RECORDED: True})
        return OF_A_FILE
    known = noted(store)
    files, adapter = known.get(FILES), innermost(context.model)
    times, gone = known.get(_TIMES, 0), moved(files or {}, config.folder)
    if gone:
        found = ModelCheck("other", f"{', '.join(gone)} changed")
    else:
        found = _asked(known.get(_KEPT), context, meter_of(context), most)
    if found.state == "other":
        times += 1
        say(f"{'note':<13}Another model than before ({found.text}): all is asked again.")
        note(store, {_TIMES: times, _KEPT: None, FILES: None})
    elif found.text:
        say(f"{'note':<13}{found.text}")
    if times and isinstance(adapter, BaseClassifier):
        adapter.made_from = (adapter.made_from, times)
    if found.state in ("other", ""):  # all that this run says is of the model that is there
        by_answers = f"The model is known by 16 of its answers. {_SEEN}"
        return ModelCheck("same", "" if is_hashed_whole(config) else by_answers)
    return found


def keep(
    store: RunStore, config: Config, context: Context, look: FirstLook | None, opened: Opened
) -> None:
    """Note the files that the model was read from, and the answers to ask for again."""
    known = noted(store)
    data = config.data
    ours = {config.folder / name for name in (data.test, data.train, data.operational) if name}
    ours = {path.resolve() for path in ours}
    later = [] if is_hashed_whole(config) else opened.beside(config.model.path, config.folder)
    inside = store.path.resolve()
    later = [p for p in later if p.resolve() not in ours and not p.is_relative_to(inside)]
    files = {**(known.get(FILES) or {}), **context.files, **digests(later, config.folder)}
    changed = {Path(name).resolve() for name in opened.written}
    files = {n: d for n, d in files.items() if (config.folder / n).resolve() not in changed}
    found: dict[str, Any] = {FILES: files}
    kept = known.get(_KEPT)
    if look is not None and (kept is None or kept["test"] != context.digest(context.test)):
        found[_KEPT] = _chosen(look, context)
    note(store, found)


def _chosen(look: FirstLook, context: Context) -> dict[str, Any] | None:
    """The rows and their answers; None where a comparison could show nothing."""
    rows = look.rows
    steady = look.found is None or look.found.difference <= ROUNDING
    if not len(rows) or not (steady or context.stochastic):
        return None
    answers = look.own(rows)
    top = np.sort(answers, axis=1)[:, -2:]
    near = np.argsort(top[:, 1] - top[:, 0], kind="stable")[:_LEAST_SURE]
    lot = generator(context.seed, "challenge").permutation(len(rows))
    lot = lot[~np.isin(lot, near)][:_BY_LOT]
    places = np.sort(np.concatenate([near, lot]))
    numbers = look.numbers[rows[places]]
    kept = {"test": context.digest(context.test), "seed": context.seed, "rows": numbers.tolist()}
    if not context.stochastic:
        return {**kept, "answers": answers[places].tolist()}
    draws = DRAWS * len(numbers)
    if look.room is not None and look.room < draws:
        return None
    return {**kept, "draws": _drawn(context, numbers)}


def _drawn(context: Context, rows: IntArray) -> list[list[int]]:
    X = taken(context.test.X, np.tile(rows, DRAWS))
    labels = answers_again(context.model, X).argmax(axis=1).reshape(DRAWS, -1)
    return np.sort(labels, axis=0).T.tolist()  # type: ignore[no-any-return]


def _asked(
    kept: Mapping[str, Any] | None, context: Context, meter: Meter, most: int | None
) -> ModelCheck:
    try:
        return _compared(kept, context, meter, most)
    except FireassayError as error:
        return ModelCheck("no answer", f"The model could not be compared: {error}")


def _compared(
    kept: Mapping[str, Any] | None, context: Context, meter: Meter, most: int | None
) -> ModelCheck:
    """What the kept rows say now; they are on the meter, and only sent if the budget has room."""
    if kept is None or kept["test"] != context.digest(context.test):
        return ModelCheck()
    rows = np.array(kept["rows"], dtype=np.int64)
    needed = len(rows) * (DRAWS if "draws" in kept else 1)
    if most is not None and most - meter.rows < needed:
        return ModelCheck(
            "not compared", f"Model not compared: the budget has no room for {needed} rows."
        )
    if "draws" in kept:
        chance = chance_of_draws(kept["draws"], _drawn(context, rows))
        is_same, how = chance > _LEVEL, f"draws that a same model gives with {chance:.1g}"
    else:
        now = answers_again(context.model, taken(context.test.X, rows))
        is_same, how = _same_answers(np.array(kept["answers"]), now)
    if not is_same:
        return ModelCheck("other", how)
    return ModelCheck("same", f"Model compared: {len(rows)} rows asked again. {_SEEN}")


def _same_answers(before: FloatArray, now: FloatArray) -> tuple[bool, str]:
    if before.shape != now.shape:
        return False, f"{now.shape[1]} classes, before {before.shape[1]}"
    apart = np.abs(before - now).max(axis=1)
    # A tie may fall to either side by rounding.
    other = (before.argmax(axis=1) != now.argmax(axis=1)) & (apart > ROUNDING)
    differ = int((other | (apart > _TOLERANCE)).sum())
    return not differ, f"{differ} of {len(now)} answers differ, by up to {apart.max():.2g}"


def chance_of_draws(before: Sequence[Sequence[int]], now: Sequence[Sequence[int]]) -> float:
    """How often draws of one model differ by so much: exact over all ways to deal them out."""
    sums, seen = np.ones(1), 0
    for old, new in zip(before, now, strict=True):
        pool, deals = [*old, *new], Counter[int]()
        for chosen in combinations(range(len(pool)), len(old)):
            deals[_apart(pool, chosen)] += 1
        seen += _apart(pool, range(len(old)))
        share = np.zeros(max(deals) + 1)
        share[list(deals)] = np.array(list(deals.values())) / deals.total()
        sums = np.convolve(sums, share)
    return float(min(1.0, sums[seen:].sum()))


def _apart(pool: Sequence[int], chosen: Sequence[int]) -> int:
    """How differently often the labels come among the chosen draws and among the others."""
    inside, whole = Counter(pool[i] for i in chosen), Counter(pool)
    return sum(abs(2 * inside[label] - n) for label, n in whole.items())


def check_model(run: Path, config: Config | None, why_not: str = "") -> ModelCheck:
    """Compare the model that a run's configuration names with the one that was judged."""
    # A file is known by its bytes, which `read_report` compares; what no hash covers is asked.
    known = read_noted(run)
    if known.get(RECORDED):
        return OF_A_FILE
    if config is None:
        return _not("no configuration was found for this result")
    if is_hashed_whole(config):
        return ModelCheck("same")
    folder, kept = run if run.is_dir() else run.parent, known.get(_KEPT)
    if why_not or kept is None:
        return _not(why_not or "no answers were kept that it would repeat")
    data = {"train": None, "operational": None, "votes": None, "groups": None, "perturb": None}
    small = config.model_copy(update={"data": config.data.model_copy(update=data)})
    meter = Meter(folder if os.access(folder / FILE, os.W_OK) else None)
    try:
        context = load_context(small, seed=kept["seed"])
        meter.watch(context.model)
        found = _asked(kept, context, meter, config.run.max_queries)
    except UntrustedFileError as error:
        return _not(f"it needs your trust ({error})")
    except FireassayError as error:
        return ModelCheck("no answer", f"The model could not be compared: {error}")
    return found if found.state else _not("the test rows are others now")


def other_digests(run: Path, report: Report, given: Mapping[str, str | None]) -> dict[str, str]:
    """Hashes that a pipeline knows and this run was not made from, in words."""
    files = read_noted(run).get(DIGESTS) or {}
    found = {}
    for name, digest in given.items():
        made = [part.provenance for part in report.parts if part.provenance is not None]
        known = {getattr(one, f"{name}_sha256") for one in made} | {files.get(name)}
        if digest is not None and digest.lower() not in known:
            found[name] = f"made from another {name} than {digest[:16]}…"
    return found


def _not(why: str) -> ModelCheck:
    return ModelCheck("not compared", f"Model not compared: {why}.")
