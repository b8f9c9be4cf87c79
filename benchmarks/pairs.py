"""Models and data as people have them, each through init, plan, run, report and serve.

``python benchmarks/pairs.py [NAME …]`` (some CPU minutes) writes docs/pairs.md; what was found
about other pairs is kept in results/pairs.json. A pair is one
function below: it writes the files into a folder and says what init is called with. The accuracy
of each is computed by scikit-learn or numpy on the bare model, beside fireassay.
"""

import json
import os
import platform
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

KEPT = Path(__file__).parent / "results" / "pairs.json"
PAGE = Path(__file__).parents[1] / "docs" / "pairs.md"
SMALL = {
    "survival": {"samples": 12, "budget": 60},
    "discovery": {"pool": 60, "max_queries": 40, "budget": 10, "drawn": 10},
    "supervision": {"samples": 60},
    "ambiguity": {"samples": 20},
}
INTRODUCTION = (
    "Each pair went through `init`, `plan`, `run`, `report` and `serve` with small settings; "
    "seconds of each step, those of `serve` until its first page (Python {}, one thread, a shared "
    "machine). The accuracy of the bare model comes from scikit-learn or numpy. Made by "
    "`python benchmarks/pairs.py`."
)
PART_FAILED = 3  # exit code of run; the part says why
STEPS = ("init", "plan", "run", "report", "serve")


@dataclass(frozen=True)
class Setup:
    """Arguments of init, and the accuracy of the bare model; None where a refusal is expected."""

    arguments: list[str]
    accuracy: float | None = None


@dataclass(frozen=True)
class Pair:
    """A model and its data: how people would name it, and what writes its files."""

    name: str
    model: str
    data: str
    make: Callable[[Path], Setup]


PAIRS: dict[str, Pair] = {}


def pair(name: str, model: str, data: str):
    """One row of the table."""

    def add(make):
        PAIRS[name] = Pair(name, model, data, make)
        return make

    return add


