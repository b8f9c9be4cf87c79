"""Charts in a page: live under a strict content security policy, a drawing where nothing runs.

A page takes `chart_styles`, `chart_script` once at its end, and a `chart_figure` for each chart.
Its policy allows the first two by their `csp_hash`. A server sends them as files instead.
"""

import base64
import functools
import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources
from importlib.metadata import version
from typing import Any

from fireassay.core import Chart, Estimate, Evidence, Measure
from fireassay.core.chart import LOCALE, VEGA_LITE, configuration, drawn, recoloured, variables
from fireassay.core.drawing import IntervalRow, intervals
from fireassay.core.drawing.axes import WIDTH, level
from fireassay.core.files import cache_folder, write_text
from fireassay.report.gates import Gate
from fireassay.report.verdict import GateCheck

_ID = re.compile(r"(\bid=\"|url\(#|href=\"#)([A-Za-z_][\w-]*)")
_EXPORTED = "window.vegaEmbed = vegaEmbed;"
_STYLES = """
.chart { margin: .5rem 0; max-width: 100%; overflow-x: auto; }
.chart svg { display: block; max-width: 100%; height: auto; }
#vg-tooltip-element { visibility: hidden; position: fixed; z-index: 1000; padding: .4rem .6rem;
  border: 1px solid var(--chart-line); border-radius: .3rem; background: var(--chart-paper);
  color: var(--chart-ink); font: 13px/1.35 system-ui, sans-serif; pointer-events: none; }
#vg-tooltip-element.visible { visibility: visible; }
#vg-tooltip-element td { border: 0; padding: 0 .35rem; vertical-align: top; }
#vg-tooltip-element td.key { color: var(--chart-soft); text-align: right; }
"""


def chart_styles() -> str:
    """The stylesheet that charts need: colours for light and dark, and the label at the pointer."""
    dark = f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {variables('dark')} }} }}"
    return f":root {{ {variables('light')} }}\n{dark}{_STYLES}"


@functools.cache
def chart_script() -> str:
    """The script that draws charts live (Vega, Vega-Lite, our lines), without ``</script``."""
    # Made once per installation (some seconds) and kept in the user's cache folder.
    theme = recoloured(json.dumps(configuration()), "page")
    ours = resources.files("fireassay.report").joinpath("static/charts.js").read_text("utf-8")
    named = f"const THEME = {theme};\nconst LOCALE = {json.dumps(LOCALE)};\n"
    return f"{_libraries()}\n{named}{ours}"


def chart_figure(chart: Chart, key: str, *, drawn: bool = True) -> str:
    """One chart as HTML: its drawing, its data for the script, its caption; all escaped."""
    drawing = f'<div class="chart-still">{still(chart, key)}</div>' if drawn else ""
    return (
        f'<figure class="figure"><div class="chart" data-chart="{key}" role="img" '
        f'aria-label="{escape(chart.alternative)}">'
        f'{drawing}<script type="application/json">{chart_data(chart)}</script></div>'
        f"<figcaption>{escape(chart.caption)}</figcaption></figure>"
    )


def chart_data(chart: Chart) -> str:
    """The chart as JSON for the script, in the colours of the page, without ``<``."""
    return recoloured(chart.text(), "page").replace("<", "\\u003c")


def still(chart: Chart, key: str) -> str:
    """The chart as SVG for a page: colours of the page, ids that no other drawing has."""
    return _still(chart._text(), key)


@functools.lru_cache(maxsize=256)  # the page is written anew after each part
def _still(spec: str, key: str) -> str:
    drawing = recoloured(drawn(spec), "page")
    return _ID.sub(lambda found: f"{found[1]}{key}-{found[2]}", drawing)


def csp_hash(text: str) -> str:
    """The source expression that allows exactly this inline script or stylesheet."""
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _libraries() -> str:
    """Vega and Vega-Lite as one script, read from the cache if it is whole."""
    import vl_convert

    made_by = version("vl-convert-python")
    stem = f"vega-lite-{VEGA_LITE}-vl-convert-{made_by}"
    for path in sorted(cache_folder().glob(f"{stem}-*.js")):
        text = path.read_text("utf-8")
        if path.stem == f"{stem}-{_hashed(text)}":
            return text
    made: str = vl_convert.javascript_bundle(_EXPORTED, VEGA_LITE)
    if "</script" in made.lower():
        made = re.sub("</script", r"<\\/script", made, flags=re.IGNORECASE)
    try:
        write_text(cache_folder() / f"{stem}-{_hashed(made)}.js", made)
    except OSError:
        return made  # a folder that cannot be written costs seconds the next time, nothing else
    return made


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]


