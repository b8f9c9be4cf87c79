"""Smaller blocks are used only where they give the same bytes, and never change a result."""

import pickle
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fireassay as fa
from fireassay.classifiers.backends.callable import CallableClassifier
from fireassay.classifiers.blocks import (
    BlockSizes,
    DistinctRows,
    call_price,
    candidates,
    cut,
    price,
)
from fireassay.classifiers.temperature import TemperatureScaled
from fireassay.engine import Executor


class Padded(CallableClassifier):
    """A function whose blocks are filled up, as those of networks and files are."""

    pads_blocks = True


X = np.random.default_rng(0).random((600, 3))
ALL = (1, 2, 4, 8, 16, 32, 64, 128, 256)


def shares(rows: np.ndarray, error: Any = 0.0) -> np.ndarray:
    share = 0.9 * rows[:, 0] + error
    return np.column_stack([share, 1 - share])


def wrong_in(sizes: set[int]) -> Callable[[np.ndarray], np.ndarray]:
    """A model that rounds differently in blocks of these sizes, in their last place only."""

    def model(rows: np.ndarray) -> np.ndarray:
        last = np.arange(len(rows)) == len(rows) - 1
        return shares(rows, 1e-15 * last * (len(rows) in sizes))

    return model


@given(n=st.integers(1, 2000), sizes=st.sets(st.sampled_from(ALL[:-1])))
def test_a_cut_has_every_row_once_and_fills_up_only_the_last_block(n: int, sizes: set[int]) -> None:
    ladder = (*sorted(sizes), 256)
    pieces = list(cut(n, ladder))
    assert [start for start, _, _ in pieces] == [0, *(stop for _, stop, _ in pieces[:-1])]
    assert pieces[-1][1] == n
    assert all(size in ladder for _, _, size in pieces)
    assert all(stop - start == size for start, stop, size in pieces[:-1])
    sent = sum(size for _, _, size in pieces)
    assert n <= sent < n + min(ladder), "no more is filled up than the smallest block needs"


def test_the_ladder_of_the_design_page() -> None:
    assert (*candidates(256), 256) == ALL
    assert [size for _, _, size in cut(200, ALL)] == [128, 64, 8]


@given(n=st.integers(1, 2000), call=st.integers(0, 20), sizes=st.sets(st.sampled_from(ALL[:-1])))
def test_a_block_is_filled_up_where_that_costs_less_than_more_calls(
    n: int, call: int, sizes: set[int]
) -> None:
    ladder = (*sorted(sizes), 256)

    def cost(pieces: Sequence[tuple[int, int, int]]) -> int:
        return sum(size + call for _, _, size in pieces)

    pieces = list(cut(n, ladder, call))
    assert [start for start, _, _ in pieces] == [0, *(stop for _, stop, _ in pieces[:-1])]
    assert pieces[-1][1] == n
    assert cost(pieces) <= cost(list(cut(n, ladder)))
    assert len(pieces) <= len(list(cut(n, ladder)))


def test_small_rows_are_sent_in_few_calls_and_large_ones_are_not_sent_in_vain() -> None:
    small, large = np.zeros((60, 100)), np.zeros((60, 3, 224, 224), dtype=np.int8)
    assert [size for *_, size in cut(60, ALL, call_price(small))] == [64]
    assert [size for *_, size in cut(12, ALL, call_price(small))] == [16]
    assert [size for *_, size in cut(52, ALL, call_price(large))] == [32, 16, 4]
    assert [size for *_, size in cut(200, ALL, call_price(small))] == [128, 64, 8]


@pytest.mark.parametrize("wrong", [set(), {64, 128}, {1, 2, 4}, set(ALL[:-1])])
def test_sizes_with_other_bytes_at_one_place_do_not_join(wrong: set[int]) -> None:
    model: Any = Padded(wrong_in(wrong))
    decided = model.decide_block_sizes(X)
    assert [sizes for _, sizes in decided.decided] == [tuple(s for s in ALL if s not in wrong)]
    assert (model.queries, model.rows_delivered) == (0, price(256))
    np.testing.assert_array_equal(model.predict_proba(X[:7]), shares(X[:7]))
    sent = model.rows_delivered - price(256)
    assert sent == (256 if 8 in wrong else 8)  # one block of 8 costs less than three
    model.predict_proba(X[:1])
    assert model.rows_delivered % 256 in ({0} if 8 in wrong else {9} if 1 not in wrong else {16})


