"""A model that refuses rows as they are is asked in the other ways that its rows allow."""

import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from fireassay.assessment import evaluate, initialise
from fireassay.assessment.config import read_config
from fireassay.assessment.context import load_context
from fireassay.classifiers import as_classifier
from fireassay.core import DataError, ModelError, ParameterError
from fireassay.data import load

_HEAD = "import numpy as np\ndef both(p): return np.column_stack([1 - p, p])\nASKED = []\n"


def _images(folder: Path, grey: bool) -> None:
    rng = np.random.default_rng(0)
    for part, n in (("train", 20), ("test", 40)):
        for label, name in enumerate(("cat", "dog")):
            (folder / part / name).mkdir(parents=True)
            for i in range(n):
                pixels = rng.integers(0, 100, (8, 9) if grey else (8, 9, 3))
                pixels[: 4 * label + 4] += 100 * label
                image = Image.fromarray(pixels.astype(np.uint8))
                image.save(folder / part / name / f"{i}.png")


def _onnx(path: Path, channels: int, kind: str = "FLOAT") -> None:
    onnx = pytest.importorskip("onnx")
    from onnx import helper, numpy_helper

    weights = np.array([[-9.0, 9.0]] * channels, dtype=np.float32) / channels
    shift = np.array([3.0, -3.0], dtype=np.float32)
    nodes = [
        helper.make_node("Cast", ["X"], ["c"], to=onnx.TensorProto.FLOAT),
        helper.make_node("GlobalAveragePool", ["c"], ["p"]),
        helper.make_node("Flatten", ["p"], ["f"]),
        helper.make_node("Gemm", ["f", "w", "b"], ["z"]),
        helper.make_node("Softmax", ["z"], ["y"], axis=1),
    ]
    taken = getattr(onnx.TensorProto, kind)
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("X", taken, ["n", channels, 8, 9])],
        [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["n", 2])],
        [numpy_helper.from_array(weights, "w"), numpy_helper.from_array(shift, "b")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.save(model, path)


def _begun(folder: Path, model: str, data: dict[str, str], **more: str):
    lines: list[str] = []
    made = initialise(model, data, folder=folder, trust=True, say=lines.append, **more)
    (folder / "fireassay.toml").write_text(made.text)
    context = load_context(read_config(folder / "fireassay.toml"), trust=True)
    assert context.model.predict_proba(context.test.X[:3]).shape == (3, 2)
    return tomllib.loads(made.text)["model"], lines


@pytest.mark.parametrize("channels", [1, 3])
def test_a_folder_of_pictures_and_a_network_with_channels_first(tmp_path, channels):
    _images(tmp_path / "pictures", grey=channels == 1)
    _onnx(tmp_path / "net.onnx", channels)
    model, lines = _begun(tmp_path, "net.onnx", {"test": "pictures"})
    assert model["layout"] == "channels first"
    assert any(line.startswith("handed      as they are, channels first") for line in lines)
    assert any("are training rows" in line for line in lines)  # pictures/train was found


def test_a_network_of_whole_numbers_gets_bytes(tmp_path):
    _images(tmp_path / "pictures", grey=False)
    _onnx(tmp_path / "net.onnx", 3, "UINT8")
    model, _ = _begun(tmp_path, "net.onnx", {"test": "pictures"})
    assert (model["layout"], model["pixels"]) == ("channels first", "bytes")
    assert model["bounds"] == [0.0, 255.0]


def test_declared_pixels_are_normalised(tmp_path):
    _images(tmp_path / "pictures", grey=False)
    _onnx(tmp_path / "net.onnx", 3)
    how = {"layout": "channels first", "pixels": "normalised"}
    ends = {"mean": (0.5, 0.4, 0.3), "std": (0.5, 0.2, 0.1)}
    made = initialise("net.onnx", {"test": "pictures"}, folder=tmp_path, trust=True, **how, **ends)
    (tmp_path / "fireassay.toml").write_text(made.text)
    X = load_context(read_config(tmp_path / "fireassay.toml"), trust=True).test.X
    plain = np.asarray(Image.open(tmp_path / "pictures/test/cat/0.png")) / 255
    expected = np.moveaxis((plain - ends["mean"]) / ends["std"], -1, 0)
    np.testing.assert_allclose(X[0], expected, atol=1e-5)


def _series(folder: Path) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    np.savez(folder / "rows.npz", X=rng.normal(size=(60, 3, 50)) + 3 * y[:, None, None], y=y)


@pytest.mark.parametrize(
    ("code", "taken"),
    [
        ("assert X.shape[1:] == (50, 3)", {"layout": "time first"}),
        ("assert len(X) == 1", {"batch_size": 1}),
    ],
)
def test_series_time_first_and_one_at_a_time(tmp_path, monkeypatch, code, taken):
    monkeypatch.syspath_prepend(tmp_path)
    name = f"series_{next(iter(taken))}"
    answer = "both(1 / (1 + np.exp(3 - 2 * X.mean((1, 2)))))"
    (tmp_path / f"{name}.py").write_text(f"{_HEAD}def model(X):\n    {code}\n    return {answer}\n")
    _series(tmp_path)
    model, _ = _begun(tmp_path, f"{name}:model", {"test": "rows.npz"})
    assert {key: model[key] for key in taken} == taken


def _table(folder: Path) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.random(90), "dose": rng.random(90)})
    frame["label"] = (frame.age > 0.5).astype(int)
    frame["split"] = ["train"] * 30 + ["test"] * 50 + ["field"] * 10
    frame.loc[frame.split == "field", "label"] = np.nan
    frame.astype({"label": "Int64"}).to_csv(folder / "rows.csv", index=False)


