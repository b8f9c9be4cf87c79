"""A run folder and results that 0.2.0 wrote: everything in them loads."""

import json
import sqlite3
import zipfile
from pathlib import Path

import pytest

import fireassay as fa
from fireassay.assessment.parts.table import PARTS
from fireassay.assessment.run.compare import pair_runs
from fireassay.assessment.run.folder import noted, read_costs, read_results
from fireassay.assessment.run.judging import read_judged
from fireassay.assessment.run.stale import read_made
from fireassay.core import codec, json_files
from fireassay.engine import RunStore


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("old")
    with zipfile.ZipFile(Path(__file__).with_name("saved_by_0_2_0.zip")) as archive:
        archive.extractall(folder)
    return folder


def test_every_saved_result_loads(saved: Path) -> None:
    for path in sorted((saved / "results").glob("*.npz")):
        assert len(fa.load(path).frame())
    for path in sorted((saved / "run" / "artifacts").iterdir()):
        codec.load(path)


def test_the_evidence_of_every_part_is_decoded(saved: Path) -> None:
    with sqlite3.connect(saved / "run" / "run.sqlite") as journal:
        tasks = journal.execute("SELECT id, name FROM tasks WHERE status = 'done'").fetchall()
        meta = [row[0] for row in journal.execute("SELECT value FROM meta")]
    with RunStore(saved / "run", read_only=True) as store:
        parts = [key for key, name in tasks if name.startswith("part ")]
        assert all(store.finished(parts, only="evidence")[key].estimates for key in parts)
    decoded = [codec.decode(json_files.loads(text), {}) for text in meta]
    assert len(parts) == 7
    assert len(decoded) == 9


def test_it_is_judged_and_compared_by_this_version(saved: Path) -> None:
    run = saved / "run"
    judged = read_judged(run)
    assert [part.question for part in judged.report.parts if part.charts] == list(PARTS)
    assert judged.verdict.status == judged.report.verdict(judged.gates).status
    assert read_results(run) == {}  # of another version
    assert pair_runs(run, run, (judged.report, judged.report)).changes == {}
    with RunStore(run, read_only=True) as store:
        assert all(one["key"] and one["objects"] for one in read_made(store).values())
        assert noted(store)["under way"] is None


def test_its_report_is_made_again(saved: Path) -> None:
    document = json.loads((saved / "run" / "result.json").read_text())
    assert {part["status"] for part in document["parts"].values()} == {"done"}


def test_its_page_shows_the_rows_that_were_sent(saved: Path, tmp_path: Path) -> None:
    judged, costs = read_judged(saved / "run"), read_costs(saved / "run")
    page = judged.report.to_html(tmp_path / "report.html", judged.gates, costs=costs).read_text()
    sent = [cost["actual"]["rows_sent"] for cost in costs.values()]  # 0.3.0 calls them delivered
    assert page.count('<td class="n">768</td>') == sent.count(768) > 0
