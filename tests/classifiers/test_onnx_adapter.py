"""ONNX files against the torch module they were exported from."""

import hashlib
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fireassay as fa
from fireassay.classifiers import ActivationClassifier, GradientClassifier
from fireassay.core import DataError, ModelError, ParameterError, UntrustedFileError

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
pytestmark = pytest.mark.extras

rng = np.random.default_rng(0)
X = rng.random((300, 4)).astype(np.float32)
W1, W2 = rng.normal(size=(4, 8)).astype(np.float32), rng.normal(size=(8, 3)).astype(np.float32)


def graph(
    path: Path, *, batch: Any = "n", softmax: bool = True, outputs: tuple[str, ...] = ()
) -> Path:
    helper, kinds = onnx.helper, onnx.TensorProto
    nodes = [
        helper.make_node("MatMul", ["rows", "W1"], ["hidden"]),
        helper.make_node("Relu", ["hidden"], ["active"]),
        helper.make_node("MatMul", ["active", "W2"], ["scores"]),
        helper.make_node("Softmax", ["scores"], ["answer"], axis=1),
        helper.make_node("ArgMax", ["scores"], ["label"], axis=1, keepdims=0),
    ]
    shapes = {"answer": (kinds.FLOAT, [batch, 3]), "scores": (kinds.FLOAT, [batch, 3])}
    shapes |= {"label": (kinds.INT64, [batch]), "boxes": (kinds.FLOAT, [batch, 8])}
    if "boxes" in outputs:
        nodes.append(helper.make_node("Relu", ["hidden"], ["boxes"]))
    wanted = outputs or (("answer",) if softmax else ("scores",))
    model = helper.make_model(
        helper.make_graph(
            nodes,
            "net",
            [helper.make_tensor_value_info("rows", kinds.FLOAT, [batch, 4])],
            [helper.make_tensor_value_info(name, *shapes[name]) for name in wanted],
            [onnx.numpy_helper.from_array(W1, "W1"), onnx.numpy_helper.from_array(W2, "W2")],
        ),
        opset_imports=[helper.make_opsetid("", 17)],
        ir_version=9,
    )
    onnx.save(model, path)
    return path


def expected(rows: np.ndarray) -> np.ndarray:
    scores = np.maximum(rows @ W1, 0) @ W2
    exponentials = np.exp(scores - scores.max(1, keepdims=True))
    return np.asarray(exponentials / exponentials.sum(1, keepdims=True))


def test_probabilities_logits_classes_and_hash(tmp_path: Path) -> None:
    path = graph(tmp_path / "m.onnx")
    classifier: Any = fa.as_classifier(str(path))
    assert classifier.classes == (0, 1, 2), "known from the graph, before any query"
    np.testing.assert_allclose(classifier.predict_proba(X), expected(X), atol=1e-6)
    np.testing.assert_allclose(classifier.predict_proba(X.astype(float)), expected(X), atol=1e-6)
    assert classifier.queries == 600
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert classifier.sha256 == classifier.file_sha256 == digest
    logits = fa.as_classifier(graph(tmp_path / "l.onnx", softmax=False), output="logits")
    np.testing.assert_allclose(logits.predict_proba(X), expected(X), atol=1e-6)
    assert not isinstance(classifier, GradientClassifier)


@pytest.mark.parametrize("batch", [1, 7])
def test_a_fixed_batch_dimension_is_respected(tmp_path: Path, batch: int) -> None:
    classifier = fa.as_classifier(graph(tmp_path / "m.onnx", batch=batch))
    np.testing.assert_allclose(classifier.predict_proba(X[:20]), expected(X[:20]), atol=1e-6)
    assert classifier.queries == 20


def test_values_inside_the_graph_can_be_read(tmp_path: Path) -> None:
    classifier: Any = fa.as_classifier(graph(tmp_path / "m.onnx"))
    assert isinstance(classifier, ActivationClassifier)
    assert classifier.layers == ("hidden", "active", "scores", "answer")
    read = classifier.activations(X, ["active", "answer"])
    np.testing.assert_allclose(read["active"], np.maximum(X @ W1, 0), atol=1e-5)
    np.testing.assert_allclose(read["answer"], expected(X), atol=1e-6)
    assert classifier.queries == 300
    with pytest.raises(ParameterError, match="hidden, active"):
        classifier.activations(X, ["nothing"])


def test_of_several_outputs_the_fitting_one_is_read(tmp_path: Path) -> None:
    both = graph(tmp_path / "m.onnx", outputs=("label", "answer"))
    np.testing.assert_allclose(fa.as_classifier(both).predict_proba(X), expected(X), atol=1e-6)
    labels = fa.as_classifier(both, output="labels", classes=range(3))
    np.testing.assert_array_equal(labels.predict(X), expected(X).argmax(1))
    with pytest.raises(ModelError, match="classes="):
        fa.as_classifier(both, output="labels")
    with pytest.raises(ModelError, match="detector"):
        fa.as_classifier(graph(tmp_path / "d.onnx", outputs=("boxes", "scores", "label")))


