"""Texts and tokens."""

import numpy as np
import pandas as pd
from pair import Setup, kept, pair, share, thirds


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
