"""The synthetic clinical table of the demo: patients repeat, and one ward is harder."""

import pandas as pd
import pytest

from fireassay.core import ParameterError
from fireassay.data.builtin import MEASURED, WARDS, admissions


def test_patients_repeat_and_keep_their_ward_and_sex():
    table = admissions(300, seed=3)
    assert table["patient"].nunique() == 300
    assert 1.5 < len(table) / 300 < 3.5
    of_patient = table.groupby("patient")
    assert (of_patient["ward"].nunique() == 1).all()
    assert (of_patient["sex"].nunique() == 1).all()
    assert set(table["ward"]) == set(WARDS)


def test_sepsis_shows_in_every_measure_and_surgery_looks_like_it():
    table = admissions(3000, seed=0)
    septic = table["sepsis"] == "sepsis"
    assert 0.05 < septic.mean() < 0.2
    assert (table[septic][list(MEASURED)].mean() > table[~septic][list(MEASURED)].mean()).all()
    well = table[~septic].groupby("ward")["heart_rate"].mean()
    assert well["Surgery"] > well[["Emergency", "Medicine"]].max() + 8


def test_same_seed_same_table_and_another_seed_another():
    pd.testing.assert_frame_equal(admissions(20, seed=1), admissions(20, seed=1))
    assert not admissions(20, seed=1).equals(admissions(20, seed=2))


def test_no_patients_are_refused():
    with pytest.raises(ParameterError, match="n_patients"):
        admissions(0)
