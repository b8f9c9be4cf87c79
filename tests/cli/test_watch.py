"""``fireassay watch`` as people start it: files that grow, kills, alarms."""

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

from fireassay.cli.main import app

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
MODEL = "import numpy as np\ndef model(X): return np.column_stack([1 - X[:, 0], X[:, 0]])\n"


def world(n, rng, rate):
    X = rng.random((n, 2))
    return X, ((X[:, 0] > 0.5) ^ (rng.random(n) < rate)).astype(int)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "halves.py").write_text(MODEL)
    (tmp_path / "fireassay.toml").write_text(
        '[model]\npath = "halves:model"\nclasses = [0, 1]\n[data]\ntest = "reference.csv"\n'
    )
    X, y = world(600, np.random.default_rng(0), 0.02)
    rows = "".join(f"{a},{b},{c}\n" for (a, b), c in zip(X, y, strict=True))
    (tmp_path / "reference.csv").write_text("a,b,label\n" + rows)
    return tmp_path


def json_lines(X, y, late=20, first=0):
    """Rows, and their labels 20 rows later."""
    found = []
    for i, row in enumerate(X):
        found.append(json.dumps({"id": first + i, "row": row.tolist()}))
        if i >= late:
            found.append(json.dumps({"id": first + i - late, "label": int(y[i - late])}))
    return "".join(line + "\n" for line in found)


def watch(*arguments):
    found = CliRunner().invoke(app, ["watch", *arguments, "--trust", "--json"])
    return found.exit_code, json.loads(found.stdout) if found.exit_code in (0, 1, 3) else found


def state(folder="fireassay-watch"):
    with open(f"{folder}/state.json", "rb") as file:
        return file.read()


def test_a_quiet_stream_and_one_that_gets_worse(folder):
    rng = np.random.default_rng(1)
    (folder / "s.jsonl").write_text(json_lines(*world(800, rng, 0.02)))
    code, found = watch("s.jsonl", "--limit", "0.05")
    assert code == 0
    assert (found["n_rows"], found["n_labels"], found["waiting"]) == (800, 780, 20)
    assert found["pmi"] < found["pmi_upper"] < 0.09  # rows that wait count as wrong
    with (folder / "s.jsonl").open("a") as file:
        file.write(json_lines(*world(400, rng, 0.3), first=800))
    code, found = watch("s.jsonl", "--limit", "0.05")
    assert code == 1
    assert found["alarm"]
    assert not found["drifted"]
    assert "Alarm: the error rate has risen above 5.00 %" in found["headline"]
    page = (folder / "fireassay-watch" / "watch.html").read_text()
    assert "http-equiv='refresh'" in page
    assert "✗ Alarm" in page


def test_inputs_that_change_raise_the_other_alarm(folder):
    rng = np.random.default_rng(2)
    X, y = world(500, rng, 0.02)
    X[:, 1] = 0.7 + 0.3 * X[:, 1]
    (folder / "s.jsonl").write_text(json_lines(X, y))
    code, found = watch("s.jsonl", "--limit", "0.2")
    assert (code, found["alarm"], found["drifted"]) == (1, False, True)


def test_silence_without_labels_is_not_quiet(folder):
    X, y = world(100, np.random.default_rng(3), 0.02)
    (folder / "s.jsonl").write_text(json_lines(X, y, late=1000))
    code, found = watch("s.jsonl")
    assert code == 3
    assert "no label has come yet" in found["headline"]


def test_a_table_that_grows_line_by_line_ends_in_the_same_bytes(folder):
    X, y = world(60, np.random.default_rng(4), 0.1)
    lines = ["id,a,b,label"] + [f"{i},{a},{b}," for i, (a, b) in enumerate(X)]
    lines += [f"{i},,,{label}" for i, label in enumerate(y)]
    text = "\n".join(lines) + "\n"
    (folder / "s.csv").write_text(text)
    assert watch("s.csv", "-o", "once")[1]["n_labels"] == 60
    for end in range(0, len(text) + 700, 700):  # cuts lines in two
        (folder / "s.csv").write_text(text[:end])
        watch("s.csv", "-o", "often")
    assert state("once") == state("often")


