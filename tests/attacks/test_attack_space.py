"""Adversarial rows are valid rows: fixed, growing, whole, allowed, with their holes."""

import numpy as np
import pytest

from fireassay import attacks
from fireassay.attacks import AttackSpace, ColumnRule, SpacedClassifier
from fireassay.classifiers import as_classifier
from fireassay.core.errors import DataError, ParameterError

NAMES = ("dose", "age", "visits", "ward", "pressure")
WEIGHTS = {1.0: -0.6, 2.0: 0.0, 5.0: 0.9}


def score(X):
    ward = np.vectorize(lambda code: WEIGHTS.get(code, np.nan))(X[:, 3])
    hidden = np.where(np.isnan(X[:, 4]), 0.2, X[:, 4])
    return 0.9 * X[:, 0] + 0.02 * X[:, 1] + 0.25 * X[:, 2] + ward + hidden - 2.6


def clinic(X):
    """Refuses what no clinic would send."""
    assert not np.isnan(X[:, :4]).any()
    assert (X[:, 2] == np.rint(X[:, 2])).all()
    assert np.isin(X[:, 3], list(WEIGHTS)).all()
    p = 1 / (1 + np.exp(-3 * score(X)))
    return np.column_stack([1 - p, p])


class Clinic:
    """The model behind the protocol's own methods; rows may have holes."""

    classes, bounds, sha256, queries = (0, 1), None, "clinic", 0

    def predict_proba(self, X):
        self.queries += len(X)
        return clinic(np.asarray(X))

    def predict(self, X):
        return self.predict_proba(X).argmax(axis=1)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    n = 60
    pressure = rng.normal(0.2, 0.3, n)
    pressure[::7] = np.nan
    columns = (rng.gamma(2, 0.5, n), rng.integers(20, 90, n), rng.integers(0, 7, n),
               rng.choice(list(WEIGHTS), n), pressure)  # fmt: skip
    return np.column_stack(columns)


def space_of(table, **more):
    rules = {"age": "fixed", "visits": {"kind": "integer", "eps": 2},
             "ward": "category", "pressure": "increase only"}  # fmt: skip
    return AttackSpace.of(table, rules, names=NAMES, **more)


def assert_valid(space, X, found):
    """By hand, in the model's own numbers, without asking the space."""
    np.testing.assert_array_equal(found[:, 1], X[:, 1])
    assert (found[:, 2] == np.rint(found[:, 2])).all()
    assert (np.abs(found[:, 2] - X[:, 2]) <= 2).all()
    assert np.isin(found[:, 3], list(WEIGHTS)).all()
    holes = np.isnan(X[:, 4])
    np.testing.assert_array_equal(np.isnan(found[:, 4]), holes)
    assert (found[~holes, 4] >= X[~holes, 4] - 1e-9).all()
    low, high = np.nanmin(X, axis=0), np.nanmax(X, axis=0)
    rest = np.nan_to_num(found, nan=0.0)
    assert (rest >= np.minimum(low, 0) - 1e-6).all()
    assert (rest <= high + 1e-6).all()
    assert space.valid(space.inside(found), space.inside(X)).all()


@pytest.mark.parametrize("name", ["auto", "discrete", "square", "hopskipjump"])
def test_every_adversarial_row_of_a_table_is_valid(name, table):
    space = space_of(table)
    model = SpacedClassifier(Clinic(), space)
    y = (score(table) > 0).astype(int)
    out = attacks.make(name, eps=0.1, max_queries=150)(model, space.inside(table), y)
    found = out.status == "found"
    rows = space.outside(out.adversarial)
    assert_valid(space, table, rows)
    assert found.sum() >= 5
    np.testing.assert_array_equal((score(rows) > 0) != (y == 1), out.success)
    spread = space.unit[[0, 4]]
    moves = np.abs(np.nan_to_num(rows - table, nan=0.0))
    assert (moves[:, [0, 4]] <= 0.1 * spread * (1 + 1e-6)).all()
    if name in ("square", "hopskipjump"):
        np.testing.assert_array_equal(rows[:, 2:4], table[:, 2:4])


def test_moving_categories_and_integers_breaks_more_than_reals_alone(table):
    space = space_of(table)
    model = SpacedClassifier(Clinic(), space)
    y = (score(table) > 0).astype(int)
    X = space.inside(table)
    whole = attacks.discrete(model, X, y, eps=0.1, max_queries=150)
    reals = attacks.square(model, X, y, eps=0.1, max_queries=150)
    # The best moves are known: the score is a sum over columns.
    toward = np.where(y == 1, -1.0, 1.0)
    own = np.array([WEIGHTS[code] for code in table[:, 3]])
    ward = np.where(y == 1, own.min() - own, own.max() - own)
    low, high = table[:, 2].min(), table[:, 2].max()
    visits = np.clip(table[:, 2] + 2 * toward, low, high) - table[:, 2]
    dose = np.clip(table[:, 0] + 0.1 * space.unit[0] * toward, table[:, 0].min(),
                   table[:, 0].max()) - table[:, 0]  # fmt: skip
    top = np.nanmax(table[:, 4])
    rise = np.nan_to_num(np.minimum(table[:, 4] + 0.1 * space.unit[4], top) - table[:, 4])
    pressure = np.where(y == 1, 0.0, rise)
    best = score(table) + 0.9 * dose + 0.25 * visits + ward + pressure
    breakable = (best > 0) != (y == 1)
    assert not (whole.success & ~breakable).any()
    assert whole.success.sum() >= 0.9 * breakable.sum()
    assert whole.success.sum() > reals.success.sum() + 5
    np.testing.assert_array_equal(whole.distance[whole.success] <= 0.1, True)


