# ruff: noqa: E501
"""The standard numbers against scikit-learn, statsmodels, scipy, and leaving out one by one."""

import math
import time

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, logit
from scipy.stats import binomtest, t
from sklearn import metrics

from fireassay.core import ParameterError
from fireassay.core.measure import find_measure
from fireassay.statistics.numbers import confusion_numbers as counts
from fireassay.statistics.numbers import probability_numbers as stated
from fireassay.statistics.numbers.judged_rows import JudgedRows
from fireassay.statistics.numbers.number_registry import (
    BY_NAME,
    MEASURES,
    NUMBERS,
    number_of,
    parse_number,
    standard_name,
    standard_numbers,
)
from fireassay.statistics.numbers.slice_numbers import fewest_units, slice_numbers


def rows_of(seed=0, n=300, k=3, groups=None, blanks=0, digits=None):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    z = rng.normal(size=(n, k)) + 1.1 * np.eye(k)[y]
    p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    if digits:
        p = np.round(p, digits) + 1e-3
        p /= p.sum(axis=1, keepdims=True)
    a = p.argmax(axis=1)
    a[:blanks] = -1
    member = None if groups is None else rng.integers(0, groups, n)
    return y, a, p, JudgedRows.of(y, a, k, p, groups=member)


def close(found, expected):
    assert float(found) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("blanks", [0, 11])
def test_values_are_those_of_scikit_learn(seed, blanks):
    y, a, p, rows = rows_of(seed, blanks=blanks, digits=2 if seed % 2 else None)
    found = standard_numbers(rows, range(3), ordered=True)
    said = np.where(a < 0, 3, a)  # indeterminate is an answer that is never right
    close(found["accuracy"], metrics.accuracy_score(y, said))
    close(found["error"], 1 - metrics.accuracy_score(y, said))
    close(
        found["balanced_accuracy"], metrics.recall_score(y, said, labels=[0, 1, 2], average="macro")
    )
    close(found["kappa"], metrics.cohen_kappa_score(y, said))
    close(found["mcc"], metrics.matthews_corrcoef(y, said))
    labels = {"labels": [0, 1, 2], "average": "macro"}
    close(found["f1_macro"], metrics.f1_score(y, said, **labels))
    close(found["f1_weighted"], metrics.f1_score(y, said, **labels | {"average": "weighted"}))
    close(found["auroc_macro"], metrics.roc_auc_score(y, p, multi_class="ovr"))
    close(found["brier"], metrics.brier_score_loss(y, p))
    close(found["log_loss"], metrics.log_loss(y, p))
    if not blanks:
        close(found["kappa_quadratic"], metrics.cohen_kappa_score(y, a, weights="quadratic"))
        close(found["off_by_two"], np.mean(np.abs(y - a) >= 2))
    for c in range(3):
        own, hit = y == c, said == c
        close(found[f"sensitivity[{c}]"], metrics.recall_score(own, hit))
        close(found[f"ppv[{c}]"], metrics.precision_score(own, hit))
        close(found[f"f1[{c}]"], metrics.f1_score(own, hit))
        close(found[f"specificity[{c}]"], np.mean(((said != c) & (said != 3))[~own]))
        close(found[f"npv[{c}]"], np.mean(~own[(said != c) & (said != 3)]))
        close(found[f"auroc[{c}]"], metrics.roc_auc_score(own, p[:, c]))
        close(found[f"average_precision[{c}]"], metrics.average_precision_score(own, p[:, c]))
        close(found[f"oe_ratio[{c}]"], own.sum() / p[:, c].sum())
        if not blanks:
            plus, minus = metrics.class_likelihood_ratios(own, hit)
            close(found[f"lr+[{c}]"], plus)
            close(found[f"lr-[{c}]"], minus)


def test_two_classes_have_the_usual_brier_score():
    y, _, p, rows = rows_of(k=2)
    close(stated.brier(rows), metrics.brier_score_loss(y, p[:, 1]))