def test_a_folder_is_read_in_the_order_of_names_and_labels_may_be_a_file_of_their_own(folder):
    X, y = world(40, np.random.default_rng(5), 0.1)
    (folder / "in").mkdir()
    rows = "".join(f"{i},{a},{b}\n" for i, (a, b) in enumerate(X))
    labels = "".join(f"{i},{label}\n" for i, label in enumerate(y))
    (folder / "in" / "1.csv").write_text("id,a,b\n" + rows)
    assert watch("in")[1]["waiting"] == 40
    (folder / "in" / "2-labels.csv").write_text("id,label\n" + labels.rstrip("\n"))
    assert watch("in")[1]["n_labels"] == 39  # the last line may still grow
    (folder / "in" / "3.jsonl").write_text("")
    found = watch("in")[1]
    assert (found["n_labels"], found["waiting"], found["unmatched"]) == (40, 0, 0)
    said = np.where(X[:, 0] > 0.5, 1, 0)
    assert found["n_errors"] == int((said != y).sum())


def test_lines_that_make_no_sense_are_counted_and_silence_is_worth_nothing(folder):
    (folder / "s.jsonl").write_text(
        '{"id": 1, "row": [0.1, 0.2], "label": 0}\n{"row": [1]}\nno json\n'
        '{"row": [0.1, NaN]}\n{"id": 9, "label": 1}\n{"row": [0.1, 0.2], "label": "cat"}\n'
    )
    code, found = watch("s.jsonl", "--limit", "0.5")
    assert code == 3
    assert (found["refused"], found["unmatched"], found["n_labels"]) == (4, 1, 1)
    assert "'cat'" in found["last_refusal"]


def test_answers_of_the_stream_count_instead_of_the_models(folder):
    lines = [{"id": i, "row": [0.9, 0.5], "answer": 0, "label": 1} for i in range(5)]
    lines += [{"answer": 1, "label": 1}]  # what was logged elsewhere
    (folder / "s.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = watch("s.jsonl", "--limit", "0.5")[1]
    assert (found["n_labels"], found["n_errors"]) == (6, 5)


def test_only_so_many_rows_wait_for_a_label(folder):
    X, _ = world(30, np.random.default_rng(6), 0.0)
    (folder / "s.jsonl").write_text(
        json_lines(X, X, late=99) + '{"id": 2, "label": 0}\n{"id": 29, "label": 0}\n'
    )
    found = watch("s.jsonl", "--remember", "10")[1]
    assert (found["forgotten"], found["waiting"], found["unmatched"]) == (20, 9, 1)


def test_a_state_of_another_limit_and_a_file_that_was_replaced_are_refused(folder):
    X, y = world(30, np.random.default_rng(7), 0.0)
    (folder / "s.jsonl").write_text(json_lines(X, y))
    watch("s.jsonl")
    refused = watch("s.jsonl", "--limit", "0.1")[1]
    assert refused.exit_code == 2
    assert "another model, reference, version or setting" in refused.output
    (folder / "s.jsonl").write_text(json_lines(X[:10], y))
    refused = watch("s.jsonl")[1]
    assert refused.exit_code == 2
    assert "cut or replaced" in refused.output


def test_stdin_goes_on_after_what_was_counted(folder):
    X, y = world(50, np.random.default_rng(8), 0.0)
    text = json_lines(X, y)
    first = text[: text.index("\n", 900) + 1]
    for given, more in ((first, []), (text, ["--replayed"])):
        command = ["watch", "-", "--json", "--trust", "--limit", "0.1", *more]
        found = json.loads(CliRunner().invoke(app, command, input=given).stdout)
    assert (found["n_rows"], found["n_labels"], found["unmatched"]) == (50, 30, 0)


@posix
@pytest.mark.slow
def test_killed_again_and_again_it_ends_in_the_same_bytes(folder):
    """Killed with SIGKILL while a file grows under it; nothing is lost or counted twice."""
    rng = np.random.default_rng(9)
    text = json_lines(*world(9000, rng, 0.02))
    stream = folder / "s.jsonl"
    stream.write_text(text)
    assert watch("s.jsonl", "-o", "once", "--limit", "0.2")[0] == 0
    stream.write_text("")
    command = [sys.executable, "-m", "fireassay", "watch", "s.jsonl", "-o", "killed"]
    command += ["--limit", "0.2", "--follow", "--every", "0.05", "-q", "--trust"]
    kept = folder / "killed" / "state.json"

    def lines_kept():
        return json.loads(kept.read_text())["cursor"]["lines"] if kept.exists() else 0

    for end in (0.1, 0.4, 0.7):
        stream.write_text(text[: int(end * len(text))])
        process = subprocess.Popen(command, start_new_session=True)
        before, deadline = lines_kept(), time.monotonic() + 300
        while lines_kept() <= before:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.005)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    stream.write_text(text)
    assert watch("s.jsonl", "-o", "killed", "--limit", "0.2")[0] == 0
    assert state("once") == state("killed")


