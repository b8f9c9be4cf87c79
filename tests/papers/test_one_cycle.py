import numpy as np
import pytest

torch = pytest.importorskip("torch")

from fireassay.networks.small_networks import Mlp  # noqa: E402
from fireassay.papers.one_cycle import OneCycle, moved, train_one_cycle  # noqa: E402

X = np.random.default_rng(0).random((64, 6, 6)).astype(np.float32)
Y = np.random.default_rng(1).integers(0, 2, 64)
RECIPE = OneCycle(epochs=4, batch_size=16, shift=1)


class Killed(Exception):
    pass


def weights(net):
    return np.concatenate([value.numpy().ravel() for value in net.state_dict().values()])


def test_a_killed_training_ends_with_the_same_weights(tmp_path):
    whole = Mlp((6, 6), 2)
    train_one_cycle(whole, X, Y, RECIPE)
    said = []

    def killed(text):
        said.append(text)
        if len(said) == 3:
            raise Killed

    with pytest.raises(Killed):
        train_one_cycle(Mlp((6, 6), 2), X, Y, RECIPE, tmp_path / "kept.pt", killed)
    again, after = Mlp((6, 6), 2), []
    train_one_cycle(again, X, Y, RECIPE, tmp_path / "kept.pt", after.append)
    assert len(after) == 2  # two epochs were kept; the third was not, and is trained again
    np.testing.assert_array_equal(weights(again), weights(whole))


def test_a_checkpoint_of_other_rows_is_not_used(tmp_path):
    train_one_cycle(Mlp((6, 6), 2), X, Y, RECIPE, tmp_path / "kept.pt")
    said = []
    train_one_cycle(Mlp((6, 6), 2), X, 1 - Y, RECIPE, tmp_path / "kept.pt", said.append)
    assert len(said) == RECIPE.epochs


@pytest.mark.parametrize("shape", [(3, 5, 5), (3, 5, 5, 3)])
def test_moved_images_are_the_image_moved(shape):
    images = torch.zeros(shape)
    images[:, 2, 2] = 1.0
    found = moved(images, np.random.default_rng(0), 1, True)
    assert found.shape == images.shape
    assert (found.reshape(3, -1).sum(1) == images.reshape(3, -1).sum(1)).all()
    assert torch.equal(moved(images, np.random.default_rng(0), 0, False), images)
