import pytest


@pytest.fixture(scope="session")
def digits():
    from fireassay.data import digits

    return digits()


@pytest.fixture(scope="session")
def fitted(digits):
    pytest.importorskip("torch")
    from fireassay.ambiguity import AmbiguityGenerator

    return AmbiguityGenerator(pairs=[(3, 8), (4, 9), (1, 7)], tries=2).fit(digits.X, digits.y)


@pytest.fixture(scope="session")
def amb(fitted):
    return fitted.sample(300)
