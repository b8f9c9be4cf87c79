"""Server-sent events: the page hears of a change within a second, without asking."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

from fastapi import Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse

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
