import numpy as np
import pytest


@pytest.mark.extras
def test_dropout_is_seeded_and_the_global_state_is_left_alone():
    torch = pytest.importorskip("torch")
    from fireassay.networks.training import train

    X, y = np.random.default_rng(0).random((64, 4)).astype(np.float32), np.arange(64) % 2

    def weights(noise):
        torch.manual_seed(1)
        module = torch.nn.Sequential(
            torch.nn.Linear(4, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 2)
        )
        torch.manual_seed(noise)
        before = torch.random.get_rng_state()
        train(module, X, y, epochs=2, seed=3)
        assert torch.equal(before, torch.random.get_rng_state())
        return module[0].weight.detach().numpy()

    assert np.array_equal(weights(noise=5), weights(noise=6))