def patients(n=700, seed=0):
    """A table as a hospital has it: numbers, counts, names, holes, a group, a label."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "patient": rng.integers(0, n // 2, n),
            "age": rng.normal(50, 15, n).round(1),
            "bmi": rng.normal(25, 4, n),
            "visits": rng.integers(0, 9, n),
            "sex": rng.choice(["f", "m"], n),
            "ward": rng.choice(["A", "B", "Süd"], n),
        }
    )
    score = 0.08 * (frame.age - 50) + 1.5 * (frame.sex == "m") + 0.3 * (frame.visits - 4)
    frame["outcome"] = np.where(score + rng.normal(0, 1, n) > 0.8, "ill", "well")
    frame.loc[rng.random(n) < 0.1, "bmi"] = np.nan
    frame.loc[rng.random(n) < 0.08, "ward"] = None
    return frame


def pipeline(frame):
    """Imputers, a scaler and a one-hot encoder before a logistic regression."""
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    names = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder())
    columns = ["ward", "sex", "age", "bmi", "visits"]
    both = ColumnTransformer([("n", numbers, columns[2:]), ("c", names, columns[:2])])
    model = make_pipeline(both, LogisticRegression(max_iter=1000))
    return model.fit(frame[columns], frame["outcome"])


def kept(model, folder, name="model.skops"):
    """A scikit-learn model in a file."""
    if name.endswith(".skops"):
        import skops.io

        skops.io.dump(model, folder / name)
    else:
        import joblib

        joblib.dump(model, folder / name)
    return name


def function(folder, name, text):
    """A model that is a function in a module beside the configuration."""
    (folder / f"{name}.py").write_text(f"import numpy as np\n{text}\n")
    return f"{name}:model"


def share(said, truth):
    """How often both are the same."""
    return float(np.mean(np.asarray(said) == np.asarray(truth)))


def thirds(rows, y, folder):
    """Two thirds to train with, one to test with, as npz files."""
    cut = 2 * len(rows) // 3
    np.savez(folder / "train.npz", X=rows[:cut], y=y[:cut])
    np.savez(folder / "test.npz", X=rows[cut:], y=y[cut:])
    return cut


@pair("floats", "logistic regression, skops", "npz, float64")
def _(folder):
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    X = rng.normal(size=(450, 5))
    y = (X[:, 0] + 0.5 * X[:, 1] + rng.normal(0, 0.5, 450) > 0).astype(int)
    cut = thirds(X, y, folder)
    model = LogisticRegression().fit(X[:cut], y[:cut])
    arguments = ["--model", kept(model, folder), "--data", "test.npz", "--train", "train.npz"]
    return Setup(arguments, share(model.predict(X[cut:]), y[cut:]))


@pair("columns in another order", "logistic regression on a frame, skops", "CSV, one column more")
def _(folder):
    from sklearn.linear_model import LogisticRegression

    frame = patients()[["age", "visits", "outcome"]].assign(extra=1.5)
    model = LogisticRegression().fit(frame[["age", "visits"]], frame["outcome"])
    frame[["extra", "visits", "outcome", "age"]].to_csv(folder / "test.csv", index=False)
    arguments = ["--model", kept(model, folder), "--data", "test.csv", "--label", "outcome"]
    return Setup(arguments, share(model.predict(frame[["age", "visits"]]), frame["outcome"]))


@pair("names and holes", "pipeline with a ColumnTransformer, skops", "CSV, strings and holes")
def _(folder):
    frame = patients()
    train, test, field = frame[:300], frame[300:550], frame[550:].drop(columns="outcome")
    for name, part in (("train", train), ("test", test), ("field", field)):
        part.to_csv(folder / f"{name}.csv", index=False)
    model = pipeline(train)
    arguments = ["--model", kept(model, folder), "--data", "test.csv", "--train", "train.csv"]
    arguments += ["--operational", "field.csv", "--label", "outcome", "--group", "patient"]
    arguments += ["--slices", "sex"]
    return Setup(arguments, share(model.predict(test), test["outcome"]))


@pair("the same, joblib", "the same pipeline, joblib, --trust", "Parquet, strings and holes")
def _(folder):
    frame = patients(seed=1)
    frame[300:].to_parquet(folder / "test.parquet")
    model = pipeline(frame[:300])
    arguments = ["--model", kept(model, folder, "model.joblib"), "--data", "test.parquet"]
    arguments += ["--label", "outcome", "--ignore", "patient", "--trust"]
    return Setup(arguments, share(model.predict(frame[300:]), frame["outcome"][300:]))


@pair("categories", "HistGradientBoosting, joblib, --trust", "Parquet, categorical columns, holes")
def _(folder):
    from sklearn.ensemble import HistGradientBoostingClassifier

    frame = patients(seed=2).astype({"ward": "category", "sex": "category"})
    columns = ["age", "bmi", "sex", "ward"]
    model = HistGradientBoostingClassifier(max_iter=20).fit(
        frame[columns][:400], frame.outcome[:400]
    )
    frame[400:].to_parquet(folder / "test.parquet")
    arguments = ["--model", kept(model, folder, "model.joblib"), "--data", "test.parquet"]
    arguments += ["--label", "outcome", "--trust"]
    return Setup(arguments, share(model.predict(frame[columns][400:]), frame.outcome[400:]))


@pair("dates and flags", "a function of a data frame", "Parquet, dates, flags")
def _(folder):
    rng = np.random.default_rng(3)
    days = pd.to_datetime("2024-01-01") + pd.to_timedelta(rng.integers(0, 400, 240), "D")
    frame = pd.DataFrame(
        {"day": days, "urgent": rng.random(240) < 0.4, "n": rng.integers(0, 9, 240)}
    )
    late = (frame.day > pd.Timestamp("2024-07-01")).astype(float) + frame.urgent
    frame["label"] = np.where(late + rng.normal(0, 0.4, 240) > 0.7, "late", "soon")
    frame.to_parquet(folder / "test.parquet")
    body = (
        "import pandas as pd\ndef model(X):\n"
        "    s = 3 * ((X['day'] > pd.Timestamp('2024-07-01')) * 1.0 + X['urgent']) - 2\n"
        "    p = 1 / (1 + np.exp(-s.to_numpy()))\n    return np.column_stack([p, 1 - p])"
    )
    said = np.where(late > 2 / 3, "late", "soon")
    return Setup(
        ["--model", function(folder, "by_day", body), "--data", "test.parquet"],
        share(said, frame["label"]),
    )


def sentences(n=450, seed=4):
    """Short reviews; one in five says the opposite of what it means."""
    rng = np.random.default_rng(seed)
    words = (["good", "fine", "nice", "great"], ["bad", "awful", "poor", "sad"])
    filler = ["the", "film", "was", "and", "very", "plot", "déjà", "naïve"]
    y = rng.integers(0, 2, n)
    meant = np.where(rng.random(n) < 0.8, y, 1 - y)
    texts = [
        " ".join([*rng.choice(words[m], 2).tolist(), *rng.choice(filler, 5).tolist()])
        for m in meant
    ]
    return np.array(texts), y


def reader(texts, y):
    """A bag of words before a logistic regression."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    return make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(texts, y)


