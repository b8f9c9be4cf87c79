"""The autoencoder's scores by numpy, beside what torch makes of the same network."""

import numpy as np
import pytest

from fireassay import supervision
from fireassay.supervision.autoencoder import _reconstructed

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("shape", [(28, 28), (9, 11, 3), (7, 5), (20,)])
def test_numpy_reconstructs_what_torch_does(shape):
    from fireassay.networks.vae import ConvVae, DenseVae

    rows = np.random.default_rng(0).random((40, *shape))
    reading = supervision.Reading(inputs=rows)
    parameters = supervision.make("autoencoder", epochs=1).fit_reading(reading).state_["parameters"]
    network = ConvVae(shape, 16) if len(shape) > 1 else DenseVae(shape[0], 16)
    network.load_state_dict({name: torch.as_tensor(v) for name, v in parameters.items()})
    images = torch.as_tensor(rows, dtype=torch.float32)
    if len(shape) > 1:
        images = images.reshape(40, *shape[:2], -1).permute(0, 3, 1, 2)
    with torch.no_grad():
        found = network.eval()(images)
    if len(shape) > 1:
        found = found.permute(0, 2, 3, 1)
    expected = found.reshape(40, *shape).numpy()
    np.testing.assert_allclose(_reconstructed(parameters, rows), expected, atol=1e-6)


def test_scores_do_not_depend_on_how_rows_are_cut():
    rows = np.random.default_rng(1).random((300, 12, 10))
    watch = supervision.make("autoencoder", epochs=1)
    watch.fit_reading(supervision.Reading(inputs=rows))
    whole = watch.score_reading(supervision.Reading(inputs=rows))
    cut = [watch.score_reading(supervision.Reading(inputs=part)) for part in (rows[:7], rows[7:])]
    assert np.concatenate(cut).tobytes() == whole.tobytes()
