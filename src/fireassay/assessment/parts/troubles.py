"""The sets that supervisors are compared on: corrupted, adversarial, ambiguous, field errors."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.assessment.coded_rows import has_codes, real_columns, why_not_attacked
from fireassay.assessment.context import Context
from fireassay.assessment.parts import supervision
from fireassay.assessment.parts.curation import curated_rows
from fireassay.assessment.parts.part import PartAnswer
from fireassay.assessment.parts.survival import adversarial_inputs
from fireassay.attacks import ATTACKS
from fireassay.core import NotEnoughEvidenceError, generator
from fireassay.core.validation import check_class_indices
from fireassay.data.splits import whole_groups
from fireassay.supervision import corrupted_set
from fireassay.supervision.trouble_sets import channels_first


class Troubles:
    """Sets of trouble by name, the kinds and groups within each, and where they come from."""

    def __init__(self, groups: NDArray[Any] | None = None) -> None:
        self.sets: dict[str, NDArray[Any]] = {}
        self.kinds: dict[str, NDArray[Any]] = {}
        self.groups: dict[str, NDArray[Any]] = {}
        self.uses: list[str] = []
        self._of_test = groups

    def add(
        self,
        name: str,
        X: NDArray[Any],
        kinds: NDArray[Any] | None = None,
        rows: NDArray[np.int64] | None = None,
    ) -> None:
        """A set; ``rows`` are the test rows that it was made of, one by one."""
        self.sets[name] = X
        if kinds is not None:
            self.kinds[name] = kinds
        if rows is not None and self._of_test is not None:
            self.groups[name] = self._of_test[rows]


def groups_of(
    troubles: Troubles, context: Context, rows: dict[str, NDArray[np.int64]]
) -> dict[str, NDArray[Any]] | None:
    """Which rows belong together in each set; None where nobody said so."""
    if context.test.groups is None:
        return None
    known = {
        name: context.test.groups[rows[name]]
        for name in (supervision.NOMINAL, supervision.CALIBRATION)
    }
    field = context.operational
    if field is not None and field.groups is not None:
        known[supervision.FIELD] = field.groups[rows[supervision.FIELD]]
    return {**troubles.groups, **known}


def add_made(troubles: Troubles, context: Context, drawn: NDArray[np.int64], severity: int) -> None:
    """Ambiguous, adversarial, corrupted and invalid inputs."""
    X = context.test.X[drawn]
    made = context.results.get("ambiguity")
    if isinstance(made, PartAnswer):
        between = made.kept["ambiguous"].X
        troubles.add("ambiguous", between)
        troubles.uses.append(f"the {len(between)} ambiguous inputs of ambiguity")
    if context.test.y is not None and why_not_attacked(context) is None:
        _add_adversarial(troubles, context)
    if _can_be_corrupted(context, X):
        free = real_columns(context) if has_codes(context) else None
        natural = context.natural_range
        given = natural.inside(X) if natural else X if free is None else X[:, free]
        bounds = None if natural else context.model.bounds
        made_worse = context.of_data(
            "corrupted rows",
            (np.ascontiguousarray(given), severity, bounds),
            lambda: corrupted_set(given, severity, seed=context.seed, bounds=bounds),
        )
        worse = natural.outside(made_worse.X) if natural else made_worse.X
        if free is not None:
            worse = X.copy()
            worse[:, free] = made_worse.X
        of = drawn if len(worse) == len(drawn) else None
        troubles.add("corrupted", worse, made_worse.kind, of)
    if not context.test.rows.is_text:
        # Values of a table are shuffled within columns: such a row is of no group.
        of = drawn if context.test.rows.form in ("image", "series") else None
        troubles.add("scrambled", _scrambled(X, context.seed, of is not None), rows=of)


def _add_adversarial(troubles: Troubles, context: Context) -> None:
    """The inputs that fooled the model under attack: small changes apart from strong ones."""
    X, made_by, samples = adversarial_inputs(context)
    # Attacks of a fixed size go far over the boundary, which softmax scores do not see.
    # A member of an ensemble is called after its attack: "apgd-targeted".
    rows = [ATTACKS[str(name).partition("-")[0]] for name in made_by]
    strong = np.array([row.fixed_size for row in rows], dtype=np.bool_)
    for name, chosen in (("adversarial", ~strong), ("strong adversarial", strong)):
        if chosen.sum() > 1:
            troubles.add(name, X[chosen], made_by[chosen], samples[chosen])
            troubles.uses.append(f"{chosen.sum()} {name} inputs from the attacks of survival")


def add_real(
    troubles: Troubles, context: Context, samples: int, rng: np.random.Generator
) -> dict[str, NDArray[np.int64]]:
    """Curated and field rows; returns the positions of all rows that were not made."""
    rows: dict[str, NDArray[np.int64]] = {}
    nominal = np.arange(len(context.test))
    curated = curated_rows(context)
    if curated is not None:
        hard, dataset = curated.hardest(samples)
        left = np.setdiff1d(nominal, hard) if curated.source == "test" else nominal
        if len(left) >= 120:
            of = hard if curated.source == "test" else None
            kinds = np.char.add("dataset ", dataset.astype(str))
            troubles.add(supervision.CURATED, curated.data.X[hard], kinds, of)
            troubles.uses.append(f"the hardest of {curated.in_words}")
            nominal = left
            if curated.source == "test":
                rows[supervision.CURATED] = hard
    if (
        len(nominal) > supervision.NOMINAL_ROWS
    ):  # of some hundred rows of trouble intervals are wider anyway
        order, first = whole_groups(
            rng.permutation(nominal), context.test.groups, supervision.NOMINAL_ROWS
        )
        nominal = order[:first]
    if context.operational is not None:
        rows[supervision.FIELD] = rng.permutation(len(context.operational))[
            : supervision.FIELD_ROWS
        ]
        troubles.add(supervision.FIELD, context.operational.X[rows[supervision.FIELD]])
    if context.test.y is not None and why_not_attacked(context) is not None:
        nominal, rows[supervision.ERRORS] = _add_errors(troubles, context, nominal)
    rows[supervision.CALIBRATION], rows[supervision.NOMINAL] = _halves(
        nominal, context.test.groups, rng
    )
    return rows


def _add_errors(
    troubles: Troubles, context: Context, rows: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The model's own errors as trouble; returns the rows that it gets right, and the others."""
    chosen = context.test.subset(rows)
    y = check_class_indices(chosen.labels, context.model.classes)
    wrong = context.model.predict_proba(chosen.X).argmax(axis=1) != y
    if wrong.sum() < 2 and not troubles.sets:
        raise NotEnoughEvidenceError(
            "Supervision needs some trouble: of these rows none can be made.",
            got=f"{int(wrong.sum())} errors of the model among {len(rows)} rows",
            do="Give more test rows, or votes for curated ones.",
        )
    if wrong.sum() > 1:
        troubles.add(supervision.ERRORS, chosen.X[wrong], rows=rows[wrong])
    return rows[~wrong], rows[wrong]