@pair("texts", "TfidfVectorizer and logistic regression, joblib, --trust", "npz of texts")
def _(folder):
    texts, y = sentences()
    cut = thirds(texts, y, folder)
    model = reader(texts[:cut].tolist(), y[:cut])
    arguments = ["--model", kept(model, folder, "model.joblib"), "--data", "test.npz"]
    arguments += ["--train", "train.npz", "--trust"]
    return Setup(arguments, share(model.predict(texts[cut:].tolist()), y[cut:]))


@pair("a text column", "ColumnTransformer with a vectorizer, joblib, --trust", "CSV, a text column")
def _(folder):
    from sklearn.compose import ColumnTransformer
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    texts, y = sentences()
    frame = pd.DataFrame({"note": texts, "stars": np.arange(len(y)) % 5, "label": y})
    both = ColumnTransformer([("t", CountVectorizer(), "note")], remainder="passthrough")
    model = make_pipeline(both, LogisticRegression(max_iter=1000))
    model.fit(frame[["note", "stars"]][:250], y[:250])
    frame[250:].to_csv(folder / "test.csv", index=False)
    arguments = ["--model", kept(model, folder, "model.joblib"), "--data", "test.csv", "--trust"]
    return Setup(arguments, share(model.predict(frame[["note", "stars"]][250:]), y[250:]))


