"""Pictures of the docs that come from stored results, from the pages themselves, or from the code.

    <!-- chart: docs/pictures.py of_pages attempts -->

`docs/charts.py` draws them when the docs are built, through the charts of the report.
"""

import functools
import json
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from fireassay.core import Chart
from fireassay.core.chart import LIGHT
from fireassay.core.drawing import IntervalRow, bars, curves, grouped, intervals, matrix
from fireassay.statistics import clopper_pearson

DOCS = Path(__file__).parent
RESULTS = DOCS.parent / "benchmarks" / "results"
_MOST = 14  # rows of a picture
FINDINGS = ("agrees", "differs", "open")


def stored(name: str) -> Any:
    """A stored result of a benchmark."""
    return json.loads((RESULTS / f"{name}.json").read_text())


def tables(page: str) -> Iterator[tuple[str, list[str]]]:
    """Every row of every table of a page, with the heading it stands under."""
    heading = ""
    for line in (DOCS / f"{page}.md").read_text().splitlines():
        if line.startswith("## "):
            heading = line[3:]
        if line.startswith("|") and not line.startswith("|--"):
            yield heading, [cell.strip() for cell in line.strip("|").split(" | ")]


def attempts() -> Chart:
    """How many attempts of which kind the page tells."""
    told = Counter(
        heading for heading, row in tables("attempts") if "test_" in row[-1] and len(row) == 4
    )
    return Chart(
        bars([(kind, float(n)) for kind, n in told.items()], "attempts", width=420),
        f"What was tried, by kind: {sum(told.values())} attempts. Each has a test that tries it "
        "again.",
        "Bars: how many attempts of each kind the tables below tell.",
    )


def coverage() -> Chart:
    """How often an interval missed, relative to how often it may: the worst world of each."""
    worst: dict[str, IntervalRow] = {}
    for heading, row in tables("intervals"):
        if heading != "Measured" or len(row) != 8 or row[2] not in ("holds", "approximate"):
            continue
        worlds, may = int(row[6].replace(",", "")), 1 - float(row[3])
        if worlds < 1000:
            continue
        misses = round((1 - float(row[4].split()[0])) * worlds)
        low, high = clopper_pearson(misses, worlds)
        found = misses / worlds / may
        state = "fail" if "too low" in row[4] else "dot"
        if row[0] not in worst or worst[row[0]].value < found:
            worst[row[0]] = IntervalRow(row[0], found, low / may, high / may, state)
    rows = sorted(worst.values(), key=lambda row: -row.value)[:_MOST]
    return Chart(
        intervals(rows, "misses for each one that is allowed", unit="number", guide=1.0, width=380),
        "How often a method missed a known truth in its worst world of at least 1,000 drawings, "
        f"for each miss that its confidence allows; the {_MOST} that miss most. Left of the line "
        "a method keeps more than its word.",
        "A dot with an interval for each method; at 1 a method misses as often as it says.",
    )


def kinds_of_model() -> Chart:
    """What it takes to assess models of many kinds."""
    took = {
        name: round(sum(found["seconds"][step] for step in ("init", "plan", "run", "report")), 1)
        for name, found in stored("pairs").items()
        if "report" in found["seconds"]
    }
    rows = sorted(took.items(), key=lambda row: row[1])
    return Chart(
        bars(rows, "CPU seconds from init to report", width=380),
        "Models of many kinds, from init to the report with small settings, each as right as the "
        "bare model to the last digit.",
        "Bars: CPU seconds from init to report for each pair of a model and its data.",
    )


def papers() -> Chart:
    """How the rows of each paper came out in the authors' own setting, and how many are in ours."""
    found: Counter[tuple[str, str]] = Counter()
    columns = [*(f"theirs: {finding}" for finding in FINDINGS), "ours"]
    for heading, row in tables("papers"):
        for setting, cell in pairwise(row):
            finding = cell.split(":")[0]
            if finding in FINDINGS and ":" in cell:
                column = f"theirs: {finding}" if setting.startswith("theirs") else "ours"
                found[heading.split(" (")[-1].rstrip(")"), column] += 1
                break
    names = list(dict.fromkeys(paper for paper, _ in found))
    cells = [(paper, column, float(found[paper, column])) for paper in names for column in columns]
    most = max(found.values())
    return Chart(
        matrix(cells, title="rows", unit="number", domain=(0.0, float(most)), columns=columns),
        "Tables, figures and claims of the papers behind each question: findings in the authors' "
        "own setting, and rows in a setting of ours.",
        "Coloured cells: a row per question, a column per finding, the number of rows in each.",
    )


