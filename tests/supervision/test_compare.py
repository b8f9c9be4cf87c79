"""The comparison of supervisors."""

import re

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.ensemble import RandomForestClassifier
from sklearn.neural_network import MLPClassifier

from fireassay import supervision
from fireassay.core import AssumptionWarning, DataError, ParameterError
from fireassay.core.measure import find_measure
from fireassay.data import breast_cancer, corrupt
from fireassay.statistics import delong_interval
from fireassay.supervision import SupervisorComparison
from fireassay.supervision.detection_table import judge_together

COLUMNS = {"supervisor", "set", "auroc", "low", "high", "fpr95", "cost", "status", "reason"}


@pytest.fixture(scope="module")
def table():
    data = breast_cancer()
    order = np.random.default_rng(0).permutation(len(data.X))
    X, y = data.X[order], data.y[order]
    X = (X - X[:300].mean(axis=0)) / X[:300].std(axis=0)
    return X[:300], y[:300], X[300:], y[300:]


@pytest.fixture(scope="module")
def network():
    return MLPClassifier((16,), max_iter=60, tol=0.1, n_iter_no_change=60, random_state=0)


@pytest.fixture(scope="module")
def comparison(table, network):
    X, y, test, _ = table
    model = _fitted(network, X, y)
    sets = {"noise": corrupt(test, "noise", 5), "swap": corrupt(test, "swap", 4)}
    return supervision.compare(
        model, X, y, nominal=test, sets=sets, train=_recipe, n_members=3,
        supervisors=[n for n in supervision.names() if n != "autoencoder"], seed=1,
    )  # fmt: skip


def _fitted(network, X, y):
    import warnings

    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return network.fit(X, y)


def _recipe(X, y, seed):
    return _fitted(MLPClassifier((8,), max_iter=30, random_state=seed), X, y)


def test_every_supervisor_and_set_has_a_row(comparison):
    frame = comparison.frame()
    assert set(frame.columns) >= COLUMNS
    assert len(frame) == 27 * 2
    done = frame[frame["status"] == "done"]
    assert ((done["low"] <= done["auroc"]) & (done["auroc"] <= done["high"])).all()
    assert done["cost"].gt(0).all()
    assert frame["auroc"].notna().eq(frame["status"] == "done").all()


def test_what_is_missing_is_named(comparison):
    frame = comparison.frame()
    missing = frame[frame["status"] == "not available"]
    assert set(missing["supervisor"]) == {n for n in supervision.names() if n.startswith("mc-")}
    assert missing["reason"].str.contains("dropout").all()


def test_a_black_box_gets_what_it_can(table):
    X, y, test, _ = table
    forest = RandomForestClassifier(20, random_state=0).fit(X, y)
    frame = supervision.compare(
        forest, X, y, nominal=test, sets={"noise": corrupt(test, "noise", 5)},
        supervisors=["max-softmax", "energy", "dsa", "dissector", "ensemble-mean-softmax"],
    ).frame()  # fmt: skip
    status = dict(zip(frame["supervisor"], frame["status"], strict=True))
    assert status.pop("max-softmax") == "done"
    assert set(status.values()) == {"not available"}
    reasons = dict(zip(frame["supervisor"], frame["reason"], strict=True))
    assert "layer='inputs'" in reasons["dsa"]
    assert "members=" in reasons["ensemble-mean-softmax"]
    assert "probabilities only" in reasons["energy"]


def test_the_inputs_serve_as_a_layer(table):
    X, y, test, _ = table
    forest = RandomForestClassifier(20, random_state=0).fit(X, y)
    noisy = corrupt(test, "noise", 5)
    frame = supervision.compare(
        forest, X, y, nominal=test, sets={"noise": noisy}, supervisors=["mdsa"], layer="inputs"
    ).frame()
    assert frame.loc[0, "low"] > 0.9
    expected = supervision.mdsa_scores(X, forest.predict(X), noisy, forest.predict(noisy))
    found = supervision.make("mdsa", layer="inputs").fit(forest, X, y).score(noisy)
    np.testing.assert_allclose(found, expected)


