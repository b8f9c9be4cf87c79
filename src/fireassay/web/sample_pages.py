"""The sample browser: all rows of a run by facets, a page at a time, one of them in detail."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.exceptions import HTTPException
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from fireassay.core.errors import DataError
from fireassay.web.pages import render, respond
from fireassay.web.queue_sources import LARGEST, free_name, queue_of_rows
from fireassay.web.run_pages import PICTURE_HEADERS, FoundRun, Number, sample_sets
from fireassay.web.sample_query import Others, SampleView, is_number, one_facet, read_query
from fireassay.web.sample_rows import (
    SampleSet,
    attacks_on,
    brief,
    changed_features,
    features,
    first_answers,
    is_small,
    neighbours,
    picture,
    scores_of,
    text_of,
)
from fireassay.web.workspace import Run

router = APIRouter()
PAGE_ROWS = 60
Source = Annotated[str, Query(alias="set", pattern="^(test|operational)$")]
_WHAT = {"input", "made", "difference"}


@router.get("/runs/{key}/samples")
def samples_page(
    request: Request,
    run: FoundRun,
    source: Source = "test",
    page: Annotated[int, Query(ge=1, le=10_000_000)] = 1,
    row: Annotated[int | None, Query(ge=0, le=10_000_000_000)] = None,
    show: Annotated[str, Query(max_length=200)] = "",
    layout: Annotated[str, Query(alias="view", pattern="^(grid|table|)$")] = "",
) -> HTMLResponse:
    """Facets, one page of rows, and the row that is looked at."""
    sets = sample_sets(request, run)
    if source not in sets:
        return respond(request, "no_samples.html", run=run)
    rows = sets[source]
    view = _view(request, run, rows, show)
    pages = max(1, -(-len(view.order) // PAGE_ROWS))
    page = min(page, pages)
    by, there = _sorted_by(rows, view), {facet.name for facet in view.facets}
    looked_at = row if row is not None and row < len(rows) else None
    return respond(
        request,
        "samples.html",
        run=run,
        rows=rows,
        sets=list(sets),
        view=view,
        query=view.query,
        items=[brief(rows, i) | {"score": _score(rows, i, by)} for i in view.page(page, PAGE_ROWS)],
        layout=layout or ("grid" if rows.kind in ("image", "series") else "table"),
        asked_layout=layout,
        score=by,
        page=page,
        pages=pages,
        first=(page - 1) * PAGE_ROWS,
        further=[name for name in rows.facets if name not in there],
        sorts=_sorts(rows),
        detail=None if looked_at is None else _detail(rows, looked_at),
        queue_name=free_name(run.folder),
        largest=LARGEST,
    )


@router.get("/runs/{key}/samples/facet")
def facet_fragment(
    request: Request,
    run: FoundRun,
    facet: Annotated[str, Query(max_length=200)],
    source: Source = "test",
) -> HTMLResponse:
    """One more histogram, when somebody opens it."""
    rows = _rows(request, run, source)
    if facet not in rows.facets:
        raise HTTPException(404)
    query = read_query(rows, request.query_params)
    counts = one_facet(rows, query, _others(request, source), facet)
    return HTMLResponse(render("facet.html", run=run, query=query, facet=counts, asked_layout=""))


@router.get("/runs/{key}/samples/{source}/{row}")
def sample_fragment(request: Request, run: FoundRun, source: str, row: Number) -> HTMLResponse:
    """One row in detail, for the pane."""
    rows = _rows(request, run, source)
    if row >= len(rows):
        raise HTTPException(404)
    return HTMLResponse(render("sample.html", run=run, rows=rows, detail=_detail(rows, row)))


@router.get("/runs/{key}/samples/{source}/{row}/near")
def near_fragment(request: Request, run: FoundRun, source: str, row: Number) -> HTMLResponse:
    """The rows nearest to one."""
    rows = _rows(request, run, source)
    if row >= len(rows):
        raise HTTPException(404)
    found = [{**brief(rows, i), "distance": d} for i, d in neighbours(rows, row)]
    return HTMLResponse(render("near.html", run=run, rows=rows, near=found))


@router.get("/runs/{key}/samples/{source}/{what}/{number}.png")
def sample_picture(
    request: Request, run: FoundRun, source: str, what: str, number: Number
) -> Response:
    """A picture of a row, or of what an attack made of one."""
    rows = _rows(request, run, source)
    column = "rows-content" if what == "input" else "adversarial-content"
    if what not in _WHAT or rows.kind != "image" or number >= len(rows.columns.get(column, ())):
        raise HTTPException(404)
    headers = {**PICTURE_HEADERS, "cache-control": "private, max-age=3600"}
    return Response(picture(rows, what, number), media_type="image/png", headers=headers)


@router.post("/runs/{key}/samples/queue")
def send_to_queue(request: Request, run: FoundRun, source: Source = "test") -> Response:
    """Make a labelling queue of chosen rows, or of all rows of a view."""
    rows = _rows(request, run, source)
    form = request.state.form
    view = _view(request, run, rows, "")
    if form.get("which") == "all":
        chosen = [int(i) for i in view.order[:LARGEST]]
    else:
        chosen = _numbers(form.get("rows", ""), len(rows))
    name = queue_of_rows(run.folder, rows, chosen, view.query, form)
    queues = request.app.state.workspace.queues().values()
    opened = next(q for q in queues if q.run.key == run.key and q.queue.name == name)
    return RedirectResponse(f"/queues/{opened.key}", status_code=303)


def _rows(request: Request, run: Run, source: str) -> SampleSet:
    found = sample_sets(request, run).get(source)
    if found is None:
        raise HTTPException(404)
    return found


def _others(request: Request, source: str) -> Others:
    """The same set of another run, by its key."""

    def find(key: str) -> SampleSet | None:
        run = request.app.state.workspace.runs().get(key)
        return None if run is None else sample_sets(request, run).get(source)

    return find


def _view(request: Request, run: Run, rows: SampleSet, show: str) -> SampleView:
    query = read_query(rows, request.query_params)
    found: SampleView = request.app.state.sample_views.get(
        run.key, rows, query, _others(request, rows.name), show
    )
    return found


def _score(rows: SampleSet, row: int, name: str | None) -> float | None:
    return None if name is None else float(rows.columns[rows.scores[name]["column"]][row])


def _sorted_by(rows: SampleSet, view: SampleView) -> str | None:
    name = view.query.sort.removeprefix("-").removeprefix("score.")
    return name if name in rows.scores else None


def _sorts(rows: SampleSet) -> list[tuple[str, str]]:
    found = [("", "as in the file")]
    for name, title in rows.facets.items():
        if name == "confidence":
            found += [("-confidence", "surest first"), ("confidence", "least sure first")]
        elif is_number(name):
            found += [(f"-{name}", f"{title}, highest first"), (name, f"{title}, lowest first")]
    return found


def _detail(rows: SampleSet, row: int) -> dict[str, Any]:
    falls, table = attacks_on(rows, row), rows.kind == "table"
    made = [fall.picture for fall in falls if fall.picture is not None and table]
    levels = {name: int(rows.columns[one["column"]][row]) for name, one in rows.slices.items()}
    return {
        **brief(rows, row),
        "top": first_answers(rows, row),
        "scores": scores_of(rows, row),
        "falls": falls,
        "changes": {number: changed_features(rows, number) for number in made},
        "all_features": features(rows, row) if table else [],
        "whole_text": text_of(rows, row) if rows.kind == "text" else "",
        "slices": [(name, rows.slices[name]["levels"][i]) for name, i in levels.items()],
        "parts": [name for name in rows.facts["parts"] if rows.flag(row, name)],
        "marks": [name for name in rows.facts["marks"] if rows.flag(row, name)],
        "small": is_small(rows),
    }


def _numbers(text: str, n: int) -> list[int]:
    """Row numbers from a form, each once, in the order given."""
    found = [one for one in text.split(",") if one]
    if any(not (one.isascii() and one.isdecimal()) or len(one) > 10 for one in found):
        raise DataError("Expected numbers of rows.", got=repr(text[:60]))
    chosen = list(dict.fromkeys(map(int, found)))
    if not chosen or max(chosen) >= n:
        raise DataError(
            "Choose at least one row.", got="none" if not chosen else str(max(chosen)),
            do="Press x on a row, or take all rows of the view.",
        )  # fmt: skip
    return chosen[:LARGEST]
