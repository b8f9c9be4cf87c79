"""The table of searches: adding one is one file and one row."""

from fireassay.core.errors import ParameterError
from fireassay.discovery.bansal_weld import BansalWeld
from fireassay.discovery.facility_location import FacilityLocation
from fireassay.discovery.hybrid import Hybrid
from fireassay.discovery.lakkaraju import Lakkaraju, LakkarajuPublished
from fireassay.discovery.randomised import Random, Weighted
from fireassay.discovery.ranked import AdversarialDistance, LowConfidence, Score
from fireassay.discovery.strategy import Strategy

SEARCHES: dict[str, type[Strategy]] = {
    "adversarial-distance": AdversarialDistance,
    "random": Random,
    "low-confidence": LowConfidence,
    "bansal-weld": BansalWeld,
    "lakkaraju": Lakkaraju,
    "lakkaraju-published": LakkarajuPublished,
    "facility-location": FacilityLocation,
    "hybrid": Hybrid,
    "weighted": Weighted,
    "score": Score,
}
NEED_SCORES = ("adversarial-distance", "hybrid", "score")


def search_names() -> tuple[str, ...]:
    """Names that `Search` and `compare` understand."""
    return tuple(SEARCHES)


def strategy_class(name: str) -> type[Strategy]:
    """The strategy of a name, or an error that lists the names."""
    if name not in SEARCHES:
        raise ParameterError(f"The search must be one of {', '.join(SEARCHES)}.", got=repr(name))
    return SEARCHES[name]