def test_same_seed_same_numbers(table, network):
    X, y, test, _ = table
    model = _fitted(network, X, y)
    names = ["dsa", "softmax-entropy", "dissector"]
    sets = {"noise": corrupt(test, "noise", 4)}
    first, second = (supervision.compare(model, X, y, test, sets, names, seed=5) for _ in range(2))
    assert first.frame().drop(columns="cost").equals(second.frame().drop(columns="cost"))
    assert first.evidence().to_dict() == second.evidence().to_dict()


def test_thresholds_come_from_rows_that_are_used_for_nothing_else(comparison, table):
    nominal, calibration = comparison.scores["nominal"], comparison.scores["calibration"]
    assert len(nominal["dsa"]) + len(calibration["dsa"]) == len(table[2])
    rule = comparison.rules["dsa"]
    assert rule.n_nominal == len(calibration["dsa"])
    caught = (comparison.scores["noise"]["dsa"] > rule.threshold).mean()
    row = comparison.frame().query("supervisor == 'dsa' and set == 'noise'").iloc[0]
    assert row["caught"] == pytest.approx(caught)
    assert row["caught_low"] < caught <= row["caught_high"]


def test_too_few_nominal_rows_for_a_threshold_are_said(table, network):
    X, y, test, _ = table
    found = supervision.compare(
        _fitted(network, X, y), X, y, test[:60], {"noise": corrupt(test, "noise", 5)},
        ["max-softmax"],
    )  # fmt: skip
    assert found.rules == {}
    assert "59" in found.rule_reason
    assert any("No thresholds" in a.check for a in found.assumptions)


def test_evidence_figure_and_file(comparison, tmp_path):
    evidence = comparison.evidence()
    assert evidence.status == "done"
    assert {"auroc_noise", "auroc_swap", "caught_noise", "false_alarm"} <= set(evidence.estimates)
    assert comparison.recommended in evidence.headline
    assert evidence.estimates["caught_noise"].n == len(comparison.scores["noise"]["dsa"])
    # Every number of the headline comes with its interval.
    values = re.findall(r"\d\.\d\d(?= |\))", evidence.headline)
    intervals = re.findall(r"\d\.\d\d \[\d\.\d\d, \d\.\d\d\]", evidence.headline)
    assert len(values) == len(intervals) > 2
    assert "<svg" in evidence.charts["heat_map"].svg()
    loaded = SupervisorComparison.load(comparison.save(tmp_path / "comparison.npz"))
    assert loaded.frame().equals(comparison.frame())
    assert loaded.evidence().to_dict() == evidence.to_dict()
    assert comparison.matrix().shape == (27, 2)


def test_every_number_is_described_and_says_what_it_rests_on(comparison, table, network):
    X, y, test, _ = table
    ambiguous = supervision.compare(
        _fitted(network, X, y), X, y, test, {"ambiguous": test * 1.01}, ["mdsa", "pcs"]
    )
    for found in (comparison.evidence(), ambiguous.evidence()):
        ids = {assumption.id for assumption in found.assumptions}
        assert "" not in ids
        for name, estimate in found.estimates.items():
            assert find_measure(name, supervision.MEASURES), name
            assert estimate.rests_on
            assert ids.issuperset(estimate.rests_on)
    assert "ambiguous-in-distribution" in found.estimates["auroc_ambiguous"].rests_on
    better = [name for name in comparison.evidence().estimates if name.startswith("auroc_best_")]
    assert len(better) == len(set(comparison.matrix().idxmax()) - {comparison.recommended})


def test_printed_it_is_the_headline_with_labels(comparison):
    said = str(comparison)
    assert said.startswith(comparison.recommended)
    assert "False-alarm rate of the monitor" in said


def test_the_pair_is_at_least_as_good_as_the_best_alone(comparison):
    wide = comparison.matrix()
    alone = wide.min(axis=1).max()
    assert wide.loc[list(comparison.pair)].max().min() >= alone
    assert wide.loc[comparison.recommended].min() == alone


