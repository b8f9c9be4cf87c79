"""What can be read of torch, ONNX and scikit-learn models, and that it is the same."""

import warnings

import numpy as np
import pytest

from fireassay import supervision
from fireassay.classifiers import TemperatureScaled, as_classifier
from fireassay.classifiers.kept_answers import KeptAnswers, KeptSet
from fireassay.core import ModelError, ParameterError
from fireassay.core.row_index import RowIndex
from fireassay.supervision import NotAvailableError
from fireassay.supervision.reading import ModelReader

pytestmark = pytest.mark.extras
torch = pytest.importorskip("torch")
nn = torch.nn


@pytest.fixture(scope="module")
def onnx_model(torch_model, digit_rows, tmp_path_factory):
    pytest.importorskip("onnxscript")
    path = tmp_path_factory.mktemp("onnx") / "model.onnx"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            torch_model.module, (torch.as_tensor(digit_rows[0][:2]),), str(path), dynamo=True,
            dynamic_shapes=({0: torch.export.Dim("rows")},), external_data=False, verbose=False,
        )  # fmt: skip
    return as_classifier(str(path), output="logits")


def test_onnx_gives_the_same_scores_as_torch(onnx_model, torch_model, digit_rows):
    X, y, test, _ = digit_rows
    for name in ("mdsa", "energy", "vim", "react", "dissector"):
        from_torch = supervision.make(name).fit(torch_model, X, y).score(test[:50])
        from_onnx = supervision.make(name).fit(onnx_model, X, y).score(test[:50])
        np.testing.assert_allclose(from_onnx, from_torch, rtol=2e-3, atol=2e-3, err_msg=name)
    with pytest.raises(NotAvailableError, match="no dropout"):
        supervision.make("mc-dropout-mean-softmax").fit(onnx_model, X, y)


def test_features_are_what_the_last_layer_takes(torch_model, digit_rows):
    X = digit_rows[2][:30]
    reading = ModelReader(torch_model).read(X, ("features", "head", "logits", "probabilities"))
    weights, bias = reading.head
    np.testing.assert_allclose(reading.features @ weights.T + bias, reading.logits)
    np.testing.assert_allclose(torch_model.logits(X), reading.logits, atol=1e-4)
    np.testing.assert_array_equal(reading.probabilities, torch_model.predict_proba(X))


def test_one_reading_is_one_pass(torch_model, digit_rows):
    X = digit_rows[2][:30]
    before = torch_model.queries
    ModelReader(torch_model).read(X, ("features", "layers", "logits", "probabilities", "head"))
    assert torch_model.queries - before == 30


def kept(model, rows):
    """The model with a table that holds wrong answers for these rows."""
    wrong = np.eye(len(model.classes))[np.zeros(len(rows), dtype=int)]
    table = KeptAnswers([KeptSet(RowIndex(rows))], like=wrong)
    table.store(np.arange(len(rows)), wrong)
    model.kept = table
    return model


def test_kept_answers_never_stand_for_layers_or_dropout_samples(torch_model, digit_rows):
    X = digit_rows[2][:30]
    needs = ("features", "layers", "probabilities", "head", "logits")
    plain = ModelReader(torch_model).read(X, needs)
    try:
        reading = ModelReader(kept(torch_model, X)).read(X, needs)
        assert (torch_model.predict_proba(X)[:, 0] == 1).all()
    finally:
        torch_model.kept = None
    np.testing.assert_array_equal(reading.probabilities, plain.probabilities)
    for name, layer in plain.layers.items():
        np.testing.assert_array_equal(reading.layers[name], layer)
    model = as_classifier(LastDropout(), output="logits", classes=range(3))
    rows = np.random.default_rng(0).standard_normal((40, 8)).astype(np.float32)
    sampled = np.array(list(ModelReader(model).hidden.dropout_samples(rows, 3, seed=3)))
    kept(model, rows)
    np.testing.assert_array_equal(
        sampled, np.array(list(ModelReader(model).hidden.dropout_samples(rows, 3, seed=3)))
    )


def test_rows_of_a_block_probe_are_never_taken_for_the_callers():
    model = as_classifier(LastDropout(), output="logits", classes=range(3))
    rows = np.random.default_rng(0).standard_normal((700, 8)).astype(np.float32)
    one = ModelReader(model).read(rows[600:610], ("layers", "features")).features
    for start in range(0, 600, 50):  # until padding has cost as much as a probe
        model.predict_proba(rows[start : start + 50])
        again = ModelReader(model).read(rows[600:610], ("layers", "features"))
        np.testing.assert_array_equal(again.features, one)


