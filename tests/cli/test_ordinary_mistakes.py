"""Ordinary mistakes of a user: none may end in a green, confident, wrong answer."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import fireassay as fa
from fireassay.cli.main import app

runner = CliRunner()
# A model that says what the first feature says; the truth asks the second one, too.
MODEL = """
import numpy as np
def model(X):
    p = 1 / (1 + np.exp(-12 * (X[:, 0] - 0.5)))
    return np.column_stack([1 - p, p])
"""


def call(*arguments):
    return runner.invoke(app, [str(argument) for argument in arguments])


def rows(n, seed):
    X = np.random.default_rng(seed).random((n, 3))
    return X, (X[:, 0] + 0.3 * (X[:, 1] - 0.5) > 0.5).astype(int)


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder with a model and good labelled rows."""
    X, y = rows(400, 0)
    np.savez(tmp_path / "test.npz", X=X, y=y)
    (tmp_path / "mistaken.py").write_text(MODEL)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "mistaken", raising=False)
    return tmp_path


def begin(*more):
    started = call("init", "--model", "mistaken:model", "--data", "test.npz", *more)
    assert started.exit_code == 0, started.output


def limits(project, **gates):
    """Set limits in the file, as a user would."""
    config = project / "fireassay.toml"
    text = config.read_text()
    for direction, given in gates.items():
        lines = "\n".join(f'"{name}" = {limit}' for name, limit in given.items())
        text = text.replace(f"[gates.{direction}]", f"[gates.{direction}]\n{lines}")
    config.write_text(text)


def verdict():
    return json.loads(call("check", "fireassay-run", "--json").output)


def test_the_columns_in_another_order_stop_at_the_door(project):
    swapped = MODEL.replace("[1 - p, p]", "[p, 1 - p]")
    (project / "mistaken.py").write_text(swapped)
    found = call("init", "--model", "mistaken:model", "--data", "test.npz")
    assert found.exit_code == 2
    assert "order" in found.output
    assert not (project / "fireassay.toml").exists()


def test_without_bounds_no_attack_is_survived(project):
    begin()  # a table: nobody can infer its bounds
    limits(project, min={"survival.standing_share": 0.01})
    run = call("run", "--only", "survival", "--json")
    part = json.loads(run.output)["parts"]["survival"]
    # Attacked within the range of the rows, which is said; so is what could not be tried.
    assert part["status"] == "done"
    assert "300 queries within ℓ∞ ≤ 0.1 of each column's 5 % to 95 % range" in part["headline"]
    assert "not tried: pgd (the model gives no gradients)" in part["headline"]
    assert verdict()["checks"][0]["label"] == "Robust accuracy of right answers"


def test_groups_that_are_ignored_keep_a_limit_from_passing(project):
    X, y = rows(40, 0)
    repeated = np.repeat(X, 10, axis=0)
    np.savez(project / "test.npz", X=repeated, y=np.repeat(y, 10))
    begin()
    limits(project, min={"accuracy.accuracy": 0.6})
    assert call("run", "--only", "accuracy").exit_code == 0
    found = verdict()
    assert (found["status"], found["exit_code"]) == ("not enough evidence", 3)
    assert "independent-rows" in found["checks"][0]["explanation"]
    page = (project / "fireassay-run" / "report.html").read_text()
    first = page[page.index("<body>") : page.index("<main>")]
    assert "Do not rely on" in first
    assert "the labelled rows are independent draws" in first
    assert "the same as another in every column" in page


def test_a_pass_says_on_the_console_and_in_json_what_no_data_shows(project):
    """Rows of patients that nobody named, shuffled: no check of the rows can find them."""
    words = "if no two rows belong to one patient, device or document"
    begin()
    limits(project, max={"accuracy.error": 0.15})
    run = call("run", "--only", "accuracy")
    assert words in " ".join(run.output.split())
    told = call("check", "fireassay-run")
    assert told.exit_code == 0
    assert " ".join(told.output.split()).count(words) == 2
    found = verdict()
    assert words in found["headline"]
    assert words in found["checks"][0]["explanation"]
    page = (project / "fireassay-run" / "report.html").read_text()
    assert " ".join(page.split()).count(words) >= 2


