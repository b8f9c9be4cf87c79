import pickle

import pandas as pd
import pytest

from fireassay.core import (
    Assumption,
    DataError,
    Estimate,
    Evidence,
    ParameterError,
    Provenance,
    Table,
    json_files,
)


def test_a_part_that_did_not_run_needs_a_reason():
    with pytest.raises(ParameterError, match="needs a reason"):
        Evidence("survival", "?", status="failed")
    assert Evidence.failed("survival", "disk full").reason == "disk full"
    assert Evidence.not_available("survival", "no gradients").status == "not available"


def test_a_bare_number_is_not_evidence():
    with pytest.raises(ParameterError, match="must be an Estimate"):
        Evidence("reliability", "fine", estimates={"pmi": 0.1})


def test_status_words_are_fixed():
    with pytest.raises(ParameterError, match="supported"):
        Assumption("i.i.d.", "maybe", "")
    with pytest.raises(ParameterError, match="not available"):
        Evidence("reliability", "fine", status="passed")


def test_seconds_stay_out_of_the_hashed_record():
    slow = Evidence("reliability", "fine", provenance=Provenance(seed=0), seconds=10.0)
    fast = Evidence("reliability", "fine", provenance=Provenance(seed=0), seconds=1.0)
    assert json_files.dumps(slow.to_dict()) == json_files.dumps(fast.to_dict())


def test_the_record_holds_numbers_with_intervals_and_provenance():
    evidence = Evidence(
        "reliability",
        "fine",
        estimates={"pmi": Estimate(0.1, 0.0, 0.2, 0.95, 3, "Clopper-Pearson")},
        tables={"t": Table.from_frame(pd.DataFrame({"a": [1]}, index=["row"]))},
        provenance=Provenance(seed=7, model_sha256="ab", queries=3),
    )
    record = json_files.loads(json_files.dumps(evidence.to_dict()))
    assert record["estimates"]["pmi"] == {
        "value": 0.1,
        "low": 0.0,
        "high": 0.2,
        "confidence": 0.95,
        "n": 3,
        "method": "Clopper-Pearson",
        "kind": "interval",
        "rests_on": [],
    }
    assert record["provenance"]["seed"] == 7
    assert record["provenance"]["versions"]["fireassay"]
    assert record["provenance"]["host"]["cores"] >= 1
    assert record["tables"]["t"]["rows"] == [["row", 1]]


def test_errors_say_expected_got_do_and_survive_a_worker():
    error = DataError("X must have a row.", got="none", do="Check the file.")
    assert str(error) == "X must have a row. Got none. Check the file."
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert isinstance(error, ValueError)
