"""The role of each column of a file of predictions, by the usual names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from fireassay.core.arrays import AnyArray, BoolArray, FloatArray, IntArray
from fireassay.core.errors import DataError
from fireassay.core.lazy import pd
from fireassay.data.prediction_classes import (
    ENOUGH_ROWS,
    levels,
    named_alike,
    plain_class,
    positive_class,
    refuse_no_classes,
    shown,
)
from fireassay.data.prediction_column import is_fraction, plain_name
from fireassay.data.prediction_scores import cut_of_answers, found_scores


def _names(text: str) -> frozenset[str]:
    return frozenset(plain_name(name) for name in text.split())


_ROLES: Final = {
    "truth": _names(
        "y_true true truth target actual actual_label true_label ground_truth gold obs outcome y "
        "class label y_test expected true_class actual_class gold_label"
    ),
    "answer": _names(
        "y_pred pred prediction predicted predicted_label prediction_label predicted_class "
        ".pred_class predict estimate answer pred_label y_hat scored_label"
    ),
    "id": _names("id identifier prediction_id row_id"),
    "group": _names(
        "group patient patient_id subject subject_id user encounter admission track sequence"
    ),
    "time": _names("time timestamp date"),
    "weight": _names("weight sample_weight"),
}
_OF_ANSWERS: Final = _names("pred predict predicted prediction answer classified yhat")
_OF_MARKS: Final = {"correct", "error", "wrong", "right"}  # of an answer, none itself
_OF_IDS: Final = {"id", "ids", "identifier", "uuid", "mrn", "subject", "patient", "index"}
_MOST_SLICES: Final = 20


class Reading:
    """One table on its way to predictions: which columns are taken, and what to say of them."""

    def __init__(
        self, frame: pd.DataFrame, tables: dict[str, AnyArray], name: str, given: dict[str, Any]
    ) -> None:
        if not len(frame):
            raise DataError("A file of predictions must have rows.", got="none")
        self.frame, self.tables, self.name, self.given = frame, tables, name, given
        self.taken = {role: c for role, c in given.items() if c not in (None, "none")}
        for role, column in self.taken.items():
            if column not in frame:
                got = ", ".join(frame.columns[:12])
                raise DataError(f"There must be a column {column!r} (--{role}).", got=got)
        self.lines = [f"{role}: {column} (as told)" for role, column in self.taken.items()]
        self.asks: list[str] = []

    def roles(
        self,
        probability: str | Sequence[str] | None,
        answer_confidence: str | None,
        classes: Sequence[Any] | None,
        positive: Any | None,
        indeterminate: Any | None,
        threshold: float | None,
        unlabelled: Any | None = None,
    ) -> dict[str, Any]:
        """Find every role, check what was found; the fields of `Predictions`."""
        chosen = [probability] if isinstance(probability, str) else list(probability or ())
        # A column of fractions is no answer, whatever its name.
        said = [c for c in self._candidates("answer") if not is_fraction(self.frame[c])]
        self._find("answer", [c for c in said if c not in chosen])
        self._find_truth()
        self._find(
            "answer",
            [
                c
                for c in self._of_classes()
                if _OF_ANSWERS & _words(c) and not _OF_MARKS & _words(c)
            ],
        )
        truth, said_codes, names = self._coded(classes, indeterminate, unlabelled)
        if positive is not None and positive_class(names, positive) is None:
            raise DataError(f"The positive class must be one of {shown(names)}.", got=positive)
        scores = found_scores(
            self.frame, self.tables, chosen, answer_confidence, said_codes, names,
            positive_class(names, positive), set(self.taken.values()), classes is not None,
        )  # fmt: skip
        self.taken |= {f"probability {c}": c for c in scores.columns if c in self.frame}
        self.lines += scores.lines
        names = [*names, *scores.more_classes]
        yes = positive_class(names, positive)
        if said_codes is None and scores.probabilities is not None:
            said_codes = self._explained(truth, names, scores.probabilities)
        answers, cut = self._decided(said_codes, names, yes, scores.probabilities, threshold)
        for role in ("id", "group", "time", "weight"):
            self._find(role, self._candidates(role))
        ids, groups, weights = self._checked_columns()
        others = self.frame.drop(columns=list({*self.taken.values()}))
        told = [truth, answers, np.where(truth < 0, -1, truth == answers)]
        copies = [c for c in others if any(_is_copy(others[c], codes) for codes in told)]
        offered = tuple(str(c) for c in others if c not in copies and _can_be_slice(others[c]))
        left = ", ".join(str(c) for c in others if c not in offered)
        counts = np.bincount(truth[truth >= 0], minlength=len(names))
        listed = [f"{c} ({k:,})" for c, k in zip(names, counts, strict=True)]
        missing = int((truth < 0).sum())
        said_lines = {
            f"classes: {shown(listed, 12)}; positive: {'not clear' if yes is None else yes}": True,
            f"{missing:,} of {len(truth):,} rows have no truth: unlabelled": missing,
            f"slices offered: {', '.join(offered)}": offered,
            f"left alone: {left}": left,
        }
        self.lines += [line for line, applies in said_lines.items() if applies]
        return {
            "truth": truth, "answers": answers, "classes": tuple(names),
            "probabilities": scores.probabilities, "confidence": scores.confidence,
            "positive": yes, "threshold": cut, "ids": ids, "groups": groups,
            "time": _array(self._column("time")), "weights": weights, "others": others,
            "offered": offered, "findings": tuple(self.lines), "asks": tuple(self.asks),
            "name": self.name,
        }  # fmt: skip

    def _column(self, role: str) -> pd.Series[Any] | None:
        return self.frame[self.taken[role]] if role in self.taken else None

    def _candidates(self, role: str) -> list[str]:
        free = [str(c) for c in self.frame if c not in self.taken.values()]
        return [c for c in free if plain_name(c) in _ROLES[role]]

    def _find(self, role: str, found: list[str]) -> None:
        """Take the one column of a role; several with the same content are one."""
        if not found or self.given.get(role) is not None:
            return
        different = [c for c in found[1:] if not self.frame[c].equals(self.frame[found[0]])]
        outer = self._outermost(found) if different and role == "group" else None
        if different and outer is None:
            raise DataError(
                f"One column must be the {role}.",
                got=f"{len(found)} candidates: {', '.join(found)}",
                do=f"Type --{role} {found[0]} or --{role} {different[0]}.",
            )
        self.taken[role] = outer or found[0]
        within = f" ({', '.join(c for c in found if c != outer)} within it)" if outer else ""
        self.lines.append(f"{role}: {self.taken[role]}{within}")

    def _of_classes(self) -> list[str]:
        """Free columns that hold values of the truth and nothing else."""
        own = {*map(_key, self.frame[self.taken["truth"]].dropna().unique())}
        values = {str(c): self.frame[c].dropna().unique() for c in self.frame}
        return [
            c
            for c, v in values.items()
            if c not in self.taken.values() and 1 < len(v) <= len(own) and {*map(_key, v)} <= own
        ]

    def _explained(self, truth: IntArray, names: list[Any], p: FloatArray) -> IntArray | None:
        """The one column whose every value follows from the probabilities, as answers do."""
        place = {_key(name): i for i, name in enumerate(names)}
        found = {}
        for c in self._of_classes() if len(truth) >= ENOUGH_ROWS else ():
            codes, values = pd.factorize(self.frame[c])
            answers = np.append([place.get(_key(v), -1) for v in values], -1).astype(np.int64)[
                codes
            ]
            unlike = (answers != truth)[truth >= 0].any()
            if unlike and cut_of_answers(answers, np.nan_to_num(p), None) is not None:
                found[c] = answers
        self._find("answer", [*found])
        return found.get(self.taken.get("answer", ""))

    def _outermost(self, columns: list[str]) -> str | None:
        """The column whose groups contain those of all others, or None."""
        outer = min(columns, key=lambda c: self.frame[c].nunique())
        pairs = [self.frame[[c, outer]].drop_duplicates() for c in columns if c != outer]
        return outer if all(pair.iloc[:, 0].is_unique for pair in pairs) else None

    def _find_truth(self) -> None:
        named = self._candidates("truth")
        scored = [
            c for c in self.frame if plain_name(c) in ("score", "predictionscore", "confidence")
        ]
        label = next((c for c in named if plain_name(c) == "label"), None)
        doubtful = label is not None and not {"truth", "answer"} & {*self.taken}
        if doubtful and (scored or len(named) > 1):
            raise DataError(
                f"Without a column of answers, {label!r} may be truth or answer (pipelines of "
                "Hugging Face write their answer as label).",
                got=", ".join(map(str, [*named, *scored])),
                do=f"Type --truth {label} or --answer {label}.",
            )
        self._find("truth", named)
        if "truth" not in self.taken:
            free = [str(c) for c in self.frame if c not in self.taken.values()]
            if len(self.frame.columns) == 1 and not self.tables:
                need = "Columns must be separated by comma, semicolon, tab or |."
                raise DataError(need, got=f"one column: {str(self.frame.columns[0])[:60]}")
            said = [c for c in (self.taken.get("answer"), *free) if c is not None][:1]
            values = {_key(v) for c in said for v in self.frame[c].dropna().unique()}
            likely = [c for c in free if 2 <= self.frame[c].nunique() <= _MOST_SLICES]
            alike = {c: {*map(_key, self.frame[c].dropna().unique())} & values for c in likely}
            likely.sort(key=lambda c: not alike[c])
            raise DataError(
                "A column must hold the truth.",
                got=f"the columns {shown(free, 12)}" if free else "no other column",
                do=f"Type --truth {' or --truth '.join(likely[:3]) or 'COLUMN'}.",
            )

    def _coded(
        self, classes: Sequence[Any] | None, indeterminate: Any | None, unlabelled: Any | None
    ) -> tuple[IntArray, IntArray | None, list[Any]]:
        """Truth and answers as positions in the classes; -1 where there is none."""
        truth, own = levels(self._column("truth"), "truth", unlabelled)
        answers, said = levels(self._column("answer"), "answer", indeterminate)
        own, said, names = named_alike(own, said, classes)
        if classes is None:
            free = [str(c) for c in self.frame if c not in self.taken.values()]
            refuse_no_classes(own, said, self.taken["truth"], free, int((truth >= 0).sum()))
        place = {name: i for i, name in enumerate(names)}
        coded = [
            np.append([place[v] for v in values], -1).astype(np.int64)[part]
            for part, values in ((truth, own), (answers, said))
        ]
        return coded[0], coded[1] if "answer" in self.taken else None, names

    def _decided(
        self,
        answers: IntArray | None,
        names: list[Any],
        yes: Any | None,
        p: FloatArray | None,
        threshold: float | None,
    ) -> tuple[IntArray, dict[str, float] | None]:
        """The answers, and the cut that they follow where it is not the most probable class."""
        at = None if yes is None else names.index(yes)
        if p is None:
            if answers is None or threshold is not None:
                raise DataError(
                    "There must be probabilities"
                    + (" for a threshold." if answers is not None else ", or a column of answers."),
                    got=f"the columns {shown(list(self.frame.columns), 12)}",
                    do=f"Type --answer {' or --answer '.join(self._of_classes()) or 'COLUMN'}, or "
                    "--probability COLUMN.",
                )
            return answers, None
        unknown = np.asarray(np.isnan(p).any(axis=1))
        if threshold is not None:
            if at is None:
                raise DataError(
                    "A threshold is of the positive class.", do="Type --positive CLASS."
                )
            self.lines.append(f"answers: {yes} from {threshold:g} on (as told)")
            return _cut(p, at, threshold, unknown), {str(yes): float(threshold)}
        if answers is None:
            self.lines.append("answers: none given; the most probable class is taken")
            if len(names) == 2:  # a probability of 0.5 is positive
                return _cut(p, 1 if at is None else at, 0.5, unknown), None
            return np.where(unknown, -1, np.nan_to_num(p).argmax(axis=1)), None
        bare = int((unknown & (answers >= 0)).sum())
        cut = None if bare else cut_of_answers(answers, p, at)
        if cut is None:
            why = (
                f"{bare:,} answers without probabilities"
                if bare
                else "answers that no cut explains"
            )
            raise DataError(
                "The answers must follow from the probabilities by one threshold.",
                got=why,
                do="Type --threshold T to decide anew, or --probability none to judge the answers.",
            )
        for column, (t, low, high) in cut.items():
            near = f"{low:.4g}", f"{high:.4g}"
            range_ = "" if near[0] == near[1] else f" (between {near[0]} and {near[1]})"
            self.lines.append(f"answers follow threshold {t:g} of {names[column]}{range_}")
            return answers, {str(names[column]): t}
        self.lines.append("answers: the most probable class")
        return answers, None

    def _checked_columns(self) -> tuple[AnyArray | None, AnyArray | None, FloatArray | None]:
        """Ids that are unique, groups without holes, weights that are weights; and what to ask."""
        ids, groups, weights = (self._column(role) for role in ("id", "group", "weight"))
        if ids is not None and not ids.is_unique:
            if self.given.get("id") is not None:
                raise DataError("Ids must be unique.", got=f"{ids.nunique():,} of {len(ids):,}")
            self.lines.remove(f"id: {self.taken.pop('id')}")
            ids = None
        if groups is not None and groups.isna().any():
            raise DataError(
                f"Each row must have a group ({groups.name}).",
                got=f"{int(groups.isna().sum()):,} rows without",
                do="Fill them, or type --group none.",
            )
        if groups is None and self.given.get("group") != "none":
            free = [str(c) for c in self.frame if c not in self.taken.values() and _id_like(str(c))]
            shared = [c for c in free if 1 < self.frame[c].nunique() < len(self.frame)]
            self.asks += [f"rows share {c}: type --group {c}, or --independent" for c in shared]
        w = None
        if weights is not None:
            w = pd.to_numeric(weights, errors="coerce").to_numpy(dtype=np.float64)
            if not (np.isfinite(w).all() and w.min() >= 0 and w.any()):
                got = f"others in {weights.name}"
                raise DataError("Weights must be at least 0.", got=got, do="Type --weight none.")
        return _array(ids), _array(groups), w


def _array(column: pd.Series[Any] | None) -> AnyArray | None:
    return None if column is None else column.to_numpy()


def _cut(p: FloatArray, at: int, threshold: float, unknown: BoolArray) -> IntArray:
    """One class from a probability on, else the most probable other one; -1 where unknown."""
    rest = np.where(np.arange(p.shape[1]) == at, -1.0, np.nan_to_num(p)).argmax(axis=1)
    return np.where(unknown, -1, np.where(p[:, at] >= threshold, at, rest)).astype(np.int64)


def _can_be_slice(column: pd.Series[Any]) -> bool:
    """Whether a column has 2 to 20 values, or is of numbers that can be cut in four ranges."""
    if pd.api.types.is_numeric_dtype(column.dtype) and not _id_like(str(column.name)):
        counted = pd.api.types.is_integer_dtype(column.dtype) and len(column) > _MOST_SLICES
        return bool(column.nunique() > 1) and not (counted and column.is_unique)
    head = column.iloc[:1000].astype(str).nunique()
    return head <= _MOST_SLICES and 2 <= column.astype(str).nunique() <= _MOST_SLICES


def _is_copy(column: pd.Series[Any], codes: IntArray) -> bool:
    """Whether a column names nothing but the truth, the answer, or whether it is right."""
    own = pd.factorize(column)[0]
    if len(own) < ENOUGH_ROWS or not 2 <= own.max() + 1 <= _MOST_SLICES:
        return False
    together = np.zeros((own.max() + 2, codes.max() + 2), dtype=bool)
    together[own, codes] = True
    return bool(
        (together[:-1].sum(axis=1) <= 1).all() and (together[:, :-1].sum(axis=0) <= 1).all()
    )


def _id_like(name: str) -> bool:
    known = plain_name(name) in _ROLES["id"] | _ROLES["group"]
    return known or bool(_words(name) & _OF_IDS)


def _words(name: str) -> set[str]:
    parts = re.split(r"[^a-z0-9]+", re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower())
    return {*map(plain_name, parts)}


def _key(value: Any) -> str:
    """A class as a text; true is 1."""
    known = plain_class(value)
    return str(int(known) if isinstance(known, bool) else known)
