"""Recorded predictions are judged, and nothing is asked of them."""

import io
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score
from typer.testing import CliRunner

import fireassay as fa
from fireassay.assessment.run.folder import read_report
from fireassay.classifiers.recorded import RecordedAnswers
from fireassay.cli.main import app
from fireassay.core import DataError, NotEnoughEvidenceError, ParameterError
from fireassay.data.predictions import per_group, predictions_of, read_predictions
from fireassay.reliability import assess
from fireassay.statistics.labels_needed import groups_to_pass


def clinic(n=1640, seed=0, better=0.0):
    """Admissions of patients on wards, a rare class, answers by threshold 0.2."""
    rng = np.random.default_rng(seed)
    patient = rng.integers(0, n, n)
    y = rng.random(n) < 0.136
    z = -2.2 + (2.6 + better) * y + rng.normal(size=n)
    p = (1 / (1 + np.exp(-z))).round(4)
    return pd.DataFrame(
        {
            "row_id": np.arange(n),
            "patient": patient,
            "ward": rng.choice(["ICU", "Medicine", "Surgery"], n, p=[0.3, 0.65, 0.05]),
            "days": rng.integers(1, 9, n),
            "outcome": np.where(y, "yes", "no"),
            "prediction": np.where(p >= 0.2, "yes", "no"),
            "p_yes": p,
        }
    )


def run(*words, **options):
    return CliRunner().invoke(app, ["judge", *map(str, words)], **options)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "clinic.csv"
    clinic().to_csv(path, index=False)
    return path


def test_a_file_is_judged_without_a_configuration(file):
    found = run(file, "--min", "sensitivity=0.7", "--max", "error=0.5")
    text = found.stdout
    assert found.exit_code == 0, text
    assert "answers follow threshold 0.2 of yes" in text
    assert "group: patient" in text
    groups = clinic()["patient"].nunique()
    assert f"Unit: row. 1,640 rows of {groups:,} patients." in text
    assert "Not asked (needs the model): attacks, ambiguity, monitor, curation" in text
    frame = clinic()
    sick, said = frame["outcome"] == "yes", frame["prediction"] == "yes"
    assert f"{(sick & said).sum():,}" in text
    looked = run(file)
    assert looked.exit_code == 0
    assert "NO LIMITS SET" in looked.stdout
    broken = run(file, "--min", "sensitivity=0.999")
    assert broken.exit_code == 1
    assert run(file, "--min", "sensitivty=0.9").exit_code == 2


def test_the_numbers_are_those_of_scikit_learn_and_json_holds_them(file):
    found = run(file, "--json", "--max", "error=0.01")
    document = json.loads(found.stdout)
    frame = clinic()
    numbers = document["parts"]["accuracy"]["estimates"]
    truth = (frame["outcome"] == "yes").to_numpy()
    assert numbers["auroc[yes]"]["value"] == pytest.approx(roc_auc_score(truth, frame["p_yes"]))
    assert document["checks"][0]["status"] == "fail"
    assert document["exit_code"] == found.exit_code == 1


def test_undecided_limits_warn_or_fail(file):
    limit = ("--min", "sensitivity=0.95")
    assert run(file, *limit).exit_code == 3
    assert run(file, *limit, "--undecided", "fail").exit_code == 1


def test_standard_input_and_units(file):
    piped = run("-", input=file.read_bytes())
    assert piped.exit_code == 0
    assert "1,640 rows" in piped.stdout
    per = run(file, "--per", "patient=any")
    assert per.exit_code == 0
    assert "groups are judged instead of 1,640 rows" in per.stdout
    alarms = json.loads(run(file, "--exposure", "days", "--json").stdout)
    found = alarms["parts"]["accuracy"]["estimates"]["false_alarms_per_days"]
    frame = clinic()
    false = (frame["outcome"] == "no") & (frame["prediction"] == "yes")
    assert found["value"] == pytest.approx(false.sum() / frame["days"].sum())
    assert found["low"] < found["value"] < found["high"]


