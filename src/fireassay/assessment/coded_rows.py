"""Encodes table, text and integer rows as floats; the wrapped model still gets its own rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fireassay.assessment.context import Context
from fireassay.classifiers import Classifier, CodedClassifier
from fireassay.classifiers.base import allow_missing
from fireassay.core import Assumption, DataError, Evidence, NotEnoughEvidenceError, ParameterError
from fireassay.core.arrays import AnyArray, BoolArray, FloatArray, IntArray
from fireassay.core.lazy import pd
from fireassay.core.seeds import generator
from fireassay.data import Codebook, DataSet, Rows
from fireassay.data.rows import as_texts

if TYPE_CHECKING:
    from fireassay.survival import Observations


@dataclass(frozen=True, eq=False)
class CodedSet(DataSet):
    """Codes of a data set, which stands behind them: kinds, hash and view are its own."""

    source: DataSet | None = None

    @property
    def original(self) -> DataSet:
        """The set as the user has it."""
        assert self.source is not None
        return self.source

    @property
    def sha256(self) -> str:
        """Of the set behind the codes."""
        return self.original.sha256

    @property
    def rows(self) -> Rows:
        """The rows as the user has them."""
        return self.original.rows

    def view(self) -> FloatArray:
        """Numbers to measure distances with."""
        return self.original.view()

    def subset(self, rows: Any) -> DataSet:
        """The given rows, with their codes."""
        chosen = np.asarray(rows)
        made = coded_set(self.original.subset(rows), self.X[chosen])
        return replace(
            made, y=None if self.y is None else self.y[chosen], class_names=self.class_names
        )


def coded_set(source: DataSet, codes: FloatArray) -> CodedSet:
    """A data set of codes."""
    return CodedSet(
        codes,
        source.y,
        source.ids,
        source.class_names,
        source.feature_names if source.rows.form == "table" else None,
        source.name,
        None,
        source.groups,
        source.kinds,
        False,
        source.weights,
        source.slices,
        shared=source.shared,
        source=source,
    )


def coded(context: Context) -> Context:
    """The context with codes instead of rows that are no plain floats; else the context itself."""
    if isinstance(context.model, CodedClassifier):
        return context
    model, made = coded_sets(context.model, context.sets)
    return context if model is context.model else replace(context, model=model, **made)


def coded_sets(model: Classifier, sets: dict[str, DataSet]) -> tuple[Classifier, dict[str, Any]]:
    """A model that takes codes, and the codes of all sets; both as they are for plain floats."""
    if all(data.rows.is_plain for data in sets.values()):
        return model, sets
    _check_alike(sets)
    book = Codebook.of(*(data.rows for data in sets.values()))
    if any(data.missing for data in sets.values()):
        allow_missing(model)
    made = {name: coded_set(data, book.encode(data.rows)) for name, data in sets.items()}
    return CodedClassifier(model, book), made


def recoded(context: Context, more: Rows) -> tuple[Context, FloatArray]:
    """The coded context with codes that know these rows, too, and their codes."""
    model = context.model
    assert isinstance(model, CodedClassifier)
    sets: dict[str, Any] = context.sets
    book = Codebook.of(*(data.rows for data in sets.values()), more)
    made: dict[str, Any] = {}
    for name, data in sets.items():
        own = coded_set(data.original, book.encode(data.rows))
        made[name] = replace(own, y=data.y, class_names=data.class_names)
    return replace(context, model=CodedClassifier(model.model, book), **made), book.encode(more)


def with_own_hash(evidence: Evidence, inner: Classifier) -> Evidence:
    """Evidence that names the user's model instead of the one that takes codes."""
    seen = evidence.provenance
    if not isinstance(inner, CodedClassifier) or seen is None:
        return evidence
    if seen.model_sha256 != inner.sha256:
        return evidence
    return replace(evidence, provenance=replace(seen, model_sha256=inner.model.sha256))


def real_columns(context: Context) -> BoolArray | None:
    """Which columns are reals without holes; None: all features of arrays of reals."""
    rows = context.test.rows
    if rows.is_text:
        return np.zeros(1, dtype=np.bool_)
    kinds = rows.kinds or ()
    if rows.form not in ("table", "tokens"):
        return None if "integer" not in kinds else np.zeros(1, dtype=np.bool_)
    free = np.array([kind == "real" for kind in kinds]) & ~rows.holes
    return None if free.all() else free


