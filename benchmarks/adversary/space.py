"""A family of worlds as ranges of numbers: drawn at random, and moved a little."""

from dataclasses import dataclass

import numpy as np

World = dict[str, float]


@dataclass(frozen=True)
class Range:
    """What one number of a world can be; ``scale`` is linear, log, logit, whole or choice."""

    low: float
    high: float
    scale: str = "linear"

    def place(self, unit: float) -> float:
        """The number at a place in [0, 1]."""
        if self.scale in ("log", "whole"):
            found = float(np.exp(np.log(self.low) + unit * np.log(self.high / self.low)))
            return float(round(found)) if self.scale == "whole" else found
        if self.scale == "choice":
            return float(min(int(self.low + unit * (self.high - self.low + 1)), int(self.high)))
        if self.scale == "logit":
            low, high = (np.log(end / (1 - end)) for end in (self.low, self.high))
            return float(1 / (1 + np.exp(-(low + unit * (high - low)))))
        return self.low + unit * (self.high - self.low)


Space = dict[str, Range]


def drawn(space: Space, rng: np.random.Generator) -> dict[str, float]:
    """Places in [0, 1], one per number; the ends have some mass of their own."""
    places = {}
    for name in space:
        unit = float(rng.random())
        places[name] = float(round(unit)) if rng.random() < 0.1 else unit
    return places


def moved(places: dict[str, float], rng: np.random.Generator) -> dict[str, float]:
    """One to three numbers elsewhere, mostly near."""
    new = dict(places)
    for name in rng.choice(list(places), size=int(rng.integers(1, 4)), replace=True):
        if rng.random() < 0.2:
            new[name] = float(rng.random())
        else:
            new[name] = float(np.clip(new[name] + rng.normal(0, 0.12), 0.0, 1.0))
    return new


def world_at(space: Space, places: dict[str, float]) -> World:
    """The world at these places."""
    return {name: space[name].place(places[name]) for name in space}


def said(words: str, world: World) -> str:
    """A world as a sentence: whole numbers as they are, three digits of others."""
    told = {name: f"{v:,.0f}" if v == round(v) else f"{v:.3g}" for name, v in world.items()}
    return words.format(**told)
