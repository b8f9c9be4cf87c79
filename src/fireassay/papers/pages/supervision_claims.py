"""Which claims about supervisors hold on the AUROCs measured."""

from typing import Any

from fireassay.papers.pages.section import (
    Claim,
)
from fireassay.papers.supervision_published import PUBLISHED
from fireassay.papers.verdicts import (
    NOT_RUN,
    PaperVerdict,
    above,
    decided,
    near,
)

TITLES = {"mnist": "MNIST", "fashion": "Fashion-MNIST"}

KINDS = ("ambiguous", "adversarial", "corrupted", "invalid")

SOFTMAX = (
    "max-softmax", "pcs", "softmax-entropy", "deep-gini", "mc-dropout-mean-softmax",
    "mc-dropout-mutual-information", "mc-dropout-predictive-entropy", "ensemble-mean-softmax",
    "ensemble-mutual-information", "ensemble-predictive-entropy", "dissector",
)  # fmt: skip

STRANGENESS = ("dsa", "lsa", "mdsa", "autoencoder")

_ABOVE_CHANCE = sum(
    (PUBLISHED[name][column] or 0.0) > 0.5 for name in STRANGENESS for column in (0, len(KINDS))
)
"""How many of their AUROCs on ambiguous rows exceed .5 in Table 2 itself: the autoencoder's."""

TOLERANCE, LAST_DIGIT = 0.05, 0.005

_GOOD, _NEARLY_SURE = 0.8, 0.9

NOTABLE, LARGE = 0.02, 0.05  # standard deviations over trainings

_NONE = (None,) * len(KINDS)

Cells = dict[tuple[str, str, str], tuple[float, float, float]]

Spreads = dict[tuple[str, ...], tuple[float, float]]


def is_printed(supervisor: str, kind: str) -> bool:
    """Whether the paper has a number of it: for attacked ensembles it has none."""
    return kind in KINDS and PUBLISHED.get(supervisor, _NONE)[KINDS.index(kind)] is not None


def unsteady_are_poor(found: Spreads, differs: str) -> PaperVerdict:
    """Whether every cell that differs much between trainings has a low mean AUROC."""
    if not found:
        return NOT_RUN
    large = {at: mean for at, (spread, mean) in found.items() if spread > LARGE}
    good = {at: mean for at, mean in large.items() if mean >= _NEARLY_SURE}
    told = f"{len(large) - len(good)} of {len(large)}"
    if good:
        at = max(good, key=lambda cell: good[cell])
        told += f"; not {', '.join(at)} ({good[at]:.2f})"
    return decided(not good, told, differs)


_WHERE = (
    "Section 7.3, ambiguous data", "Section 7.3, ambiguous data", "Section 7.3, adversarial data",
    "Section 7.3, corrupted data", "Section 7.3, invalid data", "Section 7.3, invalid data",
    "Section 7.3, discussion", "Section 7.3, discussion", "Section 7.3, stability of results",
)  # fmt: skip


def claims(cells: Cells, over_trainings: Spreads, d: str) -> list[Claim]:
    """The paper's sub-claims, each on its own, judged by some AUROCs of setting ``d``."""

    def of(names: tuple[str, ...], kinds: tuple[str, ...], data: str | None = None) -> Any:
        return {
            f"{s} on {k} {TITLES[d]}": value
            for (d, s, k), value in cells.items()
            if s in names and k in kinds and data in (None, d) and is_printed(s, k)
        }

    listed: list[tuple[str, PaperVerdict, dict[Any, str]]] = [
        ("Softmax-based supervisors find ambiguous inputs.",
         _above(of(SOFTMAX, ("ambiguous",)), 0.5, d), {}),
        ("DSA, LSA, MDSA and autoencoder do not find ambiguous inputs: barely any is above 0.5.",
         barely_any(of(STRANGENESS, ("ambiguous",)), 0.5, _ABOVE_CHANCE, d), {}),
        ("On adversarial inputs DSA, MDSA and autoencoder are better than softmax.",
         better(cells, ("dsa", "mdsa", "autoencoder"), "adversarial", d), {}),
        ("On corrupted Fashion-MNIST DSA is the best.",
         best(cells, "dsa", "fashion", "corrupted", d), {}),
        ("The autoencoder is nearly perfect on invalid inputs of MNIST (1.00) …",
         _near(cells, ("mnist", "autoencoder", "invalid"), 1.00, d), {}),
        ("… and no better than chance on those of Fashion-MNIST (.49).",
         _near(cells, ("fashion", "autoencoder", "invalid"), 0.49, d), {}),
        ("Softmax-based supervisors beat chance on all four kinds of trouble.",
         _above(of(SOFTMAX, KINDS), 0.5, d), {}),
        (f"No single supervisor is good (≥ {_GOOD}) at everything.", nobody_alone(cells, d),
         {"agrees": "Use two monitors of different kinds."}),
        (f"Where trainings differ much (above {LARGE}), the mean AUROC is below {_NEARLY_SURE}.",
         unsteady_are_poor(over_trainings, d), {}),
    ]  # fmt: skip
    return [
        Claim(text, where, verdict, believe)
        for (text, verdict, believe), where in zip(listed, _WHERE, strict=True)
    ]