def with_limits(chart: Chart, part: Evidence, checks: Sequence[GateCheck]) -> Chart:
    """The chart with a line for each limit on a number that it shows."""
    axes: Mapping[str, Any] = chart.body.get("usermeta", {}).get("limits", {})
    lines = []
    for check in checks:
        question, _, name = check.gate.number.rpartition(".")
        if name not in axes or question not in ("", part.question):
            continue
        value = part.measure(name).shown_value(check.gate.limit)
        word = f"limit: {'at most' if check.gate.direction == 'max' else 'at least'} {value}"
        width = chart.body.get("width", WIDTH)
        lines += level(axes[name], check.gate.limit, word, width, limit=True)
    if not lines:
        return chart
    body = {**chart.body, "layer": [*chart.body["layer"], *lines]}
    return Chart(body, chart.caption, chart.alternative)


_MOST = 20


def numbers_chart(part: Evidence) -> Chart | None:
    """Every share of a part as a dot with its interval; None for a part without shares."""
    rows = []
    for name, estimate in part.estimates.items():
        measure = part.measure(name)
        if 0.0 <= estimate.low <= estimate.high <= 1.0 and 0.0 <= estimate.value <= 1.0:
            known = estimate.kind == "interval"
            rows.append(
                IntervalRow(
                    measure.label,
                    estimate.value,
                    estimate.low if known else None,
                    estimate.high if known else None,
                    text=measure.shown(estimate),
                )
            )
    if not rows:
        return None
    return Chart(
        intervals(rows[:_MOST], domain=(0.0, 1.0), width=260),
        "Shares with their intervals.",
        f"A dot with an interval for each number of {part.question}.",
    )


_PAD = 0.12


@dataclass(frozen=True)
class IntervalBar:
    """Places on a line from 0 to 100, and the same in words."""

    low: float
    high: float
    value: float | None
    limit: float | None
    keeps: tuple[float, float] | None
    words: str
    at_limit: str = ""
    ticks: tuple[tuple[float, str], ...] = ()


def bar_of_check(check: GateCheck, estimates: Mapping[str, Estimate]) -> IntervalBar | None:
    """The bar of a judged gate; None where no number was found."""
    if check.estimate is None or check.measure is None:
        return None
    return interval_bar(check.measure, estimates, check.gate)


def _span(name: str, estimates: Mapping[str, Estimate]) -> tuple[float, float, float]:
    """Value, lower and upper end of a number; a bound has the ends of the number it bounds."""
    estimate = estimates[name]
    stem = name.removesuffix("_upper").removesuffix("_lower")
    if estimate.kind != "bound" or stem == name or stem not in estimates:
        return estimate.value, estimate.low, estimate.high
    middle = estimates[stem]
    low, high = (estimates.get(f"{stem}{side}", middle).value for side in ("_lower", "_upper"))
    return middle.value, low, high


def interval_bar(
    measure: Measure, estimates: Mapping[str, Estimate], gate: Gate | None = None
) -> IntervalBar | None:
    """The bar of a number; a bound is drawn with its sibling and with what lies between them."""
    value, low, high = _span(measure.name, estimates)
    known = [x for x in (value, low, high) if math.isfinite(x)]
    if not known:
        return None
    marks = [*known, *([gate.limit] if gate is not None else [])]
    left, right = min(marks), max(marks)
    pad = _PAD * ((right - left) or abs(right) or 1.0)
    left, right = left - pad, right + pad
    if measure.unit in ("share", "auc"):
        left, right = max(0.0, left), min(1.0, right)

    def at(x: float) -> float:
        x = min(max(x, left), right)
        return round(100 * (x - left) / ((right - left) or 1.0), 2)

    limit = None if gate is None else at(gate.limit)
    keeps = None
    if gate is not None and limit is not None:
        keeps = (0.0, limit) if gate.direction == "max" else (limit, 100.0)
    words = measure.shown(estimates[measure.name])
    at_limit = ""
    if gate is not None:
        at_limit = f"{'≤' if gate.direction == 'max' else '≥'} {measure.shown_value(gate.limit)}"
        words += f", limit {at_limit}"
    ends = (at(low if math.isfinite(low) else left), at(high if math.isfinite(high) else right))
    dot = at(value) if math.isfinite(value) else None
    ticks = tuple((at(x), measure.shown_value(x)) for x in _round_values(left, right))
    return IntervalBar(ends[0], ends[1], dot, limit, keeps, words, at_limit, ticks)


def _round_values(left: float, right: float) -> list[float]:
    """Two to five round values between two ends."""
    raw = (right - left) / 3
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * m for m in (1, 2, 5, 10) if power * m >= raw * 0.999)
    first, last = math.ceil(left / step - 1e-9), math.floor(right / step + 1e-9)
    return [round(i * step, 12) for i in range(first, last + 1)]