def test_the_best_is_not_worse_and_intervals_of_winners_are_wider(comparison):
    for _, column in comparison.frame().dropna(subset="auroc").groupby("set"):
        best = column.loc[column["auroc"].idxmax()]
        assert not best["worse"]
        assert column.loc[column["auroc"].idxmin(), "worse"]
        assert (column["simultaneous_low"] <= column["low"] + 1e-9).all()
        assert (column["simultaneous_high"] >= column["high"] - 1e-9).all()
    estimates = comparison.evidence().estimates
    aurocs = {name: e for name, e in estimates.items() if name.startswith("auroc_")}
    n_done = comparison.frame().dropna(subset="auroc")["supervisor"].nunique()
    assert aurocs
    assert all(f"simultaneous over {n_done}" in e.method for e in aurocs.values())


@pytest.mark.slow
def test_simultaneous_interval_of_the_best_covers_and_no_equal_is_called_worse():
    # 28 supervisors of AUROC .64 each: the best one's own 95 % interval covers far less often.
    rng = np.random.default_rng(0)
    truth, runs = norm.cdf(0.5 / np.sqrt(2)), 60
    single = missed = called = 0
    for _ in range(runs):
        X = 0.7 * rng.normal(size=(160, 1)) + np.sqrt(0.51) * rng.normal(size=(160, 28))
        X[80:] += 0.5
        scores = {
            part: {str(j): rows[:, j] for j in range(28)}
            for part, rows in (("nominal", X[:80]), ("trouble", X[80:]))
        }
        field = judge_together(scores, "trouble", None, 0.95)
        best = max(field.intervals, key=lambda name: field.intervals[name].value)
        found = field.intervals[best]
        alone = delong_interval(X[:, int(best)], np.arange(160) >= 80)
        missed += not found.low <= truth <= found.high
        single += not alone.low <= truth <= alone.high
        called += any(field.worse.values())
    allowed = runs * 0.05 + 3 * np.sqrt(runs * 0.05 * 0.95)
    assert single > allowed
    assert missed <= allowed
    assert called <= allowed


def test_confirmation_chooses_on_other_rows(table, network):
    X, y, test, _ = table
    sets = {"noise": corrupt(test, "noise", 5)}
    names = ["pcs", "mdsa", "max-softmax"]
    model = _fitted(network, X, y)
    whole = supervision.compare(model, X, y, test, sets, names, seed=1)
    half = supervision.compare(model, X, y, test, sets, names, seed=1, confirm=0.5)
    n = len(whole.scores["nominal"]["pcs"]) + len(test)
    assert half.frame()["n"].iloc[0] == pytest.approx(n / 2, abs=2)
    found = half.evidence().estimates["auroc_noise"]
    assert found.method == "DeLong, chosen on other rows"
    row = half.frame().set_index("supervisor").loc[half.recommended]
    assert (found.value, found.low, found.high) == (row["auroc"], row["low"], row["high"])
    assert "took no part in the choice" in half.evidence().headline
    with pytest.raises(ParameterError, match="confirm"):
        supervision.compare(model, X, y, test, sets, names, confirm=1.5)


def test_groups_widen_intervals_and_stay_on_one_side(table, network):
    X, y, test, _ = table
    patient = np.arange(len(test)) // 8
    sets = {"noise": corrupt(test, "noise", 2)}
    settings = {"seed": 1, "false_alarm": 0.3}
    model = _fitted(network, X, y)
    found = supervision.compare(
        model, X, y, test, sets, ["pcs", "mdsa"], **settings,
        groups={"nominal": patient, "noise": patient},
    )  # fmt: skip
    # Scores say which rows went where: no patient is in both halves of the nominal rows.
    both = found.scores["nominal"]["mdsa"], found.scores["calibration"]["mdsa"]
    whole = supervision.make("mdsa").fit(model, X, y).score(test)
    sides = [set(patient[np.isin(whole, part)]) for part in both]
    assert sides[0]
    assert sides[1]
    assert not sides[0] & sides[1]
    assert found.rules["mdsa"].n_groups == len(sides[1])
    assert "jackknife over groups" in found.evidence().estimates["auroc_noise"].method
    assert "groups-any" in found.evidence().estimates["caught_noise"].method
    with pytest.raises(ParameterError, match="name sets"):
        supervision.compare(model, X, y, test, sets, ["pcs"], groups={"nosuch": patient})


