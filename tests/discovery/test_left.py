"""How many errors are left: the bounds hold, and the audit is drawn as it must be."""

import numpy as np
import pytest
from scipy import stats

from fireassay import discovery
from fireassay.discovery.estimators import errors_among


def test_errors_among_is_the_definition():
    """All numbers of errors for which both tails exceed half of alpha, by trying each."""
    for rows, drawn, wrong, alpha in [(30, 8, 2, 0.05), (50, 50, 7, 0.05), (40, 10, 0, 0.2)]:
        allowed = [
            errors
            for errors in range(wrong, rows - drawn + wrong + 1)
            if stats.hypergeom.cdf(wrong, rows, errors, drawn) > alpha / 2
            and stats.hypergeom.sf(wrong - 1, rows, errors, drawn) > alpha / 2
        ]
        assert errors_among(rows, drawn, wrong, alpha) == (allowed[0], allowed[-1])


def pool(n, rate, seed):
    """A model that is sure of everything; the first rows are wrong more often."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    wrong = rng.random(n) < np.where(X[:, 0] > 1, 4 * rate, rate / 2)
    return X, wrong.astype(int)


def sure(X):
    return np.tile([0.9, 0.1], (len(X), 1))


def test_the_audit_comes_last_and_is_drawn_by_lot():
    X, y = pool(300, 0.1, 0)
    search = discovery.Search("twin-trees", model=sure, X=X, budget=50, audit_share=0.2, patience=0)
    assert search.result.left is None
    result = search.run(lambda row: y[row])
    arms = search.state.arms
    assert arms == ("search",) * 40 + ("audit",) * 10
    chances = np.array(search.state.probabilities[40:])
    assert chances == pytest.approx(1 / np.arange(260, 250, -1))
    left = y.sum() - y[search.state.rows[list(search.state.asked)]].sum()
    assert result.left.low <= left <= result.left.high
    assert result.errors == y[result.rows].sum()
    assert "left" in str(result.evidence())


def test_a_pool_that_was_labelled_whole_has_none_left():
    X, y = pool(40, 0.1, 0)
    search = discovery.Search("twin-trees", model=sure, X=X, budget=99)
    result = search.run(lambda row: y[row])
    assert (result.left.low, result.left.high) == (0, 0)
    assert search.remaining == 0


def test_a_search_that_hits_no_more_than_lots_gives_way_to_the_audit():
    X, _ = pool(600, 0.1, 0)
    search = discovery.Search("twin-trees", model=sure, X=X, budget=200)
    result = search.run(lambda row: 0)  # nothing is wrong, and a tenth was announced
    assert search.state.arms == ("search",) * 30 + ("audit",) * 40
    assert search.remaining == 0
    assert result.left.value == 0
    with pytest.raises(Exception, match="spent"):
        search.ask()


def test_calibration_rows_divided_by_lot_speak_of_what_is_left():
    X, y = pool(900, 0.1, 3)
    known = (X[:300], y[:300])
    own = {"model": sure, "X": X[300:], "budget": 100, "calibration": known, "seed": 1}
    first = discovery.Search("twin-trees", **own, split=True)
    before = first.result.left
    assert before is not None
    assert before.low <= y[300:].sum() <= before.high
    result = first.run(lambda row: y[300 + row])
    audit = discovery.Search("twin-trees", **own).run(lambda row: y[300 + row])
    assert result.left.high - result.left.low < audit.left.high - audit.left.low
    enough = discovery.Search("twin-trees", **own, split=True, tolerance=600)
    enough.run(lambda row: y[300 + row])
    assert enough.state.arms == ("audit",) * 20


def test_calibration_rows_unlike_the_pool_are_said_and_not_used():
    X, y = pool(900, 0.02, 3)
    search = discovery.Search(
        "twin-trees", model=sure, X=X, budget=250, audit_share=0.4, split=True,
        calibration=(X[:300], np.ones(300, dtype=int)),
    )  # fmt: skip
    left = search.run(lambda row: y[row]).left
    assert "not like the pool" in left.method
    unasked = np.setdiff1d(np.arange(900), search.state.rows[list(search.state.asked)])
    assert left.low <= y[unasked].sum() <= left.high


def test_rows_that_nobody_could_label_widen_the_bound():
    X, y = pool(300, 0.3, 4)

    def asked(skips):
        search = discovery.Search(
            "twin-trees", model=sure, X=X, budget=100, audit_share=0.4, patience=0
        )
        while search.remaining:
            row = search.ask()
            if search.state.arms[-1] == "audit" and skips:
                skips -= 1
                search.skip(row)
            else:
                search.tell(row, y[row])
        return search.result.left

    assert asked(0).low > 0
    assert asked(2).low == 0


def test_a_resumed_audit_goes_on_with_the_same_rows(tmp_path):
    X, y = pool(200, 0.1, 5)
    whole = discovery.Search("twin-trees", model=sure, X=X, budget=40, patience=0)
    whole.run(lambda row: y[row])
    path = tmp_path / "search.npz"
    discovery.Search("twin-trees", model=sure, X=X, budget=40, patience=0, path=path)
    for _ in range(40):  # opened anew for every label
        search = discovery.Search.load(path)
        row = search.ask()
        search.tell(row, int(y[row]))
    again = discovery.Search.load(path)
    assert again.state.asked == whole.state.asked
    assert again.result.left == whole.result.left
    again.undo()
    assert again.result.left is None


@pytest.mark.slow
@pytest.mark.long
def test_the_bounds_hold_in_worlds_that_are_searched():
    """Misses of the audit alone, and of audit and split, at 95 %; worlds of 200 to 2,000 rows."""
    missed = dict.fromkeys(("audit", "both"), 0)
    for world in range(40):
        rng = np.random.default_rng(world)
        n, rate = int(rng.integers(200, 2000)), float(rng.uniform(0.005, 0.4))
        X, y = pool(n + 200, rate, world)
        order = np.argsort(-X[200:, 0] + rng.normal(size=n))  # a search of some skill
        for kind, split in (("audit", False), ("both", True)):
            search = discovery.Search(
                "score", model=sure, X=X[200:], scores=np.argsort(order), budget=100, seed=world,
                audit_share=0.3, patience=0, calibration=(X[:200], y[:200]), split=split,
            )  # fmt: skip
            left = search.run(lambda row, y=y: y[200 + row]).left
            unasked = np.setdiff1d(np.arange(n), search.state.rows[list(search.state.asked)])
            missed[kind] += not left.low <= y[200:][unasked].sum() <= left.high
    assert max(missed.values()) <= stats.binom.ppf(0.999, 40, 0.05)
