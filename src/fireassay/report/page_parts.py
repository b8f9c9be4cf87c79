"""Words of the report, explained for readers who are not statisticians."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from fireassay.core import Estimate, Evidence, Sample
from fireassay.report.verdict import Verdict

GLOSSARY = {
    "interval": "A range that, by the stated method, contains the true value in the stated share "
    "of repetitions of the whole study. Wider means: less is known.",
    "n": "The number of independent observations behind a number.",
    "upper bound": "A value that the true number does not exceed, with the stated confidence.",
    "pmi": "Probability of misclassification per input: how often the classifier is wrong on "
    "inputs drawn as they occur in the field.",
    "SDR": "Standardised discovery ratio: errors found, divided by the errors that the "
    "classifier's own confidence had announced. Above 1: it is more sure than it should be.",
    "AUROC": "The probability that a monitor ranks a troubled input above a normal one. "
    "0.5 is a coin, 1 is perfect.",
    "supported": "The data was asked, and agrees with the assumption.",
    "contradicted": "The data was asked, and disagrees: numbers that rest on this assumption "
    "must not be relied on.",
    "untestable": "The data at hand cannot answer; someone must argue for it.",
    "pass": "Every limit that was set is met, even at the unfavourable end of its interval.",
    "fail": "A limit is not met, even at the favourable end of its number's interval.",
    "not enough evidence": "No limit is missed for sure, but one is undecided: its number is not "
    "known well enough, was not measured, or rests on an assumption that the data contradicts.",
    "no limits set": "Nobody said what is good enough, so nothing here is a pass.",
    "stale": "The answer is older than the model, the data or the settings it should be about.",
    "not available": "The question could not be asked with what was given. This is not a pass.",
    "failed": "The question was asked and the computation broke. This is not a pass.",
    "query": "One row sent to the classifier.",
    "censored": "The observation ended before the event happened: we know 'longer than', no more.",
}


WORST = 6
_EACH = 3
# Parts whose samples are mistakes on real rows come before those that were made.
_MISTAKES = {"accuracy": 0, "discovery": 1, "survival": 2}
_URGENCY = {"fail": 0, "undecided": 1, "pass": 2}
_WIDTH, _HEIGHT, _MARGIN = 120.0, 40.0, 2.0


def worst_samples(parts: Sequence[Evidence], verdict: Verdict) -> list[Sample]:
    """Inputs that show why: of parts whose limit is broken first, then undecided, then others."""
    urgency = {
        part.question: min(
            (_URGENCY[check.status] for check in verdict.checks if check.part == part.question),
            default=3,
        )
        for part in parts
    }
    ordered = sorted(
        parts,
        key=lambda part: (urgency[part.question], _MISTAKES.get(part.question, len(_MISTAKES))),
    )
    first = [sample for part in ordered for sample in part.samples[:_EACH]]
    rest = [sample for part in ordered for sample in part.samples[_EACH:]]
    return [*first, *rest][:WORST]


def groups_by_reason(samples: Sequence[Sample]) -> list[tuple[str, list[Sample]]]:
    """Samples in their order, those that are shown for the same reason together."""
    groups: dict[str, list[Sample]] = {}
    for sample in samples:
        groups.setdefault(sample.why, []).append(sample)
    return list(groups.items())


def sparkline(values: Sequence[float]) -> str:
    """The points of a line 120 wide and 40 high."""
    low, high = min(values), max(values)
    step = (_WIDTH - 2 * _MARGIN) / max(1, len(values) - 1)
    scale = (_HEIGHT - 2 * _MARGIN) / ((high - low) or 1.0)
    return " ".join(
        f"{_MARGIN + i * step:.1f},{_HEIGHT - _MARGIN - (value - low) * scale:.1f}"
        for i, value in enumerate(values)
    )


_USUAL = (
    "accuracy", "balanced_accuracy", "mcc", "f1_macro", "sensitivity", "specificity", "ppv", "npv",
    "f1", "auroc", "auroc_macro", "average_precision", "brier",
)  # fmt: skip
_MOST_USUAL = 32


def standing_of(part: Evidence, accepted: Mapping[str, str]) -> str:
    """What the ledger of a part says, in one line."""
    counts = {"supported": 0, "contradicted": 0, "untestable": 0}
    agreed = 0
    for assumption in part.assumptions:
        if assumption.status == "contradicted" and assumption.id in accepted:
            agreed += 1
        else:
            counts[assumption.status] += 1
    words = {
        "supported": ("holds", "hold"),
        "contradicted": ("is contradicted", "are contradicted"),
        "untestable": ("cannot be tested", "cannot be tested"),
    }
    told = [f"{count} {words[status][count != 1]}" for status, count in counts.items() if count] + (
        [f"{agreed} accepted although contradicted"] if agreed else []
    )
    return ", ".join(told)


def interval_line(part: Evidence) -> str:
    """How sure the number of a part's sentence is, and on how many observations it rests."""
    estimate: Estimate | None = part.estimates.get(part.answer or "")
    if estimate is None:
        return ""
    measure, seen = part.measure(part.answer or ""), f"from {estimate.n:,} observations"
    sure = f"{100 * estimate.confidence:g} %"
    if estimate.kind == "bound":
        return f"{sure} confidence, {seen}."
    if estimate.kind != "interval":
        return f"Without an interval, {seen}."
    if measure.unit == "auc" and "%" in part.sentence:  # a share of pairs
        measure = replace(measure, unit="share")
    return f"{sure} interval {measure.between(estimate)}, {seen}."


def usual_numbers(part: Evidence) -> list[tuple[str, str, int]]:
    """The numbers that most readers look for first: name, value with interval, and rows."""
    found = {n: e for n, e in part.estimates.items() if n.partition("[")[0] in _USUAL}
    if len(found) > _MOST_USUAL:  # many classes
        found = {name: e for name, e in found.items() if "[" not in name}
    known = {name: e for name, e in found.items() if "@" not in name and e.value == e.value}
    return [(part.measure(name).label, part.measure(name).shown(e), e.n)
            for name, e in known.items()]  # fmt: skip