def tokens(n=420, seed=5):
    """Rows of twelve tokens below ten; one of them tells the class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = np.where(rng.random((n, 12)) < 0.25, 5 * y[:, None], rng.integers(0, 10, (n, 12)))
    return X.astype(np.int32), y


@pair("tokens", "CategoricalNB, skops", "npz, int32")
def _(folder):
    from sklearn.naive_bayes import CategoricalNB

    X, y = tokens()
    cut = thirds(X, y, folder)
    model = CategoricalNB(min_categories=10).fit(X[:cut], y[:cut])
    arguments = ["--model", kept(model, folder), "--data", "test.npz", "--train", "train.npz"]
    return Setup(arguments, share(model.predict(X[cut:]), y[cut:]))


def counting_graph(path, weights):
    """An ONNX graph that takes int64 tokens and scores how often 5 and 0 occur."""
    from onnx import TensorProto, helper, numpy_helper, save

    nodes = [
        helper.make_node("Gather", ["weights", "tokens"], ["scores"]),
        helper.make_node("ReduceSum", ["scores", "axis"], ["logits"], keepdims=0),
        helper.make_node("Softmax", ["logits"], ["probabilities"], axis=1),
    ]
    graph = helper.make_graph(
        nodes,
        "counting",
        [helper.make_tensor_value_info("tokens", TensorProto.INT64, ["n", 12])],
        [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, ["n", 2])],
        [
            numpy_helper.from_array(weights.astype(np.float32), "weights"),
            numpy_helper.from_array(np.array([1], dtype=np.int64), "axis"),
        ],
    )
    opset = [helper.make_opsetid("", 17)]
    save(helper.make_model(graph, opset_imports=opset, ir_version=8), path)


@pair("tokens for ONNX", "ONNX graph with an int64 input", "npz, int32")
def _(folder):
    X, y = tokens(seed=6)
    thirds(X, y, folder)
    weights = np.zeros((10, 2))
    weights[0, 0], weights[5, 1] = 1.0, 1.0
    counting_graph(folder / "model.onnx", weights)
    test = slice(2 * len(X) // 3, None)
    said = (X[test] == 5).sum(axis=1) > (X[test] == 0).sum(axis=1)
    return Setup(["--model", "model.onnx", "--data", "test.npz"], share(said, y[test]))


@pair("fractions for an integer graph", "the same graph", "npz, float64 with fractions")
def _(folder):
    X, y = tokens(seed=6)
    np.savez(folder / "test.npz", X=X + 0.5, y=y)
    counting_graph(folder / "model.onnx", np.ones((10, 2)))
    return Setup(["--model", "model.onnx", "--data", "test.npz"])


@pair("series", "a function of (n, channels, length)", "npz, two channels of other ranges")
def _(folder):
    rng = np.random.default_rng(7)
    y = rng.integers(0, 2, 240)
    X = rng.normal(size=(240, 2, 40)) * np.array([1.0, 1000.0])[:, None]
    X[:, 0] += 0.25 * np.where(y, 1.0, -1.0)[:, None]
    thirds(X, y, folder)
    body = (
        "def model(X):\n    p = 1 / (1 + np.exp(-12 * X[:, 0].mean(axis=1)))\n"
        "    return np.column_stack([1 - p, p])"
    )
    arguments = ["--model", function(folder, "mean_of_first", body), "--data", "test.npz"]
    return Setup([*arguments, "--kind", "series"], share(X[160:, 0].mean(axis=1) > 0, y[160:]))


@pair("normalised images", "a function of (n, 3, 12, 12)", "npz, float32, mean 0")
def _(folder):
    rng = np.random.default_rng(8)
    y = rng.integers(0, 2, 200)
    pixels = rng.random((200, 3, 12, 12)) * 0.6 + 0.2 * y[:, None, None, None]
    mean, std = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])
    X = ((pixels - mean[:, None, None]) / std[:, None, None]).astype(np.float32)
    np.savez(folder / "test.npz", X=X, y=y)
    body = (
        "def model(X):\n    s = 8 * (X.mean(axis=(1, 2, 3), dtype=np.float64) + 0.25)\n"
        "    p = 1 / (1 + np.exp(-s))\n    return np.column_stack([1 - p, p])"
    )
    said = X.mean(axis=(1, 2, 3), dtype=np.float64) > -0.25
    return Setup(
        ["--model", function(folder, "brighter", body), "--data", "test.npz"], share(said, y)
    )


@pair("bytes", "MLPClassifier, skops", "npz, uint8 images 8 × 8")
def _(folder):
    from sklearn.datasets import load_digits
    from sklearn.neural_network import MLPClassifier

    found = load_digits()
    X = (found.images[:900] * 255 / 16).astype(np.uint8)
    y = found.target[:900]
    cut = thirds(X, y, folder)
    flat = X.reshape(len(X), -1).astype(np.float32) / np.float32(255)
    model = MLPClassifier((32,), max_iter=60, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(flat[:cut].astype(np.float64), y[:cut])
    arguments = ["--model", kept(model, folder), "--data", "test.npz"]
    return Setup(arguments, share(model.predict(flat[cut:].astype(np.float64)), y[cut:]))


@pair(
    "NaN in an array", "HistGradientBoosting, joblib, --trust", "npz, float64 with NaN, --missing"
)
def _(folder):
    model, X, y = _with_holes(folder)
    arguments = ["--model", kept(model, folder, "model.joblib"), "--data", "test.npz", "--trust"]
    return Setup([*arguments, "--missing"], share(model.predict(X[200:]), y[200:]))


@pair("NaN unsaid", "the same model", "the same npz, without --missing")
def _(folder):
    model, _X, _y = _with_holes(folder)
    path = kept(model, folder, "model.joblib")
    return Setup(["--model", path, "--data", "test.npz", "--trust"])


def _with_holes(folder):
    from sklearn.ensemble import HistGradientBoostingClassifier

    rng = np.random.default_rng(9)
    X = rng.normal(size=(400, 4))
    y = (X[:, 0] > 0).astype(int)
    X[rng.random(X.shape) < 0.1] = np.nan
    np.savez(folder / "test.npz", X=X[200:], y=y[200:])
    return HistGradientBoostingClassifier(max_iter=15).fit(X[:200], y[:200]), X, y


def many_classes(folder, classes, rows):
    """Points around as many centres, and the nearest centre as the answer."""
    rng = np.random.default_rng(10)
    centres = rng.normal(size=(classes, 6)) * 3
    y = np.arange(rows) % classes
    X = centres[y] + rng.normal(0, 0.8, (rows, 6))
    np.savez(folder / "test.npz", X=X, y=y)
    np.save(folder / "centres.npy", centres)
    body = (
        "from pathlib import Path\ncentres = np.load(Path(__file__).with_name('centres.npy'))\n"
        "def model(X):\n    d = ((X[:, None] - centres) ** 2).sum(axis=2)\n"
        "    e = np.exp(-(d - d.min(axis=1, keepdims=True)))\n"
        "    return e / e.sum(axis=1, keepdims=True)"
    )
    said = ((X[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    name = function(folder, f"nearest_{classes}", body)
    return Setup(["--model", name, "--data", "test.npz"], share(said, y))


@pair("100 classes", "a function", "npz, 600 rows")
def _(folder):
    return many_classes(folder, 100, 600)


@pair("1,000 classes", "a function", "npz, 1,500 rows")
def _(folder):
    return many_classes(folder, 1000, 1500)


def halves(folder, name="at_half"):
    """A function that is sure of the second class as far as x goes."""
    body = "def model(X):\n    p = np.clip(X[:, :1], 0.01, 0.99)\n    return np.hstack([1 - p, p])"
    return function(folder, name, body)


@pair("one row", "a function", "npz, 1 row")
def _(folder):
    np.savez(folder / "test.npz", X=[[0.9, 0.1]], y=[1])
    return Setup(["--model", halves(folder), "--data", "test.npz"], 1.0)


@pair("one class", "a function", "npz, every label the same")
def _(folder):
    X = np.random.default_rng(11).random((150, 2)) ** 0.3
    np.savez(folder / "test.npz", X=X, y=np.ones(150, dtype=int))
    return Setup(["--model", halves(folder), "--data", "test.npz"], share(X[:, 0] > 0.5, 1))


@pair("1 : 1000", "a function", "npz, 2 of 2,002 rows are rare")
def _(folder):
    rng = np.random.default_rng(12)
    X = np.vstack([rng.random((2000, 2)) * 0.49, [[0.9, 0.5], [0.2, 0.5]]])
    np.savez(folder / "test.npz", X=X, y=np.array([0] * 2000 + [1, 1]))
    return Setup(["--model", halves(folder), "--data", "test.npz"], 2001 / 2002)


@pair("hostile names", "a function of a data frame", "CSV: =cmd(), </script>, 東京, emoji")
def _(folder):
    rng = np.random.default_rng(13)
    names = np.array(["=cmd()", "</script>", "東京", "\U0001f600", "{{7*7}}", 'a"b;c', "-1+1"])
    kind = rng.integers(0, len(names), 210)
    column = "Größe <b>&\U0001f600"
    frame = pd.DataFrame({column: names[kind], "x\ny": rng.random(210).round(3)})
    frame["label"] = names[np.where(rng.random(210) < 0.8, kind, (kind + 1) % 7)]
    frame.to_csv(folder / "Süd test.csv", index=False)
    body = (
        f"names = {names.tolist()!r}\ndef model(X):\n"
        f"    k = [names.index(v) for v in X[{column!r}]]\n"
        "    return 0.86 * np.eye(7)[k] + 0.02"
    )
    classes = ",".join(names) if not any("," in n for n in names) else None
    arguments = ["--model", function(folder, "by_name", body), "--data", "Süd test.csv"]
    return Setup([*arguments, "--classes", classes], share(frame[column], frame["label"]))


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


# Through the steps


@dataclass
class Outcome:
    """What happened to one pair."""

    pair: Pair
    seconds: dict[str, float]
    accuracy: float | None
    bare: float | None
    said: str


def walk(one: Pair) -> Outcome:
    """One pair through every step, in a folder of its own."""
    from typer.testing import CliRunner

    from fireassay.cli.main import app

    seconds: dict[str, float] = {}
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        setup = one.make(folder)
        os.chdir(folder)
        os.environ["XDG_CONFIG_HOME"] = str(folder / "settings")
        try:
            for step in STEPS[:4]:
                start = time.perf_counter()
                arguments = [step, *(setup.arguments if step == "init" else [])]
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    found = CliRunner().invoke(app, arguments)
                seconds[step] = time.perf_counter() - start
                if found.exit_code and (step, found.exit_code) != ("run", PART_FAILED):
                    said = " ".join((found.output or repr(found.exception)).split())
                    said = said.split("the model and the data ")[-1].replace(f"{folder}/", "")
                    return Outcome(one, seconds, None, setup.accuracy, f"{step}: {said}")
                if step == "init":
                    make_small(folder / "fireassay.toml")
            start = time.perf_counter()
            page = served(folder / "fireassay-run")
            seconds["serve"] = time.perf_counter() - start
            result = json.loads((folder / "fireassay-run" / "result.json").read_text())
        finally:
            os.chdir(before)
    parts = result["parts"]
    accuracy = parts["accuracy"]["estimates"]["accuracy"]["value"]
    other = {n: p["status"] for n, p in parts.items() if p["status"] != "done"}
    words = [f"{n} {status}: {parts[n]['reason']}" for n, status in other.items()]
    return Outcome(one, seconds, accuracy, setup.accuracy, "; ".join([*page, *words]))


def make_small(path: Path) -> None:
    """Short settings, so that a pair takes seconds; everything else as init wrote it."""
    lines, section = [], ""
    for line in path.read_text().splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        for key, value in SMALL.get(section, {}).items():
            if line.startswith(f"# {key} ="):
                line = f"{key} = {value}"
        lines.append(line)
    path.write_text("\n".join(lines) + "\n")


def served(run: Path) -> list[str]:
    """What is wrong with the first page of the app; nothing if it is there."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "fireassay", "serve", str(run), "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as server:
        try:
            return _first_page(f"http://127.0.0.1:{port}/")
        finally:
            server.kill()