def by_place(rows: np.ndarray) -> np.ndarray:
    return shares(rows, 1e-12 * np.arange(len(rows)))


def test_models_that_are_random_or_depend_on_the_place_are_filled_up_as_before() -> None:
    generator = np.random.default_rng(0)

    def noisy(rows: np.ndarray) -> np.ndarray:
        return shares(rows, 1e-9 * generator.random(len(rows)))

    for function in (noisy, by_place):
        model: Any = Padded(function)
        assert dict(model.decide_block_sizes(X).decided).popitem()[1] == (256,)
        assert model.rows_delivered == 512, "two blocks were enough to see it"
        model.predict_proba(X[:3])
        assert model.rows_delivered == 768


def test_a_model_that_cannot_take_small_blocks_keeps_its_own() -> None:
    def reshaping(rows: np.ndarray) -> np.ndarray:
        return shares(rows.reshape(2, 128, 3).reshape(256, 3))

    model: Any = Padded(reshaping)
    assert dict(model.decide_block_sizes(X).decided).popitem()[1] == (256,)
    np.testing.assert_array_equal(model.predict_proba(X[:5]), shares(X[:5]))


def test_rows_of_one_value_decide_nothing() -> None:
    model: Any = Padded(lambda rows: shares(rows))
    assert model.decide_block_sizes(np.full((300, 3), 0.5)) == BlockSizes()
    assert not DistinctRows(256).fill()
    assert model.rows_delivered == 0
    for _ in range(40):
        model.predict_proba(np.full((10, 3), 0.5))
    assert (model.queries, model.rows_delivered) == (400, 40 * 256)


@pytest.mark.parametrize("wrong", [set(), {64, 128}])
def test_few_rows_are_put_together_anew_until_there_are_enough(wrong: set[int]) -> None:
    seen: list[np.ndarray] = []

    def noting(rows: np.ndarray) -> np.ndarray:
        seen.append(rows.copy())
        return wrong_in(wrong)(rows)

    few = np.random.default_rng(1).integers(0, 50, (20, 5)) / 50
    model: Any = Padded(noting)
    decided = dict(model.decide_block_sizes(few).decided).popitem()[1]
    assert decided == tuple(size for size in ALL if size not in wrong)
    assert model.rows_delivered == price(256)
    sent = np.concatenate(seen)
    assert len(np.unique(sent, axis=0)) == 256
    assert all(np.isin(sent[:, i], few[:, i]).all() for i in range(5)), "no value is new"


def test_an_attack_of_few_rows_does_not_go_on_filling_up_blocks() -> None:
    model: Any = Padded(shares)
    for i in range(100):
        model.predict_proba(X[[i % 12, i % 7]] + 1e-3 * i)
    assert 2 * price(256) < model.rows_delivered < 2 * price(256) + 256 + 2 * 100


def test_an_adapter_decides_by_itself_once_filling_up_has_cost_as_much() -> None:
    model: Any = Padded(shares)
    model.predict_proba(X)
    assert model.rows_delivered == 768, "one call is not worth a probe"
    calls = 0
    while not model.block_sizes.decided:
        model.predict_proba(X[:64])
        calls += 1
    assert 168 + 192 * (calls - 1) < price(256) <= 168 + 192 * calls
    assert model.rows_delivered == 768 + 256 * (calls - 1) + price(256) + 64
    before = model.rows_delivered
    model.predict_proba(X[:200])
    assert model.rows_delivered - before == 200
    assert model.queries == 600 + 64 * calls + 200


def test_another_type_or_shape_of_rows_is_another_question() -> None:
    model: Any = Padded(lambda rows: shares(rows.reshape(len(rows), -1)))
    model.decide_block_sizes(X)
    for rows in (X.astype(np.float32), X[:, :, None]):
        before = model.rows_delivered
        model.predict_proba(rows[:4])
        assert model.rows_delivered - before == 256


