import numpy as np
import pytest

torch = pytest.importorskip("torch")

from fireassay.ambiguity.stacked_networks import PairRows  # noqa: E402
from fireassay.ambiguity.training import shared_styles  # noqa: E402

pytestmark = pytest.mark.extras


def test_style_is_what_both_classes_vary_in_and_not_what_tells_them_apart():
    rng = np.random.default_rng(0)
    style = rng.standard_normal(200)
    class_is_second = np.repeat([0.0, 1.0], 100)
    columns = [5 * class_is_second, 0.4 * style, rng.normal(0, 0.05, 200)]
    inputs = torch.tensor(np.stack(columns, axis=1), dtype=torch.float32)
    pair = PairRows(np.arange(100), np.arange(100, 200))
    found = shared_styles(inputs, [pair])[0].numpy()
    assert np.corrcoef(found, style)[0, 1] > 0.98
    for part in (found[:100], found[100:]):
        assert part.mean() == pytest.approx(0, abs=1e-5)
        assert part.std() == pytest.approx(1, abs=0.01)


def test_rows_of_other_classes_have_no_style_and_constant_classes_are_finite():
    inputs = torch.ones(30, 4)
    styles = shared_styles(inputs, [PairRows(np.arange(10), np.arange(10, 20))])
    assert styles.shape == (1, 30)
    assert (styles == 0).all()


def test_codes_of_one_style_lie_at_one_height(fitted, digits):
    # A slanted digit of either class lies on the same side: where the warm-up left it.
    inputs, agreement = fitted.fitted_.inputs, []
    for member in fitted.fitted_.members("any"):
        pair = fitted.fitted_.pairs[member]
        rows = PairRows(*(np.flatnonzero(digits.y == label) for label in pair))
        styles = shared_styles(inputs, [rows])[0].numpy()
        with torch.no_grad():
            heights = fitted.fitted_.net(member).encoder(inputs[None])[0, :, 1].numpy()
        first, second = (
            np.corrcoef(styles[own], heights[own])[0, 1] for own in (rows.first, rows.second)
        )
        agreement.append(first * second)
    assert np.median(agreement) > 0.5
    assert min(agreement) > -0.2