class LastDropout(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.dropout, self.last = nn.Linear(8, 16), nn.Dropout(0.4), nn.Linear(16, 3)

    def forward(self, x):
        return self.last(self.dropout(torch.relu(self.first(x))))


def test_no_probe_of_block_sizes_gets_between_the_rows_that_are_read():
    module = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    model = as_classifier(module, output="logits", classes=[0, 1], batch_size=256)
    rows = np.random.default_rng(0).random((277, 3)).astype(np.float32)
    for _ in range(20):  # padding gets dear enough for a probe on the way
        found = ModelReader(model).read(rows, {"features"})
        assert len(found.features) == len(rows)


def test_dropout_before_the_last_layer_needs_the_features_once():
    model = as_classifier(LastDropout(), output="logits", classes=range(3))
    X = np.random.default_rng(0).standard_normal((40, 8)).astype(np.float32)
    hidden = ModelReader(model).hidden
    before = model.queries
    quick = np.array(list(hidden.dropout_samples(X, 6, seed=3)))
    assert model.queries - before == 40
    whole = []
    for sample in range(6):
        with hidden._thinned(sample, 3):
            whole.append(model.predict_proba(X))
    np.testing.assert_allclose(quick, whole, atol=1e-6)
    assert np.ptp(quick, axis=0).max() > 0.01


def test_dropout_samples_have_the_layers_distribution(digit_rows, torch_model):
    # The share of dropped units, and that a module in evaluation mode is left as it was.
    from fireassay.supervision.torch_hidden import _mask

    masks = np.array([_mask(nn.Dropout(0.3), "d", (500,), s, 0) for s in range(40)])
    assert set(np.unique(masks)) == {0.0, 1 / 0.7}
    assert abs((masks == 0).mean() - 0.3) < 0.02
    channels = _mask(nn.Dropout2d(0.5), "d", (6, 4, 4), 0, 0)
    assert channels.shape == (6, 1, 1)
    before = torch_model.predict_proba(digit_rows[2][:5])
    list(ModelReader(torch_model).hidden.dropout_samples(digit_rows[2][:5], 3, 0))
    np.testing.assert_array_equal(torch_model.predict_proba(digit_rows[2][:5]), before)


def test_temperature_scaled_models_show_their_inside(torch_model, digit_rows):
    X, y, test, _ = digit_rows
    scaled = TemperatureScaled(torch_model, 2.0)
    one = supervision.make("mdsa").fit(torch_model, X, y).score(test[:20])
    two = supervision.make("mdsa").fit(scaled, X, y).score(test[:20])
    np.testing.assert_allclose(one, two)
    logits = ModelReader(scaled).read(test[:5], ("logits",)).logits
    np.testing.assert_allclose(logits, torch_model.logits(test[:5]) / 2, atol=1e-4)


def test_any_layer_can_be_chosen(torch_model, digit_rows):
    X = digit_rows[2][:10]
    reading = ModelReader(torch_model, layer="2").read(X, ("features",))
    assert reading.features.shape == (10, 8 * 4 * 4)
    with pytest.raises(ParameterError, match="must be one of"):
        ModelReader(torch_model, layer="no such layer")
    with pytest.raises(NotAvailableError, match="another layer"):
        supervision.make("react", layer="2").fit(torch_model, X)


def test_a_module_without_a_linear_layer_says_so(digit_rows):
    class Convolutional(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(1, 10, 8)

        def forward(self, x):
            return self.conv(x[:, None]).flatten(1)

    X, y, _, _ = digit_rows
    model = as_classifier(Convolutional(), output="logits", classes=range(10))
    assert supervision.make("energy").fit(model, X, y).score(X[:3]).shape == (3,)
    with pytest.raises(NotAvailableError, match="no linear layer"):
        supervision.make("dsa").fit(model, X, y)
    assert supervision.make("mdsa", layer="conv").fit(model, X, y).score(X[:3]).shape == (3,)


def test_a_head_that_does_not_give_the_answer_is_refused(digit_rows):
    class Shifted(nn.Module):
        def __init__(self):
            super().__init__()
            self.last = nn.Linear(64, 10)

        def forward(self, x):
            return self.last(x.flatten(1)) * 3 + torch.arange(10)

    X, y, _, _ = digit_rows
    model = as_classifier(Shifted(), output="logits", classes=range(10))
    with pytest.raises(ModelError, match="softmax of its last linear layer"):
        supervision.make("vim").fit(model, X, y)


def test_scikit_learn_networks_show_their_hidden_layers(digit_rows):
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, y, test, _ = digit_rows
    flat, new = X.reshape(len(X), -1).astype(float), test[:40].reshape(40, -1).astype(float)
    network = MLPClassifier((20, 12), max_iter=200, tol=0.05, random_state=0)
    model = make_pipeline(StandardScaler(), network).fit(flat, y)
    reading = ModelReader(model).read(new, ("logits", "features", "layers"))
    shown = np.exp(reading.logits) / np.exp(reading.logits).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(shown, model.predict_proba(new), atol=1e-9)
    assert [layer.shape[1] for layer in reading.layers.values()] == [20, 12]


def test_ensembles_need_two_members(torch_model):
    with pytest.raises(ParameterError, match="at least two members"):
        ModelReader(torch_model, members=[torch_model])


def test_a_recipe_trains_the_members(torch_model, digit_rows):
    from sklearn.linear_model import LogisticRegression

    X, y, test, _ = digit_rows
    flat = X.reshape(len(X), -1).astype(float)
    seeds = []

    def recipe(rows, labels, seed):
        seeds.append(seed)
        chosen = np.random.default_rng(seed).integers(0, len(rows), 200)
        return LogisticRegression(max_iter=300).fit(rows[chosen], labels[chosen])

    base = LogisticRegression(max_iter=300).fit(flat, y)
    made = supervision.make("ensemble-mutual-information", train=recipe, n_members=4)
    scores = made.fit(base, flat, y).score(test[:20].reshape(20, -1).astype(float))
    assert len(set(seeds)) == 4
    assert scores.min() >= 0
    assert np.ptp(scores) > 0


def test_deep_networks_are_probed_at_a_few_small_layers():
    resnet = pytest.importorskip("fireassay.networks.resnet")
    model = as_classifier(
        resnet.ResNet(18, (28, 28), 10), output="logits", classes=range(10), batch_size=6
    )
    X = np.random.default_rng(0).random((6, 28, 28)).astype(np.float32)
    reading = ModelReader(model).read(X, ("layers", "features", "head", "logits"))
    assert 2 <= len(reading.layers) <= 8
    assert max(layer.shape[1] for layer in reading.layers.values()) <= 512
    assert reading.features.shape[0] == 6
