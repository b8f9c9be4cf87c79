"""What everything else stands on: estimates, evidence, errors, seeds, strict files."""

from typing import TYPE_CHECKING

from fireassay.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from fireassay.core.chart import Chart
    from fireassay.core.errors import (
        AssumptionWarning,
        BudgetExceededError,
        ConfigError,
        ConvergenceWarning,
        DataError,
        FireassayError,
        FireassayWarning,
        MissingExtraError,
        ModelError,
        NotEnoughEvidenceError,
        ParameterError,
        ProbabilityError,
        ReproducibilityWarning,
        StoreError,
        UntrustedFileError,
    )
    from fireassay.core.estimate import Estimate
    from fireassay.core.evidence import (
        Assumption,
        Claim,
        Evidence,
        Provenance,
        Table,
    )
    from fireassay.core.hashing import sha256
    from fireassay.core.measure import Measure
    from fireassay.core.result import Answer, Result
    from fireassay.core.sample import Cell, Sample
    from fireassay.core.seeds import derived_seed, generator, seed_sequence

__all__ = [
    "Answer",
    "Assumption",
    "AssumptionWarning",
    "BudgetExceededError",
    "Cell",
    "Chart",
    "Claim",
    "ConfigError",
    "ConvergenceWarning",
    "DataError",
    "Estimate",
    "Evidence",
    "FireassayError",
    "FireassayWarning",
    "Measure",
    "MissingExtraError",
    "ModelError",
    "NotEnoughEvidenceError",
    "ParameterError",
    "ProbabilityError",
    "Provenance",
    "ReproducibilityWarning",
    "Result",
    "Sample",
    "StoreError",
    "Table",
    "UntrustedFileError",
    "derived_seed",
    "generator",
    "seed_sequence",
    "sha256",
]

lazy_names(__name__)
