import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest
import typer
from sklearn.datasets import load_digits
from typer.testing import CliRunner

from fireassay.cli.main import QUESTIONS, VERBS, app
from fireassay.core import Estimate, Evidence
from fireassay.report import Report, compare_reports
from fireassay.statistics import share

runner = CliRunner()


def call(*arguments):
    return runner.invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder with a model behind an import name, and labelled rows."""
    X, y = load_digits(return_X_y=True)
    X = X / 16
    np.savez(tmp_path / "test.npz", X=X[1000:], y=y[1000:])
    np.savez(tmp_path / "train.npz", X=X[:1000], y=y[:1000])
    (tmp_path / "my_digits.py").write_text(
        "import numpy as np\n"
        "from sklearn.linear_model import LogisticRegression\n"
        "d = np.load('train.npz')\n"
        "model = LogisticRegression(max_iter=300).fit(d['X'], d['y'])\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "my_digits", raising=False)
    return tmp_path


def test_init_plan_run_check_report(project):
    init = call("init", "--model", "my_digits:model", "--data", "test.npz", "--train", "train.npz")
    assert init.exit_code == 0, init.output
    assert "probabilities" in init.output
    assert "the same twice" in init.output
    plan = call("plan", "--json")
    assert plan.exit_code == 0, plan.output
    planned = json.loads(plan.output)
    assert planned["parts"]["accuracy"]["queries"] == 797
    run = call("run", "--only", "accuracy", "--json")
    assert run.exit_code == 0, run.output
    accuracy = json.loads(run.output)["parts"]["accuracy"]["estimates"]["accuracy"]
    assert accuracy["n"] == 797
    passed = call("check", "fireassay-run", "--min", f"accuracy={accuracy['low']}")
    assert passed.exit_code == 0, passed.output
    failed = call("check", "fireassay-run", "--min", f"accuracy={accuracy['value']}")
    assert failed.exit_code == 3
    assert "? INCONCLUSIVE: accuracy is not shown to reach" in failed.output
    assert "Do next: Accuracy" in failed.output
    assert call("check", "fireassay-run", "--min", "accuracy=0.999").exit_code == 1
    strict = call("check", "fireassay-run", "--min", f"accuracy={accuracy['value']}", "--strict")
    assert strict.exit_code == 1
    none = call("check", "fireassay-run")
    assert none.exit_code == 3
    assert "NO LIMITS SET" in none.output
    page = project / "fireassay-run" / "report.html"
    before = page.read_text()
    page.unlink()
    assert call("report", "fireassay-run").exit_code == 0
    known = re.compile(r"(?<=lock\">)(The model is known|Model not compared)[^<]*")
    again = page.read_text()
    assert "Model not compared" in again  # only a run and a check ask the model
    assert known.sub("", again) == known.sub("", before)


def test_a_second_run_reads_back_what_is_done(project):
    call("init", "--model", "my_digits:model", "--data", "test.npz")
    call("run", "--only", "accuracy")
    timings = (project / "fireassay-run" / "timings.json").read_bytes()
    first = (project / "fireassay-run" / "result.json").read_bytes()
    call("run", "--only", "accuracy")
    assert (project / "fireassay-run" / "timings.json").read_bytes() == timings
    assert (project / "fireassay-run" / "result.json").read_bytes() == first
    call("run", "--only", "accuracy", "--seed", "1")
    assert (project / "fireassay-run" / "timings.json").read_bytes() != timings


def test_gates_of_the_file_are_judged_at_every_step_of_a_run(project):
    call("init", "--model", "my_digits:model", "--data", "test.npz")
    config = project / "fireassay.toml"
    text = config.read_text()
    config.write_text(text.replace("[gates.max]", '[gates.max]\n"accuracy.eror" = 0.2'))
    wrong = call("run", "--only", "accuracy")
    assert wrong.exit_code == 2
    assert "accuracy.error" in wrong.output
    assert not (project / "fireassay-run").exists()
    gates = '[gates.max]\n"accuracy.error" = 0.2\n"survival.benign_rejection_rate" = 0.5'
    config.write_text(text.replace("[gates.max]", gates))
    run = call("run", "--only", "accuracy")
    assert run.exit_code == 0, run.output
    assert "? INCONCLUSIVE: survival.benign_rejection_rate is not known." in run.output
    done = call("check", "fireassay-run", "--json")
    assert done.exit_code == 3
    checks = json.loads(done.output)["checks"]
    assert [check["status"] for check in checks] == ["pass", "undecided"]
    assert checks[1]["explanation"] == "survival has not run"
    assert call("check", "fireassay-run", "--max", "error=0.2").exit_code == 0
    card, goals = project / "card.md", project / "goals.yaml"
    assert call("report", "fireassay-run", "--card", card, "--gsn", goals).exit_code == 0
    assert "INCONCLUSIVE" in card.read_text()
    assert "undeveloped: true" in goals.read_text().split("C1:")[0]


def test_a_part_that_was_asked_for_and_is_not_available_ends_with_3(project):
    call("init", "--model", "my_digits:model", "--data", "test.npz")
    run = call("run", "--only", "curation")
    assert run.exit_code == 3
    assert "Not available" in run.output
    assert call("run", "--only", "accuracy").exit_code == 0


def test_init_does_not_overwrite_without_being_told(project):
    call("init", "--model", "my_digits:model", "--data", "test.npz")
    again = call("init", "--model", "my_digits:model", "--data", "test.npz")
    assert again.exit_code == 2
    assert "--force" in again.output


def test_a_part_that_fails_is_said_everywhere(project):
    np.save(project / "votes.npy", np.zeros((797, 3), dtype=int))
    call("init", "--model", "my_digits:model", "--data", "test.npz", "--votes", "votes.npy")
    config = project / "fireassay.toml"
    config.write_text(config.read_text().replace("[curation]", "[curation]\nlabeler = 'magic'"))
    run = call("run", "--only", "curation", "--only", "accuracy")
    assert run.exit_code == 3
    assert "curation     Failed: ParameterError" in run.output
    assert "accuracy     Right on" in run.output
    page = (project / "fireassay-run" / "report.html").read_text()
    assert '<span class="tag bad">failed</span>' in page
    assert call("check", "fireassay-run", "--min", "accuracy=0.5").exit_code == 3
    plan = call("plan")
    assert "The run so far, planned → taken" in plan.output
    assert "memory MB" in plan.output


def write_result(folder, *parts):
    folder.mkdir()
    Report(parts).to_json(folder / "result.json")
    return folder


def test_check_exit_codes(tmp_path):
    bounds = {
        "pmi_upper": Estimate.bound(0.04, 0.9, 9, "m"),
        "pmi_lower": Estimate.bound(0.02, 0.9, 9, "m"),
    }
    good = Evidence("reliability", "h", estimates=bounds)
    run = write_result(tmp_path / "a", good)
    assert call("check", run, "--max", "pmi_upper=0.05").exit_code == 0
    assert call("check", run, "--max", "pmi_upper=0.03").exit_code == 3
    assert call("check", run, "--max", "pmi_upper=0.01").exit_code == 1
    assert call("check", run).exit_code == 3
    assert call("check", run, "--max", "nonsense=0.03").exit_code == 2
    assert call("check", run, "--max", "pmi_upper").exit_code == 2
    assert call("check", tmp_path / "nowhere", "--max", "a=1").exit_code == 2
    broken = write_result(tmp_path / "b", good, Evidence.failed("survival", "boom"))
    assert call("check", broken, "--max", "pmi_upper=0.05").exit_code == 3
    assert call("check", broken, "--max", "pmi_upper=0.01").exit_code == 1
    absent = write_result(tmp_path / "c", Evidence.not_available("reliability", "no labels"))
    assert call("check", absent, "--max", "pmi_upper=0.05").exit_code == 3


def test_check_writes_junit_and_json(tmp_path):
    part = Evidence("reliability", "h", estimates={"pmi": Estimate(0.1, 0.0, 0.2, 0.9, 9, "m")})
    run = write_result(tmp_path / "a", part)
    done = call("check", run, "--max", "pmi=0.1", "--junit", tmp_path / "j.xml", "--json")
    assert json.loads(done.output)["checks"][0]["status"] == "undecided"
    assert 'failures="0" errors="1"' in (tmp_path / "j.xml").read_text()
    call("check", run, "--max", "pmi=0.1", "--junit", tmp_path / "j.xml", "--strict")
    assert 'failures="1" errors="0"' in (tmp_path / "j.xml").read_text()


def test_bad_input_is_a_message_not_a_traceback(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = call("run")
    assert done.exit_code == 2
    assert "fireassay init" in done.output
    assert "Traceback" not in done.output
    (tmp_path / "m.pkl").write_bytes(b"\x80\x04.")
    np.savez(tmp_path / "t.npz", X=np.zeros((3, 2)), y=[0, 1, 0])
    refused = call("init", "--model", "m.pkl", "--data", "t.npz")
    assert refused.exit_code == 2
    assert "trust" in refused.output


def test_every_command_has_help_with_an_example():
    top = call("--help")
    assert top.exit_code == 0
    commands = [[c.name or c.callback.__name__] for c in app.registered_commands]
    for group in app.registered_groups:
        inner = group.typer_instance.registered_commands
        commands += [[group.name, c.name or c.callback.__name__] for c in inner]
    assert len(commands) > 15
    for command in commands:
        page = call(*command, "--help")
        assert page.exit_code == 0
        text = " ".join(page.output.split())
        assert "Example: fireassay" in text, command
        assert "--json" in text, command
        # A list that nobody wants to see would not be asked for.
        assert "--quiet" in text or command[-1] == "names", command


def test_doctor_names_missing_extras():
    done = call("doctor", "--json")
    facts = json.loads(done.output)
    assert set(facts["extras"]) >= {"torch", "interop", "web"}
    assert facts["versions"]["fireassay"]


def _share_only(hits, n):
    return Report([Evidence("accuracy", "h", estimates={"accuracy": share(round(hits), n)})])


@pytest.mark.slow
def test_two_runs_on_the_same_rows_are_compared_row_by_row(project):
    call("init", "--model", "my_digits:model", "--data", "test.npz")
    call("run", "--only", "accuracy")
    (project / "fireassay-run").rename(project / "old")
    module = (project / "my_digits.py").read_text()
    (project / "my_digits2.py").write_text(module.replace("max_iter=300", "max_iter=300, C=1e-3"))
    config = (project / "fireassay.toml").read_text().replace("my_digits:", "my_digits2:")
    (project / "fireassay.toml").write_text(config)
    assert call("run", "--only", "accuracy", "--trust").exit_code == 0
    record = json.loads(call("compare", "old", "fireassay-run", "--json").output)["fireassay-run"]
    assert record["changed"] == ["accuracy: another model"]
    paired = next(d for d in record["differences"] if d["number"] == "accuracy")
    assert "accuracy.accuracy" in record["paired"]
    lost, won = len(record["newly_wrong"]), len(record["newly_right"])
    n = json.loads((project / "old" / "result.json").read_text())["parts"]["accuracy"]["estimates"][
        "accuracy"
    ]["n"]
    assert paired["change"] == pytest.approx((won - lost) / n)
    before, after = paired["before"] * n, paired["after"] * n
    whole = compare_reports(_share_only(before, n), _share_only(after, n)).differences[0].change
    assert paired["high"] - paired["low"] < whole.high - whole.low
    assert call("compare", "old", "fireassay-run", "--html", "changes.html").exit_code == 0
    page = (project / "changes.html").read_text()
    assert f"{lost} answers became wrong, {won} became right." in page
    assert page.count('<td data-label="row">') == min(lost, 5) + min(won, 5)
    assert "usually" in page  # the rows themselves, from the data that the later run names
    assert call("compare", "old", "old", "old", "--html", "no.html").exit_code == 2


def test_compare_says_what_changed(tmp_path):
    def part(value):
        return Evidence(
            "accuracy", "h", estimates={"error": Estimate(value, 0.0, 0.5, 0.9, 9, "m")}
        )

    old = write_result(tmp_path / "a", part(0.2))
    new = write_result(tmp_path / "b", part(0.1))
    done = call("compare", old, new)
    assert "error (accuracy.error)" in done.output
    assert "0.20 [0.00, 0.50] → 0.10 [0.00, 0.50]" in done.output
    record = json.loads(call("compare", old, new, "--json").output)[str(new)]
    assert record["differences"][0]["change"] == pytest.approx(-0.1)
    assert call("compare", old).exit_code == 2


def test_help_names_the_verbs_and_the_six_questions_in_order():
    shown = call("--help").output
    places = [re.search(rf"^  {name} ", shown, re.MULTILINE) for name in (*VERBS, *QUESTIONS)]
    assert all(places)
    starts = [place.start() for place in places]
    assert starts == sorted(starts)
    assert shown.index("One question alone") < starts[len(VERBS)]
    assert shown.index("One question alone") > starts[len(VERBS) - 1]
    assert "the run's [gates]." in " ".join(shown.split())  # a whole sentence, brackets and all


def every_command(command, path=()):
    if hasattr(command, "commands"):
        for name, inner in command.commands.items():
            yield from every_command(inner, (*path, name))
    else:
        yield " ".join(path), command


COMMANDS = dict(every_command(typer.main.get_command(app)))
WORDS = {
    "--alpha": "--confidence",
    "--level": "--confidence",
    "--clip": "--bounds",
    "--clusters": "--groups",
    "--out": "--output",
    "--folder": "--output",
    "--output-kind": "--model-output",
    "--jobs": "--workers",
    "--random-state": "--seed",
}


@pytest.mark.parametrize("name", COMMANDS)
def test_one_word_for_one_thing(name):
    options = {word for option in COMMANDS[name].params for word in option.opts}
    assert {"--json", "--quiet"} <= options or name.endswith(("serve", "names"))
    assert not {f"{word}: say {WORDS[word]}" for word in options & set(WORDS)}
    for option in COMMANDS[name].params:
        if option.name in ("bounds", "model_output", "confidence"):
            assert option.opts == [f"--{option.name.replace('_', '-')}"]


def test_init_takes_bounds_and_the_kind_of_output(project):
    done = call(
        "init", "--model", "my_digits:model", "--data", "test.npz", "--bounds", "0", "1",
        "--model-output", "probabilities", "--json",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert json.loads(done.output)["inferred"]["bounds"] == [0.0, 1.0]
    assert "bounds = [0.0, 1.0]" in (project / "fireassay.toml").read_text()


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals of POSIX")
def test_lines_break_between_words_on_a_terminal_and_nowhere_in_a_pipe():
    line = "accuracy     " + " ".join(["Right", "on", "most", "of", "the", "labelled", "rows"] * 4)
    code = f"from fireassay.cli.console import say_wrapped; say_wrapped({line!r})"
    piped = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert piped.stdout == line + "\n"
    main, side = os.openpty()
    environment = {**os.environ, "COLUMNS": "60"}
    subprocess.run([sys.executable, "-c", code], stdout=side, env=environment, check=True)
    os.close(side)
    shown = os.read(main, 10_000).decode().splitlines()
    os.close(main)
    assert len(shown) > 1
    assert all(len(each) < 60 for each in shown)
    assert all(each.startswith(" " * 13) for each in shown[1:])
    assert " ".join(" ".join(shown).split()) == " ".join(line.split())


def test_a_crash_never_ends_like_a_limit_that_is_not_met(monkeypatch, capfd):
    monkeypatch.setattr("fireassay.cli.main._say_at_once", lambda words: 1 / 0)
    with pytest.raises(SystemExit) as ended:
        app(["doctor"], prog_name="fireassay")
    assert ended.value.code == 70
    assert "ZeroDivisionError" in capfd.readouterr().err
