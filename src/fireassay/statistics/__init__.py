"""Intervals, bounds and tests that the rest of fireassay stands on."""

from typing import TYPE_CHECKING

from fireassay.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from fireassay.statistics.alike_rows import AlikeRows, alike_rows
    from fireassay.statistics.autocorrelation import autocorrelation_time
    from fireassay.statistics.betting import betting_interval, betting_sequence
    from fireassay.statistics.bootstrap import bootstrap
    from fireassay.statistics.calibration import (
        ReliabilityCurve,
        expected_calibration_error,
        reliability_curve,
    )
    from fireassay.statistics.cheapest_threshold import cheapest_threshold
    from fireassay.statistics.clopper_pearson import clopper_pearson
    from fireassay.statistics.clumped_rows import ClumpedRows, clumped_rows
    from fireassay.statistics.clustered_auc import clustered_auc
    from fireassay.statistics.delong import delong, delong_interval, delong_test
    from fireassay.statistics.error_detector import ErrorDetector, recent_rate_upper
    from fireassay.statistics.grouped_share import grouped_share, groups_betting_upper
    from fireassay.statistics.hoeffding_bentkus import hoeffding_bentkus_upper
    from fireassay.statistics.independence import (
        NearDuplicates,
        intraclass_test,
        near_duplicates,
        size_rate_test,
    )
    from fireassay.statistics.kappa import cohen_kappa, fleiss_kappa
    from fireassay.statistics.loess import Loess, loess
    from fireassay.statistics.mann_whitney import MannWhitney, mann_whitney_auc
    from fireassay.statistics.mean_cost import mean_cost
    from fireassay.statistics.neighbouring_rows import NeighbouringRows, neighbouring_rows
    from fireassay.statistics.paired import (
        paired_auc_difference,
        paired_difference,
        paired_mean_difference,
        paired_ratio_difference,
    )
    from fireassay.statistics.paired_calibration import paired_calibration_difference
    from fireassay.statistics.permutation import permutation_test
    from fireassay.statistics.poisson import poisson_interval
    from fireassay.statistics.poisson_binomial import poisson_binomial_tail
    from fireassay.statistics.ranks import average_ranks
    from fireassay.statistics.sample_sizes import (
        groups_for_bound,
        labels_until_alarm,
        rows_for_auroc,
        rows_for_bound,
        rows_for_pair,
    )
    from fireassay.statistics.share import share
    from fireassay.statistics.simultaneous import simultaneous_aucs, worse_than_best
    from fireassay.statistics.simultaneous_shares import simultaneous_shares
    from fireassay.statistics.slice_search import Condition, SliceRule, find_slices, slice_test
    from fireassay.statistics.slices import SliceRates, slice_columns, slice_members, slice_rates
    from fireassay.statistics.spearman import spearman
    from fireassay.statistics.temperature import fit_temperature
    from fireassay.statistics.thinned_betting import (
        Thinning,
        thinned_lower,
        thinned_upper,
        thinning,
    )
    from fireassay.statistics.wilson import wilson

__all__ = [
    "AlikeRows",
    "ClumpedRows",
    "Condition",
    "ErrorDetector",
    "Loess",
    "MannWhitney",
    "NearDuplicates",
    "NeighbouringRows",
    "ReliabilityCurve",
    "SliceRates",
    "SliceRule",
    "Thinning",
    "alike_rows",
    "autocorrelation_time",
    "average_ranks",
    "betting_interval",
    "betting_sequence",
    "bootstrap",
    "cheapest_threshold",
    "clopper_pearson",
    "clumped_rows",
    "clustered_auc",
    "cohen_kappa",
    "delong",
    "delong_interval",
    "delong_test",
    "expected_calibration_error",
    "find_slices",
    "fit_temperature",
    "fleiss_kappa",
    "grouped_share",
    "groups_betting_upper",
    "groups_for_bound",
    "hoeffding_bentkus_upper",
    "intraclass_test",
    "labels_until_alarm",
    "loess",
    "mann_whitney_auc",
    "mean_cost",
    "near_duplicates",
    "neighbouring_rows",
    "paired_auc_difference",
    "paired_calibration_difference",
    "paired_difference",
    "paired_mean_difference",
    "paired_ratio_difference",
    "permutation_test",
    "poisson_binomial_tail",
    "poisson_interval",
    "recent_rate_upper",
    "reliability_curve",
    "rows_for_auroc",
    "rows_for_bound",
    "rows_for_pair",
    "share",
    "simultaneous_aucs",
    "simultaneous_shares",
    "size_rate_test",
    "slice_columns",
    "slice_members",
    "slice_rates",
    "slice_test",
    "spearman",
    "thinned_lower",
    "thinned_upper",
    "thinning",
    "wilson",
    "worse_than_best",
]

lazy_names(__name__)
