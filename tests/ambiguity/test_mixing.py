import numpy as np
import pytest

pytest.importorskip("torch")

from fireassay.ambiguity import mix
from fireassay.core import DataError

pytestmark = pytest.mark.extras


def test_mixture_holds_every_row_once_with_its_label(digits, amb):
    mixed = mix(digits.X, digits.y, amb, seed=3)
    assert len(mixed.X) == len(digits) + len(amb)
    assert mixed.is_ambiguous.sum() == len(amb)
    assert (mixed.soft_labels.sum(axis=1) == 1.0).all()
    nominal = ~mixed.is_ambiguous
    assert (mixed.soft_labels[nominal].argmax(axis=1) == mixed.y[nominal]).all()
    assert (mixed.soft_labels[nominal].max(axis=1) == 1.0).all()
    rows = {x.tobytes() for x in mixed.X[mixed.is_ambiguous]}
    assert rows == {x.tobytes() for x in amb.X}
    assert mixed.is_ambiguous[:400].any()
    assert (mix(digits.X, digits.y, amb, seed=3).y == mixed.y).all()


def test_unlike_shapes_and_unknown_classes_are_refused(digits, amb):
    with pytest.raises(DataError, match="shape"):
        mix(digits.X.reshape(len(digits), -1), digits.y, amb)
    with pytest.raises(DataError, match="label"):
        mix(digits.X, np.asarray(digits.y) + 5, amb)
