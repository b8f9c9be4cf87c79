"""The labelling page: one item, a few keys, saved before the next one is shown."""

from collections.abc import Sequence
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from fireassay.core.errors import DataError
from fireassay.engine.labels.records import LeaseLostError
from fireassay.web.queue import Queue
from fireassay.web.queue_pages import (
    LONGEST_COMMENT,
    FoundQueue,
    annotator_name,
    captions,
    checked_choice,
    clean_name,
    item_facts,
    respond_about,
)
from fireassay.web.workspace import OpenQueue

router = APIRouter()
_YEAR_S = 31_536_000
# Digits first, then letters that are not taken by undo, skip, cannot tell, none, comment, pixels.
_KEYS = "1234567890qwertyioadfghjklzxvb"
_TAKEN = frozenset("uscnmp")
_SHORT = 4


def _need_name(request: Request) -> str:
    name = annotator_name(request)
    if not name:
        raise DataError("Please say who you are first.", got="no name")
    return name


Named = Annotated[str, Depends(_need_name)]


@router.post("/annotator")
def set_annotator(request: Request) -> Response:
    """Remember who sits at this browser."""
    form = request.state.form
    name = clean_name(form.get("name", ""))
    if not name:
        raise DataError("Please give a name.", got="none", do="It is kept with your labels.")
    key = form.get("queue", "")
    opened = request.app.state.workspace.queue(key)
    where = f"/queues/{opened.key}/label" if opened is not None else "/"
    answer = RedirectResponse(where, status_code=303)
    answer.set_cookie(
        "fireassay_annotator", quote(name), max_age=_YEAR_S, httponly=True, samesite="strict"
    )
    return answer


@router.get("/queues/{key}/label")
def label_page(request: Request, opened: FoundQueue) -> HTMLResponse:
    """The item that this annotator labels next."""
    name = annotator_name(request)
    task = _task(request, opened, name) if name else None
    return respond_about(request, "label.html", opened, task=task)


@router.post("/queues/{key}/answer")
def answer(request: Request, opened: FoundQueue, name: Named) -> Response:
    """Keep an answer (or a skip); only then show the next item."""
    form = request.state.form
    action = form.get("choice", "")
    comment = form.get("comment", "")[:LONGEST_COMMENT]
    skip = action == "skip"
    choice = None if skip else checked_choice(opened.queue, action)
    try:
        token = form.get("token", "")
        opened.book.answer(opened.queue, token, choice, comment=comment, skip=skip)
        message = "Skipped." if skip else "Saved."
    except LeaseLostError as lost:
        return _next(request, opened, name, str(lost), saved=False)
    return _next(request, opened, name, message)


@router.post("/queues/{key}/undo")
def undo(request: Request, opened: FoundQueue, name: Named) -> Response:
    """Take the last answer back and show its item again."""
    last = opened.book.undo(opened.queue, name, request.state.session)
    return _next(request, opened, name, "Taken back." if last else "There is nothing to take back.")


@router.post("/queues/{key}/skipped")
def offer_skipped(request: Request, opened: FoundQueue, name: Named) -> Response:
    """Go through the skipped items again."""
    count = opened.book.offer_skipped_again(opened.queue, name)
    return _next(request, opened, name, f"{count} skipped items come again.")


def _next(
    request: Request, opened: OpenQueue, name: str, message: str, *, saved: bool = True
) -> Response:
    """The next item; that something was not saved is said also where no script asks."""
    fragment = request.headers.get("x-fragment") == "task"
    if saved and not fragment:
        return RedirectResponse(f"/queues/{opened.key}/label", status_code=303)
    task = _task(request, opened, name, message)
    if fragment:
        return respond_about(request, "task.html", opened, task=task)
    return respond_about(request, "label.html", opened, task=task, status_code=409)


def _task(request: Request, opened: OpenQueue, name: str, message: str = "") -> dict[str, Any]:
    """The next item with its buttons, and what was said about the last one."""
    queue = opened.queue
    lease = opened.lease(name, request.state.session)
    last = opened.book.last_answer(queue, name)
    task: dict[str, Any] = {
        "message": message,
        "counts": opened.book.counts(queue, name),
        "last": None if last is None else _last(queue, last.item, last.kind, last.choice),
        "item": None,
    }
    if lease is not None:
        texts = captions(queue, lease.item)
        task["item"] = {
            **item_facts(queue, None, lease.item),
            "token": lease.token,
            "after_reveal": lease.after_reveal,
            "buttons": list(zip(range(len(texts)), texts, answer_keys(texts), strict=True)),
            "short": max(map(len, texts)) <= _SHORT,
        }
    return task


def answer_keys(texts: Sequence[str]) -> list[str]:
    """The key of each answer: its own name where all names are single characters."""
    names = [text.lower() for text in texts]
    single = all(len(name) == 1 and name.isalnum() for name in names)
    if single and len(set(names)) == len(names) and not _TAKEN & set(names):
        return names
    return [_KEYS[i] if i < len(_KEYS) else "" for i in range(len(texts))]


def _last(queue: Queue, item: int, kind: str, choice: int | None) -> dict[str, Any]:
    said = None
    if choice is not None:
        said = captions(queue, item)[choice] if choice >= 0 else queue.choice_name(choice)
    told: dict[str, Any] = {"predicted": None, "confidence": None, "agrees": False}
    if kind == "answer" and queue.reveals(item):
        told = {
            "predicted": queue.predicted_name(item),
            "agrees": queue.is_wrong(item, choice) is False,
        }
        told["confidence"] = float(queue.confidence[item])
    known = {"item": item, "id": str(queue.ids[item]), "kind": kind, "said": said}
    return known | told | {"told": choice is not None and choice != -1}
