"""An export of predictions that nobody here prepared: semicolons, repeated patients."""

import csv
import random

import pytest
from typer.testing import CliRunner

from fireassay.cli.main import app


@pytest.fixture
def table(tmp_path):
    rng = random.Random(3)
    with (tmp_path / "preds.csv").open("w") as file:
        rows = csv.writer(file, delimiter=";")
        rows.writerow(["patient_id", "ward", "actual", "predicted", "probability"])
        for number in range(600):
            septic = rng.random() < 0.2
            p = min(0.999, max(0.001, rng.gauss(0.55 if septic else 0.12, 0.2)))
            names = ("sepsis", "none")
            truth, said = names[not septic], names[p < 0.3]
            rows.writerow([f"P{number % 550}", rng.choice("AB"), truth, said, round(p, 2)])
    return tmp_path / "preds.csv"


def call(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def test_a_short_name_without_a_positive_class_is_a_usage_error(table):
    said = call("judge", table, "--min", "sensitivity=0.8")
    assert said.exit_code == 2
    assert "--positive" in said.output
    assert "Traceback" not in said.output


@pytest.mark.slow
def test_with_the_positive_class_everything_is_judged(table, tmp_path):
    said = call(
        "judge", table, "--min", "sensitivity=0.5", "--positive", "sepsis", "-o", tmp_path / "r"
    )
    assert said.exit_code == 0, said.output
    assert "PASS" in said.output
    assert "First look" in (tmp_path / "r" / "report.html").read_text()
    assert call("check", tmp_path / "r", "--min", "sensitivity=0.5").exit_code == 0
