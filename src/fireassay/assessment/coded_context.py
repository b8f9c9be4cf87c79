"""Tables, texts and integers as codes, so that every part works on numbers and no model does."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fireassay.assessment.context import Context
from fireassay.classifiers import Classifier, CodedClassifier
from fireassay.classifiers.base import allow_missing
from fireassay.core import DataError, Evidence
from fireassay.core.arrays import BoolArray, FloatArray
from fireassay.data import Codebook, DataSet, Rows


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
        source.feature_names if codes.ndim == 2 and source.X.ndim == 2 else None,
        source.name,
        None,
        source.groups,
        source.kinds,
        False,
        source.weights,
        source.slices,
        source=source,
    )


def coded(context: Context) -> Context:
    """The context with codes instead of rows that are no plain floats; else the context itself."""
    if isinstance(context.model, CodedClassifier):
        return context
    sets = {
        name: getattr(context, name)
        for name in ("test", "train", "operational")
        if getattr(context, name) is not None
    }
    model, made = coded_sets(context.model, sets)
    changed: dict[str, Any] = made
    return context if model is context.model else replace(context, model=model, **changed)


def coded_sets(
    model: Classifier, sets: dict[str, DataSet]
) -> tuple[Classifier, dict[str, DataSet]]:
    """A model that takes codes, and the codes of all sets; both as they are for plain floats."""
    if all(data.rows.is_plain for data in sets.values()):
        return model, sets
    _check_alike(sets)
    book = Codebook.of(*(data.rows for data in sets.values()))
    if any(data.missing for data in sets.values()):
        allow_missing(model)
    made = {name: coded_set(data, book.encode(data.rows)) for name, data in sets.items()}
    return CodedClassifier(model, book), dict(made)


def recoded(context: Context, more: Rows) -> tuple[Context, FloatArray]:
    """The coded context with codes that know these rows, too, and their codes."""
    model = context.model
    assert isinstance(model, CodedClassifier)
    sets = {
        name: getattr(context, name)
        for name in ("test", "train", "operational")
        if getattr(context, name) is not None
    }
    book = Codebook.of(*(data.rows for data in sets.values()), more)
    made: dict[str, Any] = {
        name: replace(
            coded_set(data.original, book.encode(data.rows)),
            y=data.y,
            class_names=data.class_names,
        )
        for name, data in sets.items()
    }
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
    if rows.values.ndim != 2:
        return None if "integer" not in kinds else np.zeros(1, dtype=np.bool_)
    free = np.array([kind == "real" for kind in kinds]) & ~rows.holes
    return None if free.all() else free


def changeable(context: Context) -> BoolArray | None:
    """Which columns an attack may change at all: not texts and dates. None: all of them."""
    rows = context.test.rows
    if rows.is_text:
        return np.zeros(1, dtype=np.bool_)
    if rows.values.ndim != 2:
        return None
    free = np.array([kind not in ("text", "date") for kind in rows.kinds or ()])
    return None if free.all() else free


def attack_kinds(context: Context) -> list[str] | None:
    """What each feature is to an attack: real, integer or category; None: what its type says."""
    rows = context.test.rows
    kinds = rows.kinds or ()
    if rows.is_text or (rows.values.ndim != 2 and "integer" not in kinds):
        return None
    if rows.values.ndim != 2:
        return ["integer"] * int(np.prod(rows.values.shape[1:]))
    return [kind if kind in ("real", "integer") else "category" for kind in kinds]


def why_not_attacked(context: Context) -> str | None:
    """Why no attack can be tried on these rows, or None."""
    if context.test.rows.is_text:
        return "text: there is no small change of a text that keeps its meaning"
    free = changeable(context)
    if free is not None and not free.any():
        return "text: texts and dates have no small change that keeps their meaning"
    if context.model.bounds is None and not _varies(context):
        return "no feature varies among the test rows, and model.bounds does not say how far it may"
    return None


def _varies(context: Context) -> bool:
    X = context.test.X
    return bool((X[:1] != X).any())


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
