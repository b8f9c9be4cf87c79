"""Synthetic admissions of a hospital: a clinical table with patients, wards and sepsis."""

from __future__ import annotations

import numpy as np

from fireassay.core.lazy import pd
from fireassay.core.seeds import generator
from fireassay.core.validation import check_integer

MEASURED = ("age", "heart_rate", "temperature", "lactate")
WARDS = ("Emergency", "Medicine", "Surgery")


def admissions(n_patients: int = 500, seed: int = 0) -> pd.DataFrame:
    """Simulate admissions; no row is about a real person."""
    # A patient has one to four admissions, which are alike. Sepsis raises heart rate, temperature
    # and lactate. The surgical ward raises heart rate and temperature without sepsis as well.
    check_integer(n_patients, "n_patients", low=1)
    rng = generator(seed, "admissions")
    patient = np.repeat(np.arange(n_patients), rng.integers(1, 5, n_patients))
    n = len(patient)
    age = rng.uniform(20, 90, n_patients)[patient]
    frail = rng.normal(0, 0.7, n_patients)[patient]
    septic = rng.random(n) < 1 / (1 + np.exp(2.3 - 0.02 * (age - 55) - frail))
    ward = rng.choice(WARDS, n_patients, p=(0.5, 0.35, 0.15))[patient]
    operated = ward == "Surgery"
    return pd.DataFrame(
        {
            "admission": np.arange(n),
            "patient": [f"P{number:04d}" for number in patient],
            "ward": ward,
            "sex": rng.choice(["female", "male"], n_patients)[patient],
            "age": age.round(),
            "heart_rate": (rng.normal(82, 9, n) + 14 * septic + 12 * operated).round(),
            "temperature": (rng.normal(36.9, 0.4, n) + 0.8 * septic + 0.5 * operated).round(1),
            "lactate": (rng.lognormal(0.1, 0.35, n) * np.where(septic, 1.9, 1.0)).round(1),
            "sepsis": np.where(septic, "sepsis", "no sepsis"),
        }
    )
