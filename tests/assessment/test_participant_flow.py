"""How many rows were given, left out and used, with reasons, from loading to the dossier."""

import csv

from typer.testing import CliRunner

from fireassay.assessment.run.bundle import case_of
from fireassay.cli.main import app
from fireassay.data import load


def test_rows_without_a_label_are_counted_when_a_table_is_read(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text(
        "a,label\n" + "\n".join(f"{i},{'' if i % 5 == 0 else i % 2}" for i in range(50))
    )
    data = load(file, label="label", drop_unlabelled=True)
    assert (len(data), data.left_out) == (40, (("without a label", 10),))
    assert data.subset(range(5)).left_out == data.left_out


def test_a_dossier_says_how_many_predictions_had_no_truth(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with open("p.csv", "w", newline="") as file:
        write = csv.writer(file)
        write.writerow(["y_true", "y_pred"])
        write.writerows([["" if i < 20 else "ab"[i % 2], "ab"[i % 3 == 0]] for i in range(200)])
    done = CliRunner().invoke(app, ["judge", "p.csv", "-o", "run", "--positive", "a"])
    assert done.exit_code == 0, done.output
    flow = case_of(tmp_path / "run").facts["flow"]
    assert flow[0] == "p: 200 rows given; 20 left out: without a truth; 180 used for testing."
