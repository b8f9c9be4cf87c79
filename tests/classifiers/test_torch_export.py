"""torch.export files: the same numbers as the module, and an audit that lets no code in."""

import hashlib
import io
import json
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fireassay as fa
from fireassay.classifiers import ActivationClassifier, GradientClassifier
from fireassay.classifiers.torch_export_audit import is_plain_expression, is_plain_target
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
    classifier: Any = fa.as_classifier(str(exported), output="logits")
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
    assert fa.as_classifier(exported, output="logits", device="cpu").queries == 0


def test_a_fixed_batch_dimension_is_respected(tmp_path: Path) -> None:
    torch.export.save(
        torch.export.export(network(), (torch.zeros(4, 1, 8, 8),)), tmp_path / "four.pt2"
    )
    classifier: Any = fa.as_classifier(tmp_path / "four.pt2", output="logits")
    expected = fa.as_classifier(network(), output="logits").predict_proba(X)
    np.testing.assert_allclose(classifier.predict_proba(X), expected, atol=1e-6)
    assert (classifier.batch_size, classifier.queries) == (4, 30)


class Bomb:
    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> Any:
        return Path.touch, (self.target,)


def rewritten(
    source: Path, target: Path, change: Callable[[str, bytes], bytes], **more: bytes
) -> Path:
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            new.writestr(name, change(name, old.read(name)))
        root = old.namelist()[0].split("/")[0]
        for name, content in more.items():
            new.writestr(f"{root}/{name.replace('__', '/')}", content)
    return target


def in_graph(change: Callable[[dict[str, Any]], None]) -> Callable[[str, bytes], bytes]:
    def apply(name: str, content: bytes) -> bytes:
        if not name.endswith("models/model.json"):
            return content
        tree = json.loads(content)
        change(tree)
        return json.dumps(tree).encode()

    return apply


def set_target(tree: dict[str, Any]) -> None:
    tree["graph_module"]["graph"]["nodes"][0]["target"] = "torch.hub.load"


def set_expression(tree: dict[str, Any]) -> None:
    sizes = tree["graph_module"]["graph"]["tensor_values"]["input"]["sizes"]
    sizes[0]["as_expr"]["expr_str"] = "__import__('os').system('true')"


def set_container(tree: dict[str, Any]) -> None:
    signature = tree["graph_module"]["module_call_graph"][0]["signature"]
    signature["in_spec"] = json.dumps(
        [1, {"type": "collections.defaultdict", "context": "x", "children_spec": []}]
    )


@pytest.mark.parametrize("change", [set_target, set_expression, set_container])
def test_graphs_that_could_run_code_are_refused(
    exported: Path, tmp_path: Path, change: Callable[[dict[str, Any]], None]
) -> None:
    path = rewritten(exported, tmp_path / "m.pt2", in_graph(change))
    with pytest.raises(UntrustedFileError, match="plain exported network"):
        fa.as_classifier(path, output="logits")


def test_pickles_in_every_corner_of_the_archive_are_refused(exported: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    bomb = pickle.dumps(Bomb(trace))
    buffer = io.BytesIO()
    torch.save(Bomb(trace), buffer)

    def inputs(name: str, content: bytes) -> bytes:
        return buffer.getvalue() if name.endswith("sample_inputs/model.pt") else content

    def weights(name: str, content: bytes) -> bytes:
        return content.replace(b'"use_pickle": false', b'"use_pickle": true')

    same: Callable[[str, bytes], bytes] = lambda name, content: content  # noqa: E731
    cases = [
        rewritten(exported, tmp_path / "a.pt2", inputs),
        rewritten(exported, tmp_path / "b.pt2", weights),
        rewritten(exported, tmp_path / "c.pt2", same, data__constants__opaque_obj_0=bomb),
        rewritten(exported, tmp_path / "d.pt2", same, data__aotinductor__m__wrapper=bomb),
    ]
    for path in cases:
        with pytest.raises(UntrustedFileError, match="trust=True"):
            fa.as_classifier(path, output="logits")
    assert not trace.exists()
    unchanged = rewritten(exported, tmp_path / "e.pt2", same)
    assert fa.as_classifier(unchanged, output="logits").predict_proba(X).shape == (30, 3)


def test_compressed_entries_are_refused(exported: Path, tmp_path: Path) -> None:
    with (
        zipfile.ZipFile(exported) as old,
        zipfile.ZipFile(tmp_path / "m.pt2", "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in old.namelist():
            new.writestr(name, old.read(name))
    with pytest.raises(UntrustedFileError, match="compressed"):
        fa.as_classifier(tmp_path / "m.pt2", output="logits")


def test_truncated_and_torch_save_files_are_refused(exported: Path, tmp_path: Path) -> None:
    content = exported.read_bytes()
    (tmp_path / "half.pt2").write_bytes(content[: len(content) // 2])
    with pytest.raises(ModelError, match="whole"):
        fa.as_classifier(tmp_path / "half.pt2")
    torch.save(network(), tmp_path / "m.pt")
    with pytest.raises(UntrustedFileError, match="torch pickle"):
        fa.as_classifier(tmp_path / "m.pt")
    trusted = fa.as_classifier(tmp_path / "m.pt", output="logits", trust=True)
    expected = fa.as_classifier(network(), output="logits").predict_proba(X)
    np.testing.assert_array_equal(trusted.predict_proba(X), expected)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Symbol('s0', positive=True, integer=True)", True),
        ("Add(Mul(Integer(2), Symbol('s0')), Integer(-1))", True),
        ("2*s0 + 1", True),
        ("s0.__class__", False),
        ("(lambda: 1)()", False),
        ("Symbol('__import__')", False),
        ('Symbol("x\');exit()")', False),
        ("sympify('1')", False),
        ("preview(s0)", False),
        ("[x for x in s0]", False),
        ("f'{s0}'", False),
        ("1 +", False),
    ],
)
def test_shape_expressions_are_arithmetic_only(text: str, plain: bool) -> None:
    assert is_plain_expression(text) is plain


@pytest.mark.parametrize(
    ("target", "plain"),
    [
        ("torch.ops.aten.relu.default", True),
        ("_operator.getitem", True),
        ("_operator.methodcaller", False),
        ("torch.ops.aten.from_file.default", False),
        ("torch.load", False),
        ("torch.ops.load_library", False),
        ("torch._C._jit_set_bailout_depth", False),
        ("os.system", False),
        ("#custom.op", False),
    ],
)
def test_only_array_operations_are_plain(target: str, plain: bool) -> None:
    assert is_plain_target(target) is plain