@pytest.mark.parametrize("seed", range(3))
def test_calibration_is_that_of_statsmodels(seed):
    y, _, p, rows = rows_of(seed)
    for c in range(3):
        own, line = (y == c).astype(float), logit(p[:, c])
        family = sm.families.Binomial()
        slope = sm.GLM(own, sm.add_constant(line), family=family).fit(tol=1e-12)
        large = sm.GLM(own, np.ones(len(y)), family=family, offset=line).fit(tol=1e-12)
        close(stated.calibration_slope(rows, c), slope.params[1])
        close(stated.calibration_intercept(rows, c), large.params[0])


def test_shares_have_scipys_exact_interval_and_f1_follows_from_one():
    y, a, _, rows = rows_of()
    ends = binomtest(int((y == a).sum()), len(y)).proportion_ci(method="exact")
    close(counts.accuracy(rows).low, ends.low)
    close(counts.accuracy(rows).high, ends.high)
    either = (y == 1) | (a == 1)
    ends = binomtest(int((y == a)[either].sum()), int(either.sum())).proportion_ci(method="exact")
    found = counts.f1(rows, 1)
    close(found.low, 2 * ends.low / (1 + ends.low))
    close(found.high, 2 * ends.high / (1 + ends.high))


SCALES = {"logit": (logit, expit), "fisher": (np.arctanh, np.tanh), "log": (np.log, np.exp),
          "plain": (np.asarray, np.asarray)}  # fmt: skip
KNIVES = [
    (counts.kappa, lambda y, a, p: metrics.cohen_kappa_score(y, a), "fisher"),
    (counts.mcc, lambda y, a, p: metrics.matthews_corrcoef(y, a), "fisher"),
    (counts.f1_macro, lambda y, a, p: metrics.f1_score(y, a, average="macro"), "logit"),
    (counts.kappa_quadratic, lambda y, a, p: metrics.cohen_kappa_score(y, a, weights="quadratic"), "fisher"),
    (lambda r: stated.average_precision(r, 1), lambda y, a, p: metrics.average_precision_score(y == 1, p[:, 1]), "logit"),
    (stated.auroc_macro, lambda y, a, p: metrics.roc_auc_score(y, p, multi_class="ovr"), "logit"),
    (lambda r: stated.oe_ratio(r, 1), lambda y, a, p: (y == 1).sum() / p[:, 1].sum(), "log"),
    (stated.log_loss, lambda y, a, p: metrics.log_loss(y, p, labels=[0, 1, 2]), "log"),
]  # fmt: skip


@pytest.mark.parametrize(("ours", "theirs", "scale"), KNIVES)
@pytest.mark.parametrize("grouped", [False, True])
def test_the_jackknife_is_leaving_out_one_by_one(ours, theirs, scale, grouped):
    y, a, p, rows = rows_of(7, n=120, groups=40 if grouped else None, digits=2)
    there, back = SCALES[scale]
    who = rows.groups if grouped else np.arange(len(y))
    units = np.unique(who)
    left = np.array([theirs(y[who != g], a[who != g], p[who != g]) for g in units])
    value, m = theirs(y, a, p), len(units)
    plain = math.sqrt((m - 1) / m * np.square(left - value).sum())
    slope = (there(value + 1e-6) - there(value - 1e-6)) / 2e-6
    spread = max(
        plain * slope, math.sqrt((m - 1) / m * np.square(there(left) - there(value)).sum())
    )
    half = t.ppf(0.975, m - 1) * spread
    found = ours(rows)
    # Ranks without a group are taken as the sum of its rows' effects, which is not exact.
    close_to = {"abs": 2e-3} if grouped else {"abs": 1e-6}
    assert found.low == pytest.approx(back(there(value) - half), **close_to)
    assert found.high == pytest.approx(back(there(value) + half), **close_to)


def test_calibration_without_each_row_is_near_the_refits():
    y, _, p, rows = rows_of(3, n=150)
    own, line, n = (y == 1).astype(float), logit(p[:, 1]), 150
    family = sm.families.Binomial()
    left = [sm.GLM(np.delete(own, i), sm.add_constant(np.delete(line, i)), family=family).fit().params[1]
            for i in range(n)]  # fmt: skip
    found = stated.calibration_slope(rows, 1)
    half = t.ppf(0.975, n - 1) * math.sqrt(
        (n - 1) / n * np.square(np.array(left) - found.value).sum()
    )
    assert found.high - found.value == pytest.approx(half, rel=0.05)


