"""Pages about a queue: how far it is, its items, conflicts, labels out and in."""

from typing import Annotated, Any
from urllib.parse import quote, unquote

from fastapi import APIRouter, Depends, Query, Request
from fastapi.exceptions import HTTPException
from fastapi.responses import (
    HTMLResponse,
    JSONResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)

from fireassay.core import Chart
from fireassay.core.drawing import IntervalRow, intervals
from fireassay.core.errors import DataError
from fireassay.data.shown import SMALL, Picture, Table, Words, shown
from fireassay.engine.labels.records import CANNOT_TELL, OTHER, STATES
from fireassay.web.pages import respond, series_chart, stream
from fireassay.web.queue import Queue
from fireassay.web.queue_state import QueueStatus, curve_chart, live
from fireassay.web.run_pages import Key, Number
from fireassay.web.workspace import OpenQueue, Workspace

router = APIRouter()


def open_queue(request: Request, key: Key) -> OpenQueue:
    """The queue of a key."""
    workspace: Workspace = request.app.state.workspace
    opened = workspace.queue(key)
    if opened is None:
        raise HTTPException(404)
    return opened


FoundQueue = Annotated[OpenQueue, Depends(open_queue)]
PAGE_ITEMS = 48
LONGEST_NAME, LONGEST_COMMENT = 100, 2000


@router.get("/queues/{key}")
def queue_page(request: Request, opened: FoundQueue) -> HTMLResponse:
    """A queue: progress, ratio or precision, agreement, export."""
    status = opened.status()
    chart = curve_chart(status.curve) if status.curve else None
    charts = {"chart": chart, "pair_chart": _pair_chart(status)}
    return respond_about(request, "queue.html", opened, status=status, **charts)


@router.get("/queues/{key}/live")
def queue_live(opened: FoundQueue) -> JSONResponse:
    """The numbers of the queue's page, for its script."""
    return JSONResponse(live(opened.queue, opened.status()))


@router.get("/queues/{key}/events")
async def queue_events(request: Request, opened: FoundQueue) -> Response:
    """Tells that somebody has labelled something."""
    return stream(request, lambda: {"changes": opened.book.changes(opened.queue)})


