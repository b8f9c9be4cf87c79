"""Wrong labels, for ``benchmarks/coverage.py``: does the corrected interval hold the true rate?"""

from coverage_rows import HOLDS, Row, held

from fireassay.reliability.label_noise import LabelNoise, corrected_bound
from fireassay.statistics import clopper_pearson

CONFIDENCE = 0.975


def world(p, e, n, twice, *, related=0.0, second="independent", apart=False):
    """Two classes: model errors p, label errors e; ``related`` of these only where it is wrong.

    The rows labelled twice are rows of their own; both limits must hold.
    """

    def experiment(rng):
        wrong = rng.random(n) < p
        where = related * e / p
        flip = rng.random(n) < (where * wrong + (1 - related) * e)
        differs = int((wrong ^ flip).sum())
        if second == "truth":
            pairs = int(rng.binomial(twice, e))
        else:
            pairs = int(rng.binomial(twice, 2 * e * (1 - e)))
        halved = 1 - (1 - CONFIDENCE) / 2
        low = float(clopper_pearson(differs, n, halved, "lower")[0])
        upper = float(clopper_pearson(differs, n, halved, "upper")[1])
        noise = LabelNoise(pairs, twice, second, apart)
        found = corrected_bound(differs / n, low, upper, n, noise, CONFIDENCE)
        exact = upper - low  # with right labels nothing shorter is known
        return held(found.low, found.upper, p, exact)

    return experiment


_INTERVAL, _POINT, _RIGHT = "wrong labels, interval", "wrong labels, point", "labels taken as right"
_WORLDS = [
    (_INTERVAL, "p = 5 %, e = 2 %, 300 twice", world(0.05, 0.02, 1000, 300)),
    (_INTERVAL, "all label errors hide the model's", world(0.05, 0.02, 1000, 300, related=1.0)),
    (_INTERVAL, "second label right, 100 twice", world(0.03, 0.03, 500, 100, second="truth")),
    (_POINT, "p = 5 %, e = 2 %, 300 twice", world(0.05, 0.02, 1000, 300, apart=True)),
    (_POINT, "p = 20 %, e = 10 %, 200 twice", world(0.2, 0.1, 500, 200, apart=True)),
]
ROWS = [Row(name, setting, each, _RIGHT, HOLDS, runs=4000) for name, setting, each in _WORLDS]
