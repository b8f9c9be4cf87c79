"""torch.export files: the same numbers as the module, and nothing of them runs without trust."""

import contextlib
import hashlib
import json
import pickle
import re
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fireassay as fa
from fireassay.classifiers import ActivationClassifier, GradientClassifier
from fireassay.core import ModelError, UntrustedFileError

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.extras

X = np.random.default_rng(0).random((30, 1, 8, 8)).astype(np.float32)


def network() -> Any:
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(144, 3)
    ).eval()


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pt2") / "m.pt2"
    rows = torch.export.Dim("rows", min=1)
    program = torch.export.export(
        network(), (torch.zeros(2, 1, 8, 8),), dynamic_shapes=({0: rows},)
    )
    torch.export.save(program, path)
    return path


def test_numbers_gradients_and_hash_are_the_modules(exported: Path) -> None:
    classifier: Any = fa.as_classifier(str(exported), output="logits", trust=True)
    module: Any = fa.as_classifier(network(), output="logits")
    np.testing.assert_allclose(classifier.predict_proba(X), module.predict_proba(X), atol=1e-6)
    labels = np.zeros(30, dtype=np.int64)
    for ours, theirs in zip(
        classifier.loss_gradient(X, labels), module.loss_gradient(X, labels), strict=True
    ):
        np.testing.assert_allclose(ours, theirs, atol=1e-6)
    assert isinstance(classifier, GradientClassifier)
    assert not isinstance(classifier, ActivationClassifier)
    assert classifier.file_sha256 == hashlib.sha256(exported.read_bytes()).hexdigest()
    copy = pickle.loads(pickle.dumps(classifier))
    np.testing.assert_array_equal(copy.predict_proba(X), classifier.predict_proba(X))
    assert fa.as_classifier(exported, output="logits", device="cpu", trust=True).queries == 0


def test_a_fixed_batch_dimension_is_respected(tmp_path: Path) -> None:
    torch.export.save(
        torch.export.export(network(), (torch.zeros(4, 1, 8, 8),)), tmp_path / "four.pt2"
    )
    classifier: Any = fa.as_classifier(tmp_path / "four.pt2", output="logits", trust=True)
    expected = fa.as_classifier(network(), output="logits").predict_proba(X)
    np.testing.assert_allclose(classifier.predict_proba(X), expected, atol=1e-6)
    assert (classifier.batch_size, classifier.queries) == (4, 30)


def rewritten(source: Path, target: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """The archive with another model JSON, written as a well-formed archive."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name.endswith("models/model.json"):
                tree = json.loads(content)
                change(tree)
                content = json.dumps(tree).encode()
            new.writestr(name, content)
    return target


def in_guards(tree: dict[str, Any], code: str) -> None:
    tree["guards_code"] = [code]


def in_shape(tree: dict[str, Any], code: str) -> None:
    sizes = tree["graph_module"]["graph"]["tensor_values"]["input"]["sizes"]
    sizes[0]["as_expr"]["expr_str"] = code


@pytest.mark.parametrize("place", [in_guards, in_shape])
def test_code_in_a_file_never_runs_without_trust(
    exported: Path, tmp_path: Path, place: Callable[[dict[str, Any], str], None]
) -> None:
    trace = tmp_path / "trace"
    code = f"__import__('pathlib').Path({str(trace)!r}).touch() or True"
    path = rewritten(exported, tmp_path / "m.pt2", lambda tree: place(tree, code))
    with pytest.raises(UntrustedFileError, match=r"torch\.onnx\.export"):
        fa.as_classifier(path, output="logits").predict_proba(X)
    assert not trace.exists()
    # The attack is real: with trust torch runs it, whatever it makes of the model then.
    with contextlib.suppress(ModelError):
        fa.as_classifier(path, output="logits", trust=True).predict_proba(X)
    assert trace.exists()


def test_hidden_archives_and_other_names_do_not_help(exported: Path, tmp_path: Path) -> None:
    content = exported.read_bytes()
    for name in ("m.onnx", "m.skops", "m.zip", "m"):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(UntrustedFileError, match="trust=True"):
            fa.as_classifier(tmp_path / name)
    (tmp_path / "two.pt2").write_bytes(content + content)  # two central directories
    with pytest.raises(UntrustedFileError, match="trust=True"):
        fa.as_classifier(tmp_path / "two.pt2")
    (tmp_path / "half.pt2").write_bytes(content[: len(content) // 2])
    with pytest.raises(ModelError, match="whole"):
        fa.as_classifier(tmp_path / "half.pt2")


@pytest.mark.slow
def test_the_line_of_the_refusal_makes_a_file_that_needs_no_trust(
    exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("onnxruntime")
    pytest.importorskip("onnxscript")
    with pytest.raises(UntrustedFileError) as refused:
        fa.as_classifier(exported)
    line = re.search(r"torch\.onnx\.export\(.*\)(?=;)", str(refused.value))
    assert line is not None
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's own exporter warns of its own internals
        eval(line[0], {"torch": torch, "module": network(), "example_batch": torch.tensor(X[:2])})
    classifier = fa.as_classifier("model.onnx", output="logits")
    expected = fa.as_classifier(network(), output="logits").predict_proba(X)
    np.testing.assert_allclose(classifier.predict_proba(X), expected, atol=1e-5)


def test_files_of_torch_save_need_trust(tmp_path: Path) -> None:
    torch.save(network(), tmp_path / "m.pt")
    with pytest.raises(UntrustedFileError, match="torch pickle"):
        fa.as_classifier(tmp_path / "m.pt")
    trusted = fa.as_classifier(tmp_path / "m.pt", output="logits", trust=True)
    expected = fa.as_classifier(network(), output="logits").predict_proba(X)
    np.testing.assert_array_equal(trusted.predict_proba(X), expected)
