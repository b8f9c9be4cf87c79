"""Every "how many" is checked by simulating what was planned."""

import numpy as np
import pytest
from scipy import stats
from typer.testing import CliRunner

from fireassay.assessment import how_many
from fireassay.cli.main import app
from fireassay.core import ParameterError
from fireassay.curation import curate, simulate_votes
from fireassay.statistics import (
    ErrorDetector,
    clopper_pearson,
    delong_interval,
    group_mean,
    groups_for_bound,
    labels_until_alarm,
    rows_for_auroc,
    rows_for_bound,
    rows_for_pair,
)

RNG = np.random.default_rng(0)


def reached(hits, worlds, power=0.8):
    """At least the planned power, up to the chance of the simulation."""
    return hits >= stats.binom.ppf(0.001, worlds, power)


@pytest.mark.parametrize(("limit", "rate"), [(0.05, 0.02), (0.01, 0.002), (0.2, 0.15)])
def test_a_bound(limit, rate):
    n = rows_for_bound(limit, rate)
    errors = RNG.binomial(n, rate, 4000)
    assert reached((clopper_pearson(errors, n, 0.975, "upper")[1] <= limit).sum(), 4000)
    fewer = RNG.binomial(n // 2, rate, 4000)
    kept = (clopper_pearson(fewer, n // 2, 0.975, "upper")[1] <= limit).mean()
    assert kept < 0.75, "half as many are not enough"


def test_slices():
    n = rows_for_bound(0.1, 0.04, slices=10, smallest_slice=0.05)
    errors = RNG.binomial(int(0.05 * n), 0.04, 4000)
    upper = clopper_pearson(errors, int(0.05 * n), 1 - 0.025 / 10, "upper")[1]
    assert reached((upper <= 0.1).sum(), 4000)


def test_two_models():
    n = rows_for_pair(0.06, 0.03)
    gained, lost = RNG.multinomial(n, [0.06, 0.03, 0.91], 600)[:, :2].T
    p = np.minimum(1, 2 * stats.binom.sf(np.maximum(gained, lost) - 1, gained + lost, 0.5))
    assert reached(((p <= 0.05) & (gained > lost)).sum(), 600)
    fewer = rows_for_pair(0.06, 0.03, power=0.5)
    assert 0.3 * n < fewer < 0.7 * n


@pytest.mark.parametrize(("auc", "width", "positives"), [(0.9, 0.08, 0.3), (0.75, 0.1, 0.1)])
def test_the_width_of_an_auroc(auc, width, positives):
    n, shift = rows_for_auroc(auc, width, positives=positives), np.sqrt(2) * stats.norm.ppf(auc)
    widths = []
    for _ in range(150):
        positive = np.arange(n) < positives * n
        found = delong_interval(RNG.normal(size=n) + shift * positive, positive)
        widths.append(found.high - found.low)
    assert np.mean(widths) == pytest.approx(width, rel=0.06)


def test_the_delay_of_the_monitor():
    planned = labels_until_alarm(0.02, 0.1, 0.05, seed=3)
    delays = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        detector = ErrorDetector(0.02, 0.05).after(rng.random(500) < 0.02)
        if detector.alarm:
            continue
        while not detector.alarm:
            detector = detector.after(rng.random(50) < 0.1)
        delays.append(detector.alarm_at - 500)
    n, early = len(delays), sum(delay <= planned for delay in delays)
    assert n > 50
    assert stats.binom.ppf(0.0005, n, 0.4) <= early <= stats.binom.ppf(0.9995, n, 0.6)


@pytest.mark.slow
@pytest.mark.parametrize("correlation", [0.1, 0.3])
def test_patients_not_rows(correlation):
    groups, rows = groups_for_bound(0.12, 0.05, 10, correlation), 10
    scale, kept, worlds = 1 / correlation - 1, 0, 100
    member = np.repeat(np.arange(groups), rows)
    for _ in range(worlds):
        rate = RNG.beta(0.05 * scale, 0.95 * scale, groups)
        wrong = RNG.random(groups * rows) < rate[member]
        kept += group_mean(wrong, member, 0.975, "upper").high <= 0.12
    assert reached(kept, worlds)


@pytest.mark.slow
def test_an_audit_of_a_project():
    """The audit itself, on truths whose agreement with the weak labels falls as was assumed."""
    votes, _ = simulate_votes([0.9, 0.9, 0.6, 0.6], coverage=0.8, n=800, seed=0)
    found = curate(votes)
    planned = how_many("audit", {"first": 0.9, "last": 0.6}, votes=votes)
    assert planned.number < 800
    assumed = np.linspace(0.9, 0.6, sum(len(ring) > 0 for ring in found.added_rows))
    filled = [ring for ring in found.added_rows if len(ring)]
    each = found.plan_audit(0.9, 0.6).labels_per_ring
    falling, worlds = 0, 150
    for _ in range(worlds):
        rows = [RNG.choice(ring, min(each, len(ring)), replace=False) for ring in filled]
        right = [RNG.random(len(own)) < p for own, p in zip(rows, assumed, strict=True)]
        chosen, true = np.concatenate(rows), np.concatenate(right)
        weak = np.asarray(found.labels)[chosen]
        falling += found.audit(chosen, np.where(true, weak, 1 - weak)).verdict == "decreasing"
    assert sum(map(len, rows)) == planned.number
    assert reached(falling, worlds)
    with pytest.raises(ParameterError, match="votes"):
        how_many("audit")


def test_a_campaign():
    """Exponential times, stopped when half of the first arm has fallen, compared by rates."""
    planned = how_many("campaign", {"ratio": 1.5, "fall": 0.7})
    n, end, seen = planned.number, -np.log(0.3), 0
    for _ in range(400):
        events, times = [], []
        for mean in (1.0, 1.5):
            fell = RNG.exponential(mean, n)
            events.append((fell <= end).sum())
            times.append(np.minimum(fell, end).sum())
        ratio = np.log(times[1] / events[1]) - np.log(times[0] / events[0])
        seen += abs(ratio) / np.sqrt(1 / events[0] + 1 / events[1]) > 1.96
    assert seen >= stats.binom.ppf(0.001, 400, 0.75)


def test_the_command_answers_without_a_project():
    run = CliRunner()
    said = run.invoke(app, ["plan", "--power", "bound", "--given", "limit=0.05"])
    assert said.exit_code == 0, said.output
    assert "312 labelled rows" in said.output
    for words in (
        ["--power", "bounds"],
        ["--power", "bound", "--given", "size=3"],
        ["--given", "a"],
    ):
        assert run.invoke(app, ["plan", *words]).exit_code != 0


@pytest.mark.parametrize(
    ("ask", "given"), [(rows_for_bound, (0.02, 0.05)), (rows_for_pair, (0.02, 0.05))]
)
def test_what_is_not_so_is_shown_by_no_number(ask, given):
    with pytest.raises(ParameterError, match="not so"):
        ask(*given)