def _first_page(address: str, most_seconds: float = 120.0) -> list[str]:
    until = time.perf_counter() + most_seconds
    while time.perf_counter() < until:
        try:
            with urllib.request.urlopen(address, timeout=60) as answer:
                return [] if answer.status == 200 else [f"serve answered {answer.status}"]
        except urllib.error.URLError as error:
            if isinstance(error, urllib.error.HTTPError):
                return [f"serve answered {error.code}"]
            time.sleep(0.1)
    return ["serve did not answer"]


def table(outcomes: list[Outcome]) -> str:
    """The page."""
    done = [o for o in outcomes if o.accuracy is not None]
    head = "| pair | model | data | init | plan | run | report | serve | accuracy | bare model |"
    lines = [
        "# Models and data, side by side",
        "",
        INTRODUCTION.format(platform.python_version()),
        "",
        head,
        "|---|---|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for o in done:
        times = " | ".join(f"{o.seconds[step]:.1f}" for step in STEPS)
        lines.append(
            f"| {o.pair.name} | {o.pair.model} | {o.pair.data} | {times} "
            f"| {o.accuracy:.4f} | {o.bare:.4f} |"
        )
    lines += ["", "## What could not be asked", "", "| pair | said |", "|---|---|"]
    lines += [f"| {o.pair.name} | {_cell(o.said)} |" for o in done if o.said]
    lines += ["", "## What is refused, and what a user reads", "", "| pair | said |", "|---|---|"]
    lines += [f"| {o.pair.name} | {_cell(o.said)} |" for o in outcomes if o.accuracy is None]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")[:600]


def main(names: list[str]) -> int:
    """Walk, print, keep what was found, and write the page of all that is kept."""
    for name in names or list(PAIRS):
        found = walk(PAIRS[name])
        wrong = found.bare is not None and (
            found.accuracy is None or abs(found.accuracy - found.bare) > 1e-9
        )
        mark = "WRONG" if wrong or (found.bare is None) == (found.accuracy is not None) else "ok"
        print(
            f"{mark:<6}{name}: {found.accuracy} (bare {found.bare}) {found.said[:300]}", flush=True
        )
        before = json.loads(KEPT.read_text()) if KEPT.is_file() else {}
        entry = {k: v for k, v in vars(found).items() if k != "pair"}
        kept_now = {n: {**before, name: entry}[n] for n in PAIRS if n in {**before, name: entry}}
        KEPT.write_text(json.dumps(kept_now, indent=1, ensure_ascii=False) + "\n")
        PAGE.write_text(table([Outcome(PAIRS[n], **o) for n, o in kept_now.items()]))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
