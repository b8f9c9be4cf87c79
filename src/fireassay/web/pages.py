"""Templates and shipped files. Everything from data is escaped by the templates."""

import asyncio
import copy
import json
import math
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import urlencode

import numpy as np
from fastapi import Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, StreamingResponse
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from fireassay.core import Chart
from fireassay.core.drawing import axis, curves
from fireassay.core.estimate import Estimate
from fireassay.data.shown import Curve
from fireassay.report.first_screen import COLOURS, SHAPES, against
from fireassay.report.page import page_environment
from fireassay.report.page_charts import chart_figure
from fireassay.version import __version__
from fireassay.web.sample_rows import SampleSet

_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


@cache
def environment() -> Environment:
    """The templates: names, ids and labels are text, whatever they contain."""
    found = Environment(
        loader=PackageLoader("fireassay.web"),
        autoescape=True,
        undefined=StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters.update(number=number, estimate=estimate, cell=cell, share=share)
    found.filters.update(kappa=kappa, three=three, figure=figure)
    found.filters.update(range_text=range_text, against=against)
    found.globals.update(version=__version__, shapes=SHAPES, colours=COLOURS)
    return found


def render(template: str, **values: Any) -> str:
    """A page as text."""
    return environment().get_template(template).render(**values)


def respond(
    request: Request,
    template: str,
    *,
    status_code: int = 200,
    headers: Mapping[str, str] | None = None,
    **values: Any,
) -> HTMLResponse:
    """A page as the answer to a request, with the token that its forms carry."""
    csrf = str(getattr(request.state, "csrf", ""))
    return HTMLResponse(render(template, csrf=csrf, **values), status_code, headers)


@cache
def static_files() -> dict[str, tuple[bytes, str]]:
    """The shipped scripts and styles by name, with their types: read once, never by a request."""
    folder = files("fireassay.web") / "static"
    screen = page_environment().get_template("first_screen.css").render().encode()
    return {"first_screen.css": (screen, _TYPES[".css"])} | {
        entry.name: (entry.read_bytes(), _TYPES["." + entry.name.rsplit(".", 1)[-1]])
        for entry in folder.iterdir()
        if entry.is_file()
    }


def number(value: float | str | None) -> str:
    """A number for people; a text as it is."""
    if isinstance(value, str):
        return value
    if value is None or not math.isfinite(value):
        return "∞" if value is None or value > 0 else ("−∞" if value < 0 else "–")
    return f"{value:.4g}"


def estimate(value: Estimate) -> str:
    """A number with its interval."""
    if math.isnan(value.value):
        return "not estimable"
    if value.kind != "interval":
        return number(value.value)
    return f"{number(value.value)} [{number(value.low)}, {number(value.high)}]"


def kappa(value: Estimate) -> str:
    """An agreement with its interval."""
    return f"{value.value:.2f} [{value.low:.2f}, {value.high:.2f}]"


def three(value: float) -> str:
    """Three digits, as the script writes them."""
    return f"{value:.3g}" if math.isfinite(value) else number(value)


def share(value: float) -> str:
    """A share in percent."""
    return f"{100 * value:.3g} %"


def range_text(value: str) -> str:
    """A filter's value for people: the ends of a range with three digits, else as it is."""
    low, separator, high = value.partition("..")
    try:
        return f"{float(low):.3g} to {float(high):.3g}" if separator else value
    except ValueError:
        return value


def cell(value: Any) -> str:
    """A table's cell."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return number(value) if isinstance(value, float) else str(value)


def figure(chart: Chart, key: str) -> Markup:
    """A chart, drawn by the script that the report has, too; what came from users is escaped."""
    return Markup(chart_figure(chart, key, drawn=False))  # noqa: S704


Datum = Mapping[str, Any]
Fields = dict[str, str]
_ALARM = {"mark": "raises the alarm"}
_TROUBLES = {
    "errors": {"right": "wrong"},
    "adversarial": {"mark": "fell to an attack"},
    "strong adversarial": {"mark": "fell to an attack"},
    "curated": {"part": "curation"},
}


def linked(chart: Chart, part: str, name: str, run: str, rows: SampleSet | None) -> Chart:
    """The chart with an address for each mark; as it is where the rows are not known."""
    rule = _RULES.get((part, name)) or _RULES.get((part, ""))
    if rule is None or rows is None:
        return chart
    spec = copy.deepcopy(dict(chart.body))

    def address(datum: Datum) -> str | None:
        fields = {key: value for key, value in rule(datum).items() if value}
        known = rows.facets
        wanted = [key for key in fields if key != "sort"]
        wanted += [fields["sort"].removeprefix("-")] if "sort" in fields else []
        if any(key not in known for key in wanted):
            return None
        return f"/runs/{run}/samples?{urlencode(fields)}"

    _link(spec, address, inherited=False)
    return replace(chart, body=spec)


def _link(spec: dict[str, Any], address: Callable[[Datum], str | None], *, inherited: bool) -> None:
    """Give each row of the data its address, and each mark on such data the channel for it."""
    has = inherited
    values = spec.get("data", {}).get("values") if isinstance(spec.get("data"), dict) else None
    if isinstance(values, list):
        has = False
        for datum in values:
            found = address(datum) if isinstance(datum, dict) else None
            if found is not None:
                datum["href"] = found
                has = True
    encoding = spec.get("encoding", {})
    summed = any(isinstance(c, dict) and "aggregate" in c for c in encoding.values())
    if "mark" in spec and has and not summed:
        spec["encoding"] = {**encoding, "href": {"field": "href", "type": "nominal"}}
    for key in ("layer", "hconcat", "vconcat", "concat"):
        for inner in spec.get(key, ()):
            _link(inner, address, inherited=has)
    if isinstance(spec.get("spec"), dict):
        _link(spec["spec"], address, inherited=has)


def _of_confidence(datum: Datum) -> Fields:
    """The tenth that a dot of the reliability diagram stands for."""
    if "x" not in datum or "line" not in datum:
        return {}
    tenth = min(9, math.floor(10 * float(datum["x"]) + 1e-9))
    return {"confidence": f"{tenth / 10:g}..{(tenth + 1) / 10:g}"}


def _of_dataset(datum: Datum) -> Fields:
    return {"dataset": f"{round(float(datum['x']))}"} if "x" in datum else {"part": "curation"}


_RULES: dict[tuple[str, str], Callable[[Datum], Fields]] = {
    ("accuracy", "sensitivity"): lambda d: {"truth": str(d.get("label", ""))},
    ("accuracy", "confusion matrix"): lambda d: {
        "truth": str(d.get("down", "")),
        "said": str(d.get("across", "")),
    },
    ("accuracy", "reliability diagram"): _of_confidence,
    ("accuracy", ""): lambda _: {"part": "accuracy"},
    ("curation", "accuracy"): _of_dataset,
    ("curation", "robustness"): _of_dataset,
    ("curation", ""): lambda _: {"part": "curation"},
    ("ambiguity", ""): lambda d: {
        "truth": str(d.get("down", "")),
        "said": str(d.get("across", "")),
    },
    ("supervision", "caught"): lambda d: _TROUBLES.get(str(d.get("label")), _ALARM),
    ("supervision", "heat_map"): lambda d: {"sort": f"-score.{d.get('down', '')}"},
    ("supervision", ""): lambda _: {"part": "supervision"},
    ("discovery", ""): lambda _: {"part": "discovery"},
    ("reliability", ""): lambda _: {"right": "wrong"},
    ("survival", ""): lambda _: {"part": "survival"},
}


_MOST_STEPS = 2000
_FLAT = 0.2  # a channel that takes less of a common scale could not be seen on it


def series_chart(seen: Curve, alternative: str) -> Chart:
    """Curves over time, one line per channel."""
    lines, title = seen.lines, seen.names[0] if len(seen.names) == 1 else "value"
    spread = np.ptp(lines, axis=1)
    if len(lines) > 1 and spread.min() < _FLAT * np.ptp(lines):
        lines = (lines - lines.min(axis=1)[:, None]) / np.where(spread > 0, spread, 1.0)[:, None]
        title = "each from its lowest to its highest value"
    drawn = {name: (np.arange(len(y)), y) for name, y in zip(seen.names, lines, strict=True)}
    across, up = {"axis": axis("time step")}, {"axis": axis(title), "scale": {"zero": False}}
    return Chart(curves(drawn, across, up, most=_MOST_STEPS, height=180), alternative=alternative)


POLL_S = 0.5
_SILENCE_S = 15.0


def stream(request: Request, look: Callable[[], Any]) -> StreamingResponse:
    """Send what ``look()`` returns, at once and whenever it changes, until the page is closed."""
    return StreamingResponse(
        _changes(request, look),
        media_type="text/event-stream",
        headers={"cache-control": "no-store", "x-accel-buffering": "no"},
    )


async def _changes(request: Request, look: Callable[[], Any]) -> AsyncIterator[str]:
    last, quiet = None, 0.0
    while not await request.is_disconnected():
        now = json.dumps(await run_in_threadpool(look), allow_nan=False)
        if now != last:
            last, quiet = now, 0.0
            yield f"data: {now}\n\n"
        elif quiet >= _SILENCE_S:
            quiet = 0.0
            yield ": still here\n\n"
        await asyncio.sleep(POLL_S)
        quiet += POLL_S
