"""Weiss et al., AmbiGuess: Tables 1 and 4 to 7, and its claims about ambiguous inputs."""

from typing import Any

from fireassay.papers.ambiguity_published import BASELINE, NUMBERS, PUBLISHED
from fireassay.papers.intervals import mean_interval
from fireassay.papers.sections.section import Claim, Results, Row, Section, not_run
from fireassay.papers.verdicts import NOT_RUN, PaperVerdict, above, decided, near, near_all

COMMAND = "studies/ambiguity_table1.py"
_ROWS = 60_000
_TOLERANCE, _ALIKE = 0.05, 0.02
_SHARES = ("top1", "top2", "top_pair")
MODELS = ("CNN", "MLP", "DenseNet", "ResNet")
# Of the fully connected network they print no more than that.
_NARROWER = {
    "CNN": "16 and 32 channels, theirs 32 and 64",
    "DenseNet": "a narrower DenseNet, five epochs",
    "ResNet": "18 narrow layers, theirs 50, four epochs",
}
Values = dict[str, list[float]]


def section(results: Results) -> Section:
    """The section from the stored trainings."""
    found = results("ambiguity_table1")
    title = "Weiss et al., AmbiGuess (ambiguity)"
    if not found:
        return Section(title, [not_run("Tables 1, 4–7", "top-1 …", COMMAND, "36 rows")], [])
    parts, differs = found["parts"], setting(found["settings"])
    rows = []
    for made, training in (
        ("mnist", "mixed"),
        ("mnist", "clean"),
        ("fashion-mnist", "mixed"),
        ("fashion-mnist", "clean"),
        (BASELINE, "mixed"),
        (BASELINE, "clean"),
    ):
        rows += [one_row(parts, made, training, model, differs) for model in MODELS]
    share = found.get("baseline", {}).get("non_ambiguous")
    if share is not None:
        rows.append(
            Row(
                "Section 6.2",
                "labels of the baseline that are not ambiguous",
                COMMAND,
                "0.37",
                f"{share:.2f}",
                near(share, 0.37, 0.05, (share, share), "the baseline rebuilt, not their file"),
            )
        )
    claims = [
        Claim(
            "Ambiguous inputs halve top-1 accuracy (about 50 %) after mixed training.",
            close_to(parts, "top1", 0.5, differs),
            {},
        ),
        Claim(
            "Top-2 accuracy is nearly that of nominal inputs (within .06).",
            top2_like_nominal(parts, differs),
            {},
        ),
        Claim(
            "Entropy is higher on ambiguous than on nominal inputs.", entropy(parts, differs), {}
        ),
        Claim(
            "Mixed training costs nominal accuracy at most .01.",
            nominal_cost(parts, differs),
            {"reproduced": "Ambiguous rows can be added to the training set."},
        ),
        Claim(
            "Their inputs are more ambiguous than the baseline's (top-1 lower, top-2 and entropy "
            "higher).",
            beats_baseline(parts, differs),
            {},
        ),
    ]
    seconds = sum(float(part.get("cpu_seconds", 0.0)) for part in parts)
    return Section(title, rows, claims, seconds)


def setting(settings: dict[str, int]) -> str:
    """In what the trainings differ from the paper's; empty at its size."""
    if settings["rows"] >= _ROWS and settings["ambiguous"] >= 20_000:
        return ""
    return (
        f"{settings['rows']:,} of {_ROWS:,} training rows, {settings['epochs']} epochs, "
        "small networks"
    )


def answers(
    parts: list[dict[str, Any]], made: str, training: str, test: str, model: str | None = None
) -> Values:
    """Values over trainings (and architectures, if none is named) of every number."""
    source = "mnist" if made == BASELINE and training == "clean" else made
    key = "nominal" if test == "nominal" else made
    own = [
        part[key]
        for part in parts
        if (part["made"], part["training"]) == (source, training)
        and key in part
        and model in (None, part["model"])
    ]
    return {name: [o[name] for o in own if o[name] is not None] for name in NUMBERS}


def one_row(parts: list[dict[str, Any]], made: str, training: str, model: str, differs: str) -> Row:
    """One architecture on the ambiguous set, beside Tables 4 to 7."""
    ours = {n: v for n, v in answers(parts, made, training, "ambiguous", model).items() if v}
    printed = dict(zip(NUMBERS, PUBLISHED[made, training, "ambiguous"][model], strict=True))
    theirs = {n: v for n, v in printed.items() if v is not None}
    item = f"Tables 1, 4–7: {made}, {training}, {model}"
    shows = "top-1 / top-2 / top-pair / entropy on ambiguous inputs"
    said = _shown({n: theirs.get(n) for n in NUMBERS})
    if not ours:
        return not_run(item, shows, f"{COMMAND} --models {model}", said)
    both = [n for n in _SHARES if n in ours and n in theirs]
    runs = len(ours["top1"])
    return Row(
        item,
        shows,
        COMMAND,
        said,
        _shown({n: sum(v) / len(v) if (v := ours.get(n)) else None for n in NUMBERS})
        + f" (mean of {runs} training{'s' if runs > 1 else ''})",
        near_all(
            {n: ours[n] for n in both},
            {n: theirs[n] for n in both},
            _TOLERANCE,
            "; ".join(filter(None, (differs, _network(parts, made, training, model)))),
        ),
    )


