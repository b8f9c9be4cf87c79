"""Root causes on two axes whose distributions are known."""

import numpy as np
import pytest
from scipy.stats import binom

from fireassay.core import NotEnoughEvidenceError, ParameterError
from fireassay.supervision import RootCause, leave_one_kind_out
from fireassay.supervision.root_cause import ACTIONS


def draw(rng, n, ambiguity, distance):
    noise = np.abs(rng.standard_normal((n, 2)))
    return noise + np.array([ambiguity, distance])


@pytest.fixture(scope="module")
def kinds():
    rng = np.random.default_rng(0)
    return {
        "nominal": draw(rng, 800, 0, 0),
        "ambiguous": draw(rng, 400, 6, 0),
        "invalid": draw(rng, 400, 0, 8),
        "corrupted": draw(rng, 400, 5, 7),
    }


@pytest.fixture
def calibrated(kinds):
    others = {name: scores for name, scores in kinds.items() if name != "nominal"}
    return RootCause(coverage=0.9).calibrate_scores(kinds["nominal"], others)


def test_verdicts_follow_the_two_thresholds(calibrated):
    points = np.array([[0.5, 0.5], [8.0, 0.5], [0.5, 9.0], [8.0, 9.0]])
    found = calibrated.diagnose_scores(points)
    assert found.verdict.tolist() == ["fine", "ambiguous", "off distribution", "both"]
    assert found.action[:2].tolist() == ["answer", "answer with probabilities"]
    assert set(found.action[2:]) <= {"ask a person", "refuse"}
    assert ACTIONS[found.verdict[3]] == "ask a person"
    assert len(found.frame()) == 4
    assert "two_axes" in found.charts()


def test_sets_of_causes_name_the_cause(calibrated, kinds):
    rng = np.random.default_rng(5)
    found = calibrated.diagnose_scores(draw(rng, 300, 6, 0))
    ambiguous = list(found.cause_names).index("ambiguous")
    assert found.causes[:, ambiguous].mean() > 0.85
    assert found.causes.sum(axis=1).mean() < 1.6


@pytest.mark.slow
def test_every_kind_is_covered_as_promised():
    rng = np.random.default_rng(1)
    where = {"nominal": (0, 0), "ambiguous": (1.5, 0), "invalid": (0, 2), "adversarial": (0.5, 1.8)}
    covered = dict.fromkeys(where, 0)
    for _ in range(60):
        scores = {name: draw(rng, 160, *at) for name, at in where.items()}
        nominal = scores.pop("nominal")
        made = RootCause(coverage=0.9).calibrate_scores(nominal, scores)
        for i, (name, at) in enumerate(where.items()):
            covered[name] += made.diagnose_scores(draw(rng, 20, *at)).causes[:, i].sum()
    for name, count in covered.items():
        # Rows of one calibration share its luck: a standard error of sqrt(0.1·0.9/80) per round.
        spread = 60 * 20 * np.sqrt(0.09 / 80 / 60 + 0.09 / 1200)
        assert count >= 60 * 20 * 0.9 - 3.3 * spread, (name, count)
        assert count <= binom.ppf(0.9999, 1200, 0.95), (name, count)


def test_ties_are_covered_too(kinds):
    tied = {name: np.round(scores) for name, scores in kinds.items()}
    nominal = tied.pop("nominal")
    found = RootCause(coverage=0.9).calibrate_scores(nominal, tied).diagnose_scores(nominal)
    assert found.causes[:, 0].mean() >= 0.88


class Given(RootCause):
    """Takes scores instead of rows."""

    def axes(self, X):
        return X


def test_an_unknown_kind_is_still_flagged(kinds):
    others = {name: scores for name, scores in kinds.items() if name != "nominal"}
    frame = leave_one_kind_out(Given(), kinds["nominal"], others).frame().set_index("kind")
    assert list(frame.index) == ["nominal", "ambiguous", "invalid", "corrupted"]
    assert frame.loc["invalid", "flagged"] > 0.95
    assert frame.loc["invalid", "nominal_only"] < 0.05
    assert (frame["coverage"] > 0.8).all()
    assert np.isnan(frame.loc["nominal", "flagged"])


def test_bad_arguments(kinds):
    with pytest.raises(ParameterError, match="calibrated first"):
        RootCause().diagnose_scores(kinds["nominal"])
    with pytest.raises(NotEnoughEvidenceError, match="20 rows"):
        RootCause().calibrate_scores(kinds["nominal"], {"few": kinds["invalid"][:5]})
    with pytest.raises(ParameterError, match="taken"):
        RootCause().calibrate_scores(kinds["nominal"], {"nominal": kinds["invalid"]})
    with pytest.raises(ParameterError, match="two kinds"):
        leave_one_kind_out(Given(), kinds["nominal"], {"invalid": kinds["invalid"]})


@pytest.mark.extras
def test_with_a_model(torch_model, digit_rows):
    X, y, test, _ = digit_rows
    mixed = 0.5 * (test + np.roll(test, 1, axis=0))
    noise = np.random.default_rng(0).random(test.shape).astype(np.float32)
    made = RootCause().fit(torch_model, X, y)
    made.calibrate(test[:400], {"mixed": mixed[:300], "noise": noise[:300]})
    verdicts = made.diagnose(noise[300:]).verdict
    assert np.isin(verdicts, ["off distribution", "both"]).mean() > 0.6
    assert (made.diagnose(test[400:]).verdict == "fine").mean() > 0.8
