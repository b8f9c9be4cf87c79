from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")

from fireassay.ambiguity import AmbiguityEvaluation, AmbiguousSet, evaluate
from fireassay.classifiers import as_classifier
from fireassay.core import DataError, ParameterError
from fireassay.core.words import percent
from fireassay.statistics import clopper_pearson

pytestmark = pytest.mark.extras


def knowing(amb, rows_to_answers, classes=None):
    """A model that knows the answer of every row of the set and of its control."""
    table = {row.tobytes(): answer for row, answer in zip(amb.X, rows_to_answers, strict=True)}
    k = rows_to_answers.shape[1]

    def model(X):
        uniform = np.full(k, 1 / k)
        return np.array([table.get(np.asarray(x, dtype=amb.X.dtype).tobytes(), uniform) for x in X])

    return as_classifier(model, classes=classes if classes is not None else amb.classes)


@pytest.fixture(scope="module")
def perfect(amb):
    return evaluate(knowing(amb, amb.soft_labels), amb)


def test_a_model_that_answers_the_soft_labels_is_perfect(perfect, amb):
    assert perfect.top1.value == perfect.top2.value == perfect.top_pair.value == 1.0
    assert perfect.top1_expected.value == pytest.approx(perfect.top1_best.value)
    assert perfect.top2_expected.value == pytest.approx(1.0)
    assert 0.9 < perfect.entropy.value <= 1.0
    assert perfect.top1_best.value == pytest.approx(amb.soft_labels.max(axis=1).mean())
    assert perfect.top1_drawn.value == pytest.approx(perfect.top1_expected.value, abs=0.1)
    assert perfect.provenance.queries == len(amb) + len(amb.control)


def test_a_model_that_is_sure_of_one_class_is_half_right(amb):
    rows = np.arange(len(amb))
    sure = np.full(amb.soft_labels.shape, 1e-6)
    sure[rows, amb.pair_positions[:, 0]] = 1.0
    sure /= sure.sum(axis=1, keepdims=True)
    result = evaluate(knowing(amb, sure), amb)
    first_is_higher = amb.soft_labels[rows, amb.pair_positions[:, 0]] >= 0.5
    assert result.top1.value == pytest.approx(first_is_higher.mean())
    assert result.entropy.value < 0.01


def test_predicting_outside_the_pair_scores_nothing(amb):
    shifted = np.roll(amb.soft_labels, 1, axis=1) * (amb.soft_labels == 0)
    shifted += 1e-9
    shifted /= shifted.sum(axis=1, keepdims=True)
    result = evaluate(knowing(amb, shifted), amb)
    assert result.top_pair.value == 0.0
    assert result.top_pair.low == 0.0
    assert result.top_pair.high > 0.0


def test_columns_are_matched_by_class_and_extra_classes_count(amb):
    order = np.random.default_rng(0).permutation(len(amb.classes))
    classes = [amb.classes[i] for i in order]
    shuffled = evaluate(knowing(amb, amb.soft_labels[:, order], classes), amb)
    assert shuffled.top_pair.value == 1.0
    distracted = np.column_stack([np.full(len(amb), 0.9), 0.1 * amb.soft_labels])
    result = evaluate(knowing(amb, distracted, [99, *amb.classes]), amb)
    assert result.top1.value == 0.0
    assert result.top2.value == 1.0
    assert result.top_pair.value == 0.0


def test_a_model_without_one_of_the_classes_is_refused(amb):
    model = as_classifier(lambda X: np.full((len(X), 2), 0.5), classes=[0, 1])
    with pytest.raises(DataError, match="every class of the ambiguous pairs"):
        evaluate(model, amb)


def test_per_pair_numbers_add_up_to_the_whole(amb):
    rng = np.random.default_rng(2)
    answers = rng.dirichlet(np.ones(len(amb.classes)) * 0.3, len(amb)) + 3 * amb.soft_labels
    answers /= answers.sum(axis=1, keepdims=True)
    result = evaluate(knowing(amb, answers), amb)
    by_pair = result.by_pair
    assert by_pair["n"].sum() == len(amb)
    for name in ("top1", "top2", "top_pair", "entropy"):
        mean = (by_pair[name] * by_pair["n"]).sum() / len(amb)
        assert mean == pytest.approx(getattr(result, name).value)
        assert (by_pair[f"{name}_low"] <= by_pair[name]).all()
        assert (by_pair[name] <= by_pair[f"{name}_high"]).all()
    assert result.top_pair.value <= result.top2.value


def test_separation_is_measured_against_reconstructed_nominal_rows(perfect, amb):
    # The knowing model answers uniformly on control rows: more entropy than on ambiguous ones.
    assert perfect.separation.value == 0.0
    assert perfect.control_entropy.value == pytest.approx(np.log2(len(amb.classes)))
    statuses = [assumption.status for assumption in perfect.evidence().assumptions]
    assert statuses[1] == "contradicted"


def test_evidence_carries_every_number(perfect):
    evidence = perfect.evidence()
    assert evidence.question == "ambiguity"
    assert {"top1", "top2", "top_pair", "entropy", "separation"} <= set(evidence.estimates)
    assert evidence.estimates["top_pair"].n == 300
    assert "pairs" in evidence.tables
    assert evidence.charts["top pair by classes"].svg().startswith("<svg")


def test_what_was_chosen_for_being_lowest_keeps_its_interval(perfect, amb):
    said = perfect.evidence()
    pairs, n = len(perfect.by_pair), int(perfect.by_pair["n"].iloc[0])
    low, _ = clopper_pearson(n, n, 1 - 0.05 / pairs)
    assert f"({percent(low)} to {percent(1.0)}, all pairs at once)" in said.claims[0].text
    assert "another seed trains another one" in said.limits[0]


def test_intervals_do_not_depend_on_the_order_of_control_rows(amb):
    """A file sorted by class would bet on one class first."""

    def sure_of_some(X):
        first = np.asarray(X).reshape(len(X), -1).sum(axis=1)
        p = np.where(first > np.median(first), 0.98, 0.3)
        rest = (1 - p) / (len(amb.classes) - 1)
        table = np.repeat(rest[:, None], len(amb.classes), axis=1)
        table[:, 0] = p
        return table

    model = as_classifier(sure_of_some, classes=amb.classes)
    light = np.argsort(amb.control.X.reshape(len(amb.control), -1).sum(axis=1))
    sorted_by_light = replace(
        amb, control=replace(amb.control, X=amb.control.X[light], labels=amb.control.labels[light])
    )
    found, again = evaluate(model, amb), evaluate(model, sorted_by_light)
    assert again.control_entropy.value == pytest.approx(found.control_entropy.value)
    assert again.control_entropy.high == pytest.approx(found.control_entropy.high, rel=0.2)


def test_results_survive_a_file(perfect, amb, tmp_path):
    loaded = AmbiguityEvaluation.load(perfect.save(tmp_path / "evaluation.npz"))
    assert loaded.estimates == perfect.estimates
    assert loaded.by_pair.equals(perfect.by_pair)
    again = AmbiguousSet.load(amb.save(tmp_path / "set.npz"))
    assert again.sha256 == amb.sha256
    assert again.manifest == amb.manifest
    assert (again.control.rows == amb.control.rows).all()


def test_confidence_must_be_a_probability(amb):
    with pytest.raises(ParameterError):
        evaluate(lambda X: np.full((len(X), 10), 0.1), amb, confidence=1.0)


def test_generation_is_evidence_too(amb):
    evidence = amb.evidence()
    assert evidence.estimates["accepted_pairs"].value == 1.0
    assert evidence.assumptions[0].status == "supported"
