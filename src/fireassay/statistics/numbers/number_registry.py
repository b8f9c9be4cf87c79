"""The standard numbers by their usual names: one table for gates, documentation and pages."""

import difflib
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.errors import DataError, ParameterError
from fireassay.core.estimate import Estimate
from fireassay.core.measure import Better, Measure, Unit
from fireassay.core.words import within_a_sentence
from fireassay.statistics.numbers import confusion_numbers as counts
from fireassay.statistics.numbers import probability_numbers as stated
from fireassay.statistics.numbers.judged_rows import JudgedRows
from fireassay.statistics.numbers.standard_intervals import not_estimable

Needs = Literal["answers", "probabilities", "order"]
_SHARE = "exact (Clopper-Pearson); with groups a bound over groups"
_KNIFE = "jackknife over rows or groups, {}, approximate"
_JOINT = "from joint ends of sensitivity and specificity"
_PARTS: Final = re.compile(
    r"(gap\.)?([a-z][a-z0-9_+-]*)(?:\[(.*)\])?(?:@([^{}]*))?(?:\{([^=]+?)(?:=(.*))?\})?", re.DOTALL
)


@dataclass(frozen=True)
class StandardNumber:
    """One number: its gate name, its usual name, a sentence, and how its interval is made."""

    name: str
    label: str
    meaning: str
    unit: Unit
    better: Better
    interval: str
    find: Callable[..., Estimate]
    needs: Needs = "answers"
    per_class: bool = False
    aliases: tuple[str, ...] = ()
    gated: bool = True

    @property
    def measure(self) -> Measure:
        """What the number is, for reports and gates."""
        name, label = self.name, self.label
        if self.per_class:
            name, label = f"{name}[*]", f"{label}: {{}}"
        return Measure(name, label, self.unit, self.better, self.meaning)


def _share_of(name: str) -> Callable[..., Estimate]:
    return lambda rows, c: counts.class_share(rows, name, c)