def test_a_budget_is_not_spent_on_probes() -> None:
    model: Any = Padded(shares, max_queries=3000)
    for start in range(0, 600, 10):
        model.predict_proba(X[start : start + 10])
    model.decide_block_sizes(X)
    assert (model.queries, model.rows_delivered) == (600, 600), "nor filled up under a budget"


def test_fixed_whole_and_small_blocks_have_nothing_to_decide() -> None:
    for size in (None, 1):
        model: Any = Padded(shares, batch_size=size)
        assert model.decide_block_sizes(X) == BlockSizes()
        assert model.rows_delivered == 0
    odd: Any = Padded(shares, batch_size=7)
    assert dict(odd.decide_block_sizes(X).decided).popitem()[1] == (1, 2, 4, 7)


@settings(max_examples=20, deadline=None)
@given(cuts=st.lists(st.integers(1, 599), max_size=40), wrong=st.sets(st.sampled_from(ALL[:-1])))
def test_no_split_of_the_rows_changes_a_byte_before_or_after_the_decision(
    cuts: list[int], wrong: set[int]
) -> None:
    model = Padded(wrong_in(wrong))
    edges = [0, *sorted(set(cuts)), 600]
    for _ in range(3):
        parts = [model.predict_proba(X[a:b]) for a, b in pairwise(edges)]
        assert np.concatenate(parts).tobytes() == shares(X).tobytes()


def asked(row: int, model: Any) -> tuple[bytes, int]:
    before = model.rows_delivered
    answer = model.predict_proba(X[row : row + 7])
    return answer.tobytes(), model.rows_delivered - before


def test_workers_get_the_decision_with_the_model_and_never_probe_again() -> None:
    model: Any = Padded(wrong_in({4}))
    model.decide_block_sizes(X)
    found = {
        workers: Executor(workers=workers, progress=False).map(
            asked, [0, 100, 200, 300], shared={"model": TemperatureScaled(model, 2.0)}
        )
        for workers in (1, 2)
    }
    assert found[1] == found[2]
    assert {sent for _, sent in found[2]} == {8}


def test_a_decision_survives_pickle_and_plain_types_and_is_not_part_of_the_model() -> None:
    model: Any = Padded(shares)
    before = model.sha256
    decided = model.decide_block_sizes(X)
    assert pickle.loads(pickle.dumps(model)).block_sizes == decided
    assert BlockSizes.from_dict(decided.to_dict()) == decided
    assert model.sha256 == before
    other: Any = TemperatureScaled(Padded(shares), 2.0)
    other.block_sizes = decided
    other.predict_proba(X[:3])
    assert other.rows_delivered == 4


@pytest.mark.extras
def test_gradients_are_decided_apart_and_keep_their_bytes() -> None:
    torch = pytest.importorskip("torch")

    class Rounding(torch.nn.Module):  # type: ignore[misc]
        """Exact forwards; backwards other bytes in blocks of 16."""

        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(3, 2)

        def forward(self, x: Any) -> Any:
            if len(x) == 16 and x.requires_grad:
                x.register_hook(lambda slope: slope * (1 + 1e-6))
            return (x[:, :, None] * self.layer.weight.T[None]).sum(1)

    torch.manual_seed(0)
    rows = X.astype(np.float32)
    targets = np.arange(600) % 2
    model: Any = fa.as_classifier(Rounding(), output="logits")
    decided = dict(model.decide_block_sizes(rows, gradients=True).decided)
    sizes = {question.split(" <")[0]: found for question, found in decided.items()}
    assert 16 in sizes["probabilities"]
    assert 16 in sizes["logits"]
    assert 16 not in sizes["loss gradient"]
    assert 16 not in sizes["logit gradients"]
    whole = fa.as_classifier(Rounding(), output="logits")
    whole.module.load_state_dict(model.module.state_dict())  # type: ignore[attr-defined]
    expected = whole.loss_gradient(rows, targets)[1]  # type: ignore[attr-defined]
    for start, stop in ((0, 16), (3, 40), (100, 101), (20, 600)):
        slope = model.loss_gradient(rows[start:stop], targets[start:stop])[1]
        np.testing.assert_array_equal(slope, expected[start:stop])
    assert model.gradient_queries == 16 + 37 + 1 + 580, "probes are no gradient queries"