def registered() -> Chart:
    """How many of each kind there are, without yours."""
    from fireassay.ambiguity import PRESETS
    from fireassay.attacks import ATTACKS
    from fireassay.classifiers import ADAPTERS
    from fireassay.curation import LABELERS
    from fireassay.data import CORRUPTIONS
    from fireassay.discovery import SEARCHES
    from fireassay.supervision import SUPERVISORS
    from fireassay.survival import DEFENCES, FAMILIES

    kinds = {
        "supervisors": SUPERVISORS,
        "attacks": ATTACKS,
        "corruptions": CORRUPTIONS,
        "searches": SEARCHES,
        "kinds of model": ADAPTERS,
        "families of failure times": FAMILIES,
        "defences": DEFENCES,
        "label models": LABELERS,
        "presets of generators": PRESETS,
    }
    rows = sorted(
        ((kind, float(len(list(rows)))) for kind, rows in kinds.items()), key=lambda r: -r[1]
    )
    return Chart(
        bars(rows, "registered", width=420),
        "What is registered without yours. A row of your own stands beside these, by its name.",
        "Bars: how many supervisors, attacks, corruptions and so on are registered.",
    )


_GROWING = {
    "PGD attack": "attacks.pgd",
    "reliability": "reliability.assess, rectified",
    "curation": "curation.curate",
    "curation of a file": "curation.curate_stream",
}


def growth() -> Chart:
    """CPU seconds against the number of rows."""
    found = {row["name"]: row["points"] for row in stored("scaling")["rows"]}
    lines = {
        name: ([point["n"] for point in found[key]], [point["cpu_s"] for point in found[key]])
        for name, key in _GROWING.items()
    }
    return Chart(
        curves(
            lines,
            {"axis": {"title": "rows", "format": "~s"}, "scale": {"type": "log"}},
            {"axis": {"title": "CPU seconds, one core"}, "scale": {"type": "log"}},
            points=True,
            height=260,
        ),
        "What one core needs as rows grow: nearly in proportion, up to a hundred million.",
        "Lines that rise with the number of rows, nearly in proportion.",
    )


def waiting() -> Chart:
    """CPU seconds until a command answers, before and now."""
    rows = []
    for heading, cells in tables("speed"):
        if heading == "Until the first answer" and cells[0].startswith("`"):
            for when, cell in zip(("before", "now"), cells[1:], strict=True):
                seconds = [float(number) for number in cell.split(" ")[0].split("–")]
                low, high = seconds[0], seconds[-1]
                rows.append((cells[0].replace("`", ""), when, (low + high) / 2, low, high))
    return Chart(
        grouped(rows, "CPU seconds", unit="number", width=380),
        "CPU seconds until a command answers, before and now.",
        "Two marks for each command: before and now, further left.",
    )


def standing() -> Chart:
    """What stands of nine models against our attacks, and against the best of the others."""
    models = stored("strength")["digits"]["rows"]
    counts = [row["ours"]["rows"] for row in models]
    rows = []
    for row in models:
        measured = [peer for peer in row["peers"].values() if peer.get("low") is not None]
        best = min(measured, key=lambda peer: peer["standing"])
        for by, found in (("fireassay", row["ours"]), ("best of ART and foolbox", best)):
            rows.append((row["case"], by, found["standing"], found["low"], found["high"]))
    return Chart(
        grouped(rows, "rows that stand", width=380),
        "How many digits stand against auto, and against the best attack of ART and foolbox with "
        f"as many queries: nine models, {min(counts)} to {max(counts)} rows each, 95 % intervals. "
        "Further left is the stronger attack.",
        "Two marks for each of nine models: fireassay, and the best of the others, at most as far "
        "left but for chance.",
    )


# Boxes of the architecture: name, what it is, column, row, colour.
_BOXES = (
    ("model", "file, object, code, server", 0, 0, "seven"),
    ("data", "rows, votes, field rows", 0, 1, "seven"),
    ("people", "labels: browser, CSV", 0, 2, "seven"),
    ("classifiers", "one protocol", 1, 0, "three"),
    ("data", "readers, checks", 1, 1, "three"),
    ("web", "the app", 1, 2, "two"),
    ("attacks, networks", "and statistics", 2, 0, "three"),
    ("six questions", "pure functions", 2, 1, "one"),
    ("engine", "journal, workers, cluster", 2, 2, "three"),
    ("assessment", "plan, run", 3, 1, "two"),
    ("report", "page, JSON, JUnit, card", 4, 0, "four"),
    ("check", "exit code", 4, 2, "four"),
)
_ARROWS = (
    *((0, 3), (1, 4), (2, 5), (3, 7), (4, 7), (5, 7), (6, 7), (8, 7), (7, 9), (9, 10), (9, 11)),
)
_WIDE, _HIGH, _RIGHT, _DOWN = 118, 42, 152, 76