def barely_any(
    values: dict[str, tuple[float, float, float]], limit: float, theirs: int, differs: str
) -> PaperVerdict:
    """Hardly one is said to be above a limit: no more of ours than ``theirs`` of their own."""
    if not values:
        return NOT_RUN
    over = sum(low > limit for _, low, _ in values.values())
    perhaps = sum(high > limit for _, _, high in values.values())
    name = max(values, key=lambda key: values[key][1])
    value, low, high = values[name]
    told = f"{over} of {len(values)} above {limit}, theirs {theirs}; largest {name} {value:.2f} "
    held = True if perhaps <= theirs else False if over > theirs else None
    return decided(held, f"{told}[{low:.2f}, {high:.2f}]", differs)


def better(cells: Cells, names: tuple[str, ...], kind: str, differs: str) -> PaperVerdict:
    """The least of some supervisors against the best softmax-based one printed, by data set."""
    found, told = [], []
    for data, title in TITLES.items():
        own = [cells[data, n, kind] for n in names if (data, n, kind) in cells]
        rest = [
            cells[data, n, kind]
            for n in SOFTMAX
            if (data, n, kind) in cells and is_printed(n, kind)
        ]
        if not own or not rest:
            continue
        least, most = min(own), max(rest)
        found.append(None if least[2] >= most[1] and least[1] <= most[2] else least > most)
        told.append(f"{title}: least {least[0]:.2f}, best softmax {most[0]:.2f}")
    if not found:
        return NOT_RUN
    held = False if False in found else None if None in found else True
    return decided(held, "; ".join(told), differs)


def best(cells: Cells, name: str, data: str, kind: str, differs: str) -> PaperVerdict:
    """One supervisor of the sixteen against the best other."""
    rest = {s: cells[data, s, kind] for s in PUBLISHED if s != name and (data, s, kind) in cells}
    own = cells.get((data, name, kind))
    if own is None or not rest:
        return NOT_RUN
    rival = max(rest, key=lambda s: rest[s][0])
    told = ", ".join(
        f"{n} {v:.2f} [{low:.2f}, {high:.2f}]"
        for n, (v, low, high) in ((name, own), (rival, rest[rival]))
    )
    apart = own[1] > rest[rival][2] or own[2] < rest[rival][1]
    return decided((own[0] > rest[rival][0]) if apart else None, told, differs)


def nobody_alone(cells: Cells, differs: str) -> PaperVerdict:
    """The supervisor whose worst kind of trouble is best, over both data sets.

    The claim holds if each is surely below in some cell, and fails if one is surely good in all.
    """
    worst: dict[str, tuple[float, float, float]] = {}
    for s in {s for _, s, _ in cells}:
        own = [v for (_, name, k), v in cells.items() if name == s and k in KINDS]
        if len(own) == len(KINDS) * len(TITLES):
            value, low, high = (min(numbers) for numbers in zip(*own, strict=True))
            worst[s] = (value, low, high)
    if not worst:
        return NOT_RUN
    name = max(worst, key=lambda s: worst[s])
    if max(high for _, _, high in worst.values()) < _GOOD:
        held: bool | None = True
    else:
        held = False if max(low for _, low, _ in worst.values()) >= _GOOD else None
    value, low, high = worst[name]
    told = f"best of all {name}, at worst {value:.2f} [{low:.2f}, {high:.2f}]"
    return decided(held, told, differs)


def _above(values: dict[str, Any], limit: float, differs: str) -> PaperVerdict:
    return above(values, limit, differs) if values else NOT_RUN


def _near(cells: Cells, key: tuple[str, str, str], theirs: float, differs: str) -> PaperVerdict:
    if key not in cells:
        return NOT_RUN
    value, low, high = cells[key]
    return near(value, theirs, TOLERANCE, (low, high), differs)
