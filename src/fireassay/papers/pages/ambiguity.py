"""Weiss et al., AmbiGuess: Tables 1 and 4 to 7, and its claims about ambiguous inputs."""

from dataclasses import replace
from typing import Any

from fireassay.ambiguity.metrics import top_pair_accuracy
from fireassay.papers.ambiguity_published import (
    BASELINE,
    NUMBERS,
    PUBLISHED,
    SECTION_6_2,
    TABLE_3,
)
from fireassay.papers.pages.ambiguity_claims import (
    AVERAGE,
    MODELS,
    REBUILT,
    TOLERANCE,
    Values,
    answers,
    claims,
)
from fireassay.papers.pages.section import (
    Results,
    Row,
    Section,
    as_printed,
    grouped,
    not_run,
)
from fireassay.papers.verdicts import (
    PaperVerdict,
    decided,
    equal_cells,
    near,
    near_all,
    together,
)

COMMAND = "studies/ambiguity_table1.py"

ARCHIVE = "studies/authors_archives.py"

FAST_TRAINING = "autoencoders trained in 700 steps of 64 rows (theirs 80 epochs of 1,000)"

FIGURE_8 = "papers/ambiguity_fig_8.png"

_ROWS, _AMBIGUOUS, _TRIES = 60_000, 20_000, 20

_ALIKE = 0.02

_MOST = 0.75  # kept by a reviewer: then few are bad

_OUR_SETS = "samples of our own sets"

_LAST_DIGIT, _EXACT = 0.005, 1e-9

_ROUNDED = 2 * _LAST_DIGIT + _EXACT  # both the cell and the four that it is made of

_AUTOENCODER_HOURS = 36  # 72 seconds each

_PRICES = {
    "CNN": "5.3 CPU hours for 30 trainings, and their autoencoders",
    "MLP": "1.5 CPU hours for 30 trainings, and their autoencoders",
    "DenseNet": "about 90 CPU hours for 30 trainings by its operations, and their autoencoders",
    "ResNet": "190 CPU hours for 30 trainings, and their autoencoders",
    AVERAGE: "all of Tables 4 to 7",
}

_NARROWER = {
    "CNN": "16 and 32 channels, 10 epochs, theirs 32 and 64, 15 epochs",
    "MLP": "128-64 with ReLU, theirs 512-512-64 linear, dropout, 30 epochs",
    "DenseNet": "a narrower DenseNet, five epochs",
    "ResNet": "18 narrow layers, theirs 50, four epochs",
    AVERAGE: "networks narrower than theirs",
}


def section(results: Results) -> Section:
    """The section from the stored trainings."""
    found = results("ambiguity_table1")
    title = "Weiss et al., AmbiGuess (ambiguity)"
    if not found:
        return Section(title, [not_run("Tables 1, 4–7", "top-1 …", COMMAND, "48 rows")], [])
    parts, differs = found["parts"], setting(found["settings"])
    own = generator_of_our_own(found["settings"])
    rows = [configuration_row(found, together(differs, own)), *printed_rows()]
    rows += nominal_rows(results("ambiguity_networks"))
    details = []
    for model in (AVERAGE, *MODELS):
        of_model = [
            one_row(parts, made, training, model, together(differs, other))
            for made, other in (("mnist", own), ("fashion-mnist", own), (BASELINE, REBUILT))
            for training in ("mixed", "clean")
        ]
        details += of_model
        rows.append(grouped(of_model[0].item.split(":")[0], of_model, _PRICES[model]))
    rows += [
        example_row(),
        *baseline_row(results("authors_archives").get("ambiguity", {})),
        review_row(results("ambiguity_fig8")),
    ]
    made = sum(float(one["cpu_seconds"]) for one in found.get("sets", {}).values())
    trained = sum(float(part.get("cpu_seconds", 0.0)) for part in parts)
    trained += float(results("ambiguity_networks").get("cpu_seconds", 0.0))
    told = claims(parts, together(differs, own))
    return Section(
        title,
        rows,
        told,
        made + trained,
        settings=(own, REBUILT),
        details=details,
        price=f"{_AUTOENCODER_HOURS:g} CPU hours for 1,800 autoencoders",
    )


