"""What everything else stands on: estimates, evidence, errors, seeds, strict files."""

from typing import TYPE_CHECKING

from fireassay.core.lazy import lazy_names

if TYPE_CHECKING:
    from fireassay.core.chart import Chart as Chart
    from fireassay.core.errors import AssumptionWarning as AssumptionWarning
    from fireassay.core.errors import BudgetExceededError as BudgetExceededError
    from fireassay.core.errors import ConfigError as ConfigError
    from fireassay.core.errors import ConvergenceWarning as ConvergenceWarning
    from fireassay.core.errors import DataError as DataError
    from fireassay.core.errors import DeprecatedNameWarning as DeprecatedNameWarning
    from fireassay.core.errors import FireassayError as FireassayError
    from fireassay.core.errors import FireassayWarning as FireassayWarning
    from fireassay.core.errors import MissingExtraError as MissingExtraError
    from fireassay.core.errors import ModelError as ModelError
    from fireassay.core.errors import NotEnoughEvidenceError as NotEnoughEvidenceError
    from fireassay.core.errors import ParameterError as ParameterError
    from fireassay.core.errors import ProbabilityError as ProbabilityError
    from fireassay.core.errors import ReproducibilityWarning as ReproducibilityWarning
    from fireassay.core.errors import StoreError as StoreError
    from fireassay.core.errors import UntrustedFileError as UntrustedFileError
    from fireassay.core.estimate import Estimate as Estimate
    from fireassay.core.evidence import Assumption as Assumption
    from fireassay.core.evidence import Claim as Claim
    from fireassay.core.evidence import Evidence as Evidence
    from fireassay.core.evidence import Provenance as Provenance
    from fireassay.core.evidence import Table as Table
    from fireassay.core.hashing import sha256 as sha256
    from fireassay.core.measure import Measure as Measure
    from fireassay.core.result import Answer as Answer
    from fireassay.core.result import Result as Result
    from fireassay.core.sample import Cell as Cell
    from fireassay.core.sample import Sample as Sample
    from fireassay.core.seeds import derived_seed as derived_seed
    from fireassay.core.seeds import generator as generator
    from fireassay.core.seeds import seed_sequence as seed_sequence

lazy_names(__name__)
