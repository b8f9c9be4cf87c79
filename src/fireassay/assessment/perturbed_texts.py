"""Texts changed by a function of the user's: what survival and supervision then can ask."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fireassay import survival
from fireassay.assessment.coded_context import recoded, why_not_attacked
from fireassay.assessment.context import Context
from fireassay.attacks.perturbed import perturbed, row_key
from fireassay.core import Assumption, Evidence, NotEnoughEvidenceError
from fireassay.core.arrays import AnyArray, FloatArray, IntArray
from fireassay.core.errors import DataError, ParameterError
from fireassay.core.lazy_modules import pd
from fireassay.core.seeds import generator
from fireassay.data import Codebook, Rows
from fireassay.data.rows import as_texts

Perturb = Callable[[str, np.random.Generator], Sequence[str]]
KEEPS_MEANING = Assumption(
    "The changed texts mean what the texts meant.",
    "untestable",
    "They come from the perturb function; a change of meaning would count as a failure.",
    id="perturbed-texts-keep-their-meaning",
)


def can_perturb(context: Context) -> bool:
    """Whether somebody gave a function that changes these texts.

    Raises
    ------
    ParameterError
        If one was given for rows that are no texts.
    """
    if context.perturb is None:
        return False
    if _text_column(context.test.rows) is None or why_not_attacked(context) is None:
        raise ParameterError(
            "perturb is for rows that are one text each.",
            got=f"rows of {', '.join(sorted(set(context.test.rows.kinds or ())))}",
            do="Leave it out: other rows are attacked by their columns, see [survival.columns].",
        )
    return True


@dataclass(frozen=True, eq=False)
class ChangedRows:
    """Test rows with their changes, as codes of a context that knows the changed texts, too.

    Attributes
    ----------
    context
        With codes of all texts.
    rows
        Test rows of which there is any change.
    choices
        For each of them the codes of the changed rows, in the order given.
    """

    context: Context
    rows: IntArray
    choices: list[FloatArray]


def texts_of(rows: Rows) -> list[str]:
    """The text of each row."""
    if rows.is_text:
        return [str(text) for text in rows.values]
    return [str(text) for text in rows.values.iloc[:, _text_column(rows)]]


def with_texts(rows: Rows, texts: Sequence[str]) -> Any:
    """The rows as the model takes them, with other texts in them."""
    if rows.is_text:
        return as_texts(list(texts))
    frame = rows.values.reset_index(drop=True)
    place = _text_column(rows)
    assert place is not None
    column = pd.Series(list(texts), dtype=frame.dtypes.iloc[place])
    return frame.assign(**{str(frame.columns[place]): column})


def changed_rows(context: Context, rows: IntArray, most: int) -> ChangedRows:
    """At most so many changes of each of these test rows.

    Raises
    ------
    DataError
        If the function gives something else than texts.
    NotEnoughEvidenceError
        If it changes none of the rows.
    """
    before = context.test.rows.take(rows)
    found = [_changes(context, text, most) for text in texts_of(before)]
    counts = np.array([len(changes) for changes in found])
    if not counts.any():
        raise NotEnoughEvidenceError(
            "perturb must change some of the texts.", got=f"no changed text for {len(rows)} rows"
        )
    owner = np.repeat(np.arange(len(rows)), counts)
    flat = [text for changes in found for text in changes]
    wider, codes = recoded(context, Rows(with_texts(before.take(owner), flat), before.kinds))
    choices = np.split(codes, np.cumsum(counts)[:-1])
    kept = np.flatnonzero(counts)
    return ChangedRows(wider, rows[kept], [choices[i] for i in kept])


def observed_texts(
    context: Context, samples: int, budget: int
) -> tuple[survival.Observations, AnyArray, AnyArray, IntArray]:
    """Time to failure of each row under its changes; the texts that fooled the model, and whose."""
    n = len(context.test)
    drawn = np.sort(generator(context.seed, "attacked rows").permutation(n)[:samples])
    changed = changed_rows(context, drawn, budget - 1)
    wider = changed.context
    X = wider.test.X[changed.rows]
    choices = {row_key(row): codes for row, codes in zip(X, changed.choices, strict=True)}
    found = survival.observe(
        wider.model,
        X,
        wider.test.labels[changed.rows],
        [(perturbed, {"choices": choices})],
        budget=budget,
        seed=context.seed,
        keep_adversarial=True,
        executor=context.executor,
    )
    table = found.frame().copy()
    table["sample"] = changed.rows[table["sample"].to_numpy(dtype=np.int64)]
    table.attrs = found.frame().attrs
    codes = found.adversarial
    assert codes is not None
    fell = table[table["success"]]
    book: Codebook = wider.model.book  # type: ignore[attr-defined]
    texts = texts_of(Rows(book.decode(codes), context.test.kinds)) if len(codes) else []
    kept = replace(
        found,
        table=table,
        adversarial=None,
        model_sha256=context.model.sha256,
        not_tried=(f"{len(drawn) - len(changed.rows)} rows that perturb does not change",)
        if len(drawn) > len(changed.rows)
        else (),
    )
    return (
        kept,
        np.asarray(texts, dtype=np.str_),
        fell["made_by"].to_numpy(dtype=np.str_),
        fell["sample"].to_numpy(dtype=np.int64),
    )


def with_meaning(evidence: Evidence) -> Evidence:
    """The evidence with what it rests on where texts were changed."""
    if evidence.status != "done":
        return evidence
    return replace(evidence, assumptions=(*evidence.assumptions, KEEPS_MEANING))


def _changes(context: Context, text: str, most: int) -> list[str]:
    assert context.perturb is not None
    found = context.perturb(text, generator(context.seed, "perturb", text))
    if isinstance(found, str) or not all(isinstance(one, str) for one in found):
        raise DataError(
            "perturb(text, rng) must give a list of texts.",
            got=type(found).__name__ if isinstance(found, str) else "something else in it",
        )
    return [one for one in dict.fromkeys(found) if one != text][:most]


def _text_column(rows: Rows) -> int | None:
    """Where the text of a row is; None if a row has none, or several."""
    kinds = rows.kinds or ()
    return kinds.index("text") if kinds.count("text") == 1 else None