def test_a_rare_class_that_is_never_found_leads_the_answer(project):
    X, y = rows(400, 0)
    y = y * 0
    y[:8] = 1
    np.savez(project / "test.npz", X=X, y=y)
    (project / "mistaken.py").write_text(
        "import numpy as np\n"
        "def model(X): return np.column_stack([0.9 - 0.1 * X[:, 0], 0.1 + 0.1 * X[:, 0]])\n"
    )
    begin("--accept-below-baseline")
    limits(project, min={"accuracy.worst_recall": 0.5})
    run = call("run", "--only", "accuracy", "--accept-below-baseline", "--json")
    part = json.loads(run.output)["parts"]["accuracy"]
    assert "Never finds" in part["sentence"]
    assert part["answer"] == "worst_recall"
    assert part["headline"].startswith(("Always says", "Never finds"))
    assert verdict()["status"] == "fail"


def test_without_limits_nothing_is_a_pass(project):
    begin()
    run = call("run", "--only", "accuracy")
    assert run.exit_code == 0
    assert "NO LIMITS SET: nothing here is a pass." in run.output
    found = call("check", "fireassay-run", "--junit", "out.xml")
    assert found.exit_code == 3
    assert "skipped" in (project / "out.xml").read_text()
    page = (project / "fireassay-run" / "report.html").read_text()
    assert "nothing here is a pass." in page
    # The file that init wrote proposes limits, with the labels that they need; none is set.
    proposed = (project / "fireassay.toml").read_text().partition("[gates.max]")[2]
    assert '# "reliability.pmi_upper"' in proposed
    assert '# "accuracy.accuracy"' in proposed
    assert "labels without an error" in proposed


def test_labels_from_the_field_that_contradict_the_bound_take_its_place(project):
    X, y = rows(400, 5)
    np.savez(project / "field.npz", X=X, y=np.where(X[:, 2] < 0.5, 1 - y, y))
    begin("--operational", "field.npz")
    text = (project / "fireassay.toml").read_text()
    settings = '[discovery]\nsearch = "low-confidence"\nbudget = 10\ndrawn = 80\n'
    text = text.replace("[discovery]\n", settings, 1)
    (project / "fireassay.toml").write_text(text)
    limits(project, max={"reliability.pmi_upper": 0.2})
    run = call("run", "--only", "discovery", "--only", "reliability", "--json")
    part = json.loads(run.output)["parts"]["reliability"]
    assert part["estimates"]["test_pmi_upper"]["value"] < 0.2  # which would have been a pass
    assert "do not agree" in part["headline"]
    found = verdict()
    assert (found["status"], found["exit_code"]) == ("fail", 1)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs signals")
def test_a_killed_run_is_not_a_pass_and_the_same_command_goes_on(project):
    begin()
    limits(project, min={"accuracy.accuracy": 0.6})
    assert call("run", "--only", "accuracy").exit_code == 0
    assert verdict()["status"] == "pass"
    slow = "import os, time\n" + MODEL.replace(
        "def model(X):", "def model(X):\n    open('asked', 'w').close(); time.sleep(60)"
    )
    (project / "mistaken.py").write_text(slow)
    path = os.pathsep.join(map(str, (project, *sys.path)))
    command = [sys.executable, "-m", "fireassay", "run", "--only", "accuracy", "--trust"]
    with subprocess.Popen(
        command, cwd=project, env={**os.environ, "PYTHONPATH": path}, stderr=subprocess.DEVNULL
    ) as process:
        for _ in range(1200):
            if (project / "asked").exists():
                break
            time.sleep(0.1)
        assert (project / "asked").exists()  # it is at work
        process.send_signal(signal.SIGKILL)
    (project / "mistaken.py").write_text(MODEL)
    found = verdict()
    assert found["status"] == "not enough evidence"
    assert "has not come to its end" in found["reservations"]["run"]
    assert call("run", "--only", "accuracy").exit_code == 0
    assert verdict()["status"] == "pass"