_N = StandardNumber
_CLASS: Final[dict[str, Any]] = {"per_class": True}
_STATED: Final[dict[str, Any]] = {"needs": "probabilities"}
NUMBERS: Final[tuple[StandardNumber, ...]] = (
    _N("accuracy", "Accuracy", "Share of rows whose answer is the truth.", "share", "high",
       _SHARE, counts.accuracy),
    _N("error", "Error rate", "Share of rows whose answer is not the truth.", "share", "low",
       _SHARE, counts.error, aliases=("error_rate",)),
    _N("balanced_accuracy", "Balanced accuracy", "Mean of the classes' sensitivities.", "share",
       "high", "exact ends of each class, combined; with groups " + _KNIFE.format("logit scale"),
       counts.balanced_accuracy),
    _N("kappa", "Cohen's kappa", "Agreement of answer and truth beyond chance.", "ratio", "high",
       _KNIFE.format("Fisher's scale"), counts.kappa, aliases=("cohen_kappa",)),
    _N("mcc", "Matthews correlation", "Correlation of answer and truth.", "ratio", "high",
       _KNIFE.format("Fisher's scale"), counts.mcc, aliases=("matthews_corrcoef",)),
    _N("sensitivity", "Sensitivity (recall)", "Share of the rows of this class that are found.",
       "share", "high", _SHARE, _share_of("sensitivity"), aliases=("recall", "tpr"), **_CLASS),
    _N("specificity", "Specificity", "Share of the other rows that are not answered with it.",
       "share", "high", _SHARE, _share_of("specificity"), aliases=("tnr",), **_CLASS),
    _N("ppv", "PPV (precision)", "Share of the answers with this class that are right.", "share",
       "high", _SHARE, _share_of("ppv"), aliases=("precision",), **_CLASS),
    _N("npv", "NPV", "Share of the answers with other classes that are right to leave it out.",
       "share", "high", _SHARE, _share_of("npv"), **_CLASS),
    _N("f1", "F1", "Harmonic mean of sensitivity and PPV.", "share", "high",
       "through the share of right rows among those true or answered: " + _SHARE, counts.f1,
       aliases=("f1_score",), **_CLASS),
    _N("lr+", "Positive likelihood ratio", "How much an answer with this class raises its odds.",
       "ratio", "high", _JOINT, partial(counts.likelihood_ratio, positive=True),
       aliases=("lr_plus",), gated=False, **_CLASS),
    _N("lr-", "Negative likelihood ratio", "How much another answer lowers the odds of this class.",
       "ratio", "low", _JOINT, partial(counts.likelihood_ratio, positive=False),
       aliases=("lr_minus",), gated=False, **_CLASS),
    _N("f1_macro", "Macro F1", "Mean F1 of the classes.", "share", "high",
       _KNIFE.format("logit scale"), counts.f1_macro, aliases=("macro_f1",)),
    _N("f1_weighted", "Weighted F1", "Mean F1 of the classes, weighted by their rows.", "share",
       "high", _KNIFE.format("logit scale"), counts.f1_weighted, aliases=("weighted_f1",)),
    _N("kappa_quadratic", "Quadratic kappa", "Agreement beyond chance, by squared distance.",
       "ratio", "high", _KNIFE.format("Fisher's scale"), counts.kappa_quadratic, "order",
       aliases=("quadratic_kappa", "qwk")),
    _N("off_by_two", "Rate of errors by two classes or more",
       "Share of answers two or more classes away.", "share", "low", _SHARE, counts.off_by_two,
       "order"),
    _N("auroc", "AUROC", "Chance that a row of this class scores above one that is not.", "auc",
       "high", "DeLong, logit scale; with groups " + _KNIFE.format("logit scale"), stated.auroc,
       aliases=("auc", "roc_auc"), **_CLASS, **_STATED),
    _N("auroc_macro", "Macro AUROC", "Mean AUROC of each class against the rest.", "auc", "high",
       _KNIFE.format("logit scale"), stated.auroc_macro, **_STATED),
    _N("average_precision", "Average precision", "Mean PPV over all sensitivities.", "share",
       "high", _KNIFE.format("logit scale"), stated.average_precision, aliases=("ap", "pr_auc"),
       **_CLASS, **_STATED),
    _N("brier", "Brier score", "Mean squared distance of probabilities and truth.", "ratio", "low",
       "bound over rows or groups", stated.brier, aliases=("brier_score",), **_STATED),
    _N("log_loss", "Log loss", "Mean negative logarithm of the truth's probability.", "ratio",
       "low", _KNIFE.format("log scale"), stated.log_loss, aliases=("cross_entropy",), **_STATED),
    _N("calibration_slope", "Calibration slope", "Below 1: probabilities are too extreme.",
       "ratio", "neither", _KNIFE.format("plain scale"), stated.calibration_slope, **_CLASS,
       **_STATED),
    _N("calibration_intercept", "Calibration intercept",
       "Above 0: probabilities are too low in the mean (log odds).", "ratio", "neither",
       _KNIFE.format("plain scale"), stated.calibration_intercept, **_CLASS, **_STATED),
    _N("oe_ratio", "Observed-to-expected ratio",
       "Rows of this class over the sum of its probabilities.", "ratio", "neither",
       _KNIFE.format("log scale"), stated.oe_ratio, **_CLASS, **_STATED),
    _N("net_benefit", "Net benefit", "True positives less false ones at the threshold's odds.",
       "ratio", "high", "bound over rows or groups", stated.net_benefit, **_CLASS, **_STATED),
)  # fmt: skip
BY_NAME: Final = {name: each for each in NUMBERS for name in (each.name, *each.aliases)}
MEASURES: Final = tuple(each.measure for each in NUMBERS)


@dataclass(frozen=True)
class AskedNumber:
    """A number as somebody named it: which one, of which class, at which point, on which slice.

    ``at`` is None, ``("threshold", t)``, ``("prevalence", p)``, or the share that is held,
    ``("specificity", 0.9)``. ``within`` is a column and its value; with ``gap`` a column alone.
    """

    number: StandardNumber
    position: int | None
    at: tuple[str, float] | None
    name: str
    within: tuple[str, str] | None = None
    gap: bool = False

    @property
    def whole(self) -> "AskedNumber":
        """The same number on all rows."""
        name = self.name.removeprefix("gap.").rpartition("{")[0] if self.within else self.name
        return replace(self, name=name, within=None, gap=False)

    @property
    def measure(self) -> Measure:
        """What it is, for reports and gates."""
        number, label = self.number, self.number.label
        rest = self.whole.name.removeprefix(number.name).rpartition("]")[0].removeprefix("[")
        label += f": {rest}" if rest else ""
        label += "" if self.at is None else f" at {self.at[0]} {self.at[1]:g}"
        if self.within is None:
            return Measure(self.name, label, number.unit, number.better, number.meaning)
        if self.gap:
            label = f"Largest gap by {self.within[0]} in {within_a_sentence(label)}"
            meaning = "Largest difference of one value from all others; holds for all at once."
            return Measure(self.name, label, number.unit, "low", meaning)
        label = f"{label} where {' = '.join(self.within)}"
        return Measure(self.name, label, number.unit, number.better, number.meaning)


