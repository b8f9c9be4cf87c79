import json

import numpy as np
import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

from fireassay import curation
from fireassay.cli.curation import curation as curation_command
from fireassay.core import DataError, ParameterError, UntrustedFileError
from fireassay.curation import CurationFindings

app = typer.Typer(pretty_exceptions_enable=False)
app.command()(curation_command)
runner = CliRunner()


def call(*arguments):
    found = runner.invoke(app, [str(argument) for argument in arguments])
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception
    return found


@pytest.fixture
def files(tmp_path):
    votes, y = curation.simulate_votes([0.7] * 6, 0.7, 300, seed=0)
    np.save(tmp_path / "votes.npy", votes)
    np.save(tmp_path / "y.npy", y)
    pd.DataFrame(votes, columns=[f"rule {i}" for i in range(6)]).to_csv(
        tmp_path / "votes.csv", index=False
    )
    return tmp_path


def test_votes_alone(files):
    found = call(files / "votes.npy")
    assert found.exit_code == 0
    assert "not shown to lead to hard cases" in found.stdout
    assert "Datasets: 30, 60, 90" in found.stdout


def test_csv_gives_names_and_labels_give_a_verdict(files):
    found = call(files / "votes.csv", "--labels", files / "y.npy", "--compare", "--prune", 1)
    assert "rule 3" in found.stdout
    assert "order_auc" in found.stdout
    assert "Our Approach" in found.stdout


def test_sparse_votes(files):
    import scipy.sparse

    votes = np.load(files / "votes.npy").astype(int)
    scipy.sparse.save_npz(files / "sparse.npz", scipy.sparse.csr_matrix(votes + 1))
    np.savez(files / "named.npz", votes=votes, other=np.zeros(3))
    dense = call(files / "votes.npy", "--json").stdout
    assert json.loads(call(files / "named.npz", "--json").stdout) == json.loads(dense)
    assert json.loads(call(files / "sparse.npz", "--json").stdout) == json.loads(dense)


def test_json_is_strict_and_exports_are_readable(files):
    out = files / "out"
    found = call(files / "votes.npy", "--labels", files / "y.npy", "--json", "--output", out)
    evidence = json.loads(found.stdout)
    assert evidence["question"] == "curation"
    assert evidence["estimates"]["order_auc"]["n"] == 300
    rows = np.loadtxt(out / "D_03.txt", dtype=int)
    table = pd.read_csv(out / "samples.csv")
    assert len(rows) == 90
    assert (table.loc[rows, "dataset"] <= 3).all()
    assert isinstance(CurationFindings.load(out / "curation.result"), CurationFindings)


def test_audit_round_trip(files):
    listed = call(files / "votes.npy", "--audit-rows", 40, "--quiet").stdout
    header, *lines = listed.split()
    assert header == "row,label"
    rows = [int(line.rstrip(",")) for line in lines]
    assert len(rows) == 40
    call(files / "votes.npy", "--audit-rows", 40, "--quiet", "--output", files / "out")
    assert (files / "out" / "to_label.csv").read_text() == listed
    y = np.load(files / "y.npy")
    pd.DataFrame({"row": rows, "label": y[rows]}).to_csv(files / "audit.csv", index=False)
    found = call(files / "votes.npy", "--audit", files / "audit.csv")
    assert "audit_auc" in found.stdout


def test_classifier_without_labels_is_not_judged(files):
    np.save(files / "p.npy", np.load(files / "y.npy"))
    found = call(files / "votes.npy", "--predictions", files / "p.npy")
    assert "Classifier: not enough evidence" in found.stdout
    assert "classifier_accuracy_upper" in found.stdout


def test_stream_writes_and_validates(files):
    out = files / "stream"
    found = call(
        files / "votes.npy", "--stream", "--output", out, "--labels", files / "y.npy", "--json"
    )
    summary = json.loads(found.stdout)
    assert summary["samples"] == 300
    assert np.load(out / "dataset.npy").max() == 10


def test_label_models_are_listed_also_registered_ones(files):
    from fireassay.curation import LABELERS, MajorityVote

    class Mine(MajorityVote):
        name, summary = "mine", "a majority of my own"

    LABELERS.register(Mine())
    try:
        listed = call("--labelers").stdout
        assert all(row.name in listed and row.summary in listed for row in LABELERS.values())
        assert "a majority of my own" in listed
        found = [
            json.loads(call(files / "votes.npy", "--labeler", name, "--json").stdout)
            for name in ("mine", "majority")
        ]
        assert found[0] == found[1]
    finally:
        del LABELERS._rows["mine"]


def test_mistakes_are_named(files):
    with pytest.raises(DataError, match="no file"):
        call(files / "none.npy")
    with pytest.raises(ParameterError, match="labeler"):
        call(files / "votes.npy", "--labeler", "magic")
    with pytest.raises(ParameterError, match="true labels"):
        call(files / "votes.npy", "--compare")
    with pytest.raises(ParameterError, match="--output"):
        call(files / "votes.npy", "--stream")
    (files / "bad.csv").write_text("a,b\n1,x\n")
    with pytest.raises(DataError, match="text in b"):
        call(files / "bad.csv")
    np.save(files / "objects.npy", np.array([object()]), allow_pickle=True)
    with pytest.raises(UntrustedFileError, match="Python objects"):
        call(files / "objects.npy")