def changeable(context: Context) -> BoolArray | None:
    """Which columns an attack may change at all: not texts and dates. None: all of them."""
    rows = context.test.rows
    if rows.is_text:
        return np.zeros(1, dtype=np.bool_)
    if rows.form != "table":
        return None
    free = np.array([kind not in ("text", "date") for kind in rows.kinds or ()])
    return None if free.all() else free


def attack_kinds(context: Context) -> list[str] | None:
    """What each feature is to an attack: real, integer or category; None: what its type says."""
    rows = context.test.rows
    kinds = rows.kinds or ()
    of_columns = rows.form in ("table", "tokens")
    if rows.is_text or not (of_columns or "integer" in kinds):
        return None
    if not of_columns:
        return ["integer"] * int(np.prod(rows.values.shape[1:]))
    return [kind if kind in ("real", "integer") else "category" for kind in kinds]


def why_not_attacked(context: Context) -> str | None:
    """Why no attack can be tried on these rows, or None."""
    if context.test.rows.is_text:
        return "text: there is no small change of a text that keeps its meaning"
    free = changeable(context)
    if free is not None and not free.any():
        return "text: texts and dates have no small change that keeps their meaning"
    if context.model.bounds is None and not (context.test.X[:1] != context.test.X).any():
        return "no feature varies among the test rows, and model.bounds does not say how far it may"
    return None


def why_no_distances(context: Context) -> str | None:
    """Why real-valued attacks, which measure distances, cannot be tried, or None."""
    free, reason = real_columns(context), why_not_attacked(context)
    if reason is None and (free is None or free.any()):
        return None
    return reason or "not tried: integer or categorical columns"


def why_not_between(context: Context) -> str | None:
    """Why no input can be made that lies between two of these rows, or None."""
    rows = context.test.rows
    if rows.is_text:
        kept = "; perturb keeps the meaning, so it makes none that belongs to two classes"
        return f"text: there is nothing between two texts{kept if context.perturb else ''}"
    if "integer" in (rows.kinds or ()) and not rows.is_frame and rows.values.dtype.kind in "iu":
        return "integers: there is nothing between two tokens or codes"
    if not rows.is_plain:
        return "a table with names, dates or missing values: ambiguous inputs are made of numbers"
    return None


def has_codes(context: Context) -> bool:
    """Whether numbers of the context are codes, not measurements."""
    return isinstance(context.model, CodedClassifier)


def _check_alike(sets: dict[str, DataSet]) -> None:
    test = next(iter(sets.values())).rows
    for name, data in sets.items():
        rows = data.rows
        if (rows.is_frame, rows.is_text) != (test.is_frame, test.is_text):
            raise DataError(
                f"The {name} rows must be like the test rows.",
                got="a table, texts and an array of numbers mixed",
            )
        if rows.is_frame and rows.names != test.names:
            raise DataError(
                f"The {name} rows must have the columns of the test rows.",
                got=", ".join(rows.names[:12]),
            )


Perturb = Callable[[str, np.random.Generator], Sequence[str]]
KEEPS_MEANING = Assumption(
    "The changed texts mean what the texts meant.",
    "untestable",
    "They come from the perturb function; a change of meaning would count as a failure.",
    id="perturbed-texts-keep-their-meaning",
)


def can_perturb(context: Context) -> bool:
    """Whether somebody gave a function that changes these texts."""
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
    """Test rows with their changes, as codes of a context that knows the changed texts, too."""

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
    """At most so many changes of each of these test rows."""
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
) -> tuple[Observations, AnyArray, AnyArray, IntArray]:
    """Time to failure of each row under its changes; the texts that fooled the model, and whose."""
    from fireassay import survival
    from fireassay.attacks.spaced import perturbed, row_key

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
    left = len(drawn) - len(changed.rows)
    kept = replace(
        found,
        table=table,
        adversarial=None,
        model_sha256=context.model.sha256,
        not_tried=(f"{left} rows that perturb does not change",) if left else (),
    )
    made_by, rows = fell["made_by"].to_numpy(dtype=np.str_), fell["sample"].to_numpy(dtype=np.int64)
    return kept, np.asarray(texts, dtype=np.str_), made_by, rows


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
