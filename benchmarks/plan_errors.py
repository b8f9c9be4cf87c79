"""How far plans are off: planned against spent seconds and memory, for eight kinds of models.

    python benchmarks/plan_errors.py [NAME …]      (up to two minutes of CPU each)

Each project goes through init, plan and run as a user's would, default settings, one worker. Spent
seconds are those with a processor to itself (`quiet_seconds` of costs.json), so that a loaded
machine does not count. Results are kept in results/plan_errors.json. The constants in the parts'
costs were chosen on other data: tables of 20 columns and 3 classes, digits of 8 × 8, the mid-size
network 24 wide, and random numbers. Still, the first five models had been measured when formulas
were changed; the last three (`NEVER_SEEN`) were measured for the first time after that, and what
was found then is kept beside the latest (`first`).
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

RESULTS = Path(__file__).resolve().parent / "results" / "plan_errors.json"


def table(rows, seed, columns, classes):
    """Rows of numbers whose classes overlap."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, columns))
    scores = X @ np.random.default_rng(1).standard_normal((columns, classes))
    return X, (scores + 2 * rng.standard_normal(scores.shape)).argmax(axis=1)


def saved(folder, name, X, y):
    """An npz file of the project."""
    np.savez(folder / f"{name}.npz", X=X, y=y)


def fitted(folder, estimator, test_rows, *kind):
    """A scikit-learn model in a file, with rows to test it on."""
    import skops.io

    X, y = table(2500, 10, *kind)
    skops.io.dump(estimator.fit(X, y), folder / "model.skops")
    saved(folder, "train", X, y)
    saved(folder, "test", *table(test_rows, 12, *kind))
    return ["--model", "model.skops", "--data", "test.npz", "--train", "train.npz"]


def linear_table(folder):
    """Logistic regression, 35 columns, 5 classes, 4,000 test rows, skops."""
    from sklearn.linear_model import LogisticRegression

    return fitted(folder, LogisticRegression(), 4000, 35, 5)


def forest_table(folder):
    """A forest of 60 trees, 12 columns, 4 classes, 1,500 test rows, skops."""
    from sklearn.ensemble import RandomForestClassifier

    return fitted(folder, RandomForestClassifier(60, max_depth=10, random_state=0), 1500, 12, 4)


def grey(n, first):
    """Images of Fashion-MNIST and their labels."""
    from fireassay.data import fashion_mnist

    data = fashion_mnist().subset(np.arange(first, first + n))
    return np.asarray(data.X, dtype=np.float32).reshape(n, 28, 28), np.asarray(data.labels)


def small_network(folder):
    """A small convolutional network on images of 28 × 28, 1,000 test rows, ONNX."""
    import torch
    from onnx_networks import write

    from fireassay.networks.small_networks import Cnn
    from fireassay.networks.training import train

    torch.set_num_threads(1)
    module = Cnn((28, 28), 10, width=8, seed=0)
    train(module, *grey(2000, 0), epochs=3)
    write(module.eval(), (28, 28), folder / "model.onnx")
    saved(folder, "test", *grey(1000, 5000))
    return ["--model", "model.onnx", "--data", "test.npz"]


def mid_size(folder):
    """The ResNet-18-like network of waiting.py, 16 wide, 32 × 32 × 3, 250 test rows, ONNX."""
    from onnx_networks import mid_size as network

    network(folder, width=16, rows=250)
    return ["--model", "model.onnx", "--data", "test.npz"]


def torch_mlp(folder):
    """A perceptron with gradients on images of 28 × 28, 800 test rows, a torch factory."""
    import torch

    X, y = grey(2000, 0)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    network = torch.nn.Sequential(
        torch.nn.Flatten(), torch.nn.Linear(784, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10)
    )
    steps = torch.optim.Adam(network.parameters(), 0.003)
    for _ in range(60):
        steps.zero_grad()
        loss = torch.nn.functional.cross_entropy(
            network(torch.from_numpy(X)), torch.from_numpy(y.astype(np.int64))
        )
        loss.backward()
        steps.step()
    torch.save(network.state_dict(), folder / "weights.pt")
    (folder / "perceptron.py").write_text(
        "from pathlib import Path\nimport torch\n\ndef load():\n"
        "    network = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(784, 64),\n"
        "        torch.nn.ReLU(), torch.nn.Linear(64, 10))\n"
        "    place = Path(__file__).with_name('weights.pt')\n"
        "    network.load_state_dict(torch.load(place, weights_only=True))\n"
        "    return network.eval()\n"
    )
    saved(folder, "train", X, y)
    saved(folder, "test", *grey(800, 5000))
    return [
        *("--model", "perceptron:load", "--data", "test.npz", "--train", "train.npz"),
        *("--model-output", "logits", "--trust"),
    ]


