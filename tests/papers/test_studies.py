"""The quick version of every study, as ``make papers-quick`` runs it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fireassay.engine.labels.book import LabelBook
from fireassay.web.queue import QUEUES, read_queue
from fireassay.web.queue_state import in_order
from fireassay.web.review import KEEP, REJECT

ROOT = Path(__file__).resolve().parents[2]


def run(*arguments):
    command = [sys.executable, str(ROOT / "studies" / "all.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def stored(folder):
    return {path.stem: json.loads(path.read_text()) for path in folder.rglob("*.json")}


@pytest.mark.slow
@pytest.mark.long
def test_studies_without_data_run_and_go_on(tmp_path, monkeypatch):
    monkeypatch.delenv("FIREASSAY_DATA", raising=False)
    before = (ROOT / "studies" / "results" / "superpixels.json").read_bytes()
    first = run("--work", tmp_path, "--quick", "--only", "superpixels", "curation")
    assert "not done: curation: no nad in FIREASSAY_DATA" in first.stdout
    assert first.returncode == 1
    assert "5 of 5 done" in first.stdout
    found = stored(tmp_path)["superpixels"]
    again = run("--work", tmp_path, "--quick", "--only", "superpixels")
    assert again.returncode == 0, again.stderr
    assert "of 5 done" not in again.stdout  # the journal has them
    assert stored(tmp_path)["superpixels"] == found
    assert (ROOT / "studies" / "results" / "superpixels.json").read_bytes() == before


@pytest.mark.slow
def test_the_page_on_supervisors_shows_what_is_stored(tmp_path):
    command = [sys.executable, str(ROOT / "studies" / "supervision_table2.py"), "--work", tmp_path]
    done = subprocess.run([*command, "--table"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() in (ROOT / "docs" / "supervision.md").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize(
    ("study", "result", "figures"),
    [
        ("survival_archive", "survival_archive", 4),
        ("reliability_table1", "reliability_table1", 3),
        ("curation", "curation_case_studies", 1),
        ("reliability_mnist", "reliability_mnist", 0),
        ("authors_archives", "authors_archives", 0),
        ("reliability_authors_mnist", "reliability_authors_mnist", 0),
    ],
)
def test_quick_studies_on_real_data(study, result, figures, tmp_path):
    if not os.environ.get("FIREASSAY_DATA"):
        pytest.skip("FIREASSAY_DATA is not set")
    done = run("--work", tmp_path, "--quick", "--only", study)
    assert done.returncode == 0, done.stdout + done.stderr
    assert stored(tmp_path)[result]
    assert len(list(tmp_path.rglob("*.svg"))) == figures


@pytest.mark.slow
@pytest.mark.long
def test_what_people_keep_of_generated_samples_is_counted(tmp_path):
    if not os.environ.get("FIREASSAY_DATA"):
        pytest.skip("FIREASSAY_DATA is not set")
    done = run("--work", tmp_path, "--quick", "--only", "ambiguity", "ambiguity_fig8")
    assert done.returncode == 0, done.stdout + done.stderr
    table = stored(tmp_path)["ambiguity_table1"]
    assert {part["model"] for part in table["parts"]} == {"CNN", "MLP", "DenseNet", "ResNet"}
    assert table["sets"]["mnist"]["accepted"] <= table["sets"]["mnist"]["autoencoders"] == 2
    assert stored(tmp_path)["ambiguity_fig8"] == {"mnist": {"queued": 100, "reviewed": 0}}
    review = tmp_path / "ambiguity" / "review"
    queue = read_queue(review / QUEUES / "mnist")
    with LabelBook(review) as book:  # as the app does when somebody answers
        given = [(item, "ada", KEEP if item < 7 else REJECT, "") for item in range(10)]
        book.add_all(queue, given, in_order(queue))
    assert run("--work", tmp_path, "--quick", "--only", "ambiguity_fig8").returncode == 0
    found = stored(tmp_path)["ambiguity_fig8"]["mnist"]
    assert (found["reviewed"], found["kept"], found["share"]) == (10, 7, 0.7)
    assert found["low"] < 0.7 < found["high"]
    assert (tmp_path / "ambiguity" / "ambiguity_fig_8.png").is_file()


def test_one_table_of_one_paper_is_printed():
    command = [sys.executable, str(ROOT / "studies" / "papers.py"), "003", "--table", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "| Table 1, MNIST, test error" in done.stdout
    assert "Fig. 1" not in done.stdout
    assert "TRASHFIRE" not in done.stdout


def test_results_are_plain_json():
    for path in (ROOT / "studies" / "results").rglob("*.json"):
        assert json.loads(path.read_text(), parse_constant=pytest.fail), path
