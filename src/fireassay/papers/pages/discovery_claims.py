"""Which claims about searches for failures hold on the models measured."""

from typing import Any

from fireassay.papers.verdicts import (
    NOT_RUN,
    PaperVerdict,
    above,
    always,
    decided,
    near_all,
)
from fireassay.statistics.counts import clopper_pearson

OWN = "adversarial-distance (boundary)"
"""The paper's search by the paper's attack."""

COMPARED = (OWN, "random", "low-confidence", "bansal-weld", "lakkaraju")

LABELS = 50

PUBLISHED = {"bias": (0.81, 0.81), "shift": (0.98, 0.81), "overfitting": (0.98, 0.94)}
"""Table I: accuracy on validation and test images of the three mechanisms."""

Models = dict[str, list[dict[str, Any]]]


def at_the_end(models: list[dict[str, Any]], name: str, number: str) -> list[float]:
    """A number of a search at 50 labels, one per model."""
    return [m["curves"][name][number][LABELS - 1] for m in models]


def mean_of(values: list[float]) -> float:
    """The mean of some numbers."""
    return sum(values) / len(values)


def leads(found: Models, number: str, expected: tuple[str, ...], differs: str) -> PaperVerdict:
    """In how many kinds of error one of the expected searches has the highest mean."""
    held = []
    for models in found.values():
        mean = {name: mean_of(at_the_end(models, name, number)) for name in COMPARED}
        held.append(max(mean, key=lambda name: mean[name]) in expected)
    return always(held, differs)


def similar(found: Models, differs: str, most: float = 1.25) -> PaperVerdict:
    """Whether the largest mean spread is within a quarter of the smallest."""
    ratios = {}
    for kind, models in found.items():
        mean = [mean_of(at_the_end(models, name, "spread")) for name in COMPARED]
        ratios[kind] = max(mean) / min(mean)
    told = ", ".join(f"{kind} × {ratio:.2f}" for kind, ratio in ratios.items())
    return decided(max(ratios.values()) <= most, f"largest over smallest: {told}", differs)


def overconfident(found: Models, differs: str) -> PaperVerdict:
    """Errors among critical predictions beyond what their confidence says, in each kind."""
    values = {}
    for kind, models in found.items():
        predicted = sum(m["images"] for m in models)
        errors = round(sum((1 - m["precision"]) * m["images"] for m in models))
        expected = sum(m["expected_error"] * m["images"] for m in models) / predicted
        low, high = clopper_pearson(errors, predicted)
        values[kind] = (errors / predicted - expected, low - expected, high - expected)
    return above(values, 0.0, differs)


def finds_more(found: Models, name: str, differs: str) -> PaperVerdict:
    """SDR of a search on all candidates, with the interval over the rows asked."""
    values = {}
    for kind, models in found.items():
        asked, errors, expected = asked_once(models, name)
        low, high = clopper_pearson(errors, asked)
        values[kind] = (errors / expected, low * asked / expected, high * asked / expected)
    return above(values, 1.0, differs)


def more_than_random(found: Models, differs: str) -> PaperVerdict:
    """Errors among the rows asked beyond the share of errors among all candidates.

    That share is what random search finds on average; it is known, since all are labelled.
    """
    values = {}
    for kind, models in found.items():
        asked, errors, _ = asked_once(models, OWN)
        low, high = clopper_pearson(errors, asked)
        base = mean_of([1 - m["precision"] for m in models])
        values[kind] = (errors / asked - base, low - base, high - base)
    return above(values, 0.0, differs)


def asked_once(models: list[dict[str, Any]], name: str) -> tuple[int, int, float]:
    """Rows that a search asked about on all candidates, errors among them, errors expected.

    Errors of rows that are not equally hard are no more spread than a binomial: Clopper and
    Pearson's interval of their share is on the safe side (Hoeffding, 1956).
    """
    own = [m["one_shot"][name] for m in models]
    asked, errors = (sum(int(one[key]) for one in own) for key in ("asked", "errors"))
    return asked, errors, sum(float(one["expected"]) for one in own)


def accuracies(found: Models) -> dict[str, tuple[float, float]]:
    """Mean accuracy on validation and on test images, by kind of error."""
    return {
        kind: (
            mean_of([m["validation accuracy"] for m in models]),
            mean_of([m["test accuracy"] for m in models]),
        )
        for kind, models in found.items()
    }