def boosted_table(folder):
    """Gradient boosting, 100 trees, on the 30 columns of breast cancer, 269 test rows, skops."""
    import skops.io
    from sklearn.datasets import load_breast_cancer
    from sklearn.ensemble import GradientBoostingClassifier

    X, y = load_breast_cancer(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    train, test = order[:300], order[300:]
    model = GradientBoostingClassifier(random_state=0).fit(X[train], y[train])
    skops.io.dump(model, folder / "model.skops")
    saved(folder, "train", X[train], y[train])
    saved(folder, "test", X[test], y[test])
    return ["--model", "model.skops", "--data", "test.npz", "--train", "train.npz"]


def short_texts(folder):
    """Counts of words and a linear model on short texts, 600 test rows, joblib."""
    import joblib

    sys.path.insert(0, str(Path(__file__).resolve().parent / "pairs"))
    from texts import reader, sentences

    rows, y = sentences(1400)
    joblib.dump(reader(rows[:800].tolist(), y[:800]), folder / "model.joblib")
    saved(folder, "test", rows[800:], y[800:])
    return ["--model", "model.joblib", "--data", "test.npz", "--trust"]


def small_perceptron(folder):
    """A perceptron on images of 14 × 14 without gradients, 900 test rows, ONNX."""
    import torch
    from onnx_networks import write

    from fireassay.networks.training import train

    def shrunk(n, first):
        X, y = grey(n, first)
        return X.reshape(n, 14, 2, 14, 2).mean((2, 4)), y

    torch.set_num_threads(1)
    torch.manual_seed(0)
    network = torch.nn.Sequential(
        torch.nn.Flatten(), torch.nn.Linear(196, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10)
    )
    train(network, *shrunk(2000, 6000), epochs=5)
    write(network.eval(), (14, 14), folder / "model.onnx")
    saved(folder, "train", *shrunk(2000, 6000))
    saved(folder, "test", *shrunk(900, 8000))
    return ["--model", "model.onnx", "--data", "test.npz", "--train", "train.npz"]


NEVER_SEEN = (boosted_table, short_texts, small_perceptron)
MODELS = {
    make.__name__: make
    for make in (linear_table, forest_table, small_network, mid_size, torch_mlp, *NEVER_SEEN)
}


def command(folder, *words):
    """One command of fireassay; what it prints."""
    done = subprocess.run(
        [sys.executable, "-m", "fireassay", *words], cwd=folder, text=True, capture_output=True
    )
    if done.returncode not in (0, 3):
        raise SystemExit(f"{words}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def measured(make, folder):
    """Planned and spent, by part and in all."""
    given = make(folder)
    trust = ["--trust"] if "--trust" in given else []
    command(folder, "init", *given)
    plan = json.loads(command(folder, "plan", "--json", *trust))
    command(folder, "run", "--quiet", *trust)
    costs = json.loads((folder / "fireassay-run" / "costs.json").read_text())
    parts = {}
    for name, cost in costs.items():
        planned, spent = plan["parts"][name], cost["actual"]
        parts[name] = {
            "planned_s": planned["seconds"], "spent_s": spent["quiet_seconds"],
            "planned_mb": planned["memory_mb"], "spent_mb": spent["memory_mb"],
            "planned_queries": planned["queries"], "spent_queries": spent["queries"],
            "rows_sent": spent["delivered"],
        }  # fmt: skip
    whole = {
        key: reduce(part[key] for part in parts.values())
        for key, reduce in (
            ("planned_s", sum), ("spent_s", sum), ("planned_mb", max), ("spent_mb", max),
        )
    }  # fmt: skip
    return {"parts": parts, "all": whole}


def shown(name, found):
    """A table of one model."""
    print(f"{name:<14}{'planned s':>10}{'spent s':>9}{'error':>8}{'planned MB':>12}{'spent MB':>10}"
          f"{'times':>7}{'queries':>22}{'rows sent':>11}", flush=True)  # fmt: skip
    for part, row in {**found["parts"], "all": found["all"]}.items():
        error = 100 * (row["planned_s"] / row["spent_s"] - 1)
        queries = f"{row.get('planned_queries', 0):,} → {row.get('spent_queries', 0):,}"
        print(f"  {part:<12}{row['planned_s']:>10.2f}{row['spent_s']:>9.2f}{error:>+7.0f}%"
              f"{row['planned_mb']:>12,.0f}{row['spent_mb']:>10,.0f}"
              f"{row['planned_mb'] / row['spent_mb']:>7.2f}{queries:>22}"
              f"{row.get('rows_sent', 0):>11,}", flush=True)  # fmt: skip


def main():
    """Measure what is named, or all, and keep it."""
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name in sys.argv[1:] or MODELS:
        with tempfile.TemporaryDirectory() as folder:
            found = measured(MODELS[name], Path(folder))
        kept[name] = {
            "what": MODELS[name].__doc__,
            "never_seen": MODELS[name] in NEVER_SEEN,
            **found,
            "first": kept.get(name, {}).get("first", found["all"]),
        }
        shown(name, found)
        RESULTS.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
