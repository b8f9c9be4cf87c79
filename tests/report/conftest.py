"""A browser for the pages, where there is one."""

import os
import shutil
from pathlib import Path

import pytest

CHROMIUM = next(
    (
        p
        for p in (os.environ.get("FIREASSAY_CHROMIUM"), "/usr/bin/chromium")
        if p and Path(p).exists()
    ),
    shutil.which("chromium") or shutil.which("google-chrome"),
)


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        pytest.skip("no Chromium found: set FIREASSAY_CHROMIUM")
    api = pytest.importorskip("playwright.sync_api", reason="needs playwright (extra 'dev')")
    with api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(
            executable_path=CHROMIUM,
            args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
        )
        yield opened
        opened.close()


@pytest.fixture
def barriers():
    """What axe-core finds wrong with a page."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs extra 'dev'")

    def found(page):
        broken = axe.Axe().run(page).response["violations"]
        return [(v["id"], [node["html"][:120] for node in v["nodes"][:3]]) for v in broken]

    return found
