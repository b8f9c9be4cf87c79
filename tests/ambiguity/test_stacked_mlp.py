import numpy as np
import pytest

torch = pytest.importorskip("torch")

from fireassay.ambiguity.preset import FAST, PAPER, Preset  # noqa: E402
from fireassay.ambiguity.stacked_networks import PairRows, StackedMlp  # noqa: E402
from fireassay.ambiguity.training import train  # noqa: E402
from fireassay.core.threads import one_torch_thread  # noqa: E402

pytestmark = pytest.mark.extras


def generators(*seeds):
    return [np.random.default_rng(seed) for seed in seeds]


def plain_network(stack, member):
    layers = []
    for i, (weight, bias) in enumerate(zip(stack.weights, stack.biases, strict=True)):
        layer = torch.nn.Linear(weight.shape[1], weight.shape[2])
        with torch.no_grad():
            layer.weight.copy_(weight[member].T)
            layer.bias.copy_(bias[member, 0])
        layers.append(layer)
        if i < len(stack.weights) - 1:
            layers.append(torch.nn.LeakyReLU(0.3))
    return torch.nn.Sequential(*layers)


def test_each_network_of_a_stack_is_an_ordinary_network():
    stack = StackedMlp((5, 7, 6, 3), generators(0, 1, 2))
    x = torch.randn(3, 11, 5, generator=torch.Generator().manual_seed(0))
    for member in range(3):
        expected = plain_network(stack, member)(x[member])
        torch.testing.assert_close(stack(x)[member], expected)
        torch.testing.assert_close(stack.subset([member])(x[[member]])[0], expected)


def test_push_forward_is_the_directional_derivative():
    stack = StackedMlp((2, 8, 8, 5), generators(4))
    x = torch.randn(1, 6, 2, generator=torch.Generator().manual_seed(1))
    for axis in range(2):
        direction = torch.zeros_like(x)
        direction[..., axis] = 1.0
        _, slope = stack.push_forward(x, direction)
        for row in range(6):
            jacobian = torch.autograd.functional.jacobian(
                lambda z: stack(z.reshape(1, 1, 2))[0, 0], x[0, row]
            )
            torch.testing.assert_close(slope[0, row], jacobian[:, axis], rtol=1e-5, atol=1e-6)


def toy_pairs():
    rng = np.random.default_rng(0)
    features = rng.random((90, 12), dtype=np.float32)
    features[30:60] += 0.5
    features[60:] *= 0.3
    features = torch.from_numpy(np.clip(features, 0, 1))
    thirds = [np.arange(30), np.arange(30, 60), np.arange(60, 90)]
    return features, [PairRows(thirds[0], thirds[1]), PairRows(thirds[1], thirds[2])]


def test_a_network_learns_in_a_stack_as_it_does_alone():
    features, rows = toy_pairs()
    preset = Preset("short", steps=25, batch=16, warm_up=5, hidden=16)
    with one_torch_thread():
        together = train(features, features, rows, preset, generators(1, 2))
        alone = train(features, features, rows[:1], preset, generators(1))
    for one, many in zip(alone.parameters(), together.parameters(), strict=True):
        torch.testing.assert_close(one[0], many[0], rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("preset", [FAST, PAPER], ids=lambda preset: preset.name)
def test_training_separates_the_classes_in_the_plane(preset):
    import dataclasses

    features, rows = toy_pairs()
    steps = {"fast": 100, "paper": 300}[preset.name]
    small = {"hidden": 32, "discriminator_hidden": 32, "batch": 32}
    short = dataclasses.replace(preset, steps=steps, epochs=0, **small)
    with one_torch_thread():
        nets = train(features, features, rows, short, generators(1, 2))
    codes = nets.encoder(features[torch.from_numpy(rows[0].both)].expand(2, -1, -1))
    x = codes[0, :, 0].detach()
    assert x[:30].mean() < -0.5
    assert x[30:].mean() > 0.5