def test_any_number_on_any_slice_and_at_any_point(file):
    limits = (
        "--min", "sensitivity[yes]{ward=ICU}=0.5", "--max", "gap.sensitivity{ward}=1",
        "--min", "sensitivity@0.1=0.5", "--min", "sensitivity@specificity=0.8=0.3",
        "--min", "net_benefit@0.1=0", "--slice", "ward",
    )  # fmt: skip
    found = run(file, *limits)
    assert found.exit_code == 0, found.stdout
    assert "Sensitivity (recall): yes where ward = ICU" in found.stdout
    assert "Too small to judge" in found.stdout
    assert "ward Surgery" in found.stdout


def test_a_run_folder_as_any_other(file, tmp_path):
    folder = tmp_path / "run"
    assert run(file, "--min", "auroc=0.8", "-o", folder, "-q").exit_code == 0
    report = read_report(folder)
    assert report["accuracy"].status == "done"
    assert report["survival"].status == "not available"
    assert "needs a model that can be asked" in report["survival"].reason
    assert {"confusion matrix", "ROC", "calibration: yes"} <= set(report["accuracy"].charts)
    page = (folder / "report.html").read_text()
    assert "Confusion matrix" in page
    before = page.partition("td > .meaning {")[0].rpartition("<style>")[2]
    assert before.count("{") == before.count("}"), "glosses outside the first screen have a style"
    told = run(file, "--max", "error=0.5").stdout
    assert "[gates.accept] unseen-rows" in told
    assert "[data] train" not in told
    check = CliRunner().invoke(app, ["check", str(folder), "--min", "sensitivity@0.1=0.5"])
    assert check.exit_code == 0, check.stdout
    bound = CliRunner().invoke(app, ["check", str(folder), "--max", "pmi_upper=0.5"])
    assert bound.exit_code == 0, bound.stdout
    gone = CliRunner().invoke(app, ["check", str(folder), "--min", "standing_share=0.5"])
    assert gone.exit_code == 3


def test_page_and_check_say_the_same_of_limits_by_their_short_names(file, tmp_path):
    folder = tmp_path / "run"
    run(file, "--min", "auroc=0.8", "--min", "sensitivity=0.1", "-o", folder, "-q")
    said = "First look; limits were not locked beforehand."
    assert said in (folder / "report.html").read_text()
    assert said in CliRunner().invoke(app, ["check", str(folder)]).stdout
    moved = CliRunner().invoke(app, ["check", str(folder), "--min", "sensitivity=0.2"])
    assert "Exploratory: limits set after a look" in moved.stdout


@pytest.mark.parametrize("number", ["sensitivity", "specificity"])
def test_how_many_groups_of_a_class_a_limit_takes(number):
    report = fa.judge(clinic(), groups="patient")
    seen = report["accuracy"].estimates[f"{number}[yes]"]
    limit = seen.low + (seen.value - seen.low) / 5
    (advice,) = report.verdict({"min": {number: limit}}).advice
    rows = clinic()
    own = rows[rows["outcome"] == ("yes" if number == "sensitivity" else "no")]
    each = (own["outcome"] != own["prediction"]).groupby(own["patient"]).agg(["sum", "size"])
    each = each.sort_values(["sum", "size"])
    most = rows["patient"].value_counts().max()
    needed = groups_to_pass(each["sum"], each["size"], 1 - limit, largest_group=most)
    assert advice.labels == needed.more
    assert f"more groups that have {own['outcome'].iloc[0]}: 80 % chance" in advice.text


@pytest.mark.parametrize("group", ["none", "patient"])
def test_reliability_counts_the_recorded_answers_not_the_likeliest_class(group):
    frame = clinic()
    report = fa.judge(frame, groups=group)
    error, bound = report["accuracy"].estimates["error"], report["reliability"].estimates
    wrong = (frame["outcome"] != frame["prediction"]).mean()
    assert bound["pmi"].value == error.value == pytest.approx(wrong)
    assert (frame["outcome"] != np.where(frame["p_yes"] >= 0.5, "yes", "no")).mean() < 0.9 * wrong
    assert bound["pmi_upper"].value == pytest.approx(error.high)
    assert report.verdict({"max": {"reliability.pmi_upper": 0.3}}).status == "pass"
    assert report.verdict({"max": {"pmi_upper": 0.05}}).status == "fail"
    assert "r-separated" not in [a.id for a in report["reliability"].assumptions]
    blank = fa.judge([0, 0, 1, 1] * 30, answers=[0, "?", 1, 1] * 30, indeterminate="?")
    assert blank["reliability"].estimates["pmi"].value == 0.25


