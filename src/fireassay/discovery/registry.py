"""The table of searches: adding one is one file and one row."""

from fireassay.core.registry import Registry
from fireassay.discovery.bansal_weld import BansalWeld
from fireassay.discovery.facility_location import FacilityLocation
from fireassay.discovery.hybrid import Hybrid
from fireassay.discovery.lakkaraju import Lakkaraju, LakkarajuPublished
from fireassay.discovery.randomised import Random, Weighted
from fireassay.discovery.ranked import AdversarialDistance, LowConfidence, Score
from fireassay.discovery.strategy import Strategy

SEARCHES: Registry[type[Strategy]] = Registry(
    "search",
    [
        AdversarialDistance,
        Random,
        LowConfidence,
        BansalWeld,
        Lakkaraju,
        LakkarajuPublished,
        FacilityLocation,
        Hybrid,
        Weighted,
        Score,
    ],
)


def self_sufficient_searches() -> tuple[str, ...]:
    """Names of the searches that need no scores from their user: what a name alone can start."""
    return tuple(name for name, search in SEARCHES.items() if search.needs != "scores")