@pytest.mark.parametrize(
    ("direction", "name", "limit", "words"),
    [
        ("max", "accuracy.error", 5, "Write 0.05 for 5 %"),
        ("min", "accuracy.accuracy", 90, "Write 0.9 for 90 %"),
        ("max", "accuracy.accuracy", 0.99, "Give it under min"),
        ("min", "reliability.pmi_upper", 0.05, "Give it under max"),
    ],
)
def test_a_limit_that_keeps_nothing_bad_out_is_refused_before_anything_runs(
    project, direction, name, limit, words
):
    begin()
    limits(project, **{direction: {name: limit}})
    run = call("run", "--only", "accuracy")
    assert run.exit_code == 2
    assert words in run.output
    assert not (project / "fireassay-run").exists()


def test_a_table_without_names_of_columns_is_refused(project):
    X, y = rows(50, 0)
    np.savetxt(project / "test.csv", np.column_stack([X, y]), delimiter=",")
    found = call("init", "--model", "mistaken:model", "--data", "test.csv")
    assert found.exit_code == 2
    assert "first line of test.csv must name the columns" in found.output


def judged(model, X, y, limit=0.6, **more):
    """What becomes of a limit on accuracy, and the report."""
    report = fa.evaluate(model, X, y, parts=["accuracy", "reliability"], **more)
    return report.verdict({"min": {"accuracy.accuracy": limit}}).status, report


def answers(X):
    p = 1 / (1 + np.exp(-12 * (X[:, 0] - 0.5)))
    return np.column_stack([1 - p, p])


def model():
    return fa.as_classifier(answers, classes=[0, 1])


def test_pixels_up_to_255_for_a_model_of_0_to_1_are_refused():
    X, y = rows(200, 0)
    bounded = fa.as_classifier(answers, classes=[0, 1], bounds=(0, 1))
    with pytest.raises(fa.FireassayError, match="X / 255"):
        judged(bounded, 255 * X, y)


def test_shuffled_labels_fail():
    X, y = rows(400, 0)
    status, _ = judged(model(), X, np.random.default_rng(3).permutation(y))
    assert status == "fail"


def test_test_rows_that_are_training_rows_decide_nothing():
    X, y = rows(400, 0)
    status, report = judged(model(), X, y, train=(X, y))
    assert status == "not enough evidence"
    doubt = next(a for a in report["accuracy"].assumptions if a.id == "unseen-rows")
    assert "400 of 400 test rows are training rows" in doubt.check


def test_labels_of_other_classes_are_refused():
    X, y = rows(200, 0)
    with pytest.raises(fa.FireassayError, match="only classes of the model"):
        judged(model(), X, np.array(["cat", "dog"])[y])


@pytest.mark.parametrize("factor", [0.1, 10.0])
def test_confidences_at_another_temperature_break_their_limit(factor):
    X, y = rows(800, 0)
    y = np.where(np.random.default_rng(1).random(800) < 0.15, 1 - y, y)

    def heated(X):
        logit = factor * 12 * (X[:, 0] - 0.5)
        p = 1 / (1 + np.exp(-logit))
        return np.column_stack([1 - p, p])

    report = fa.evaluate(fa.as_classifier(heated, classes=[0, 1]), X, y, parts="accuracy")
    assert report.verdict({"max": {"calibration_error": 0.05}}).status == "fail"


def test_field_rows_of_another_population_leave_the_bound_undecided():
    X, y = rows(400, 0)
    report = judged(model(), X, y, operational=rows(400, 9)[0] ** 3)[1]
    verdict = report.verdict({"max": {"reliability.pmi_upper": 0.5}})
    assert verdict.status == "not enough evidence"
    assert "drawn like the inputs in the field" in verdict.checks[0].explanation


def test_one_row_over_and_over_decides_nothing():
    X, y = rows(1, 0)
    status, _ = judged(model(), np.repeat(X, 300, axis=0), np.repeat(y, 300))
    assert status == "not enough evidence"


def test_classes_without_a_labelled_row_are_named():
    X, y = rows(200, 0)
    report = judged(model(), X[y == 1], y[y == 1])[1]
    assert "Nothing about “0”: no labelled row is of such a class." in report["accuracy"].limits