def test_groups_widen_shares_by_the_bound_of_the_design_page(bound_of_the_design):
    y, a, _, rows = rows_of(groups=60)
    wrong = np.bincount(rows.groups, weights=y != a)
    sizes = np.bincount(rows.groups)
    found = counts.error(rows)
    assert found.high == pytest.approx(
        bound_of_the_design(wrong, sizes, 0.025, sizes.max()), abs=1e-4
    )
    assert found.low == pytest.approx(
        1 - bound_of_the_design(sizes - wrong, sizes, 0.025, sizes.max()), abs=1e-4
    )
    assert JudgedRows.of(y, a, 3, groups=np.arange(len(y))).groups is None


def test_net_benefit_and_the_decision_curve_by_their_definition():
    y, _, p, rows = rows_of(k=2)
    curve = stated.decision_curve(rows, 1, [0.1, 0.3])
    for i, cut in enumerate((0.1, 0.3)):
        said, odds = p[:, 1] >= cut, cut / (1 - cut)
        expected = np.mean(said & (y == 1)) - odds * np.mean(said & (y == 0))
        close(curve["model"][i], expected)
        close(curve["treat all"][i], np.mean(y) - odds * np.mean(y == 0))
        close(number_of(rows, parse_number(f"net_benefit[1]@{cut}", [0, 1])), expected)


def test_numbers_at_other_operating_points():
    y, _, p, rows = rows_of(k=2, n=500)
    at = lambda text: number_of(rows, parse_number(text, ["no", "yes"], "yes"))  # noqa: E731
    close(at("sensitivity@0.2"), metrics.recall_score(y, p[:, 1] >= 0.2))
    close(at("precision[yes]@0.7"), metrics.precision_score(y, p[:, 1] >= 0.7))
    false, true, _ = metrics.roc_curve(y, p[:, 1], drop_intermediate=False)
    close(at("sensitivity@specificity=0.9"), true[false <= 0.1 + 1e-12].max())
    close(at("specificity@sensitivity=0.9"), 1 - false[true >= 0.9 - 1e-12].min())
    se, sp = (counts.class_share(rows, name, 1).value for name in ("sensitivity", "specificity"))
    close(at("ppv@prevalence=0.02"), 0.02 * se / (0.02 * se + 0.98 * (1 - sp)))
    close(at("npv@prevalence=0.02"), 0.98 * sp / (0.98 * sp + 0.02 * (1 - se)))
    here = float(np.mean(y))
    close(at(f"ppv@prevalence={here!r}"), counts.class_share(rows, "ppv", 1).value)


def test_names_are_understood_and_refused():
    parse = lambda text, yes=None: parse_number(text, ["well", "a]@b"], yes).name  # noqa: E731
    assert parse("recall[well]") == "sensitivity[well]"
    assert parse("precision", "well") == "ppv[well]"
    assert parse("f1[a]@b]@0.5") == "f1[a]@b]@0.5"
    assert parse("auc", "well") == "auroc[well]"
    for text in ("recal", "sensitivity", "sensitivity[ill]", "accuracy[well]", "ppv[well]@1.5",
                 "auroc[well]@0.5", "net_benefit[well]", "f1[well]@prevalence=0.1", ""):  # fmt: skip
        with pytest.raises(ParameterError):
            parse(text)
    with pytest.raises(ParameterError, match="--positive"):
        parse("sensitivity")


def test_the_table_describes_every_number_once():
    assert len({each.name for each in NUMBERS}) == len(NUMBERS)
    assert len(BY_NAME) == sum(1 + len(each.aliases) for each in NUMBERS)
    rows = rows_of()[-1]
    for name in standard_numbers(rows, range(3), ordered=True):
        assert find_measure(name, MEASURES) is not None


