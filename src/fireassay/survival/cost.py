"""What a training second and an attacker's query cost."""

from dataclasses import dataclass

from fireassay.core.validation import check_real


@dataclass(frozen=True)
class Cost:
    """Prices that turn queries into seconds, money and energy.

    Attributes
    ----------
    seconds_per_query
        Seconds of one forward query on the attacker's machine; None if times are seconds already.
    training_price_per_hour, attack_price_per_hour
        Money per machine hour of either side (None: money is not reported).
    training_watts, attack_watts
        Power of either side's machine (None: energy is not reported).
    """

    seconds_per_query: float | None = None
    training_price_per_hour: float | None = None
    attack_price_per_hour: float | None = None
    training_watts: float | None = None
    attack_watts: float | None = None

    def __post_init__(self) -> None:
        for name in (
            "seconds_per_query",
            "training_price_per_hour",
            "attack_price_per_hour",
            "training_watts",
            "attack_watts",
        ):
            if getattr(self, name) is not None:
                check_real(getattr(self, name), name, low=0.0)

    def factors(self) -> dict[str, tuple[float, float]]:
        """Per unit: what a training second and one unit of time to failure cost."""
        query = 1.0 if self.seconds_per_query is None else self.seconds_per_query
        found = {"seconds": (1.0, query)}
        if self.seconds_per_query is not None:
            found = {"queries": (1.0 / query, 1.0), **found}
        if self.training_price_per_hour is not None:
            attack = self.attack_price_per_hour or self.training_price_per_hour
            found["money"] = (self.training_price_per_hour / 3600, attack * query / 3600)
        if self.training_watts is not None:
            attack = self.attack_watts or self.training_watts
            found["joules"] = (self.training_watts, attack * query)
        return found