def test_tokens_are_replaced_by_tokens():
    rng = np.random.default_rng(1)
    vocabulary = np.array([3, 4, 7, 11, 20, 31], dtype=np.int32)
    weights = dict(zip(vocabulary.tolist(), rng.normal(size=6), strict=True))
    sent = []

    def model(X):
        sent.append(X.copy())
        total = np.vectorize(weights.__getitem__)(X).sum(axis=1)
        p = 1 / (1 + np.exp(-total))
        return np.column_stack([1 - p, p])

    X = rng.choice(vocabulary, (30, 24))
    space = AttackSpace.of(X, {"*": "category"})
    wrapped = SpacedClassifier(as_classifier(model, classes=[0, 1]), space)
    assert [m.name for m in attacks.members(wrapped)] == ["discrete"]
    out = attacks.auto(wrapped, space.inside(X), budget=120)
    rows = space.outside(out.adversarial)
    assert rows.dtype == np.int32
    assert np.isin(rows, vocabulary).all()
    assert all(np.isin(block, vocabulary).all() for block in sent)
    assert ((rows != X).sum(axis=1) <= 2).all()  # a tenth of 24
    assert (out.status == "found").sum() >= 3
    assert "square" in out.not_tried[0] or "pgd" in out.not_tried[0]


def test_l2_has_no_size_for_integers_and_categories(table):
    space = space_of(table)
    model = SpacedClassifier(Clinic(), space)
    out = attacks.auto(model, space.inside(table)[:5], norm="l2", budget=40)
    assert any(text.startswith("discrete") for text in out.not_tried)
    tokens = AttackSpace.of(np.arange(12).reshape(3, 4), {"*": "category"})
    model = SpacedClassifier(lambda X: np.tile([0.3, 0.7], (len(X), 1)), tokens)
    with pytest.raises(ParameterError, match="linf"):
        attacks.auto(model, tokens.inside(np.arange(12).reshape(3, 4)), norm="l2")


def test_gradients_are_taken_on_the_real_columns(network, images):
    X, y = images[2][:20].reshape(20, 64), images[3][:20]

    torch = pytest.importorskip("torch")
    net = torch.nn.Sequential(torch.nn.Unflatten(1, (8, 8)), network.module)
    model = as_classifier(net, classes=range(10), output="logits", bounds=(0, 1))
    space = AttackSpace.of(X, {"20": "fixed", "27": "increase only"}, bounds=(0, 1))
    out = attacks.pgd(SpacedClassifier(model, space), space.inside(X), y, eps=0.15)
    free = attacks.pgd(model, X, y, eps=0.15)
    assert (out.status == "found").sum() >= 3
    assert out.success.sum() <= free.success.sum()
    np.testing.assert_array_equal(out.adversarial[:, 20], X[:, 20])
    assert (out.adversarial[:, 27] >= X[:, 27]).all()
    assert np.abs(out.adversarial - X).max() <= 0.15 + 1e-6


def test_heavy_tails_do_not_stretch_the_unit():
    X = np.random.default_rng(0).standard_cauchy((400, 1))
    assert AttackSpace.of(X).unit[0] < 0.2 * (X.max() - X.min())
    rare = np.zeros((400, 1))
    rare[0] = 3.0
    assert AttackSpace.of(rare).unit.tolist() == [3.0]  # quantiles are equal: the range


def test_rules_are_checked(table):
    with pytest.raises(ParameterError, match="dose"):
        AttackSpace.of(table, {"height": "fixed"}, names=NAMES)
    with pytest.raises(ParameterError, match=r"'age'.*free"):
        AttackSpace.of(table, {"age": "frozen"}, names=NAMES)
    with pytest.raises(ParameterError, match=r"'age'.*table"):
        AttackSpace.of(table, {"age": {"most": 3}}, names=NAMES)
    with pytest.raises(ParameterError, match="empty"):
        ColumnRule(low=2.0, high=1.0)
    fixed = AttackSpace.of(table, {"*": "fixed"}, names=NAMES)
    model = SpacedClassifier(Clinic(), fixed)
    with pytest.raises(DataError, match="free to change"):
        attacks.square(model, fixed.inside(table), max_queries=20)


def test_a_space_is_part_of_the_hash(table):
    one, other = space_of(table), AttackSpace.of(table, {"ward": "fixed"}, names=NAMES)
    model = Clinic()
    assert SpacedClassifier(model, one).sha256 == SpacedClassifier(model, space_of(table)).sha256
    assert SpacedClassifier(model, one).sha256 != SpacedClassifier(model, other).sha256
