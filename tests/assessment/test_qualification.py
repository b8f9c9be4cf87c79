"""The record for tool qualification: known answers, hashes of what is installed, known limits."""

import hashlib
import json
from importlib.resources import files
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

import fireassay
from fireassay import statistics
from fireassay.assessment.doctor import KNOWN_LIMITS, self_test
from fireassay.cli.main import app
from fireassay.report.bom import PAPERS


def qualified(tmp_path):
    file = tmp_path / "record.json"
    done = CliRunner().invoke(app, ["doctor", "--qualify", str(file)])
    return done, json.loads(file.read_text())


def test_every_known_answer_comes_out_and_files_are_hashed(tmp_path):
    done, record = qualified(tmp_path)
    assert done.exit_code == 0, done.output
    assert record["holds"]
    assert len(record["self_test"]) >= 10
    own = files("fireassay").joinpath("statistics", "counts.py").read_bytes()
    assert record["files"]["statistics/counts.py"] == hashlib.sha256(own).hexdigest()
    assert record["tool"]["version"] == fireassay.version.__version__
    assert record["known_limits"] == list(KNOWN_LIMITS)


@pytest.mark.parametrize(
    ("name", "wrong", "found"),
    [
        ("clopper_pearson", lambda *_: (0.0, 0.25), ["10 rows", "40 rows"]),
        ("cohen_kappa", lambda *_: 1 / 0, ["kappa"]),
    ],
)
def test_a_wrong_function_is_found(tmp_path, monkeypatch, name, wrong, found):
    monkeypatch.setattr(statistics, name, wrong)
    failed = [test.what for test in self_test() if not test.holds]
    assert len(failed) == len(found)
    assert all(word in what for word, what in zip(found, failed, strict=True))
    done, record = qualified(tmp_path)
    assert done.exit_code == 1
    assert not record["holds"]


def test_the_citation_file_names_each_paper():
    listed = yaml.safe_load((Path(__file__).parents[2] / "CITATION.cff").read_text())
    titles = [one["title"] for one in listed["references"]]
    assert titles == [title for _, _, title, _ in PAPERS.values()]
