"""Many models judged on one test set, and a model judged against the one before."""

import json
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy.stats import beta
from typer.testing import CliRunner

from fireassay.cli.main import app

N = 400


def call(*arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments])


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Models that are wrong on the first few rows of a table: exactly as often as their name."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = rng.random((N, 2))
    rows = [f"{i},{a},{int(a > 0.5)}" for i, (a, _) in enumerate(X)]
    (tmp_path / "test.csv").write_text("id,a,label\n" + "\n".join(rows) + "\n")
    for wrong in (4, 6, 8, 11, 30):
        (tmp_path / f"wrong{wrong}.py").write_text(
            "import numpy as np\n"
            f"BAD = np.array({X[:wrong, 0].tolist()})\n"
            "def model(X):\n"
            "    one = (X[:, 0] > 0.5) ^ np.isin(X[:, 0], BAD)\n"
            "    return np.column_stack([1 - 0.9 * one - 0.05, 0.9 * one + 0.05])\n"
        )
    return tmp_path


def run(project, wrong, gates="", folder="fireassay-run"):
    (project / "fireassay.toml").write_text(
        f'[model]\npath = "wrong{wrong}:model"\nclasses = [0, 1]\n[data]\ntest = "test.csv"\n'
        f'label = "label"\n[run]\nfolder = "{folder}"\nparts = ["accuracy"]\n{gates}'
    )
    done = call("run", "-q", "--trust")
    assert done.exit_code == 0, done.output


def judged(*more):
    done = call("check", "fireassay-run", "--max", "accuracy.error=0.05", "--json", *more)
    return json.loads(done.stdout)["checks"][0]


def upper(wrong, alpha):
    return beta.isf(alpha, wrong + 1, N - wrong)


@pytest.mark.slow
def test_a_look_is_one_model_on_one_set_of_labels(project):
    run(project, 4)
    assert [judged()["looks"] for _ in range(3)] == [1, 1, 1]
    run(project, 6)
    assert judged()["looks"] == 2
    said = call("check", "fireassay-run", "--max", "accuracy.error=0.05").output
    assert "judged 2 times on these labels" in said
    run(project, 4)
    assert judged()["looks"] == 1  # the same result again


@pytest.mark.slow
def test_a_test_set_that_has_grown_is_the_same_and_another_one_is_not(project):
    run(project, 4)
    judged()
    rng = np.random.default_rng(1)
    with (project / "test.csv").open("a") as file:
        file.writelines(f"{N + i},{a},{int(a > 0.5)}\n" for i, a in enumerate(rng.random(200)))
    run(project, 4)
    assert judged()["looks"] == 2
    rows = "".join(f"{i},{a},{int(a > 0.5)}\n" for i, a in enumerate(rng.random(N)))
    (project / "test.csv").write_text("id,a,label\n" + rows)
    run(project, 4)
    assert judged()["looks"] == 1


def test_with_spend_each_look_gets_its_share(project):
    for wrong in (4, 6):
        run(project, wrong)
        assert judged("--spend")["status"] == "pass"
    # At its own level it would pass, among many looks it does not.
    run(project, 11)
    assert upper(11, 0.025) < 0.05 < upper(11, 0.025 / 12)
    assert judged()["status"] == "pass"
    assert judged("--spend")["status"] == "undecided"


@pytest.mark.slow
def test_planned_looks_are_used_up(project):
    gates = "[gates]\nlooks = 2\n[gates.max]\n'accuracy.error' = 0.05\n"
    for wrong, status in ((4, "pass"), (11, "undecided"), (6, "undecided")):
        run(project, wrong, gates)
        found = json.loads(call("check", "fireassay-run", "--json").stdout)["checks"][0]
        assert found["status"] == status, found
    assert "spent" in found["explanation"]
    assert upper(6, 0.025 / 2) < 0.05 < upper(11, 0.025 / 2)


def test_a_run_is_not_worse_than_itself_and_worse_than_a_better_one(project):
    run(project, 4, folder="old")
    run(project, 8, folder="fireassay-run")
    for base, margin, status, code in (
        ("fireassay-run", 0.0, "pass", 0),
        ("old", 0.03, "pass", 0),
        ("old", 0.01, "undecided", 3),
    ):
        done = call(
            "check", "fireassay-run", "--not-worse-than", base, "--margin", margin, "--json",
            "--junit", "out.xml",
        )  # fmt: skip
        found = json.loads(done.stdout)["checks"]
        assert [c["status"] for c in found] == [status], found
        assert done.exit_code == code
    case = ElementTree.parse("out.xml").find("testcase[@classname='fireassay.gates']")
    assert "worse than old" in case.get("name")
    assert case.find("error") is not None
    run(project, 30, folder="fireassay-run")
    done = call("check", "fireassay-run", "--not-worse-than", "old", "--margin", "0.01")
    assert done.exit_code == 1, done.output


def test_a_run_against_itself_has_not_changed(project):
    run(project, 8, folder="old")
    run(project, 8, folder="fireassay-run")
    record = json.loads(call("compare", "old", "fireassay-run", "--json").stdout)["fireassay-run"]
    for number in record["differences"]:
        assert (number["change"], number["low"], number["high"]) == (0, 0, 0), number
    assert record["newly_wrong"] == record["newly_right"] == []


def test_rows_that_became_wrong_are_named(project):
    run(project, 4, folder="old")
    run(project, 8, folder="fireassay-run")
    record = json.loads(call("compare", "old", "fireassay-run", "--json").stdout)["fireassay-run"]
    assert sorted(map(int, record["newly_wrong"])) == [4, 5, 6, 7]
    assert record["newly_right"] == []
    change = next(d for d in record["differences"] if d["number"] == "error")
    assert change["change"] == pytest.approx(4 / N)
    assert change["method"] == "Newcombe, paired"
    assert 0 < change["high"] < 0.04
    paired = {d["number"]: d["method"] for d in record["differences"]}
    assert "paired" in paired["calibration_error"]
    assert any("paired" in m for name, m in paired.items() if name.startswith("precision["))