def standard_name(text: str) -> StandardNumber | None:
    """The standard number that a gate names, whatever class, point or slice it names; or None."""
    found = _PARTS.fullmatch(text.strip())
    return BY_NAME.get(found.group(2)) if found else None


def parse_number(text: str, classes: Sequence[Any], positive: Any | None = None) -> AskedNumber:
    """Understand ``sensitivity``, ``recall[sepsis]``, ``ppv@prevalence=0.02`` or ``f1{sex=f}``.

    Args:
        text: The name of a standard number or an alias; a class in brackets; an operating point
            after @; a slice in braces, or after ``gap.`` a column.
        classes: In the order of their positions.
        positive: The class that is meant where none is named.

    Raises:
        ParameterError: For an unknown number or class, a missing class, an impossible point.

    >>> parse_number("recall@0.2", ["well", "sepsis"], "sepsis").name
    'sensitivity[sepsis]@0.2'
    """
    found = _PARTS.fullmatch(text.strip())
    short = found.group(2) if found else text
    if found is None or short not in BY_NAME:
        near = difflib.get_close_matches(short, BY_NAME, n=3, cutoff=0.5)
        raise ParameterError(
            "There is no such number.", got=repr(text), do=f"Nearest: {', '.join(near) or 'none'}."
        )
    number, names = BY_NAME[short], [str(name) for name in classes]
    position, name = None, number.name
    if number.per_class:
        which = found.group(3) if found.group(3) is not None else positive
        position = _class_of(short, text, which, names)
        name = f"{name}[{names[position]}]"
    elif found.group(3) is not None:
        raise ParameterError(f"'{short}' is one number for all classes.", got=repr(text))
    at = None if found.group(4) is None else _point(number, found.group(4), text)
    if number.name == "net_benefit" and (at is None or at[0] != "threshold"):
        raise ParameterError("A net benefit needs a threshold.", got=text, do=f"Type {name}@0.1.")
    suffix = "" if at is None else f"@{at[1]:g}" if at[0] == "threshold" else f"@{at[0]}={at[1]:g}"
    return _within(AskedNumber(number, position, at, name + suffix), found, short, text)


def _within(asked: AskedNumber, found: "re.Match[str]", short: str, text: str) -> AskedNumber:
    """The number in the slice, or as the gap between the slices, that the text names."""
    gap, column, value = found.group(1), found.group(5), found.group(6)
    if (gap is not None) != (column is not None and value is None):
        raise ParameterError(
            "A slice is {column=value}; a gap is between the values of one column.",
            got=repr(text),
            do=f"Try {short}{{ward=ICU}} or gap.{short}{{ward}}.",
        )
    if column is None:
        return asked
    within = f"{{{column}}}" if gap else f"{{{column}={value}}}"
    return replace(
        asked, name=f"{gap or ''}{asked.name}{within}", within=(column, value or ""), gap=bool(gap)
    )


def _class_of(short: str, text: str, which: Any | None, names: list[str]) -> int:
    """The position of the class that a number per class is meant for."""
    if which is None:
        raise ParameterError(
            f"'{short}' needs a class, because no class is known to be the positive one.",
            got=f"the classes {', '.join(names[:12])}",
            do=f"Type --positive {' or --positive '.join(names[:3])}, or {short}[{names[0]}].",
        )
    if str(which) not in names:
        raise ParameterError(
            f"The class of '{text}' must be one of {', '.join(names[:12])}.", got=repr(which)
        )
    return names.index(str(which))


def _point(number: StandardNumber, text: str, whole: str) -> tuple[str, float]:
    held, equals, value = text.rpartition("=")
    kind = held.strip() if equals else "threshold"
    kind = BY_NAME[kind].name if kind in BY_NAME else kind
    kinds = {
        "threshold": number.name == "net_benefit"
        or (number.per_class and number.needs == "answers"),
        "prevalence": number.name in ("ppv", "npv"),
        "specificity": number.name == "sensitivity",
        "sensitivity": number.name == "specificity",
    }
    try:
        point = float(value)
    except ValueError:
        point = math.nan
    if not kinds.get(kind, False) or not 0.0 < point < 1.0:
        raise ParameterError(
            "After @ stands a threshold in (0, 1), prevalence=, specificity= or sensitivity=, "
            "where the number has one.",
            got=repr(whole),
            do="Try sensitivity@0.2, sensitivity@specificity=0.9 or ppv@prevalence=0.02.",
        )
    return kind, point


