import dataclasses

import pytest


@pytest.fixture(scope="session")
def digits():
    from fireassay.data import digits

    return digits()


@pytest.fixture(scope="session")
def fitted(digits):
    pytest.importorskip("torch")
    from fireassay.ambiguity import AmbiguityGenerator
    from fireassay.ambiguity.preset import FAST

    pairs, preset = [(3, 8), (4, 9), (1, 7)], dataclasses.replace(FAST, steps=250, batch=32)
    return AmbiguityGenerator(pairs, tries=2, preset=preset).fit(digits.X, digits.y)


@pytest.fixture(scope="session")
def amb(fitted):
    return fitted.sample(300)
