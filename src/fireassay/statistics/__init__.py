"""Intervals, bounds and tests that the rest of fireassay stands on."""

from typing import TYPE_CHECKING

from fireassay.core.lazy import lazy_names

if TYPE_CHECKING:
    from fireassay.statistics.auc import MannWhitney as MannWhitney
    from fireassay.statistics.auc import delong as delong
    from fireassay.statistics.auc import delong_interval as delong_interval
    from fireassay.statistics.auc import delong_test as delong_test
    from fireassay.statistics.auc import mann_whitney_auc as mann_whitney_auc
    from fireassay.statistics.betting import betting_interval as betting_interval
    from fireassay.statistics.betting import betting_sequence as betting_sequence
    from fireassay.statistics.betting import hoeffding_bentkus_upper as hoeffding_bentkus_upper
    from fireassay.statistics.bootstrap import bootstrap as bootstrap
    from fireassay.statistics.bounds_from_draws import Thinning as Thinning
    from fireassay.statistics.bounds_from_draws import thinned_lower as thinned_lower
    from fireassay.statistics.bounds_from_draws import thinned_upper as thinned_upper
    from fireassay.statistics.bounds_from_draws import thinning as thinning
    from fireassay.statistics.calibration import ReliabilityCurve as ReliabilityCurve
    from fireassay.statistics.calibration import (
        expected_calibration_error as expected_calibration_error,
    )
    from fireassay.statistics.calibration import (
        paired_calibration_difference as paired_calibration_difference,
    )
    from fireassay.statistics.calibration import reliability_curve as reliability_curve
    from fireassay.statistics.clustered_auc import clustered_auc as clustered_auc
    from fireassay.statistics.costs import cheapest_threshold as cheapest_threshold
    from fireassay.statistics.costs import mean_cost as mean_cost
    from fireassay.statistics.counts import clopper_pearson as clopper_pearson
    from fireassay.statistics.counts import poisson_binomial_tail as poisson_binomial_tail
    from fireassay.statistics.counts import poisson_interval as poisson_interval
    from fireassay.statistics.counts import wilson as wilson
    from fireassay.statistics.error_detector import ErrorDetector as ErrorDetector
    from fireassay.statistics.error_detector import recent_rate_upper as recent_rate_upper
    from fireassay.statistics.groups.group_bound import group_mean as group_mean
    from fireassay.statistics.groups.group_bound import grouped_share as grouped_share
    from fireassay.statistics.groups.group_bound import groups_betting_upper as groups_betting_upper
    from fireassay.statistics.groups.group_bound import groups_needed as groups_needed
    from fireassay.statistics.independence import autocorrelation_time as autocorrelation_time
    from fireassay.statistics.independence import intraclass_test as intraclass_test
    from fireassay.statistics.kappa import cohen_kappa as cohen_kappa
    from fireassay.statistics.kappa import fleiss_kappa as fleiss_kappa
    from fireassay.statistics.loess import Loess as Loess
    from fireassay.statistics.loess import loess as loess
    from fireassay.statistics.numbers.judged_rows import JudgedRows as JudgedRows
    from fireassay.statistics.numbers.number_registry import number_of as number_of
    from fireassay.statistics.numbers.number_registry import parse_number as parse_number
    from fireassay.statistics.numbers.number_registry import score as score
    from fireassay.statistics.numbers.number_registry import standard_numbers as standard_numbers
    from fireassay.statistics.numbers.probability_numbers import decision_curve as decision_curve
    from fireassay.statistics.paired import paired_auc_difference as paired_auc_difference
    from fireassay.statistics.paired import paired_difference as paired_difference
    from fireassay.statistics.paired import paired_mean_difference as paired_mean_difference
    from fireassay.statistics.paired import paired_ratio_difference as paired_ratio_difference
    from fireassay.statistics.rank_tests import average_ranks as average_ranks
    from fireassay.statistics.rank_tests import permutation_test as permutation_test
    from fireassay.statistics.rank_tests import spearman as spearman
    from fireassay.statistics.sample_sizes import groups_for_bound as groups_for_bound
    from fireassay.statistics.sample_sizes import labels_until_alarm as labels_until_alarm
    from fireassay.statistics.sample_sizes import rows_for_auroc as rows_for_auroc
    from fireassay.statistics.sample_sizes import rows_for_bound as rows_for_bound
    from fireassay.statistics.sample_sizes import rows_for_pair as rows_for_pair
    from fireassay.statistics.shared_units import ExactCopies as ExactCopies
    from fireassay.statistics.shared_units import exact_copies as exact_copies
    from fireassay.statistics.shared_units import shared_units as shared_units
    from fireassay.statistics.shares import share as share
    from fireassay.statistics.shares import simultaneous_shares as simultaneous_shares
    from fireassay.statistics.simultaneous import simultaneous_aucs as simultaneous_aucs
    from fireassay.statistics.simultaneous import worse_than_best as worse_than_best
    from fireassay.statistics.slice_search import Condition as Condition
    from fireassay.statistics.slice_search import SliceRule as SliceRule
    from fireassay.statistics.slice_search import find_slices as find_slices
    from fireassay.statistics.slice_search import slice_test as slice_test
    from fireassay.statistics.slices import SliceRates as SliceRates
    from fireassay.statistics.slices import slice_columns as slice_columns
    from fireassay.statistics.slices import slice_members as slice_members
    from fireassay.statistics.slices import slice_rates as slice_rates
    from fireassay.statistics.temperature import fit_temperature as fit_temperature

lazy_names(__name__)
