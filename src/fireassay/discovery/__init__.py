"""Discovery: where is the model confidently wrong, found with few labels?"""

from typing import TYPE_CHECKING

from fireassay.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from fireassay.discovery.adversarial_distance import (
        adversarial_distance,
        log_mae,
        measure_adversarial_distance,
        measure_log_mae,
    )
    from fireassay.discovery.calibration import calibrate, class_reliability
    from fireassay.discovery.comparison import SearchComparison, compare
    from fireassay.discovery.discovery_ratio import (
        DiscoveryRatio,
        RunningRatio,
        e_process,
        running_ratio,
        sdr,
        sequential_interval,
        sequential_p_value,
    )
    from fireassay.discovery.estimators import (
        estimate_error,
        hansen_hurwitz,
        horvitz_thompson,
        lure_weights,
        ppi,
    )
    from fireassay.discovery.groups import (
        explain_errors,
        group_errors,
        nearest_correct,
        over_represented,
    )
    from fireassay.discovery.kept_labels import OTHER
    from fireassay.discovery.labelling import add_labels, next_labels
    from fireassay.discovery.matched_random import (
        MatchedRandom,
        matched_arm_test,
        matched_random_test,
    )
    from fireassay.discovery.measures import MEASURES
    from fireassay.discovery.registry import SEARCHES
    from fireassay.discovery.result import SearchResult
    from fireassay.discovery.saliency import occlusion_saliency
    from fireassay.discovery.search import Search
    from fireassay.discovery.space import bansal_weld_utility, principal_components, spread
    from fireassay.discovery.state import SearchState
    from fireassay.discovery.strategy import Candidates, Choice, Strategy
    from fireassay.statistics.loess import Loess, loess

__all__ = [
    "MEASURES",
    "OTHER",
    "SEARCHES",
    "Candidates",
    "Choice",
    "DiscoveryRatio",
    "Loess",
    "MatchedRandom",
    "RunningRatio",
    "Search",
    "SearchComparison",
    "SearchResult",
    "SearchState",
    "Strategy",
    "add_labels",
    "adversarial_distance",
    "bansal_weld_utility",
    "calibrate",
    "class_reliability",
    "compare",
    "e_process",
    "estimate_error",
    "explain_errors",
    "group_errors",
    "hansen_hurwitz",
    "horvitz_thompson",
    "loess",
    "log_mae",
    "lure_weights",
    "matched_arm_test",
    "matched_random_test",
    "measure_adversarial_distance",
    "measure_log_mae",
    "nearest_correct",
    "next_labels",
    "occlusion_saliency",
    "over_represented",
    "ppi",
    "principal_components",
    "running_ratio",
    "sdr",
    "sequential_interval",
    "sequential_p_value",
    "spread",
]

lazy_names(__name__)
