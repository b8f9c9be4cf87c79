"""Discovery: where is the model confidently wrong, found with few labels?"""

from typing import TYPE_CHECKING

from fireassay.core.lazy import lazy_names

if TYPE_CHECKING:
    from fireassay.discovery.adversarial_distance import (
        adversarial_distance as adversarial_distance,
    )
    from fireassay.discovery.adversarial_distance import log_mae as log_mae
    from fireassay.discovery.adversarial_distance import (
        measure_adversarial_distance as measure_adversarial_distance,
    )
    from fireassay.discovery.adversarial_distance import measure_log_mae as measure_log_mae
    from fireassay.discovery.adversarial_distance import occlusion_saliency as occlusion_saliency
    from fireassay.discovery.comparison import SearchComparison as SearchComparison
    from fireassay.discovery.comparison import compare as compare
    from fireassay.discovery.estimators import estimate_error as estimate_error
    from fireassay.discovery.estimators import hansen_hurwitz as hansen_hurwitz
    from fireassay.discovery.estimators import horvitz_thompson as horvitz_thompson
    from fireassay.discovery.estimators import lure_weights as lure_weights
    from fireassay.discovery.estimators import ppi as ppi
    from fireassay.discovery.fixed_searches import SEARCHES as SEARCHES
    from fireassay.discovery.groups import explain_errors as explain_errors
    from fireassay.discovery.groups import group_errors as group_errors
    from fireassay.discovery.groups import nearest_correct as nearest_correct
    from fireassay.discovery.groups import over_represented as over_represented
    from fireassay.discovery.known_rows import calibrate as calibrate
    from fireassay.discovery.known_rows import class_reliability as class_reliability
    from fireassay.discovery.label_files import add_labels as add_labels
    from fireassay.discovery.label_files import next_labels as next_labels
    from fireassay.discovery.matched_random import MatchedRandom as MatchedRandom
    from fireassay.discovery.matched_random import matched_arm_test as matched_arm_test
    from fireassay.discovery.matched_random import matched_random_test as matched_random_test
    from fireassay.discovery.measures import MEASURES as MEASURES
    from fireassay.discovery.ratio import DiscoveryRatio as DiscoveryRatio
    from fireassay.discovery.ratio import RunningRatio as RunningRatio
    from fireassay.discovery.ratio import e_process as e_process
    from fireassay.discovery.ratio import running_ratio as running_ratio
    from fireassay.discovery.ratio import sdr as sdr
    from fireassay.discovery.ratio import sequential_interval as sequential_interval
    from fireassay.discovery.ratio import sequential_p_value as sequential_p_value
    from fireassay.discovery.result import SearchResult as SearchResult
    from fireassay.discovery.search import Search as Search
    from fireassay.discovery.space import bansal_weld_utility as bansal_weld_utility
    from fireassay.discovery.space import principal_components as principal_components
    from fireassay.discovery.space import spread as spread
    from fireassay.discovery.state import OTHER as OTHER
    from fireassay.discovery.state import SearchState as SearchState
    from fireassay.discovery.strategy import Candidates as Candidates
    from fireassay.discovery.strategy import Choice as Choice
    from fireassay.discovery.strategy import Strategy as Strategy
    from fireassay.statistics.loess import Loess as Loess
    from fireassay.statistics.loess import loess as loess

lazy_names(__name__)