def test_methods_that_ask_for_other_rows_refuse_recorded_answers():
    known = RecordedAnswers([[0.8, 0.2], [0.4, 0.6]] * 20, classes=[0, 1])
    with pytest.raises(NotEnoughEvidenceError, match="needs a model that can be asked"):
        assess(known, known.rows, [0, 1] * 20, method="ram")


def test_importance_weights_carry_errors_to_the_field(tmp_path):
    frame, path = clinic().drop(columns="patient"), tmp_path / "w.csv"
    sick, wrong = frame["outcome"] == "yes", frame["outcome"] != frame["prediction"]
    weight = np.where(sick, 2.0, (1 - 2 * sick.mean()) / (1 - sick.mean()))
    frame.assign(weight=weight).to_csv(path, index=False)
    by_kind = {}
    for kind in ("design", "importance"):
        found = run(path, "--weights", kind, "--max", "pmi=0.5", "--json")
        by_kind[kind] = json.loads(found.stdout)["parts"]["reliability"]["estimates"]
    assert by_kind["design"]["pmi"]["value"] == pytest.approx(wrong.mean())
    assert by_kind["importance"]["pmi"]["value"] == pytest.approx((weight * wrong).mean())
    assert "pmi_upper" not in by_kind["importance"]  # nothing is claimed without a largest weight
    frame.assign(weight=3 * weight).to_csv(path, index=False)
    assert run(path, "--weights", "importance").exit_code == 2  # their mean must be 1


@pytest.mark.slow
def test_a_folder_is_judged_again_with_other_limits(file, tmp_path):
    folder = tmp_path / "run"
    assert run(file, "-o", folder, "-q").exit_code == 0
    again = run(file, "--max", "error=0.5", "--min", "sensitivity=0.5", "-o", folder)
    assert again.exit_code == 0, again.output
    page = (folder / "report.html").read_text()
    assert "The usual numbers" in page
    numbers = read_report(folder)["accuracy"]
    shown = numbers.measure("auroc[yes]").shown(numbers.estimates["auroc[yes]"])
    assert page.count(shown) >= 2  # before the folds and in them


def test_ranges_of_numbers_are_named_by_the_values_within():
    found = read_predictions(pd.DataFrame({"y_true": [0, 1] * 40, "y_pred": 0, "age": range(80)}))
    assert set(found.slice_values("age")) == {"0 to 19", "20 to 39", "40 to 59", "60 to 79"}


def test_not_worse_than_another_file(tmp_path):
    old, new = tmp_path / "old.csv", tmp_path / "new.csv"
    clinic().to_csv(old, index=False)
    frame = clinic().sample(frac=1, random_state=0)
    frame.to_csv(new, index=False)
    same = run(new, "--not-worse-than", old, "--margin", "sensitivity=0.05")
    assert same.exit_code == 0, same.stdout
    frame.loc[frame["outcome"] == "yes", ["prediction", "p_yes"]] = ["no", 0.01]
    frame.to_csv(new, index=False)
    worse = run(new, "--not-worse-than", old, "--margin", "sensitivity=0.05")
    assert worse.exit_code == 1
    assert run(new, "--not-worse-than", old).exit_code == 2


def test_missing_truths_and_indeterminate_answers():
    frame = clinic()
    rare = (frame["prediction"] == "no") & (frame.index % 2 == 0)
    frame.loc[rare, "outcome"] = None
    report = fa.judge(frame)
    missing = next(a for a in report["accuracy"].assumptions if a.id == "missing-truths")
    assert "Verification bias possible" in missing.check
    assert report["accuracy"].estimates["accuracy"].n == 1640 - rare.sum()
    report = fa.judge([0, 0, 1, 1] * 30, answers=[0, "?", 1, 1] * 30, indeterminate="?")
    found = report["accuracy"].estimates["accuracy"]
    assert (found.value, found.n) == (0.75, 120)
    table = report["accuracy"].tables["confusion"]
    assert table.columns[-1] == "indeterminate"
    assert any("Without them the accuracy is 100.0 %" in c.text for c in report["accuracy"].claims)


