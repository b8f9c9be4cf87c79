"""What is refused, so that a user reads why."""

import numpy as np
from arrays import with_holes
from extremes import halves
from pair import Setup, kept, pair
from tables import patients, pipeline
from texts import counting_graph, sentences, tokens


@pair("fractions for an integer graph", "the same graph", "npz, float64 with fractions")
def _(folder):
    X, y = tokens(seed=6)
    np.savez(folder / "test.npz", X=X + 0.5, y=y)
    counting_graph(folder / "model.onnx", np.ones((10, 2)))
    return Setup(["--model", "model.onnx", "--data", "test.npz"])


@pair("NaN unsaid", "the same model", "the same npz, without --missing")
def _(folder):
    model, _X, _y = with_holes(folder)
    path = kept(model, folder, "model.joblib")
    return Setup(["--model", path, "--data", "test.npz", "--trust"])


@pair("a typo among numbers", "a function", "CSV, 2O for 20")
def _(folder):
    rows = "".join(f"{i},{i % 2}\n" for i in range(40)).replace("\n20,", "\n2O,")
    (folder / "test.csv").write_text("a,label\n" + rows)
    return Setup(["--model", halves(folder), "--data", "test.csv"])


@pair("more fields than headers", "a function", "CSV, one row with three fields")
def _(folder):
    (folder / "test.csv").write_text("a,label\n0.1,0\n0.2,5,1\n")
    return Setup(["--model", halves(folder), "--data", "test.csv"])


@pair("labels 1 and 01", "a function", "CSV")
def _(folder):
    (folder / "test.csv").write_text("a,label\n0.1,1\n0.2,01\n0.3,0\n")
    return Setup(["--model", halves(folder), "--data", "test.csv"])


@pair("a column too few", "the pipeline", "CSV without the column ward")
def _(folder):
    frame = patients()
    model = pipeline(frame[:300])
    frame[300:].drop(columns="ward").to_csv(folder / "test.csv", index=False)
    return Setup(["--model", kept(model, folder), "--data", "test.csv", "--label", "outcome"])


@pair("text for numbers", "ONNX graph with an int64 input", "npz of texts")
def _(folder):
    texts, y = sentences(60)
    np.savez(folder / "test.npz", X=texts, y=y)
    counting_graph(folder / "model.onnx", np.ones((10, 2)))
    return Setup(["--model", "model.onnx", "--data", "test.npz"])