def printed_rows() -> list[Row]:
    """Table 1 and the percentages of the text beside what they are made of."""
    gaps, told = [], []
    for key, rows in PUBLISHED.items():
        for n, value in enumerate(rows[AVERAGE]):
            if value is not None:
                gaps.append(value - sum(float(rows[m][n] or 0.0) for m in MODELS) / len(MODELS))
                told.append(f"{', '.join(key)}, {NUMBERS[n]} {value:g}")
    whole = [PUBLISHED[at][AVERAGE][NUMBERS.index(number)] for at, number, _ in SECTION_6_2]
    close = [
        abs(share - float(cell or 0.0)) <= _LAST_DIGIT + _EXACT
        for (*_, share), cell in zip(SECTION_6_2, whole, strict=True)
    ]
    off = [(gap, name) for gap, name in zip(gaps, told, strict=True) if abs(gap) > _ROUNDED]
    means = f"{len(gaps) - len(off)} of {len(gaps)} cells are the means of Tables 4 to 7"
    if off:
        gap, name = max(off, key=lambda one: abs(one[0]))
        means += f"; farthest {name}, mean {float(name.split()[-1]) - gap:.3f}"
    return [
        Row("Table 1, averages", "Tables 4 to 7 averaged", "", "the mean of four networks",
            "recomputed from the printed cells", as_printed(decided(not off, means))),
        Row("Table 1, percentages of Section 6.2", "the text beside Table 1", "",
            f"{len(close)} percentages", "rounded to two decimals",
            as_printed(decided(all(close), f"{sum(close)} of {len(close)} are those of Table 1"))),
    ]  # fmt: skip


def nominal_rows(found: dict[str, Any]) -> list[Row]:
    """Clean training of their networks on nominal rows, which needs no ambiguous ones."""
    rows = []
    for model in ("CNN", "MLP"):
        for made in ("mnist", "fashion-mnist", BASELINE):
            source = "mnist" if made == BASELINE else made
            own = [p["nominal"] for p in found.get("parts", [])
                   if (p["model"], p["data"]) == (model, source)]  # fmt: skip
            if not own:
                continue
            printed = dict(zip(NUMBERS, PUBLISHED[made, "clean", "nominal"][model], strict=True))
            theirs = {n: v for n, v in printed.items() if v is not None}
            ours = {n: [float(p[n]) for p in own] for n in theirs}
            verdict = near_all(ours, theirs, {n: TOLERANCE[n] for n in theirs})
            count = f"{len(own)} training" + ("s" if len(own) > 1 else "")
            rows.append(
                Row(f"Table {4 + MODELS.index(model)}: {made}, clean, {model}, nominal rows",
                    "top-1 / top-2 / entropy", "studies/ambiguity_networks.py",
                    " / ".join(f"{v:.2f}" for v in theirs.values()),
                    " / ".join(f"{sum(v) / len(v):.2f}" for v in ours.values()) + f" ({count})",
                    replace(verdict, retrained=True))
            )  # fmt: skip
    return rows


def setting(settings: dict[str, Any]) -> str:
    """In what the trainings are smaller than the paper's; empty at its size."""
    listed = (
        (settings["rows"] < _ROWS, f"{settings['rows']:,} of {_ROWS:,} training rows"),
        (settings["ambiguous"] < _AMBIGUOUS, f"{settings['ambiguous']:,} ambiguous rows"),
        (settings["tries"] < _TRIES, f"{settings['tries']} autoencoders a pair, theirs {_TRIES}"),
    )
    return ", ".join(told for differs, told in listed if differs)


def generator_of_our_own(settings: dict[str, Any]) -> str:
    """In what the autoencoders are trained otherwise, unless as published."""
    if settings["preset"] == "paper":
        return ""
    return FAST_TRAINING


def configuration_row(found: dict[str, Any], differs: str) -> Row:
    """How many autoencoders were trained and accepted, and what was drawn from them."""
    made = {name: own for name, own in found.get("sets", {}).items() if name != BASELINE}
    told = "; ".join(
        f"{name} {own['accepted']:,} of {own['autoencoders']:,} accepted"
        for name, own in made.items()
    )
    settings = found["settings"]
    drawn = f"{settings['ambiguous']:,} and {settings['tested']:,} samples"
    held = min((own["autoencoders"] for own in made.values()), default=0) >= 45 * _TRIES
    return Row(
        "Section 5.3",
        "the ambiguous sets",
        COMMAND,
        "20 autoencoders for each of 45 pairs; 20,000 and 10,000 samples",
        f"{told}; {drawn}",
        decided(held if made else None, told, differs),
    )


