import numpy as np
import pytest

torch = pytest.importorskip("torch")

from fireassay.core import DataError  # noqa: E402
from fireassay.networks.training import train  # noqa: E402
from fireassay.papers.densenet import DenseNet  # noqa: E402

pytestmark = pytest.mark.extras


def test_each_layer_sees_all_before_it():
    net = DenseNet((8, 8), 3, layers=(3, 2), growth=4)
    widths = [block.convolution.in_channels for block in net.blocks if hasattr(block, "norm")]
    assert widths == [8, 12, 16, 10, 14]
    assert net.output.in_features == 18


def test_grey_and_colour_images_of_any_size_give_logits():
    assert DenseNet((9, 12), 5)(torch.zeros(2, 9, 12)).shape == (2, 5)
    assert DenseNet((8, 8, 3), 2)(torch.zeros(4, 8, 8, 3)).shape == (4, 2)
    with pytest.raises(DataError, match="8 × 8"):
        DenseNet((4, 4), 2)


@pytest.mark.slow
def test_it_learns_digits_and_repeats_itself():
    from fireassay.data import digits

    data = digits()
    nets = [DenseNet((8, 8), 10, growth=6, seed=1) for _ in range(2)]
    for net in nets:
        train(net, data.X[:900], data.y[:900], epochs=4, batch_size=32, learning_rate=5e-3)
    with torch.no_grad():
        answers = [net(torch.from_numpy(data.X[900:])).numpy() for net in nets]
    assert (answers[0] == answers[1]).all()
    assert np.mean(answers[0].argmax(axis=1) == data.y[900:]) > 0.8