def number_of(rows: JudgedRows, asked: AskedNumber) -> Estimate:
    """The value and interval of a number; without what it needs, a NaN that says why.

    Args:
        rows: What is judged.
        asked: From `parse_number`.

    >>> rows = JudgedRows.of([0, 0, 1, 1], [0, 1, 1, 1], 2)
    >>> print(number_of(rows, parse_number("ppv", [0, 1], positive=1)))
    0.667 [0.094, 0.992] n=3
    """
    number, c, at = asked.number, asked.position, asked.at
    needs_p = number.needs == "probabilities" or (at is not None and at[0] != "prevalence")
    if needs_p and rows.probabilities is None:
        return not_estimable("it needs probabilities", rows.confidence)
    if at is None:
        return number.find(rows) if c is None else number.find(rows, c)
    assert c is not None
    if number.name == "net_benefit":
        return stated.net_benefit(rows, c, at[1])
    if at[0] == "threshold":
        return number.find(rows.at(c, at[1]), 1)
    if at[0] == "prevalence":
        return counts.predictive_value(rows, c, at[1], positive=number.name == "ppv")
    return stated.at_other(rows, c, at[1], sensitivity=number.name == "sensitivity")


def standard_numbers(
    rows: JudgedRows,
    classes: Sequence[Any],
    *,
    ordered: bool = False,
    of_classes: Iterable[int] | None = None,
    leave_out: Sequence[str] = (),
) -> dict[str, Estimate]:
    """All standard numbers by their gate names, each with its interval.

    Args:
        rows: What is judged.
        classes: In the order of their positions.
        ordered: Whether the classes have this order, so that distances mean something.
        of_classes: Positions of the classes that have numbers of their own; None: all.
        leave_out: Names of numbers that are not wanted.

    >>> rows = JudgedRows.of([0, 0, 1, 1], [0, 1, 1, 1], 2)
    >>> sorted(standard_numbers(rows, ["no", "yes"]))[:3]
    ['accuracy', 'balanced_accuracy', 'error']
    """
    chosen = range(rows.n_classes) if of_classes is None else tuple(of_classes)
    found: dict[str, Estimate] = {}
    for number in NUMBERS:
        absent = number.needs == "probabilities" and rows.probabilities is None
        if absent or number.name in ("net_benefit", *leave_out):
            continue
        if number.needs == "order" and not ordered:
            continue
        if not number.per_class:
            found[number.name] = number.find(rows)
            continue
        for c in chosen:
            found[f"{number.name}[{classes[c]}]"] = number.find(rows, c)
    return found


def score(
    y: ArrayLike,
    p: ArrayLike,
    number: str = "accuracy",
    *,
    classes: Sequence[Any] | None = None,
    positive: Any | None = None,
    groups: ArrayLike | None = None,
    confidence: float = 0.95,
    largest_group: float | None = None,
) -> Estimate:
    """A standard number of predictions, with its interval.

    Args:
        y: The true classes.
        p: Probabilities, one column per class or one value for the positive class; or answers.
        number: A name as in limits: ``"auroc"``, ``"f1[sepsis]"``, ``"sensitivity@0.2"``.
        classes: Names of the classes in the order of the columns; sorted values of ``y`` if None.
        positive: The positive class; of classes 0 and 1, or False and True, the second.
        groups: Which rows belong together: a patient, a device. Intervals then count groups.
        confidence: Of the interval, in (0, 1).
        largest_group: The most rows that a group can have; the largest seen if None.

    >>> score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], "auroc").value
    0.75
    """
    truth, said = np.asarray(y), np.asarray(p)
    numeric = said.dtype.kind == "f"
    found = np.unique(truth) if numeric else np.unique(np.concatenate([truth, said]))
    names = found.tolist() if classes is None else list(classes)
    if positive is None and names in ([0, 1], [False, True]):
        positive = names[1]
    place = {name: at for at, name in enumerate(names)}
    unknown = next((value for value in truth.tolist() if value not in place), None)
    if unknown is not None:
        raise DataError(f"y must hold classes {names}.", got=repr(unknown), do="Name classes=.")
    codes = [place[value] for value in truth.tolist()]
    if not numeric:
        answers, q = np.array([place.get(value, -1) for value in said.tolist()]), None
    else:
        if said.ndim == 1:
            if len(names) != 2 or positive is None:
                raise DataError(
                    "One probability per row is of the positive class of two.",
                    got=f"classes {names}, positive {positive!r}",
                    do="Name positive=, or give a column per class.",
                )
            rest = 1.0 - said
            said = np.column_stack([said, rest] if place[positive] == 0 else [rest, said])
        q, answers = said, said.argmax(axis=1)
    how: dict[str, Any] = {
        "groups": groups,
        "confidence": confidence,
        "largest_group": largest_group,
    }
    rows = JudgedRows.of(codes, answers, len(names), q, **how)
    return number_of(rows, parse_number(number, names, positive))