def _arrow(one: dict[str, Any], two: dict[str, Any]) -> dict[str, Any]:
    """From the right side of a box to the left side of another, or straight down or up."""
    if one["x"] < two["x"]:
        sides = one["x2"], two["x"] - 5, one["y"] + _HIGH / 2, two["y"] + _HIGH / 2
        return dict(zip(("x", "x2", "y", "y2"), sides, strict=True)) | {"shape": "triangle-right"}
    down = one["y"] < two["y"]
    start, end = (one["y2"], two["y"] - 5) if down else (one["y"], two["y2"] + 5)
    shape = "triangle-down" if down else "triangle-up"
    return {"x": one["middle"], "x2": one["middle"], "y": start, "y2": end, "shape": shape}


def house() -> Chart:
    """The packages as boxes, and what goes where."""
    boxes = [
        {
            "x": column * _RIGHT, "x2": column * _RIGHT + _WIDE,
            "middle": column * _RIGHT + _WIDE / 2,
            "y": row * _DOWN, "y2": row * _DOWN + _HIGH, "name_y": row * _DOWN + 16,
            "about_y": row * _DOWN + 31, "name": name, "about": about, "colour": LIGHT[colour],
        }
        for name, about, column, row, colour in _BOXES
    ]  # fmt: skip
    arrows = [_arrow(boxes[one], boxes[two]) for one, two in _ARROWS]

    def at(name: str) -> dict[str, Any]:
        return {"field": name, "type": "quantitative", "axis": None, "scale": None}

    colour = {"field": "colour", "type": "nominal", "scale": None, "legend": None}
    shape = {"field": "shape", "type": "nominal", "scale": None, "legend": None}
    ends = {channel: at(channel) for channel in ("x", "x2", "y", "y2")}
    ends["x2"], ends["y2"] = {"field": "x2"}, {"field": "y2"}
    line = {"color": {"value": LIGHT["soft"]}}
    spec = {
        "width": 4 * _RIGHT + _WIDE,
        "height": 2 * _DOWN + _HIGH,
        "view": {"stroke": None},
        "layer": [
            {"data": {"values": arrows}, "mark": "rule", "encoding": ends | line},
            {
                "data": {"values": arrows},
                "mark": {"type": "point", "filled": True, "size": 60},
                "encoding": {"x": at("x2"), "y": at("y2"), "shape": shape, **line},
            },
            {
                "data": {"values": boxes},
                "mark": {"type": "rect", "fillOpacity": 0.12, "cornerRadius": 5},
                "encoding": {**ends, "fill": colour, "stroke": colour},
            },
            *(
                {
                    "data": {"values": boxes},
                    "mark": {"type": "text", "fontSize": size, "fontWeight": weight},
                    "encoding": {
                        "x": at("middle"), "y": at(where), "text": {"field": text},
                        "color": {"value": LIGHT[ink]},
                    },
                }
                for text, where, size, weight, ink in (
                    ("name", "name_y", 13, "bold", "ink"),
                    ("about", "about_y", 10, "normal", "soft"),
                )
            ),
        ],
    }  # fmt: skip
    return Chart(
        spec,
        "What goes where. Grey: what you bring. Blue: the six questions, which never import each "
        "other. Green: what they share. Orange: what people touch. Purple: what comes out.",
        "Boxes and arrows: model, data and people's labels lead through classifiers, data and web "
        "to the six questions and the engine, then to assessment, report and check.",
    )


CHARTS: dict[str, Callable[[], Chart]] = {
    "attempts": attempts,
    "coverage": coverage,
    "kinds of model": kinds_of_model,
    "papers": papers,
    "registered": registered,
    "growth": growth,
    "waiting": waiting,
    "house": house,
    "standing": standing,
}


class Drawn:
    """All pictures by name, as a result has its charts."""

    @functools.cache  # noqa: B019 - there is one for the whole build
    def charts(self) -> dict[str, Chart]:
        """Draw them."""
        return {name: make() for name, make in CHARTS.items()}


of_pages = Drawn()