def example_row() -> Row:
    """Table 3: the worked example of top-pair accuracy, seven rows of five classes."""
    value = f"{top_pair_accuracy(*TABLE_3):.3f}"
    return Row(
        "Table 3", "example of top-pair accuracy", COMMAND, "0.714", value,
        equal_cells([value], ["0.714"]),
    )  # fmt: skip


def baseline_row(files: dict[str, Any]) -> list[Row]:
    """How many labels of the baseline's own file name one class alone."""
    if not files:
        return []
    share = {part: own["one class"] / own["rows"] for part, own in files.items()}
    told = ", ".join(f"{part} {value:.4f}" for part, value in share.items())
    return [
        Row(
            "Section 6.2", "labels of the baseline that are not ambiguous", ARCHIVE, "0.37",
            f"{told} in the label files of their repository",
            near(share["test"], 0.37, _LAST_DIGIT, (share["test"], share["test"])),
        )
    ]  # fmt: skip


def review_row(found: dict[str, Any]) -> Row:
    """Fig. 8: what people keep of 300 samples; without a review nobody can tell."""
    item, shows = "Fig. 8", "good and bad samples, chosen by eye among 300 of each set"
    command, theirs = "studies/ambiguity_fig8.py", "few of MNIST are bad"
    if not found:
        return not_run(item, shows, command, theirs)
    reviewed = {name: own for name, own in found.items() if own["reviewed"]}
    told = "; ".join(
        f"{name}: {own['kept']} of {own['reviewed']} kept" for name, own in reviewed.items()
    )
    if "mnist" not in reviewed:
        unseen = PaperVerdict("open", "nobody has reviewed the 300 samples", _OUR_SETS)
        return Row(item, shows, command, theirs, "drawn at random, not chosen", unseen, FIGURE_8)
    own = reviewed["mnist"]
    value, low, high = own["share"], own["low"], own["high"]
    held = True if low > _MOST else False if high < _MOST else None
    verdict = decided(held, f"{value:.2f} [{low:.2f}, {high:.2f}] of MNIST kept", _OUR_SETS)
    return Row(item, shows, command, theirs, told, verdict, FIGURE_8)


def one_row(parts: list[dict[str, Any]], made: str, training: str, model: str, differs: str) -> Row:
    """One network, or their average, on ambiguous and nominal inputs beside what is printed."""
    ours: Values = {}
    theirs: dict[str, float] = {}
    for test in ("ambiguous", "nominal"):
        printed = dict(zip(NUMBERS, PUBLISHED[made, training, test][model], strict=True))
        found = answers(parts, made, training, test, model)
        start = "" if test == "ambiguous" else "nominal "
        theirs |= {start + n: v for n, v in printed.items() if v is not None}
        ours |= {start + n: v for n, v in found.items() if v and printed[n] is not None}
    table = "Table 1" if model == AVERAGE else f"Table {4 + MODELS.index(model)}"
    item = f"{table}: {made}, {training}, {model}"
    shows = "top-1 / top-2 / top-pair / entropy, ambiguous; nominal without top-pair"
    if "top1" not in ours:
        return not_run(item, shows, COMMAND, _shown(theirs))
    runs = len(ours["top1"])
    return Row(
        item,
        shows,
        COMMAND,
        _shown(theirs),
        _shown({n: sum(v) / len(v) for n, v in ours.items()})
        + f" (mean of {runs} training{'s' if runs > 1 else ''})",
        near_all(
            ours,
            theirs,
            {n: TOLERANCE[n.removeprefix("nominal ")] for n in ours},
            together(differs, _network(parts, made, training, model)),
        ),
    )


def _network(parts: list[dict[str, Any]], made: str, training: str, model: str) -> str:
    """In what our network differs from theirs: its size, and how well it does on nominal rows."""
    ours = answers(parts, made, training, "nominal", model)["top1"]
    printed = PUBLISHED[made, training, "nominal"][model][0]
    said = [_NARROWER[model]] if model in _NARROWER else []
    if ours and abs(sum(ours) / len(ours) - printed) > _ALIKE:
        said.append(f"nominal top-1 {sum(ours) / len(ours):.3f}, theirs {printed:g}")
    return ", ".join(said)


def _shown(values: dict[str, float]) -> str:
    """Ambiguous, then nominal, in the order of the tables."""
    both = (
        [f"{values[start + n]:.2f}" if start + n in values else "–" for n in names]
        for start, names in (("", NUMBERS), ("nominal ", ("top1", "top2", "entropy")))
    )
    return "; ".join(" / ".join(own) for own in both)