@pytest.mark.parametrize("column", ["outcome", "outcome_code"])
def test_the_label_left_among_the_features_decides_nothing(project, column):
    X, y = rows(400, 0)
    frame = pd.DataFrame(X[:, :2], columns=["a", "b"]).round(3)
    frame[column] = y if column == "outcome" else np.where(y, "ill", "well")
    frame["label"] = y
    frame.to_csv(project / "test.csv", index=False)
    (project / "mistaken.py").write_text(
        "import numpy as np\ndef model(X):\n"
        "    last = X[:, 2] == 1 if isinstance(X, np.ndarray) else X['outcome_code'] == 'ill'\n"
        "    p = np.where(last, 0.98, 0.02)\n"
        "    return np.column_stack([1 - p, p])\n"
    )
    started = call("init", "--model", "mistaken:model", "--data", "test.csv", "--label", "label")
    said = f"Column '{column}' alone gives the label of 100.0 % of 400 rows"
    assert said in " ".join(started.output.split())
    limits(project, min={"accuracy.accuracy": 0.6})
    assert said in " ".join(call("run", "--only", "accuracy").output.split())
    found = verdict()
    assert (found["status"], found["exit_code"]) == ("not enough evidence", 3)
    assert "label-not-a-column" in found["checks"][0]["explanation"]
    config = project / "fireassay.toml"
    accepted = '[gates.accept]\n"label-not-a-column" = "known at admission"'
    config.write_text(config.read_text().replace("[gates.accept]", accepted))
    assert call("run", "--only", "accuracy").exit_code == 0
    assert verdict()["status"] == "pass"


def test_rows_that_nobody_compared_with_training_rows_say_so(project):
    begin()
    limits(project, min={"accuracy.accuracy": 0.6})
    run = call("run", "--only", "accuracy")
    assert "was not checked: no training rows were named" in " ".join(run.output.split())
    found = verdict()
    assert "if the model was not trained on these rows" in found["checks"][0]["explanation"]
    page = (project / "fireassay-run" / "report.html").read_text()
    assert "no training rows were named" in page


def test_a_model_below_chance_stops_the_run(project):
    X, _ = rows(400, 0)
    np.savez(project / "test.npz", X=X, y=np.floor(5 * X[:, 0]).astype(int))
    # Right on 8 % and wrong in all ways alike: no other order makes it good.
    (project / "mistaken.py").write_text(
        "import numpy as np\ndef model(X):\n"
        "    off = np.digitize(X[:, 1], [0.08, 0.31, 0.54, 0.77])\n"
        "    return 0.75 * np.eye(5)[(np.floor(5 * X[:, 0]).astype(int) + off) % 5] + 0.05\n"
    )
    begin()  # init asks about few rows: too few to tell it from chance
    stopped = call("run", "--only", "accuracy")
    assert stopped.exit_code == 2
    assert "less than the same answers dealt at random" in " ".join(stopped.output.split())
    assert "--accept-below-baseline" in stopped.output
    run = call("run", "--only", "accuracy", "--accept-below-baseline")
    assert run.exit_code == 0
    assert "It was accepted" in run.output


def test_a_model_that_always_says_the_same_leads_with_it(project):
    X, y = rows(400, 0)
    y[:80] = 1
    np.savez(project / "test.npz", X=X, y=y)
    (project / "mistaken.py").write_text(
        "import numpy as np\ndef model(X): return np.tile([0.4, 0.6], (len(X), 1))\n"
    )
    begin()
    limits(project, min={"accuracy.accuracy": 0.5, "accuracy.worst_recall": 0.1})
    part = json.loads(call("run", "--only", "accuracy", "--json").output)["parts"]["accuracy"]
    assert part["sentence"] == "Never finds “0”."
    assert part["headline"].startswith("Always says 1.")
    assert verdict()["status"] == "fail"  # of worst_recall; right on most rows it is all the same


def test_copies_of_training_rows_leave_limits_undecided_from_the_command_line(project):
    X, y = rows(400, 0)
    more, labels = rows(300, 1)
    np.savez(project / "train.npz", X=np.vstack([more, X[:50]]), y=np.hstack([labels, y[:50]]))
    said = "50 of 400 test rows are training rows, too"
    started = call(
        "init", "--model", "mistaken:model", "--data", "test.npz", "--train", "train.npz"
    )
    assert said in " ".join(started.output.split())
    limits(project, min={"accuracy.accuracy": 0.6})
    assert said in " ".join(call("run", "--only", "accuracy").output.split())
    found = verdict()
    assert (found["status"], found["exit_code"]) == ("not enough evidence", 3)
    assert "unseen-rows" in found["checks"][0]["explanation"]
