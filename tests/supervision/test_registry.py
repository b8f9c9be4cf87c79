"""The tables of supervisors and corruptions: one row makes a name known everywhere."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from fireassay import supervision
from fireassay.cli.supervision import app
from fireassay.core import ParameterError
from fireassay.data import CORRUPTIONS, Corruption, corrupt, corruption_kinds, two_moons
from fireassay.supervision.hidden import grid
from fireassay.supervision.reading import FIELDS
from fireassay.supervision.registry import without_inputs
from fireassay.supervision.supervisor_comparison import trouble_in_words


def test_rows_say_what_they_are_and_need():
    for name, row in supervision.SUPERVISORS.items():
        assert row.name == name
        assert row.summary, name
        assert row.needs, name
        assert set(row.needs) | set(row.fit_needs) <= set(FIELDS), name


def test_a_supervisor_of_ones_own_is_known_by_name(second_probability):
    train, test = two_moons(200, seed=0), two_moons(200, seed=1)

    def model(X):
        p = 1 / (1 + np.exp(-4 * (X[:, 0] - X[:, 1])))
        return np.column_stack([1 - p, p])

    found = supervision.compare(
        model, train.X, train.y, nominal=test.X, sets={"noise": test.X * 0.1},
        supervisors=["max-softmax", "second-probability"],
    )  # fmt: skip
    ours, twin = found.matrix().loc[["second-probability", "max-softmax"], "noise"]
    assert ours == twin  # with two classes the runner-up has one minus the largest
    listed = json.loads(CliRunner().invoke(app, ["names", "--json"]).output)
    assert listed["second-probability"]["needs"] == ["probabilities"]
    assert "_graph" in listed["second-probability"]["onnx"]
    assert "The probability of the runner-up" in CliRunner().invoke(app, ["names"]).output
    with pytest.raises(ParameterError, match="a name of its own"):
        supervision.SUPERVISORS.register(second_probability)


def test_a_corruption_of_ones_own_takes_part(monkeypatch):
    monkeypatch.setattr(CORRUPTIONS, "_rows", dict(CORRUPTIONS._rows))

    def upside_down(rows, severity, rng):
        """Turned over."""
        del severity, rng
        return rows[:, ::-1]

    CORRUPTIONS.register(Corruption("images", upside_down))
    assert corruption_kinds()[-1] == "upside_down"
    images = np.random.default_rng(0).random((32, 8, 8))
    np.testing.assert_array_equal(corrupt(images, "upside_down"), images[:, ::-1])
    found = supervision.corrupted_set(images)
    chosen = found.kind == "upside_down"
    assert chosen.sum() == 2
    np.testing.assert_array_equal(found.X[chosen], images[chosen][:, ::-1])


def test_supervisors_that_read_no_inputs_can_watch_texts():
    assert "max-softmax" in without_inputs()
    assert "autoencoder" not in without_inputs()


def test_maps_are_averaged_to_what_fits():
    sizes = [grid(shape, 512) for shape in ((32, 14, 14), (64, 7, 7), (2048, 7, 7))]
    assert sizes == [(4, 4), (2, 2), (1, 1)]


def test_sets_of_trouble_have_usual_names():
    assert trouble_in_words("strong adversarial") == "strong attacks"
    assert trouble_in_words("fog") == "fog"
