"""Prints a page as PDF with a Chromium that is installed on this machine."""

import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final

from fireassay.core import FireassayError

_BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome", "chrome", "msedge")
_SECONDS: Final = 120


def print_pdf(page: Path, pdf: Path) -> Path:
    """Write an offline HTML file as PDF; without a browser there is an error."""
    browser = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if browser is None:
        raise FireassayError(
            "A PDF needs a Chromium on this machine.",
            got=f"none of {', '.join(_BROWSERS)}",
            do=f"Install one, or open {page} in a browser and print it.",
        )
    with tempfile.TemporaryDirectory() as profile:
        # Chromium refuses its sandbox to root; the page is ours, without scripts from elsewhere.
        told = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"]
        told += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
        told += [f"--user-data-dir={profile}", "--no-pdf-header-footer"]
        told += [f"--print-to-pdf={pdf.resolve()}", page.resolve().as_uri()]
        done = subprocess.run(told, capture_output=True, timeout=_SECONDS, check=False)  # noqa: S603
    if done.returncode or not pdf.is_file():
        raise FireassayError(f"Expected {browser} to write {pdf}.", got=done.stderr.decode()[-200:])
    return pdf
