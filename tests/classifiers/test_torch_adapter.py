"""torch modules: eval mode, gradients and layers checked against torch's own autograd."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import fireassay as fa
from fireassay.classifiers import ActivationClassifier, GradientClassifier
from fireassay.core import DataError, ModelError, ParameterError, ProbabilityError

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.extras

X = np.random.default_rng(0).random((300, 6)).astype(np.float32)
y = np.random.default_rng(1).integers(0, 3, 300)


def mlp(seed: int = 0, *last: Any) -> Any:
    torch.manual_seed(seed)
    return torch.nn.Sequential(
        torch.nn.Linear(6, 16),
        torch.nn.BatchNorm1d(16),
        torch.nn.ReLU(),
        torch.nn.Dropout(0.5),
        torch.nn.Linear(16, 3),
        *last,
    )


def plain_logits(module: Any, rows: np.ndarray) -> np.ndarray:
    training = module.training
    module.eval()
    with torch.no_grad():
        answer = module(torch.from_numpy(rows)).numpy()
    module.train(training)
    return np.asarray(answer)


def test_probabilities_are_the_softmax_in_evaluation_mode_and_flags_are_put_back() -> None:
    module = mlp()
    module[1].eval()  # a frozen layer inside a module in training
    classifier = fa.as_classifier(module, output="logits")
    expected = torch.softmax(torch.from_numpy(plain_logits(module, X)), 1).numpy()
    module.train()
    module[1].eval()
    np.testing.assert_allclose(classifier.predict_proba(X), expected, atol=1e-6)
    assert module.training
    assert not module[1].training
    assert module[1].num_batches_tracked == 0, "no statistics were learnt on the way"
    np.testing.assert_array_equal(classifier.predict_proba(X), classifier.predict_proba(X))


def test_what_a_torch_model_can_do_shows_in_its_protocols() -> None:
    logits = fa.as_classifier(mlp(), output="logits")
    labels = fa.as_classifier(
        torch.nn.Sequential(mlp(), Argmax()), classes=[0, 1, 2], output="labels"
    )
    assert isinstance(logits, GradientClassifier)
    assert isinstance(logits, ActivationClassifier)
    assert not isinstance(labels, GradientClassifier)
    assert isinstance(labels, ActivationClassifier)
    assert labels.predict(X[:4]).tolist() == plain_logits(mlp(), X[:4]).argmax(1).tolist()


class Argmax(torch.nn.Module):  # type: ignore[misc]
    def forward(self, x: Any) -> Any:
        return x.argmax(1)


@pytest.mark.parametrize("output", ["logits", "probabilities"])
def test_loss_gradient_is_autograds(output: str) -> None:
    module = mlp(0, *([torch.nn.Softmax(1)] if output == "probabilities" else []))
    classifier: Any = fa.as_classifier(module, output=output)
    logits, gradient = classifier.loss_gradient(X, y)
    module.eval()
    inputs = torch.from_numpy(X).requires_grad_()
    scores = module(inputs)
    scores = scores.log() if output == "probabilities" else scores
    torch.nn.functional.cross_entropy(scores, torch.from_numpy(y), reduction="sum").backward()
    np.testing.assert_allclose(logits, scores.detach().numpy(), atol=1e-5)
    np.testing.assert_allclose(gradient, inputs.grad.numpy(), atol=1e-5)
    np.testing.assert_allclose(classifier.logits(X), logits, atol=0)
    assert gradient.dtype == X.dtype
    assert (classifier.queries, classifier.gradient_queries) == (600, 300)


def test_logit_gradients_are_the_rows_of_the_jacobian() -> None:
    module = mlp().eval()
    classifier: Any = fa.as_classifier(module, output="logits")
    columns = np.column_stack([y, (y + 1) % 3])
    logits, gradients = classifier.logit_gradients(X, columns)
    np.testing.assert_allclose(logits, plain_logits(module, X), atol=1e-6)
    assert gradients.shape == (300, 2, 6)
    assert (classifier.queries, classifier.gradient_queries) == (300, 600)
    for row in (0, 255, 256, 299):
        jacobian = torch.autograd.functional.jacobian(module, torch.from_numpy(X[row : row + 1]))
        expected = jacobian[0, columns[row], 0].numpy()
        np.testing.assert_allclose(gradients[row], expected, atol=1e-5)


def test_gradients_do_not_change_the_modules_parameters_or_their_gradients() -> None:
    module = mlp()
    classifier: Any = fa.as_classifier(module, output="logits")
    before = classifier.sha256
    classifier.loss_gradient(X, y)
    assert classifier.sha256 == before
    assert all(parameter.grad is None for parameter in module.parameters())


@pytest.mark.parametrize(
    "bad", [[0] * 299, np.full(300, 3), np.full(300, -1), np.zeros(300), ["a"] * 300]
)
def test_bad_class_indices_are_refused(bad: Any) -> None:
    classifier: Any = fa.as_classifier(mlp(), output="logits")
    with pytest.raises(DataError, match="indices"):
        classifier.loss_gradient(X, bad)


def test_layers_are_read_in_row_order() -> None:
    module = mlp().eval()
    classifier: Any = fa.as_classifier(module, output="logits")
    assert classifier.layers == ("0", "1", "2", "3", "4")
    read = classifier.activations(X, ["2", "4"])
    with torch.no_grad():
        hidden = module[:3](torch.from_numpy(X)).numpy()
    np.testing.assert_allclose(read["2"], hidden, atol=1e-6)
    np.testing.assert_allclose(read["4"], plain_logits(module, X), atol=1e-6)
    assert read["2"].dtype == np.float32
    assert classifier.queries == 300
    assert not any(part._forward_hooks for part in module.modules())
    with pytest.raises(ParameterError, match="Layers must be among 0, 1"):
        classifier.activations(X, ["nine"])


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (mlp(), "output='logits'"),
        (torch.nn.LSTM(6, 3, batch_first=True), "outputs|tensor"),
        (torch.nn.Sequential(mlp(), torch.nn.Linear(3, 1)), "One column"),
        (torch.nn.Sequential(torch.nn.Linear(7, 3)), "shape"),
    ],
    ids=["undeclared logits", "tuple", "one column", "wrong width"],
)
def test_modules_that_do_not_classify_are_refused(module: Any, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        fa.as_classifier(module).predict_proba(X)


def test_a_detector_is_refused_in_words() -> None:
    class Detector(torch.nn.Module):  # type: ignore[misc]
        def forward(self, x: Any) -> Any:
            return [{"boxes": x, "scores": x, "labels": x} for _ in x]

    with pytest.raises(ModelError, match="detectors"):
        fa.as_classifier(Detector()).predict_proba(X)


def test_nan_from_a_module_is_refused_with_its_row() -> None:
    rows = X.copy()
    rows[270] = 3e38
    module = torch.nn.Sequential(torch.nn.Linear(6, 3))
    with torch.no_grad():
        module[0].weight.fill_(3e38)
    for call in ("predict_proba", "logits"):
        with pytest.raises(ProbabilityError, match="row"):
            getattr(fa.as_classifier(module, output="logits"), call)(rows)


def test_device_and_batch_size() -> None:
    module = mlp().eval()
    on_cpu = fa.as_classifier(module, output="logits", device="cpu", batch_size=7)
    np.testing.assert_allclose(
        on_cpu.predict_proba(X),
        fa.as_classifier(module, output="logits").predict_proba(X),
        atol=1e-6,
    )
    with pytest.raises(ModelError, match="device"):
        fa.as_classifier(module, output="logits", device="nonsense")
    if not torch.cuda.is_available():
        with pytest.raises(ModelError, match="device='cpu'"):
            fa.as_classifier(module, output="logits", device="cuda")


def test_double_precision_modules_keep_it() -> None:
    module = mlp().double().eval()
    rows = X.astype(np.float64)
    expected = plain_logits(module, rows)
    classifier: Any = fa.as_classifier(module, output="logits")
    np.testing.assert_allclose(classifier.logits(rows), expected, atol=1e-13)
    assert classifier.loss_gradient(rows, y)[1].dtype == np.float64


def test_threads_setting_and_flags_survive_parallel_callers() -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        module = mlp()
        classifier = fa.as_classifier(module, output="logits", batch_size=32)
        expected = classifier.predict_proba(X)
        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(lambda _: classifier.predict_proba(X), range(40)))
        assert all(np.array_equal(answer, expected) for answer in answers)
        assert torch.get_num_threads() == 2
        assert module.training
    finally:
        torch.set_num_threads(before)


def test_layers_read_by_one_thread_do_not_leak_into_another() -> None:
    classifier: Any = fa.as_classifier(mlp(), output="logits", batch_size=16)
    expected = {start: classifier.activations(X[start:], ["2"])["2"] for start in range(0, 40, 5)}
    with ThreadPoolExecutor(4) as pool:
        read = pool.map(lambda s: (s, classifier.activations(X[s:], ["2"])["2"]), expected)
        assert all(np.array_equal(values, expected[start]) for start, values in read)


def test_hash_follows_weights_structure_and_code() -> None:
    module = mlp()
    classifier = fa.as_classifier(module, output="logits")
    first = classifier.sha256
    assert fa.as_classifier(mlp(), output="logits").sha256 == first
    assert fa.as_classifier(mlp(1), output="logits").sha256 != first
    assert fa.as_classifier(mlp(0, torch.nn.ReLU()), output="logits").sha256 != first
    with torch.no_grad():
        module[0].weight[0, 0] += 1.0
    assert classifier.sha256 != first, "a module trained further is another model"

    class Scaled(torch.nn.Module):  # type: ignore[misc]
        def __init__(self, factor: float) -> None:
            super().__init__()
            self.factor = factor

        def forward(self, x: Any) -> Any:
            return x * self.factor

    assert fa.as_classifier(Scaled(1.0)).sha256 != fa.as_classifier(Scaled(2.0)).sha256


def test_modules_travel_to_other_processes() -> None:
    classifier: Any = fa.as_classifier(mlp(), output="logits", classes=list("abc"))
    copy = pickle.loads(pickle.dumps(classifier))
    np.testing.assert_array_equal(copy.predict_proba(X), classifier.predict_proba(X))
    assert copy.sha256 == classifier.sha256
    np.testing.assert_array_equal(copy.loss_gradient(X, y)[1], classifier.loss_gradient(X, y)[1])
