"""Model files: what can run code is never opened unasked."""

import gzip
import pickle
import zipfile
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import fireassay as fa
from fireassay.core import ModelError, ParameterError, UntrustedFileError

X, y = load_digits(return_X_y=True)
X, y = X[:300] / 16.0, y[:300]


class Bomb:
    """Creates a file when it is unpickled."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> Any:
        return Path.touch, (self.target,)


@pytest.mark.parametrize(
    "name",
    ["m.pkl", "m.pickle", "m.joblib", "m.onnx", "m.skops", "m.pt2", "m.pt", "m.bin", "m", "m.npz"],
)
@pytest.mark.parametrize("protocol", [2, 5])
def test_a_malicious_pickle_is_never_executed_whatever_its_name(
    tmp_path: Path, name: str, protocol: int
) -> None:
    trace = tmp_path / "trace"
    (tmp_path / name).write_bytes(pickle.dumps(Bomb(trace), protocol=protocol))
    with pytest.raises(UntrustedFileError, match="trust=True"):
        fa.as_classifier(tmp_path / name)
    assert not trace.exists()


@pytest.mark.parametrize("compress", [("gzip", 3), ("zlib", 3), ("bz2", 3), ("xz", 3)])
def test_compressed_pickles_are_refused_too(tmp_path: Path, compress: Any) -> None:
    trace = tmp_path / "trace"
    joblib.dump(Bomb(trace), tmp_path / "m.dat", compress=compress)
    with pytest.raises(UntrustedFileError):
        fa.as_classifier(tmp_path / "m.dat")
    assert not trace.exists()


def test_old_text_pickles_are_refused_by_name_or_not_read_at_all(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    content = pickle.dumps(Bomb(trace), protocol=0)
    for name, error in (("m.pkl", UntrustedFileError), ("m.txt", UntrustedFileError)):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(error):
            fa.as_classifier(tmp_path / name)
    assert not trace.exists()


def test_a_trusted_pickle_is_read(tmp_path: Path) -> None:
    estimator = LogisticRegression(max_iter=200).fit(X, y)
    joblib.dump(estimator, tmp_path / "m.joblib")
    (tmp_path / "m.pkl").write_bytes(pickle.dumps(estimator))
    for name in ("m.joblib", "m.pkl"):
        classifier = fa.as_classifier(tmp_path / name, trust=True)
        np.testing.assert_allclose(classifier.predict_proba(X), estimator.predict_proba(X))
    (tmp_path / "half.pkl").write_bytes(pickle.dumps(estimator)[:200])
    with pytest.raises(ModelError, match="readable"):
        fa.as_classifier(tmp_path / "half.pkl", trust=True)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("m.onnx", b"", "empty"),
        ("m.skops", b"nonsense", "zip archive"),
        ("m.pt2", b"PK\x03\x04 cut off", "whole zip"),
        ("m.xyz", b"hello", r"\.onnx or \.skops"),
        ("ünï" + "c" * 200 + ".onnx", b"nonsense", "whole model"),
    ],
)
def test_damaged_and_unknown_files_are_refused(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    if name.endswith(".onnx") and content:
        pytest.importorskip("onnxruntime")
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ModelError, match=message):
        fa.as_classifier(str(tmp_path / name))


def test_missing_files_folders_and_foreign_archives_are_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="not there"):
        fa.as_classifier("no/such/model.onnx")
    with pytest.raises(ModelError, match="a folder"):
        fa.as_classifier(tmp_path)
    with zipfile.ZipFile(tmp_path / "m.zip", "w") as archive:
        archive.writestr("readme.txt", "hello")
    with pytest.raises(ModelError, match=r"readme\.txt"):
        fa.as_classifier(tmp_path / "m.zip")
    (tmp_path / "m.gz").write_bytes(gzip.compress(b"x"))
    with pytest.raises(UntrustedFileError):
        fa.as_classifier(tmp_path / "m.gz")


def test_import_paths(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "ward_model.py").write_text(
        "import numpy as np\n"
        "class Holder:\n"
        "    def model(self, X):\n"
        "        return np.column_stack([X[:, 0], 1 - X[:, 0]])\n"
        "holder = Holder()\n"
    )
    (tmp_path / "broken_model.py").write_text("1 / 0")
    (tmp_path / "needs_more.py").write_text("import not_there_at_all")
    monkeypatch.syspath_prepend(tmp_path)
    classifier = fa.as_classifier("ward_model:holder.model", classes=["a", "b"], bounds=(0, 1))
    assert classifier.predict([[0.9], [0.2]]).tolist() == ["a", "b"]
    for path, message in (
        ("ward_model:nothing", "no 'nothing'"),
        ("no_such_module:model", "PYTHONPATH"),
        ("broken_model:model", "ZeroDivisionError"),
        ("needs_more:model", "not_there_at_all"),
        ("ward_model:Holder", "must return a model"),
    ):
        with pytest.raises(ModelError, match=message):
            fa.as_classifier(path)
    with pytest.raises(ParameterError, match="device"):
        fa.as_classifier("ward_model:holder.model", device="cpu")


@pytest.mark.extras
class TestSkops:
    def test_known_types_are_read_without_trust(self, tmp_path: Path) -> None:
        skops_io = pytest.importorskip("skops.io")
        estimator = LogisticRegression(max_iter=200).fit(X, y)
        skops_io.dump(estimator, tmp_path / "m.skops")
        classifier = fa.as_classifier(tmp_path / "m.skops", bounds=(0, 1))
        np.testing.assert_array_equal(classifier.predict(X), estimator.predict(X))
        assert classifier.classes == tuple(range(10))

    def test_unknown_types_need_trust(self, tmp_path: Path) -> None:
        skops_io = pytest.importorskip("skops.io")
        estimator = LogisticRegression(max_iter=200).fit(X, y)
        estimator.note = Path("somewhere")  # type: ignore[attr-defined]
        skops_io.dump(estimator, tmp_path / "m.skops")
        unknown = skops_io.get_untrusted_types(file=tmp_path / "m.skops")
        assert unknown
        with pytest.raises(UntrustedFileError, match="types known to be safe"):
            fa.as_classifier(tmp_path / "m.skops")
        trusted = fa.as_classifier(tmp_path / "m.skops", trust=True)
        np.testing.assert_array_equal(trusted.predict(X), estimator.predict(X))

    def test_a_damaged_file_is_refused(self, tmp_path: Path) -> None:
        skops_io = pytest.importorskip("skops.io")
        skops_io.dump(LogisticRegression(max_iter=200).fit(X, y), tmp_path / "m.skops")
        content = (tmp_path / "m.skops").read_bytes()
        (tmp_path / "m.skops").write_bytes(content[: len(content) // 2])
        with pytest.raises(ModelError, match="whole zip"):
            fa.as_classifier(tmp_path / "m.skops")
        with zipfile.ZipFile(tmp_path / "odd.skops", "w") as archive:
            archive.writestr("schema.json", '{"__class__": "Nothing"}')
        with pytest.raises(ModelError, match="readable"):
            fa.as_classifier(tmp_path / "odd.skops")