def test_shapes_and_class_numbers_are_checked(tmp_path: Path) -> None:
    path = graph(tmp_path / "m.onnx")
    with pytest.raises(DataError, match=r"\(4\)"):
        fa.as_classifier(path).predict_proba(X[:, :3])
    with pytest.raises(DataError, match=r"\(4\)"):
        fa.as_classifier(path).predict_proba(X.reshape(-1, 2, 2))
    with pytest.raises(ModelError, match="3 output columns"):
        fa.as_classifier(path, classes=["a", "b"])
    with pytest.raises(ParameterError, match="device"):
        fa.as_classifier(path, device="abacus")
    on_cpu = fa.as_classifier(path, device="cpu").predict_proba(X)
    np.testing.assert_array_equal(on_cpu, fa.as_classifier(path).predict_proba(X))


def test_sessions_travel_to_other_processes(tmp_path: Path) -> None:
    classifier = fa.as_classifier(graph(tmp_path / "m.onnx"))
    (tmp_path / "m.onnx").unlink()
    copy = pickle.loads(pickle.dumps(classifier))
    np.testing.assert_array_equal(copy.predict_proba(X), classifier.predict_proba(X))
    assert copy.sha256 == classifier.sha256


def test_damaged_and_disguised_files_are_refused(tmp_path: Path) -> None:
    whole = graph(tmp_path / "m.onnx").read_bytes()
    (tmp_path / "half.onnx").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "empty.onnx").write_bytes(b"")
    (tmp_path / "text.onnx").write_text("not a model")
    (tmp_path / "pickle.onnx").write_bytes(pickle.dumps([1]))
    for name in ("half", "empty", "text"):
        with pytest.raises(ModelError):
            fa.as_classifier(tmp_path / f"{name}.onnx")
    with pytest.raises(UntrustedFileError):
        fa.as_classifier(tmp_path / "pickle.onnx")


def test_a_torch_export_gives_the_modules_numbers(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    sklearn_like = torch.nn.Sequential(torch.nn.Linear(4, 3)).eval()
    weight = sklearn_like[0].weight.detach().numpy()
    bias = sklearn_like[0].bias.detach().numpy()
    helper = onnx.helper
    model = helper.make_model(
        helper.make_graph(
            [helper.make_node("Gemm", ["x", "w", "b"], ["z"], transB=1)],
            "linear",
            [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [None, 4])],
            [helper.make_tensor_value_info("z", onnx.TensorProto.FLOAT, [None, 3])],
            [onnx.numpy_helper.from_array(weight, "w"), onnx.numpy_helper.from_array(bias, "b")],
        ),
        opset_imports=[helper.make_opsetid("", 17)],
        ir_version=9,
    )
    onnx.save(model, tmp_path / "linear.onnx")
    from_file = fa.as_classifier(tmp_path / "linear.onnx", output="logits")
    from_module = fa.as_classifier(sklearn_like, output="logits")
    np.testing.assert_allclose(from_file.predict_proba(X), from_module.predict_proba(X), atol=1e-6)


def test_weights_in_a_file_of_their_own_are_part_of_the_model(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    X = np.random.default_rng(0).random((3, 2))

    def save(folder: str, slope: float) -> Path:
        place = tmp_path / folder
        place.mkdir()
        weights = onnx.numpy_helper.from_array(
            np.array([[0.0, slope], [0.0, 0.0]], dtype=np.float32), "w"
        )
        node = onnx.helper.make_node("MatMul", ["x", "w"], ["z"])
        shape = onnx.helper.make_tensor_value_info
        graph = onnx.helper.make_graph(
            [node],
            "g",
            [shape("x", onnx.TensorProto.FLOAT, ["n", 2])],
            [shape("z", onnx.TensorProto.FLOAT, ["n", 2])],
            [weights],
        )
        model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)])
        model.ir_version = 8
        onnx.save(
            model, place / "m.onnx", save_as_external_data=True, location="w", size_threshold=0
        )
        return place / "m.onnx"

    one, other = (
        fa.as_classifier(str(save(name, slope)), output="logits")
        for name, slope in (("a", 1.0), ("b", 2.0))
    )
    assert (tmp_path / "a/m.onnx").read_bytes() == (tmp_path / "b/m.onnx").read_bytes()
    assert one.sha256 != other.sha256
    before = other.predict_proba(X)
    (tmp_path / "b" / "w").unlink()
    assert np.array_equal(pickle.loads(pickle.dumps(other)).predict_proba(X), before)
    with pytest.raises(ModelError, match="must lie in the files"):
        fa.as_classifier(str(tmp_path / "b" / "m.onnx"), output="logits")