def test_a_function_of_frames_and_one_file_for_all_rows(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    code = "def model(X):\n    return both(1 / (1 + np.exp(9 * (0.5 - X['age'].to_numpy()))))\n"
    (tmp_path / "of_frames.py").write_text(_HEAD + code)
    _table(tmp_path)
    model, _ = _begun(
        tmp_path, "of_frames:model", {"test": "rows.csv", "split": "split", "label": "label"}
    )
    assert model["rows"] == "frame"
    context = load_context(read_config(tmp_path / "fireassay.toml"), trust=True)
    assert [len(s) for s in (context.test, context.train, context.operational)] == [50, 30, 10]
    assert context.test.feature_names == ("age", "dose")
    assert context.operational.y is None


@pytest.mark.parametrize(
    ("code", "rows"),
    [
        ("both(np.array([0.9 if 'good' in t else 0.1 for t in texts]))", "texts"),
        ("both(np.array([0.9 if 'good' in t else 0.1 for t in texts.tolist()]))", "array"),
        ("both(np.where(texts['text'].str.contains('good'), 0.9, 0.1))", "frame"),
    ],
)
def test_texts_as_a_list_an_array_or_a_frame(tmp_path, monkeypatch, code, rows):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / f"words_{rows}.py").write_text(f"{_HEAD}def model(texts):\n    return {code}\n")
    texts = [f"a {'good' if i % 2 else 'bad'} film, number {i}" for i in range(60)]
    frame = pd.DataFrame({"text": texts, "label": [i % 2 for i in range(60)]})
    frame.to_csv(tmp_path / "reviews.csv", index=False)
    model, _ = _begun(tmp_path, f"words_{rows}:model", {"test": "reviews.csv"})
    assert model["rows"] == rows


def test_two_ways_are_asked_for_and_few_rows_are_sent(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    code = (
        "def model(X):\n    ASKED.append(len(X))\n    assert X.ndim == 4\n"
        "    return both(X.reshape(len(X), -1).mean(1))\n"
    )
    (tmp_path / "either.py").write_text(_HEAD + code)
    _images(tmp_path / "pictures", grey=True)
    with pytest.raises(ParameterError, match='--layout "channels first" or --layout "channels l'):
        initialise("either:model", {"test": "pictures"}, folder=tmp_path, trust=True)
    import either

    assert sum(either.ASKED) <= 16
    model, _ = _begun(tmp_path, "either:model", {"test": "pictures"}, layout="channels last")
    assert model["layout"] == "channels last"


def test_a_model_that_always_fails_says_what_was_tried(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "broken.py").write_text("def model(X):\n    raise OSError('no licence')\n")
    _images(tmp_path / "pictures", grey=False)
    with pytest.raises(ModelError, match=r"no licence.*in vain: channels first"):
        initialise("broken:model", {"test": "pictures"}, folder=tmp_path, trust=True)


def test_evaluate_tries_as_well():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 80)
    X = rng.random((80, 8, 8, 3)) * 0.4 + 0.5 * y[:, None, None, None]

    def model(rows):
        assert rows.shape[1:] == (3, 8, 8)
        p = rows.reshape(len(rows), -1).mean(axis=1)
        return np.column_stack([1 - p, p])

    with pytest.warns(UserWarning, match="taken channels first"):
        report = evaluate(model, X, y, "accuracy")
    assert report["accuracy"].estimates["accuracy"].value == 1.0


def test_a_torch_network_with_channels_first():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    X = (rng.random((60, 8, 9, 3)) * 0.4 + 0.5 * y[:, None, None, None]).astype(np.float32)
    net = torch.nn.Sequential(
        torch.nn.Conv2d(3, 2, 3), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten()
    )
    with torch.no_grad():
        net[0].weight[0], net[0].weight[1] = -1.0, 1.0
        net[0].bias[:] = torch.tensor([12.0, -12.0])
    with pytest.warns(UserWarning, match="taken channels first"):
        report = evaluate(as_classifier(net.eval(), output="logits"), X, y, "accuracy")
    assert report["accuracy"].estimates["accuracy"].value == 1.0


def test_a_model_of_texts_beside_other_columns_says_what_to_ignore(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    code = "def model(texts):\n    return both(np.array([0.9 * ('good' in t) for t in texts]))\n"
    (tmp_path / "alone.py").write_text(_HEAD + code)
    texts = [f"a {'good' if i % 2 else 'bad'} film, number {i}, by somebody" for i in range(60)]
    frame = pd.DataFrame({"text": texts, "lang": ["en", "de"] * 30, "label": [0, 1] * 30})
    frame.to_csv(tmp_path / "reviews.csv", index=False)
    with pytest.raises(ModelError, match="the text alone needs: --ignore lang"):
        initialise("alone:model", {"test": "reviews.csv"}, folder=tmp_path, trust=True)
    data = {"test": "reviews.csv", "ignore": ["lang"], "slices": ["lang"]}
    assert _begun(tmp_path, "alone:model", data)[0]["rows"] == "texts"


def test_words_that_no_part_has_are_named(tmp_path):
    _table(tmp_path)
    text = (tmp_path / "rows.csv").read_text().replace("field", "later")
    (tmp_path / "rows.csv").write_text(text)
    with pytest.raises(DataError, match=r"must say dev, .* test, testing.*'later' in row 80"):
        load(tmp_path / "rows.csv", split=("split", "test"))
    with pytest.raises(DataError, match="must have the split column 'part'"):
        load(tmp_path / "rows.csv", split=("part", "test"))