def test_labels_give_aurc_and_kinds_their_own_numbers(table, network):
    X, y, test, truth = table
    noisy = corrupt(test, "noise", 4)
    parity = np.where(np.arange(len(test)) % 2, "odd", "even")
    found = supervision.compare(
        _fitted(network, X, y), X, y, test, {"noise": noisy}, ["pcs", "mdsa"],
        labels={"nominal": truth, "noise": truth}, kinds={"noise": parity},
    )  # fmt: skip
    frame = found.frame()
    assert frame["aurc"].between(0, 1).all()
    by_kind = found.kind_frame()
    assert list(by_kind["kind"]) == ["even", "odd"] * 2
    assert by_kind["n"].sum() == 2 * len(test)


def test_training_rows_among_the_nominal_ones_are_noticed(table, network):
    X, y, test, _ = table
    mixed = np.concatenate([test, X[:20]])
    with pytest.warns(AssumptionWarning, match="among the training rows"):
        supervision.compare(
            _fitted(network, X, y), X, y, mixed, {"noise": corrupt(test, "noise", 5)}, ["pcs"]
        )


def test_ambiguous_rows_off_the_training_distribution_are_noticed(table, network):
    X, y, test, _ = table
    with pytest.warns(AssumptionWarning, match="Ambiguous inputs lie within"):
        supervision.compare(
            _fitted(network, X, y), X, y, test, {"ambiguous": test * 5}, ["mdsa", "pcs"]
        )


def test_bad_arguments(table, network):
    X, y, test, _ = table
    model = _fitted(network, X, y)
    with pytest.raises(ParameterError, match="at least one kind"):
        supervision.compare(model, X, y, test, {})
    with pytest.raises(ParameterError, match="taken"):
        supervision.compare(model, X, y, test, {"nominal": test})
    with pytest.raises(DataError, match="shape"):
        supervision.compare(model, X, y, test, {"other": test[:, :3]}, ["pcs"])
    with pytest.raises(DataError, match="finite"):
        supervision.compare(model, X, y, test, {"other": np.full_like(test, np.nan)}, ["pcs"])
    with pytest.raises(ParameterError, match="each of them once"):
        supervision.compare(model, X, y, test, {"other": test}, ["pcs", "pcs"])
    with pytest.raises(ParameterError, match="must be one of"):
        supervision.compare(model, X, y, test, {"other": test}, ["nothing"])


def test_what_breaks_is_failed_with_its_reason(table, network):
    X, y, test, _ = table
    one_class = supervision.compare(
        lambda rows: np.tile([0.9, 0.1], (len(rows), 1)), X, y, test, {"noise": test * 2},
        ["dsa", "pcs"], layer="inputs",
    ).frame()  # fmt: skip
    status = dict(zip(one_class["supervisor"], one_class["status"], strict=True))
    assert status == {"dsa": "failed", "pcs": "done"}
    assert "two predicted classes" in one_class.loc[0, "reason"]


def test_objects_keep_their_own_layer(table, network):
    X, y, test, _ = table
    model = _fitted(network, X, y)
    own = supervision.make("mdsa", layer="inputs")
    found = supervision.compare(
        model, X, y, test, {"noise": corrupt(test, "noise", 4)}, [own, "dsa"]
    )
    calibration = np.concatenate(
        [found.scores["nominal"]["mdsa"], found.scores["calibration"]["mdsa"]]
    )
    expected = supervision.mdsa_scores(X, model.predict(X), test, model.predict(test))
    np.testing.assert_allclose(np.sort(calibration), np.sort(expected))


def test_flagging_a_control_set_is_no_merit(table, network):
    X, y, test, _ = table
    model = _fitted(network, X, y)
    sets = {"noise": corrupt(test, "noise", 4), "control": test * 1.001}
    found = supervision.compare(model, X, y, test, sets, ["mdsa", "pcs"])
    assert set(found.frame()["set"]) == {"noise", "control"}
    alone = supervision.compare(model, X, y, test, {"noise": sets["noise"]}, ["mdsa", "pcs"])
    assert found.recommended == alone.recommended
    assert "control" not in found.evidence().headline