DEGENERATE = {
    "one class": ([1, 1, 1, 1], [1, 0, 1, 1]),
    "a class without a row": ([0, 0, 0, 0], [0, 0, 0, 0]),
    "one row": ([1], [1]),
    "no answers": ([0, 1, 1], [-1, -1, -1]),
    "perfect": ([0, 1, 0, 1], [0, 1, 0, 1]),
    "always wrong": ([0, 1, 0, 1], [1, 0, 1, 0]),
    "no rows": ([], []),
    "no truths": ([-1, -1], [0, 1]),
}


@pytest.mark.parametrize("case", DEGENERATE)
@pytest.mark.parametrize("grouped", [False, True])
def test_degenerate_rows_give_a_sentence_and_no_crash(case, grouped):
    y, a = DEGENERATE[case]
    p = np.column_stack([1 - np.linspace(0.2, 0.9, len(y)), np.linspace(0.2, 0.9, len(y))])
    p[np.asarray(a, dtype=int) < 0] = np.nan
    rows = JudgedRows.of(y, a, 2, p, groups=np.zeros(len(y), int) if grouped else None)
    asked = ["ppv[1]@prevalence=0.1", "sensitivity[1]@specificity=0.9", "net_benefit[1]@0.2"]
    found = standard_numbers(rows, [0, 1], ordered=True)
    found |= {name: number_of(rows, parse_number(name, [0, 1])) for name in asked}
    for name, e in found.items():
        assert e.method
        if math.isnan(e.value):
            assert e.method.startswith("not estimable: "), name
        else:
            assert e.low <= e.value <= e.high, name
        if case == "perfect" and name in ("accuracy", "kappa", "mcc", "f1_macro", "f1[1]"):
            assert e.low < 0.8, name


def test_log_loss_with_an_exact_zero_is_infinite_and_says_so():
    rows = JudgedRows.of([0, 1], [0, 1], 2, [[1.0, 0.0], [1.0, 0.0]])
    found = stated.log_loss(rows)
    assert found.value == math.inf
    assert "1 rows have probability 0" in found.method
    rows = JudgedRows.of([0, 1, 1], [0, 1, 1], 2, [[1.0, 0.0], [0.3, 0.7], [0.2, 0.8]])
    assert math.isfinite(stated.log_loss(rows).value)
    assert stated.log_loss(rows).high == math.inf


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.booleans())
def test_neither_order_of_rows_nor_names_of_groups_matter(seed, grouped):
    y, a, p, rows = rows_of(seed, n=60, groups=15 if grouped else None, blanks=3)
    order = np.random.default_rng(seed).permutation(60)
    groups = None if rows.groups is None else (7 - rows.groups)[order]
    other = JudgedRows.of(y[order], a[order], 3, p[order], groups=groups)
    one, two = (standard_numbers(r, range(3), ordered=True) for r in (rows, other))
    for name, e in one.items():
        np.testing.assert_allclose((e.value, e.low, e.high),
                                   (two[name].value, two[name].low, two[name].high), rtol=1e-6, atol=1e-9)  # fmt: skip


@pytest.mark.slow
def test_a_million_rows_of_five_classes_take_seconds():
    y, a, p, _ = rows_of(n=1_000_000, k=5)
    start = time.process_time()
    rows = JudgedRows.of(y, a, 5, p, groups=np.arange(1_000_000) // 4)
    assert len(standard_numbers(rows, range(5))) > 40
    assert time.process_time() - start < 20


def test_aliases_classes_points_and_slices_name_a_standard_number():
    assert standard_name("recall[sepsis]@0.2{ward=ICU}").name == "sensitivity"
    assert standard_name("no such number") is None


def test_slices_with_equal_shares_have_no_gap():
    rows = JudgedRows.of([0] * 80, [0] * 70 + [1] * 10, 2)
    asked = parse_number("error", [0, 1])
    found = slice_numbers(rows, asked, np.array(["a", "b"] * 40), "w")
    assert [(s.value, round(s.gap.value, 3), s.too_small) for s in found] == [
        ("a", 0.0, False),
        ("b", 0.0, False),
    ]
    # the fewest rows of which none is wrong whose exact bound is below a tenth
    assert fewest_units(0.95) == next(n for n in range(1, 99) if 1 - 0.025 ** (1 / n) < 0.1)