def _network(parts: list[dict[str, Any]], made: str, training: str, model: str) -> str:
    """In what our network differs from theirs: its size, and how well it does on nominal rows."""
    ours = answers(parts, made, training, "nominal", model)["top1"]
    printed = PUBLISHED.get((made, training, "nominal"), {}).get(model, (None,))[0]
    said = [_NARROWER[model]] if model in _NARROWER else []
    if ours and printed is not None and abs(sum(ours) / len(ours) - printed) > _ALIKE:
        said.append(f"nominal top-1 {sum(ours) / len(ours):.3f}, theirs {printed:g}")
    return ", ".join(said)


def close_to(parts: list[dict[str, Any]], number: str, value: float, differs: str) -> PaperVerdict:
    """A number of both data sets after mixed training."""
    ours = {
        made: found
        for made in ("mnist", "fashion-mnist")
        if (found := answers(parts, made, "mixed", "ambiguous")[number])
    }
    return near_all(ours, dict.fromkeys(ours, value), _TOLERANCE, differs) if ours else NOT_RUN


def top2_like_nominal(parts: list[dict[str, Any]], differs: str) -> PaperVerdict:
    """How far top-2 on ambiguous inputs is below top-2 on nominal ones."""
    return _all_above(_gaps(parts, "mixed", "top2"), -0.06, differs)


def entropy(parts: list[dict[str, Any]], differs: str) -> PaperVerdict:
    """Mean entropy on ambiguous minus that on nominal inputs, in bits."""
    gaps = {
        f"{made}, {training}": gap
        for training in ("mixed", "clean")
        for made, gap in _gaps(parts, training, "entropy").items()
    }
    return _all_above(gaps, 0.0, differs)


def nominal_cost(parts: list[dict[str, Any]], differs: str) -> PaperVerdict:
    """Nominal top-1 after mixed minus after clean training, of the same network and seed."""
    gaps = {}
    for made in ("mnist", "fashion-mnist"):
        mixed, clean = (
            {
                (part["model"], part["run"]): part["nominal"]["top1"]
                for part in parts
                if (part["made"], part["training"]) == (made, kind)
            }
            for kind in ("mixed", "clean")
        )
        gaps[made] = [mixed[key] - clean[key] for key in mixed.keys() & clean.keys()]
    return _all_above({made: own for made, own in gaps.items() if own}, -0.01, differs)


def beats_baseline(parts: list[dict[str, Any]], differs: str) -> PaperVerdict:
    """Theirs against the baseline, both after their own mixed training."""
    own, other = (answers(parts, made, "mixed", "ambiguous") for made in ("mnist", BASELINE))
    names = ("top1", "top2", "entropy")
    if not all(own[n] and other[n] for n in names):
        return NOT_RUN
    gap = {n: sum(own[n]) / len(own[n]) - sum(other[n]) / len(other[n]) for n in names}
    told = ", ".join(f"{n} {g:+.2f}" for n, g in gap.items())
    held = gap["top1"] < 0 and gap["top2"] > 0 and gap["entropy"] > 0
    both = "; ".join(filter(None, ("the baseline rebuilt, not their file", differs)))
    return decided(held, told, both)


def _gaps(parts: list[dict[str, Any]], training: str, number: str) -> dict[str, list[float]]:
    """Ambiguous minus nominal, training by training."""
    gaps = {}
    for made in ("mnist", "fashion-mnist"):
        here = answers(parts, made, training, "ambiguous")[number]
        there = answers(parts, made, training, "nominal")[number]
        if here and there:
            gaps[made] = [own - other for own, other in zip(here, there, strict=True)]
    return gaps


def _all_above(gaps: dict[str, list[float]], limit: float, differs: str) -> PaperVerdict:
    """Means over trainings with their intervals, all said to be above a limit."""
    if not gaps:
        return NOT_RUN
    values = {
        name: (sum(own) / len(own), *mean_interval(own)) for name, own in sorted(gaps.items())
    }
    return above(values, limit, differs)


def _shown(values: dict[str, float | None]) -> str:
    return " / ".join("–" if v is None else f"{v:.2f}" for v in values.values())
