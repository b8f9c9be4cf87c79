"""The pictures of the labelling pages that the docs show, made from a real app and real labels.

    python docs/app_pictures.py

Two simulated people label what a search asks for, one reviews samples between two digits; then the
pages are opened in Chromium. Writes docs/images/web-results.png and web-review-phone.png.
"""

import os
import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from fireassay import ambiguity, discovery, web
from fireassay.data import digits, split
from fireassay.web.workspace import Workspace

IMAGES = Path(__file__).parent / "images"


def labelled(run: Path) -> None:
    """A search whose items two people have labelled, one of them a little carelessly."""
    train, pool = split(digits(), (0.15, 0.85), seed=0)
    flat = LogisticRegression(max_iter=300).fit(train.X.reshape(len(train), -1), train.y)

    def model(X: Any) -> Any:
        too_sure = flat.predict_proba(np.asarray(X).reshape(len(X), -1)) ** 4
        return too_sure / too_sure.sum(axis=1, keepdims=True)

    discovery.Search(
        "low-confidence", model=model, X=pool.X, budget=60, seed=0, path=run / "search.npz"
    )
    web.queue_from_search(run, pool.X, annotators_per_item=2, name="audit")
    workspace = Workspace([run])
    (queue,) = workspace.queues().values()
    careless = np.random.default_rng(1)
    for name in ("Ada", "Bob"):
        while (lease := queue.lease(name, name)) is not None:
            truth = int(pool.y[queue.queue.rows[lease.item]])
            slip = name == "Bob" and careless.random() < 0.1
            queue.book.answer(queue.queue, lease.token, (truth + 1) % 10 if slip else truth)
    workspace.close()


def between(run: Path) -> None:
    """Samples between two digits, to be reviewed."""
    train, _ = split(digits(), (0.7, 0.3), seed=0)
    made = ambiguity.AmbiguityGenerator(pairs=[(3, 8)], tries=2, seed=0)
    web.write_review_queue(run, made.fit(train.X, train.labels).sample(200), name="between")


@contextmanager
def served(folder: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """The app at its address, with the keys of its queues by name."""
    import uvicorn

    from fireassay.web.security import Access
    from fireassay.web.server import create_app

    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen(16)
    port = listening.getsockname()[1]
    app = create_app([folder], Access("127.0.0.1", port))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", ws="none"))
    thread = threading.Thread(target=lambda: server.run(sockets=[listening]))
    thread.start()
    while not server.started:
        time.sleep(0.05)
    keys = {found.queue.name: key for key, found in app.state.workspace.queues().items()}
    yield f"http://127.0.0.1:{port}", keys
    server.should_exit = True
    thread.join()


def main() -> None:
    """Make both pictures."""
    from playwright.sync_api import sync_playwright

    chromium = os.environ.get("FIREASSAY_CHROMIUM") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        run = Path(place) / "run"
        run.mkdir()
        labelled(run)
        between(run)
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        with served(Path(place)) as (address, keys):
            page = browser.new_page(viewport={"width": 1160, "height": 860})
            page.goto(f"{address}/queues/{keys['audit']}")
            page.wait_for_selector("[data-drawn=live]")
            page.screenshot(path=IMAGES / "web-results.png")
            page.close()
            context = browser.new_context(
                viewport={"width": 390, "height": 780}, color_scheme="dark", device_scale_factor=1.5
            )
            cookie = {"name": "fireassay_annotator", "value": "Ada", "url": address}
            context.add_cookies([cookie])
            page = context.new_page()
            page.goto(f"{address}/queues/{keys['between']}/label")
            page.wait_for_selector("[data-stage] img")
            page.screenshot(path=IMAGES / "web-review-phone.png")
            context.close()
        browser.close()


if __name__ == "__main__":
    main()
