"""The adapter to ART: counted, cast, re-predicted, without a trace in NumPy's global state."""

import os
import subprocess
import sys

import numpy as np
import pytest

from fireassay import attacks
from fireassay.classifiers import as_classifier
from fireassay.core.errors import ModelError, ParameterError

pytest.importorskip("torch")
pytest.importorskip("art")
pytestmark = pytest.mark.extras

CASES = {
    "FastGradientMethod": {"eps": 0.15},
    "DeepFool": {"max_iter": 5},
    "PixelAttack": {"th": 4, "es": 1, "max_iter": 5},
    "ThresholdAttack": {"th": 40, "es": 1, "max_iter": 5},
    "HopSkipJump": {"max_iter": 1, "max_eval": 50, "init_eval": 10},
}


@pytest.mark.parametrize("name", CASES)
def test_an_attack_of_art_gives_our_result(name, network, images):
    X, y = images[2][:3], images[3][:3]
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    before = network.queries, network.gradient_queries
    out = attacks.art(name, **CASES[name])(network, X, y)
    assert network.queries - before[0] == out.queries.sum() + out.shared_queries
    assert network.gradient_queries - before[1] == out.gradient_queries.sum()
    np.testing.assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002
    np.testing.assert_array_equal(network.predict(out.adversarial) != y, out.success)
    assert out.adversarial.min() >= 0
    assert out.adversarial.max() <= 1
    found = out.status == "found"
    assert (out.queries_before_failure[found] < out.queries_to_failure[found]).all()


def test_what_the_adapter_refuses(network, images):
    with pytest.raises(ParameterError, match="name of an evasion attack"):
        attacks.art("NoSuchAttack")(network, images[2][:1])
    blind = as_classifier(lambda X: np.tile([0.4, 0.6], (len(X), 1)), classes=[0, 1], bounds=(0, 1))
    with pytest.raises(ModelError, match="FastGradientMethod"):
        attacks.art("FastGradientMethod")(blind, np.full((1, 4), 0.5))


def test_make_knows_attacks_of_art_by_prefix():
    assert attacks.make("art:PixelAttack", th=3).parameters == {"th": 3}


@pytest.mark.slow
def test_a_settings_file_left_empty_is_written_anew(tmp_path):
    """As one process leaves it for another that starts at the same moment."""
    file = tmp_path / ".art" / "config.json"
    file.parent.mkdir()
    file.touch()
    alone = "from art.config import ART_DATA_PATH"
    ours = f"from fireassay.attacks.art import write_settings_of_art as w; w(); {alone}"
    home = os.environ | {"HOME": str(tmp_path)}
    codes = [
        subprocess.run([sys.executable, "-c", code], env=home, capture_output=True).returncode
        for code in (alone, ours)
    ]
    assert codes == [1, 0]
    assert [path.name for path in file.parent.iterdir() if path.is_file()] == ["config.json"]