@router.get("/queues/{key}/items")
def items_page(
    request: Request,
    opened: FoundQueue,
    page: Annotated[int, Query(ge=1, le=10_000_000)] = 1,
    state: Annotated[str, Query(max_length=20)] = "all",
) -> HTMLResponse:
    """A page of items; the model's answer only where an item is labelled."""
    queue, status = opened.queue, opened.status()
    chosen = _chosen(queue, status, state)
    first = (page - 1) * PAGE_ITEMS
    return respond_about(
        request,
        "items.html",
        opened,
        rows=[item_facts(queue, status, int(i)) for i in chosen[first : first + PAGE_ITEMS]],
        state=state,
        states=("all", *STATES, "model wrong"),
        page=page,
        pages=max(1, -(-len(chosen) // PAGE_ITEMS)),
        total=len(chosen),
    )


@router.get("/queues/{key}/items/{item}/image.png")
def item_image(opened: FoundQueue, item: Number) -> Response:
    """The picture of an item."""
    queue = opened.queue
    seen = shown(queue.items, item) if item < len(queue) else None
    if not isinstance(seen, Picture):
        raise HTTPException(404)
    # Items of a queue never change.
    headers = {"cache-control": "private, max-age=3600"}
    return Response(seen.png(), media_type="image/png", headers=headers)


@router.get("/queues/{key}/conflicts")
def conflicts_page(request: Request, opened: FoundQueue) -> HTMLResponse:
    """Items that people answered differently."""
    queue, status = opened.queue, opened.status()
    rows = [
        item_facts(queue, status, i) | {"agreed": status.found[i], "captions": captions(queue, i)}
        for i in status.disagreements[:PAGE_ITEMS]
    ]
    total = len(status.disagreements)
    return respond_about(request, "conflicts.html", opened, rows=rows, total=total)


@router.post("/queues/{key}/resolve")
def resolve(request: Request, opened: FoundQueue) -> Response:
    """Settle one conflict."""
    form = request.state.form
    item = whole_number(form.get("item", ""), 0, len(opened.queue) - 1)
    choice = checked_choice(opened.queue, form.get("choice", ""))
    who = annotator_name(request) or "adjudicator"
    comment = form.get("comment", "")[:LONGEST_COMMENT]
    opened.book.resolve(opened.queue, item, who, choice, comment)
    return RedirectResponse(f"/queues/{opened.key}/conflicts", status_code=303)


@router.get("/queues/{key}/labels.csv")
def export(opened: FoundQueue) -> StreamingResponse:
    """All answers as CSV."""
    from fireassay.discovery.label_files import to_csv

    lines = to_csv(opened.queue, opened.book.answers(opened.queue))
    name = quote(f"{opened.queue.name}-labels.csv")
    headers = {"content-disposition": f"attachment; filename*=UTF-8''{name}"}
    return StreamingResponse(lines, media_type="text/csv; charset=utf-8", headers=headers)


@router.post("/queues/{key}/import")
def import_labels(request: Request, opened: FoundQueue) -> JSONResponse:
    """Labels from a CSV file (the body)."""
    try:
        text = request.state.body.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError("Expected a CSV file in UTF-8.", got="other bytes") from None
    try:
        new, total = opened.add_csv(text, annotator_name(request) or "import")
    except DataError as error:
        return JSONResponse({"message": f"Nothing was kept. {error}"}, status_code=400)
    return JSONResponse({"message": f"{new} new labels kept, of {total} in the file."})


def respond_about(
    request: Request, template: str, opened: OpenQueue, **values: Any
) -> HTMLResponse:
    """A page about a queue, for who sits at this browser."""
    common: dict[str, Any] = {
        "opened": opened,
        "queue": opened.queue,
        "annotator": annotator_name(request),
    }
    return respond(request, template, **common, **values)


def annotator_name(request: Request) -> str:
    """Who sits at this browser, as they said."""
    return clean_name(unquote(request.cookies.get("fireassay_annotator", "")))


def clean_name(name: str) -> str:
    """A name on one line, of bounded length."""
    return "".join(c for c in name if c.isprintable()).strip()[:LONGEST_NAME]


def whole_number(text: str, low: int, high: int) -> int:
    """A number from a form, in a range."""
    if not (text.isascii() and text.isdecimal()) or len(text) > 9 or not low <= int(text) <= high:
        raise DataError(f"Expected a number from {low} to {high}.", got=repr(text[:40]))
    return int(text)


def checked_choice(queue: Queue, text: str) -> int:
    """An answer from a form."""
    special = {"cannot-tell": CANNOT_TELL}
    if queue.purpose == "label":
        special["other"] = OTHER
    return special[text] if text in special else whole_number(text, 0, len(queue.choices) - 1)


def captions(queue: Queue, item: int) -> list[str]:
    """The texts of the buttons: class names, or the verdicts with the pair's names."""
    if queue.pairs is None:
        return list(queue.choices)
    first, second = (str(name) for name in queue.pairs[item])
    return ["Keep: both are there", "Reject: neither", f"More like {first}", f"More like {second}"]


def item_facts(queue: Queue, status: QueueStatus | None, item: int) -> dict[str, Any]:
    """What a template needs to show an item."""
    agreed = status.found.get(item) if status else None
    label = agreed.label if agreed else None
    wrong = queue.is_wrong(item, label)
    return {
        "item": item,
        "id": str(queue.ids[item]),
        "state": agreed.state if agreed else "open",
        "label": None if label is None else captions(queue, item)[label] if label >= 0 else "other",
        "predicted": None if wrong is None else queue.predicted_name(item),
        "confidence": None if wrong is None else float(queue.confidence[item]),
        "wrong": bool(wrong),
        **_content(queue, item),
        "pair": None if queue.pairs is None else [str(name) for name in queue.pairs[item]],
    }


def _content(queue: Queue, item: int) -> dict[str, Any]:
    """What shows an item, and what a screen reader says instead."""
    seen = shown(queue.items, item, names=queue.feature_names)
    if isinstance(seen, Picture):
        height, width = seen.pixels.shape[:2]
        what = f"image of {height} by {width} pixels"
        return {"description": f"The item: {what}", "sharp": max(height, width) < SMALL}
    if isinstance(seen, Words):
        return {"description": "The item: a text", "words": seen.text}
    if isinstance(seen, Table):
        what = f"row of {len(seen.names)} features"
        return {"description": f"The item: {what}", "features": list(seen)}
    said = f"The item: series of {seen.lines.shape[1]} time steps"
    return {"description": said, "series": series_chart(seen, said)}


def _chosen(queue: Queue, status: QueueStatus, state: str) -> Any:
    """Items of one state, in order; ranges and lists are sliced by the page, never loaded."""
    if state == "all":
        return range(len(queue))
    if state == "open":
        return [i for i in range(len(queue)) if i not in status.found]
    if state == "model wrong":
        return sorted(i for i, a in status.found.items() if queue.is_wrong(i, a.label))
    return sorted(i for i, agreed in status.found.items() if agreed.state == state)


def _pair_chart(status: QueueStatus) -> Chart | None:
    if status.precision is None:
        return None
    rows = [
        IntervalRow(" / ".join(pair), e.value, e.low, e.high, text=e.percent())
        for pair, e in list(status.precision.by_pair.items())[:60]
    ]
    spec = intervals(rows, "share kept", domain=(0.0, 1.0), width=260)
    return Chart(spec, "Share kept by pair of classes.", "A dot with an interval for each pair.")
