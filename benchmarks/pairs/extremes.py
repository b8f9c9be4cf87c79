"""Many classes, many rows, one row, one class, a rare class, hostile names."""

import numpy as np
import pandas as pd
from pair import Setup, function, pair, share


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


def many_rows(folder, rows):
    """As many test rows as field rows, of 20 columns, and 20,000 training rows; a line of numpy."""
    rng = np.random.default_rng(14)
    weights = rng.normal(size=20)
    X = {n: rng.normal(size=(size, 20)) for n, size in (("test", rows), ("field", rows))}
    X["train"] = rng.normal(size=(20_000, 20))
    y = {n: (X[n] @ weights + rng.logistic(0, 1, len(X[n])) > 0).astype(int) for n in X}
    np.savez(folder / "test.npz", X=X["test"], y=y["test"])
    np.savez(folder / "train.npz", X=X["train"], y=y["train"])
    np.savez(folder / "field.npz", X=X["field"])
    body = (
        f"w = np.array({weights.tolist()!r})\n"
        "def model(X):\n    p = 1 / (1 + np.exp(-(X @ w)))\n    return np.column_stack([1 - p, p])"
    )
    arguments = ["--model", function(folder, "a_line", body), "--data", "test.npz"]
    arguments += ["--train", "train.npz", "--operational", "field.npz"]
    return Setup(arguments, share(X["test"] @ weights > 0, y["test"]))


@pair("a million rows", "a function", "npz, 1,000,000 test and 1,000,000 field rows", settings={})
def _(folder):
    return many_rows(folder, 1_000_000)