WARDS = """
import numpy as np
def model(X):
    assert X["ward"].isin(["A", "B", "C"]).all() and X["beds"].dtype.kind == "i"
    p = np.where(X["ward"] == "A", 0.9, np.where(X["age"].fillna(50) > 60, 0.7, 0.1))
    return np.column_stack([1 - p, p])
"""


def wards(n, seed, wrong, ward=("A", "B", "C")):
    """Rows with names and holes, and labels of which some are not what the model says."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"ward": rng.choice(ward, n), "age": rng.normal(55, 12, n).round(1)})
    frame["beds"] = rng.integers(1, 5, n)
    frame.loc[rng.random(n) < 0.1, "age"] = np.nan
    names = {}
    exec(WARDS, names)
    said = names["model"](frame.assign(ward=frame["ward"].replace("D", "B"))).argmax(axis=1)
    return frame.assign(label=np.where(rng.random(n) < wrong, 1 - said, said))


def served(frame):
    rows = json.loads(frame.drop(columns="label").to_json(orient="records"))
    return "".join(
        json.dumps({"row": row, "label": label}) + "\n"
        for row, label in zip(rows, frame["label"].tolist(), strict=True)
    )


@pytest.mark.slow
def test_a_table_with_names_and_holes_is_watched(folder):
    (folder / "wards.py").write_text(WARDS)
    wards(400, 0, 0.03).to_csv(folder / "reference.csv", index=False)
    config = folder / "fireassay.toml"
    config.write_text(config.read_text().replace("halves", "wards"))
    options = ("--limit", "0.1")
    (folder / "good.jsonl").write_text(served(wards(500, 1, 0.03)))
    wards(500, 1, 0.03).to_csv(folder / "good.csv", index=False)
    code, found = watch("good.jsonl", *options, "-o", "a")
    assert (code, found["n_rows"], found["refused"]) == (0, 500, 0)
    code, again = watch("good.csv", *options, "-o", "b")
    assert (code, again["n_errors"], again["drift_p"]) == (0, found["n_errors"], found["drift_p"])
    (folder / "bad.jsonl").write_text(served(wards(500, 2, 0.4)))
    code, found = watch("bad.jsonl", *options, "-o", "c")
    assert (code, found["alarm"]) == (1, True)
    (folder / "moved.jsonl").write_text(served(wards(500, 3, 0.03, ["A"])))
    code, found = watch("moved.jsonl", *options, "-o", "d")
    assert (code, found["drifted"]) == (1, True)
    # A ward that no reference row has is counted, and silence is then worth nothing.
    (folder / "new.jsonl").write_text(served(wards(500, 4, 0.03, ["A", "B", "C", "D"])))
    code, found = watch("new.jsonl", *options, "-o", "e")
    assert code == 3
    assert found["refused"] > 50
    assert "'ward' must have a value that a reference row has. Got 'D'" in found["last_refusal"]


def test_texts_are_refused_in_words(folder):
    np.savez(folder / "texts.npz", X=np.array(["good", "bad film"] * 20), y=[0, 1] * 20)
    (folder / "served.jsonl").write_text('{"label": 1}\n')
    found = watch("served.jsonl", "--reference", "texts.npz", "--limit", "0.1")[1]
    assert found.exit_code == 2
    assert "takes rows of numbers and names" in found.output
