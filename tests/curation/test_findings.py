"""What the report gets: headline, numbers with intervals, charts, files."""

import json

import numpy as np
import pandas as pd
import pytest

from fireassay import curation
from fireassay.core.measure import find_measure
from fireassay.curation import CurationFindings


@pytest.fixture(scope="module")
def world():
    votes, y = curation.simulate_votes([0.7] * 8, 0.6, 600, seed=0)
    return curation.curate(votes), y


def test_without_labels_nothing_is_claimed(world):
    evidence = world[0].evidence()
    assert "not shown to lead to hard cases" in evidence.headline
    assert all(claim.holds is None for claim in evidence.claims)
    assert set(evidence.charts) == {"scores"}  # no two functions depend on each other
    assert evidence.estimates["covered"].n == 600
    votes = world[0].patterns.votes[world[0].patterns.of_row]
    assert evidence.estimates["covered"].value == (votes != -1).any(axis=1).mean()
    assert {evidence.estimates[name].kind for name in ("covered", "kept_lfs")} == {"count"}


def test_a_label_model_that_labels_contradict_is_contradicted(world):
    result, y = world
    found = result.findings(bounds=result.bounds(y), calibration=result.calibration(1 - y))
    status = {assumption.id: assumption.status for assumption in found.evidence().assumptions}
    assert status["label-model"] == "contradicted"


def test_everything_together(world, tmp_path):
    result, y = world
    trend = result.validate(y)
    rows = result.audit_rows(100)
    answer = result.findings(
        trend=trend,
        audit=result.audit(rows, y[rows]),
        bounds=result.bounds(y),
        robustness=result.robustness(y, np.arange(600) % 2, validity=trend),
        stability=result.stability(y, n_boot=5, seeds=(0,)),
        calibration=result.calibration(y),
    )
    evidence = answer.evidence()
    assert answer.verdict == "decreasing"
    described = {measure.name for measure in curation.MEASURES}
    assert set(evidence.estimates) == described
    status = {assumption.id: assumption.status for assumption in evidence.assumptions}
    assert set(status) >= {
        "independent-votes", "independent-rows", "audited-at-random", "label-model"
    }  # fmt: skip
    for estimate in evidence.estimates.values():
        assert set(estimate.rests_on) <= set(status)
    assert evidence.estimates["classifier_accuracy_upper"].rests_on[0] == "label-model"
    assert evidence.headline in str(answer)
    assert (
        "shown to lead to hard cases. Classifier: behaves on hard cases as it should."
        in evidence.headline
    )
    for name in ("order_auc", "audit_auc", "agreement_auc", "calibration_error", "first_accuracy"):
        estimate = evidence.estimates[name]
        assert estimate.low < estimate.value < estimate.high
    assert evidence.estimates["classifier_accuracy_upper"].kind == "bound"
    assert evidence.charts["accuracy"].svg().startswith("<svg")
    assert evidence.provenance.labels == 600
    assert evidence.to_dict() == answer.evidence().to_dict()
    loaded = CurationFindings.load(answer.save(tmp_path / "answer"))
    assert loaded.evidence().to_dict() == evidence.to_dict()


def test_a_disagreement_is_in_the_claims(world):
    result, y = world
    trend = result.validate(y)
    fields = {name: getattr(trend, name) for name in trend.__dataclass_fields__}
    other = type(trend)(**fields | {"verdict": "none"})
    text = result.findings(trend=other).evidence().claims[0].text
    assert "counted again and again" in text


def test_export_round_trip(world, tmp_path):
    result, y = world
    ids = [f"=patient{i}" for i in range(600)]
    shown = result.findings(trend=result.validate(y))
    written = result.export(tmp_path / "sets", ids, shown)
    assert {p.name for p in written} >= {"D_01.txt", "D_10.txt", "samples.csv", "curation.json"}
    table = pd.read_csv(tmp_path / "sets" / "samples.csv")
    assert table["id"].str.startswith("'=").all()
    assert table["lower"].to_numpy() == pytest.approx(result.lower)
    first = np.loadtxt(tmp_path / "sets" / "D_01.txt", dtype=int)
    assert np.array_equal(first, result.datasets[0])
    assert set(table.loc[table["dataset"] == 1, "row"]) == set(first.tolist())


def test_sets_are_not_called_adversarial_before_something_shows_it(world, tmp_path):
    result, y = world
    names = {p.name for p in result.export(tmp_path)}
    assert "unvalidated_01.txt" in names
    assert "D_01.txt" not in names
    assert json.loads((tmp_path / "curation.json").read_text())["order"] == "not shown"
    assert "increasingly" not in result.evidence().headline
    reversed_trend = result.validate(np.where(result.lower > np.median(result.lower), 1 - y, y))
    assert result.findings(trend=reversed_trend).verdict != "decreasing"


@pytest.mark.extras
def test_parquet_export(world, tmp_path):
    pytest.importorskip("pyarrow")
    result, _ = world
    result.export(tmp_path)
    table = pd.read_parquet(tmp_path / "samples.parquet")
    assert np.array_equal(table["dataset"], result.dataset_number)


def test_every_part_speaks_for_itself(world):
    result, y = world
    rows = result.audit_rows(100)
    trend = result.validate(y)
    parts = [
        trend,
        result.audit(rows, y[rows]),
        result.bounds(y),
        result.robustness(y, validity=trend),
        result.calibration(y),
        result.stability(y, n_boot=0, seeds=(0,)),
        result.stability(seeds=(0,), labelers=("majority",)),
    ]
    for part in parts:
        evidence = part.evidence()
        assert evidence.status == "done"
        assert evidence.headline.endswith(".")
        assert evidence.tables["table"].rows
        assert evidence.limits
        known = {assumption.id for assumption in evidence.assumptions} | {"independent-votes"}
        for name, estimate in evidence.estimates.items():
            assert find_measure(name, curation.MEASURES), name
            assert set(estimate.rests_on) <= known
        assert part.in_words() in str(part)
    assert parts[1].evidence().estimates["audit_auc"].n == 100
    assert parts[3].evidence().claims[0].holds is True
