"""The picture of the report's first screen that README and docs show, made from a demo run.

fireassay demo --output demo
python docs/verdict_picture.py demo/report.html docs/images/verdict.png
"""

import io
import os
import shutil
import sys
from pathlib import Path

SIZE = {"width": 1160, "height": 1060}


def picture(page: Path) -> bytes:
    """The first screen as a small PNG."""
    from PIL import Image
    from playwright.sync_api import sync_playwright

    chromium = os.environ.get("FIREASSAY_CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        opened = browser.new_page(viewport=SIZE, color_scheme="light")
        opened.goto(page.resolve().as_uri())
        taken = opened.screenshot()
        browser.close()
    small = Image.open(io.BytesIO(taken)).convert("RGB").quantize(255, dither=Image.Dither.NONE)
    written = io.BytesIO()
    small.save(written, format="PNG", optimize=True)
    return written.getvalue()


if __name__ == "__main__":
    source, target = map(Path, sys.argv[1:3])
    target.write_bytes(picture(source))