def _halves(
    rows: NDArray[np.int64], groups: NDArray[Any] | None, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Two halves of the rows; no group is in both."""
    order, first = whole_groups(rng.permutation(rows), groups, len(rows) // 2)
    if first == len(rows):
        raise NotEnoughEvidenceError(
            "A threshold needs rows of at least two groups.", got="all rows in one group"
        )
    return np.sort(order[:first]), np.sort(order[first:])


def _can_be_corrupted(context: Context, X: NDArray[Any]) -> bool:
    """Tables with numbers; of images those that are large enough to show a change."""
    form = context.test.rows.form
    if has_codes(context):
        free = real_columns(context)
        return form == "table" and free is not None and bool(free.any())
    if form != "image":
        return form == "table"
    sides = X.shape[2:] if channels_first(X) else X.shape[1:3]
    return context.natural_range is not None and min(sides) >= 8


def _scrambled(X: NDArray[Any], seed: int, within_rows: bool) -> NDArray[Any]:
    """The features in another order, so that rows are invalid and marginals right."""
    # Table columns have units, so their values are shuffled within columns instead of rows.
    rng = generator(seed, "scrambled")
    flat = X.reshape(len(X), -1)
    if within_rows:
        return flat[:, rng.permutation(flat.shape[1])].reshape(X.shape)
    return rng.permuted(flat, axis=0)