@pytest.mark.parametrize("where", ["../weights", "ABSOLUTE", "link", "device"])
def test_weights_outside_the_models_folder_are_not_read(tmp_path: Path, where: str) -> None:
    place = tmp_path / "received"
    place.mkdir()
    (tmp_path / "weights").write_bytes(np.ones(4, dtype=np.float32).tobytes())
    if where == "link":
        (place / where).symlink_to(tmp_path / "weights")
    if where == "device":
        (place / where).symlink_to("/dev/zero")
    location = str(tmp_path / "weights") if where == "ABSOLUTE" else where
    weights = onnx.TensorProto(name="w", data_type=1, dims=[2, 2])
    weights.data_location = onnx.TensorProto.EXTERNAL
    for key, value in (("location", location), ("offset", "0"), ("length", "16")):
        weights.external_data.add(key=key, value=value)
    shape = onnx.helper.make_tensor_value_info
    ends = [[shape(name, onnx.TensorProto.FLOAT, ["n", 2])] for name in ("x", "z")]
    node = onnx.helper.make_node("MatMul", ["x", "w"], ["z"])
    built = onnx.helper.make_graph([node], "g", *ends, [weights])
    model = onnx.helper.make_model(built, opset_imports=[onnx.helper.make_opsetid("", 17)])
    (place / "m.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(ModelError, match="must lie in the files"):
        fa.as_classifier(str(place / "m.onnx"), output="logits")


def with_metadata(path: Path, **entries: str) -> Path:
    model = onnx.load(graph(path))
    onnx.helper.set_model_props(model, entries)
    onnx.save(model, path)
    return path


@pytest.mark.parametrize(
    "entries",
    [
        {"class_names": '["cat", "dog", "owl"]'},
        {"names": "{0: 'cat', 1: 'dog', 2: 'owl'}"},
        {"id2label": '{"0": "cat", "1": "dog", "2": "owl"}'},
        {"labels": "cat\ndog\nowl"},
        {"classes": "cat, dog, owl"},
    ],
)
def test_names_of_classes_in_the_metadata_are_used(tmp_path: Path, entries: dict[str, str]) -> None:
    assert fa.as_classifier(with_metadata(tmp_path / "m.onnx", **entries)).classes == (
        "cat",
        "dog",
        "owl",
    )


@pytest.mark.parametrize(
    "entries",
    [{"names": "cat, dog"}, {"names": "cat, cat, dog"}, {"names": '{"5": "cat"}'}, {"names": "[["}],
)
def test_names_that_do_not_fit_are_left(tmp_path: Path, entries: dict[str, str]) -> None:
    model = fa.as_classifier(with_metadata(tmp_path / "m.onnx", **entries))
    assert model.classes == (0, 1, 2)


def test_a_graph_with_state_is_refused_with_the_function_to_write(tmp_path: Path) -> None:
    model = onnx.load(graph(tmp_path / "m.onnx"))
    state = onnx.helper.make_tensor_value_info("state", onnx.TensorProto.FLOAT, [1, 4])
    model.graph.input.append(state)
    onnx.save(model, tmp_path / "m.onnx")
    with pytest.raises(ModelError, match=r"rows: tensor\(float\), state: tensor\(float\)") as found:
        fa.as_classifier(tmp_path / "m.onnx")
    assert 'return session.run([\'answer\'], {"rows": X, "state": …})[0]' in str(found.value)


@pytest.mark.parametrize("shape", [[None], [None, 1]])
def test_a_graph_that_takes_texts(tmp_path, shape):
    make, kinds = onnx.helper, onnx.TensorProto
    table = {"keys_strings": ["yes", "no"], "values_floats": [1.0, 0.0], "default_float": 0.5}
    nodes = [
        make.make_node("LabelEncoder", ["text"], ["p"], domain="ai.onnx.ml", **table),
        make.make_node("Reshape", ["p", "rows"], ["q"]),
        make.make_node("Sub", ["one", "q"], ["r"]),
        make.make_node("Concat", ["r", "q"], ["probabilities"], axis=1),
    ]
    constants = [
        onnx.numpy_helper.from_array(np.array([-1, 1]), "rows"),
        onnx.numpy_helper.from_array(np.float32([1.0]), "one"),
    ]
    taken = make.make_tensor_value_info("text", kinds.STRING, shape)
    given = make.make_tensor_value_info("probabilities", kinds.FLOAT, [None, 2])
    sets = [make.make_opsetid("", 17), make.make_opsetid("ai.onnx.ml", 2)]
    graph = make.make_graph(nodes, "words", [taken], [given], constants)
    onnx.save(make.make_model(graph, opset_imports=sets, ir_version=9), tmp_path / "words.onnx")
    model = fa.as_classifier(tmp_path / "words.onnx")
    found = model.predict_proba(["yes", "perhaps", "no"])
    np.testing.assert_array_equal(found[:, 1], [1.0, 0.5, 0.0])
    with pytest.raises(DataError, match="takes texts"):
        model.predict_proba(np.zeros((2, 1)))
