"""What an attacker who knows the defence does, and whether gradients lead anywhere."""

import numpy as np

from fireassay.attacks.inputs import line_model
from fireassay.survival import GaussOut, defend
from fireassay.survival.attacker_checks import (
    ExpectedClassifier,
    GradientCheck,
    adaptive,
    check_gradients,
)


def test_noise_on_the_answer_is_averaged_out():
    noisy = defend(lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]), GaussOut(sigma=0.05))
    for attacked in (adaptive(noisy), ExpectedClassifier(noisy)):
        assert attacked.predict_proba([[0.25]]).tolist() == [[0.75, 0.25]]
    plain = noisy.model
    assert adaptive(plain) is plain


def test_gradients_of_a_line_are_not_masked():
    X, y = np.array([[0.45], [0.1]]), np.array([0, 0])
    found = check_gradients(line_model(0.5), X, y, norm="linf", eps=0.1, seed=0)
    assert found == GradientCheck(rows=2, fell=1, lost_with_steps=0, lost_with_size=0)