def near_accuracies(found: Models, differs: str, tolerance: float = 0.05) -> PaperVerdict:
    """Table I: the accuracy farthest from the printed one of the same mechanism."""
    ours, theirs = {}, {}
    for kind, both in accuracies(found).items():
        for part, own, printed in zip(("validation", "test"), both, PUBLISHED[kind], strict=True):
            ours[f"{kind}, {part}"], theirs[f"{kind}, {part}"] = [own], printed
    return near_all(ours, theirs, dict.fromkeys(ours, tolerance), differs)


def twice_on_bias(found: Models, differs: str) -> PaperVerdict:
    """SDR of adversarial distance on the biased classifier; the one at 20 labels is told."""
    if "bias" not in found:
        return NOT_RUN
    asked, errors, expected = asked_once(found["bias"], OWN)
    low, high = (end * asked / expected for end in clopper_pearson(errors, asked))
    early = mean_of([m["curves"][OWN]["sdr"][19] for m in found["bias"]])
    held = True if low > 2 else False if high < 2 else None
    told = f"{errors / expected:.2f} [{low:.2f}, {high:.2f}] times (with 20 labels {early:.2f})"
    return decided(held, told, differs)


def like_random(found: Models, differs: str, apart: float = 0.25) -> PaperVerdict:
    """SDR of Bansal and Weld's search against that of random search, at 50 labels."""
    gaps = {
        kind: mean_of(at_the_end(models, "bansal-weld", "sdr"))
        - mean_of(at_the_end(models, "random", "sdr"))
        for kind, models in found.items()
    }
    told = ", ".join(f"{kind} {gap:+.2f}" for kind, gap in gaps.items())
    return decided(max(map(abs, gaps.values())) <= apart, told, differs)


def falls(found: Models, differs: str) -> PaperVerdict:
    """SDR at 10 labels against that at 50."""
    held = []
    for models in found.values():
        early = mean_of([m["curves"][OWN]["sdr"][9] for m in models])
        held.append(early > mean_of(at_the_end(models, OWN, "sdr")))
    return always(held, differs)


def others_near_one(found: Models, differs: str) -> PaperVerdict:
    """SDR of random search where it should be one: the least overconfident kind of error."""

    def excess(kind: str) -> float:
        models = found[kind]
        return mean_of([1 - m["precision"] - m["expected_error"] for m in models])

    kind = min(found, key=lambda name: abs(excess(name)))
    mean = {n: mean_of(at_the_end(found[kind], n, "sdr")) for n in COMPARED if n != OWN}
    told = ", ".join(f"{n} {v:.2f}" for n, v in mean.items())
    return decided(all(0.75 <= v <= 1.25 for v in mean.values()), f"{kind}: {told}", differs)


def confidences(found: Models) -> dict[str, dict[str, float]]:
    """Mean confidence of the rows that a search asks about, by kind of error."""
    shown: dict[str, dict[str, float]] = {}
    for kind, models in found.items():
        shown[kind] = {}
        for name in (OWN, "random", "low-confidence"):
            asked, _, expected = asked_once(models, name)
            shown[kind][name] = 1 - expected / asked
    return shown


def lower_confidence(found: Models, differs: str) -> PaperVerdict:
    """Low confidence below both others, and those within .05 of each other."""
    held = [
        own["low-confidence"] < min(own[OWN], own["random"])
        and abs(own[OWN] - own["random"]) <= 0.05
        for own in confidences(found).values()
    ]
    return always(held, differs)


def means_text(found: Models, number: str) -> str:
    """First and last search of each kind of error."""
    shown = []
    for kind, models in found.items():
        mean = {name: mean_of(at_the_end(models, name, number)) for name in COMPARED}
        first, last = max(mean, key=lambda n: mean[n]), min(mean, key=lambda n: mean[n])
        shown.append(f"{kind}: {first} {mean[first]:.3g}, least {last} {mean[last]:.3g}")
    return "; ".join(shown)


def overconfidence_text(found: Models) -> str:
    """Share of wrong critical predictions beside the share that confidence expects."""
    return "; ".join(
        f"{kind} {mean_of([1 - m['precision'] for m in models]):.2f} wrong, "
        f"{mean_of([m['expected_error'] for m in models]):.2f} expected"
        for kind, models in found.items()
    )


def confidence_text(found: Models) -> str:
    """Mean confidences by kind and search."""
    return "; ".join(
        f"{kind}: " + ", ".join(f"{name} {value:.2f}" for name, value in own.items())
        for kind, own in confidences(found).items()
    )
