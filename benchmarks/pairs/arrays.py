"""Arrays: floats, series, images, missing values."""

import warnings

import numpy as np
from pair import Setup, function, kept, pair, share, thirds


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
    model, X, y = with_holes(folder)
    arguments = ["--model", kept(model, folder, "model.joblib"), "--data", "test.npz", "--trust"]
    return Setup([*arguments, "--missing"], share(model.predict(X[200:]), y[200:]))


def with_holes(folder):
    from sklearn.ensemble import HistGradientBoostingClassifier

    rng = np.random.default_rng(9)
    X = rng.normal(size=(400, 4))
    y = (X[:, 0] > 0).astype(int)
    X[rng.random(X.shape) < 0.1] = np.nan
    np.savez(folder / "test.npz", X=X[200:], y=y[200:])
    return HistGradientBoostingClassifier(max_iter=15).fit(X[:200], y[:200]), X, y
