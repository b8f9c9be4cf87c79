"""The page of a watch: where things stand, drawn again whenever something came."""

from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape
from math import isfinite
from pathlib import Path

from fireassay.assessment.watch.watch import Watch
from fireassay.core.files import write_text
from fireassay.core.words import p_text, percent

PAGE = "watch.html"
_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 640, 220, 64, 28
_STATES = {0: ("✓", "quiet", "good"), 1: ("✗", "alarm", "bad"), 3: ("?", "not enough", "plain")}
_STYLE = """
:root { color-scheme: light dark; --ink: #1a1a1a; --muted: #5c5c5c; --paper: #fff;
  --line: #0b5fa5; --bound: #b35c00; --good: #1b6e3c; --bad: #b3261e; --rule: #d5d5d5; }
@media (prefers-color-scheme: dark) { :root { --ink: #eee; --muted: #aaa; --paper: #16181b;
  --line: #7db8ee; --bound: #f0a860; --good: #7fd3a0; --bad: #ff8a80; --rule: #3a3d42; } }
body { font: 16px/1.5 "Liberation Sans", Arial, sans-serif; color: var(--ink);
  background: var(--paper); max-width: 44rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; } .good { color: var(--good); } .bad { color: var(--bad); }
table { border-collapse: collapse; width: 100%; } caption, th { text-align: left; }
td, th { border-bottom: 1px solid var(--rule); padding: .3rem .5rem .3rem 0; font-weight: normal; }
td { text-align: right; font-variant-numeric: tabular-nums; }
svg { width: 100%; height: auto; } svg text { fill: var(--muted); font-size: 12px; }
.rate { stroke: var(--line); } .upper { stroke: var(--bound); } .limit { stroke: var(--bad); }
path { fill: none; stroke-width: 2; } .limit { stroke-dasharray: 6 4; }
svg .t-rate { fill: var(--line); } svg .t-upper { fill: var(--bound); }
svg .t-limit { fill: var(--bad); } footer, .muted { color: var(--muted); }
"""


def write_page(watch: Watch, source: str, seconds: int) -> Path:
    """Draw the page; it asks for itself again after so many seconds."""
    return write_text(watch.folder / PAGE, page(watch, source, seconds))


def page(watch: Watch, source: str, seconds: int, now: datetime | None = None) -> str:
    """The page as text, without script or network."""
    shape, word, colour = _STATES[watch.exit_code]
    rows = "".join(
        f"<tr><th scope='row'>{escape(name)}</th><td>{escape(value)}</td></tr>"
        for name, value in _numbers(watch)
    )
    written = (now or datetime.now(UTC)).strftime("%-d %B %Y, %H:%M:%S UTC")
    notes = [watch.counts.last_refusal and f"Last line refused: {watch.counts.last_refusal}"]
    if watch.monitor.error_block > 1:
        notes.append(
            f"Rows depend on each other: errors are judged in blocks of "
            f"{watch.monitor.error_block}, inputs in blocks of {watch.monitor.drift_block}; both "
            "alarms are approximate."
        )
    said = "".join(f"<p class='muted'>{escape(note)}</p>" for note in notes if note)
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; "
        "style-src 'unsafe-inline'\">"
        f"<meta http-equiv='refresh' content='{seconds}'>"
        "<meta name='viewport' content='width=device-width'>"
        f"<title>{shape} {word}: {escape(source)}</title><style>{_STYLE}</style></head><body>"
        f"<h1 class='{colour}'>{shape} {escape(watch.headline)}</h1>"
        f"{_chart(watch)}<table><caption>{escape(source)}</caption>{rows}</table>{said}"
        f"<footer>Written {written}. The bound is about the newest labels; it says nothing about "
        "the instant after a sudden change.</footer></body></html>\n"
    )


def _numbers(watch: Watch) -> list[tuple[str, str]]:
    state, counts = watch.state, watch.counts
    limit = watch.monitor.limit
    found = [
        ("Rows seen", f"{state.n_rows:,}"),
        ("Labels", f"{state.n_labels:,}"),
        ("Wrong among them", f"{state.n_errors:,}"),
        (f"Wrong among the last {state.n_recent:,}", _share(state.pmi)),
        (
            f"Rate of these, at most ({percent(watch.monitor.confidence, 1)})",
            _share(state.pmi_upper),
        ),
        ("Limit of the alarm", "none" if limit is None else _share(limit)),
        ("Inputs as in the reference", p_text(state.drift_p)),
        ("Rows waiting for a label", f"{len(watch.answers):,}"),
    ]
    extra = (
        ("Labels of rows that are not known", counts.unmatched),
        ("Rows no longer kept for a label", counts.forgotten),
        ("Lines that could not be understood", counts.refused),
    )
    return found + [(name, f"{count:,}") for name, count in extra if count]


def _share(value: float) -> str:
    return percent(value, 2) if isfinite(value) else "none yet"


def _chart(watch: Watch) -> str:
    """Rate and bound of the newest labels against labels, with the limit."""
    points = [point for point in watch.errors.points if isfinite(point[1])]
    if len(points) < 2:
        return "<p class='muted'>A curve is drawn from 20 labels on.</p>"
    limit = watch.monitor.limit
    most = min(1.0, 1.15 * max(*(p[2] for p in points[len(points) // 8 :]), limit or 0.0))
    last = points[-1][0]

    def place(labels: float, share: float) -> str:
        x = _LEFT + (_WIDTH - _LEFT - 90) * labels / last
        y = (_HEIGHT - _BOTTOM) * (1 - min(share, most) / most)
        return f"{x:.1f},{y:.1f}"

    def line(kind: str, values: Sequence[tuple[float, float]]) -> str:
        end = place(*values[-1]).split(",")
        return (
            f"<path class='{kind}' d='M{' L'.join(place(*v) for v in values)}'/>"
            f"<text class='t-{kind}' x='{float(end[0]) + 6:.1f}' "
            f"y='{max(float(end[1]), 10) + 4:.1f}'>{_NAMES[kind]}</text>"
        )

    drawn = line("rate", [(p[0], p[1]) for p in points]) + line(
        "upper", [(p[0], p[2]) for p in points]
    )
    if limit is not None:
        drawn += line("limit", [(0.0, limit), (last, limit)])
    return (
        f"<svg viewBox='0 0 {_WIDTH} {_HEIGHT}' role='img' aria-label='Share of wrong answers "
        f"among the newest labels against labels'>{drawn}"
        f"<text x='0' y='12'>{percent(most, 1)}</text>"
        f"<text x='0' y='{_HEIGHT - _BOTTOM}'>0 %</text>"
        f"<text x='{_LEFT}' y='{_HEIGHT - 6}'>labels: 0 to {last:,.0f}</text></svg>"
    )


_NAMES = {"rate": "wrong", "upper": "at most", "limit": "limit"}