def test_odd_tables_give_sentences():
    one = fa.judge([1] * 40, answers=[1] * 40)["accuracy"]
    assert np.isnan(one.estimates["kappa"].value)
    three = fa.judge(list("abc") * 20, np.tile(np.eye(3) * 0.7 + 0.1, (20, 1)), classes="abc")
    with pytest.raises(ParameterError, match="needs a class"):
        three.verdict({"min": {"auroc": 0.5}})
    verdict = fa.judge([1] * 40, [0.9] * 40).verdict({"min": {"auroc": 0.5}})
    assert verdict.status == "not enough evidence"
    with pytest.raises(DataError):
        fa.judge([None, None], answers=[0, 1])
    ordered = fa.judge(
        ["low", "mid", "high"] * 30, answers=["low", "low", "low"] * 30,
        ordered=["low", "mid", "high"], prevalence={"high": 0.02},
    )["accuracy"].estimates  # fmt: skip
    assert ordered["off_by_two"].value == pytest.approx(1 / 3)
    assert "npv[high]@prevalence=0.02" in ordered


def test_groups_instead_of_rows():
    rows = predictions_of(
        [0, 1, 0, 0, 1], [0.2, 0.6, 0.1, 0.7, 0.4], groups=list("aabbb"), time=[1, 2, 3, 5, 4]
    )
    some = per_group(rows, "any")
    assert (some.truth.tolist(), some.answers.tolist()) == ([1, 1], [1, 1])
    assert some.probabilities[:, 1].tolist() == [0.6, 0.7]
    most = per_group(rows, "majority")
    assert (most.truth.tolist(), most.answers.tolist()) == ([0, 0], [0, 0])
    assert per_group(rows, "last").truth.tolist() == [1, 0]


def test_a_function_that_returns_its_own_input_is_refused():
    p = np.random.default_rng(0).random(200)
    X, y = np.column_stack([1 - p, p]), (p > 0.4).astype(int)
    with pytest.raises(fa.FireassayError, match="this function returns its own input"):
        fa.evaluate(lambda rows: rows, X, y)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bytes(file, tmp_path):
    for name in ("a", "b"):
        assert run(file, "-o", tmp_path / name, "-q").exit_code == 0
    first, second = ((tmp_path / n / "result.json").read_bytes() for n in ("a", "b"))
    assert first == second
    assert io.BytesIO(first).read()


def test_init_writes_a_configuration_for_predictions(file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runner = CliRunner()
    assert runner.invoke(app, ["init", "--predictions", str(file)]).exit_code == 0
    assert runner.invoke(app, ["run", "-q"]).exit_code == 0
    report = read_report(tmp_path / "fireassay-run")
    assert report["accuracy"].estimates["sensitivity[yes]"].value > 0.9
    assert not report["accuracy"].stale
    clinic(seed=1).to_csv(file, index=False)
    assert read_report(tmp_path / "fireassay-run")["accuracy"].stale
    assert runner.invoke(app, ["init", "--config", "other.toml"]).exit_code == 2


def test_a_stream_of_predictions_is_watched_without_a_configuration(tmp_path):
    file, runner = tmp_path / "served.csv", CliRunner()
    frame = clinic(800)
    frame.to_csv(file, index=False)
    words = ["watch", str(file), "--predictions", "-o", str(tmp_path / "watch"), "--json"]
    assert runner.invoke(app, [*words, "--limit", "0.4"]).exit_code == 2  # how large are groups?
    words += ["--group", "none"]
    quiet = runner.invoke(app, [*words, "--limit", "0.4"])
    found = json.loads(quiet.stdout)
    wrong = (frame["outcome"] != frame["prediction"]).sum()
    assert (quiet.exit_code, found["n_labels"], found["n_errors"]) == (0, 800, wrong)
    worse = frame.assign(row_id=frame.row_id + 800, patient=frame.patient + 10_000)
    worse["prediction"] = np.where(worse["outcome"] == "yes", "no", "yes")
    worse.to_csv(file, index=False, header=False, mode="a")
    alarm = runner.invoke(app, [*words, "--limit", "0.4"])
    assert alarm.exit_code == 1
    assert json.loads(alarm.stdout)["n_labels"] == 1600
    assert runner.invoke(app, words).exit_code == 2
