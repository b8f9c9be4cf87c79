"""What the commands of the studies share: options, the journal, remaining time, results."""

import argparse
import json
import logging
import os
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fireassay.core.chart import Chart
from fireassay.engine import Executor, RunStore

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "studies" / "results"
FIGURES = ROOT / "docs" / "papers"


def options(doc: str | None) -> argparse.ArgumentParser:
    """A parser with what every study takes."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    formatter = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=doc, formatter_class=formatter)
    parser.add_argument("--work", type=Path, required=True, help="Journal and checkpoints.")
    parser.add_argument("--results", type=Path, default=RESULTS, help="Where the JSON goes.")
    parser.add_argument("--quick", action="store_true", help="A version of about a minute.")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--cluster", help="The address of a Dask scheduler.")
    return parser


def data_folder() -> Path:
    """The folder of the real data, or an end with what to do."""
    named = os.environ.get("FIREASSAY_DATA")
    if not named:
        raise SystemExit("Set FIREASSAY_DATA to the folder with the data of the studies.")
    return Path(named)


def executor(chosen: argparse.Namespace) -> Executor:
    """Journalled in ``--work``; says after each task how much time is left."""
    chosen.work.mkdir(parents=True, exist_ok=True)
    return Executor(
        workers=chosen.workers,
        cluster=chosen.cluster,
        store=RunStore(chosen.work / "journal"),
        progress=Remaining(),
    )


class Remaining:
    """Prints how many tasks are done and, from the pace of this process, when the rest will be."""

    def __init__(self) -> None:
        self.first: tuple[int, float] | None = None

    def __call__(self, done: int, total: int) -> None:
        """After a task; the pace is known from the second on."""
        now = time.monotonic()
        if self.first is None or done <= self.first[0] or done == total:
            self.first = done, now
            print(f"{done:,} of {total:,} done", flush=True)
            return
        pace = (now - self.first[1]) / (done - self.first[0])
        left = (total - done) * pace / 60
        print(f"{done:,} of {total:,} done, about {left:.0f} minutes left", flush=True)


def write(chosen: argparse.Namespace, name: str, results: dict[str, Any]) -> Path:
    """Leave the results as JSON; a quick version stays in ``--work``."""
    folder: Path = chosen.work if chosen.quick else chosen.results
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, indent=1, default=float) + "\n")
    print(f"wrote {path}", flush=True)
    return path


def draw(chosen: argparse.Namespace, paper: str, charts: Mapping[str, Chart]) -> None:
    """Figures beside the documentation; those of a quick version stay in ``--work``."""
    draw_to(chosen.work if chosen.quick else FIGURES, paper, charts)


def draw_to(folder: Path, paper: str, charts: Mapping[str, Chart]) -> None:
    """Figures in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, chart in charts.items():
        (folder / f"{paper}_{name}.svg").write_text(_still(chart.svg()) + "\n", encoding="utf-8")
    print(f"drew {', '.join(charts)} to {folder}", flush=True)


def _still(svg: str) -> str:
    """Without marks and texts that only a pointer finds: most of a drawing's bytes."""
    seen = re.sub(r'<path [^>]*\bopacity="0"[^>]*/>', "", svg)
    return re.sub(
        r' aria-label="[^"]*" role="graphics-symbol" aria-roledescription="[^"]*"', "", seen
    )
