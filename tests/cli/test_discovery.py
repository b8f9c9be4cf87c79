import csv
import json
import re

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from fireassay.cli import label
from fireassay.cli.discovery import discovery
from fireassay.core import DataError, ParameterError

app = typer.Typer(pretty_exceptions_enable=False)
app.command()(discovery)
app.add_typer(label.app, name="label")
runner = CliRunner()


def call(*arguments):
    found = runner.invoke(app, [str(argument) for argument in arguments])
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception
    return found


@pytest.fixture
def files(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4))
    y = (rng.random(300) < 1 / (1 + np.exp(-X[:, 0]))).astype(int)
    np.savez(tmp_path / "labelled.npz", X=X, y=y)
    np.savez(tmp_path / "unlabelled.npz", X=X)
    (tmp_path / "overconfident.py").write_text(
        "import numpy as np\n"
        "def model(X):\n"
        "    p = 1 / (1 + np.exp(-6 * X[:, 0]))\n"
        "    return np.column_stack([1 - p, p])\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


MODEL = "overconfident:model"


def test_a_labelled_file_plays_the_oracle(files):
    out = call(
        "discovery", MODEL, files / "labelled.npz", "--search", "random", "--trust", "--json"
    )
    found = json.loads(out.stdout)
    assert found["estimates"]["sdr"]["value"] > 2
    assert found["provenance"]["labels"] == 50


def test_calibration_removes_what_was_only_overconfidence(files):
    out = call(
        "discovery", MODEL, files / "labelled.npz", "--calibration", files / "labelled.npz",
        "--search", "random", "--threshold", "0.5", "--trust", "--json",
    )  # fmt: skip
    found = json.loads(out.stdout)
    assert found["estimates"]["sdr"]["low"] > 1  # of what the model itself says
    after = found["estimates"]["sdr_calibrated"]
    assert after["low"] < 1 < after["high"]
    mended = next(c for c in found["claims"] if "calibrated confidences" in c["text"])
    assert not mended["holds"]


def test_without_labels_the_search_waits_for_them(files):
    with pytest.raises(ParameterError, match="--output"):
        call("discovery", MODEL, files / "unlabelled.npz", "--trust")
    run = files / "run"
    arguments = ("discovery", MODEL, files / "unlabelled.npz", "-o", run, "--trust",
                 "--search", "low-confidence", "--budget", 4)  # fmt: skip
    assert "label next" in call(*arguments).stdout
    with pytest.raises(ParameterError, match="has one"):
        call(*arguments)
    call("label", "next", run, "--csv", files / "next.csv", "-n", 4)
    with open(files / "next.csv", newline="") as file:
        lines = list(csv.DictReader(file))
    with open(files / "done.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["row", "label"])
        writer.writerows([line["id"], 1] for line in lines)
    found = json.loads(call("label", "add", run, files / "done.csv", "--json").stdout)
    assert found["provenance"]["labels"] == 4


def test_adversarial_distance_and_comparison_from_the_command_line(files):
    out = call("discovery", MODEL, files / "labelled.npz", "--trust", "--budget", 10, "--search",
               "adversarial-distance", "--max-queries", 40, "--matched-share", "0.2")  # fmt: skip
    assert re.search(r"(1 confident error|\d+ confident errors) in 8 labels", out.stdout)
    out = call("discovery", MODEL, files / "labelled.npz", "--trust", "--compare", "--budget", 10,
               "--max-queries", 30, "--replications", 2, "--json")  # fmt: skip
    assert "sdr_bansal-weld" in json.loads(out.stdout)["estimates"]


def test_comparison_needs_labels(files):
    with pytest.raises(DataError, match="labels"):
        call("discovery", MODEL, files / "unlabelled.npz", "--trust", "--compare")


def test_the_default_learns_and_says_how_many_are_left(files):
    out = call("discovery", MODEL, files / "labelled.npz", "--trust", "--budget", 40, "--json",
               "--calibration", files / "labelled.npz")  # fmt: skip
    found = json.loads(out.stdout)
    left = found["estimates"]["errors_left"]
    assert 0 <= left["low"] <= left["high"]
    assert found["provenance"]["labels"] == 40
    assert any("without a label" in claim["text"] for claim in found["claims"])


def test_texts_are_searched_and_compared_from_the_command_line(files):
    (files / "by_word.py").write_text(
        "import numpy as np\n"
        "def model(texts):\n"
        "    p = np.array([0.9 if 'stone' in text else 0.1 for text in texts])\n"
        "    return np.column_stack([1 - p, p])\n"
    )
    rng = np.random.default_rng(0)
    with open(files / "texts.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "label"])
        for i in range(120):
            word = ["a long river in the west", "a heavy stone on the road"][i % 2]
            tricked = rng.random() < 0.3
            writer.writerow([f"{word} number {i}{' club' if tricked else ''}", (i % 2) ^ tricked])
    arguments = ("discovery", "by_word:model", files / "texts.csv", "--trust", "--json",
                 "--label", "label", "--budget", 30)  # fmt: skip
    found = json.loads(call(*arguments).stdout)
    assert found["estimates"]["errors_found"]["value"] > 12
    compared = json.loads(call(*arguments, "--compare", "--replications", 2).stdout)
    assert "sdr_twin-trees" in compared["estimates"]
    assert "sdr_hybrid" not in compared["estimates"]
