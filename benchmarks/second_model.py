"""What a run costs, and what a second model on the same data costs: four jobs, CPU seconds.

    python benchmarks/second_model.py [mlp] [cnn] [resnet] [boosting]      (minutes each)

Each job has two models that were trained with other seeds, and a store of its own that starts
empty. The second one runs with the store as the first left it, without a store, and with two
workers; all must write the same bytes. Passes are the rows that left for the model times what
a row takes in blocks of 256, timed in the same minute. Byte code is kept, as an installed package
has it. Results are kept in results/second_model.json.
"""

import compileall
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import fireassay
from fireassay.classifiers import as_classifier
from fireassay.data import digits, mnist

RESULTS = Path(__file__).resolve().parent / "results" / "second_model.json"
SEEDS = (0, 1)
RUNS = ("first", "second", "without store", "two workers")


def _exported(network, X, y, path, epochs):
    """A small network trained by Adam and written as ONNX."""
    import torch
    from onnx_networks import write

    rows, labels = torch.as_tensor(X, dtype=torch.float32), torch.as_tensor(y)
    adam = torch.optim.Adam(network.parameters(), lr=2e-3)
    for _ in range(epochs):
        for some in torch.randperm(len(rows)).split(128):
            loss = torch.nn.functional.cross_entropy(network(rows[some]), labels[some])
            adam.zero_grad()
            loss.backward()
            adam.step()
    write(network.eval(), X.shape[1:], path)


def _saved(folder, **sets):
    for name, (X, y) in sets.items():
        np.savez(folder / f"{name}.npz", X=X, y=y)
    rng = np.random.default_rng(3)
    y = sets["test"][1]
    votes = np.where(rng.random((len(y), 5)) < 0.85, y[:, None], rng.integers(0, 10, (len(y), 5)))
    np.save(folder / "votes.npy", votes)


def mlp(folder):
    """A perceptron on digits, 797 test rows, six questions."""
    import torch

    data = digits()
    X, y = np.asarray(data.X, dtype=np.float32), np.asarray(data.labels)
    _saved(folder, train=(X[:1000], y[:1000]), test=(X[1000:], y[1000:]))
    for seed in SEEDS:
        torch.manual_seed(seed)
        layers = [torch.nn.Flatten(), torch.nn.Linear(64, 64), torch.nn.ReLU()]
        network = torch.nn.Sequential(*layers, torch.nn.Linear(64, 10))
        _exported(network, X[:1000], y[:1000], folder / f"model{seed}.onnx", 30)


def cnn(folder):
    """A small convolutional network on MNIST, 10,000 test rows, six questions."""
    import torch

    train, test = mnist("train"), mnist("test")
    rows = [np.asarray(d.X, dtype=np.float32).reshape(-1, 28, 28) for d in (train, test)]
    X, y = rows[0][:10_000], np.asarray(train.labels)[:10_000].astype(np.int64)
    _saved(folder, train=(X, y), test=(rows[1], np.asarray(test.labels).astype(np.int64)))
    for seed in SEEDS:
        torch.manual_seed(seed)
        network = torch.nn.Sequential(
            torch.nn.Unflatten(1, (1, 28)), torch.nn.Conv2d(1, 8, 3), torch.nn.ReLU(),
            torch.nn.MaxPool2d(2), torch.nn.Conv2d(8, 16, 3), torch.nn.ReLU(),
            torch.nn.MaxPool2d(2), torch.nn.Flatten(), torch.nn.Linear(400, 10),
        )  # fmt: skip
        _exported(network, X, y, folder / f"model{seed}.onnx", 3)


def resnet(folder):
    """A network of the ResNet-18 layout, 500 rows of 32 × 32 × 3."""
    import torch
    from onnx_networks import fitted, images, write

    from fireassay.networks.resnet import ResNet

    train, labels = images(2000)
    _saved(folder, train=(train, labels), test=images(500, 4000))
    for seed in SEEDS:
        torch.manual_seed(seed)
        network = fitted(ResNet(18, (32, 32, 3), 10, width=6), train, labels, 10)
        write(network, (32, 32, 3), folder / f"model{seed}.onnx")


def boosting(folder):
    """Histogram gradient boosting on a million rows of 20 columns, accuracy."""
    import skops.io
    from sklearn.ensemble import HistGradientBoostingClassifier

    rng = np.random.default_rng(0)
    X = rng.standard_normal((1_020_000, 20)).astype(np.float32)
    y = (X[:, :5].sum(axis=1) + rng.standard_normal(len(X)) > 0).astype(np.int64)
    np.savez(folder / "test.npz", X=X[20_000:], y=y[20_000:])
    for seed in SEEDS:
        model = HistGradientBoostingClassifier(random_state=seed, learning_rate=0.1 + 0.02 * seed)
        skops.io.dump(model.fit(X[:20_000], y[:20_000]), folder / f"model{seed}.skops")


def _child(folder, *words):
    """CPU and wall seconds of a command, and its largest memory."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
    done = subprocess.run(
        [sys.executable, "-m", "fireassay", *words], cwd=folder, env=environment,
        capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode not in (0, 3):
        raise SystemExit(done.stdout[-2000:] + done.stderr[-2000:])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, time.monotonic() - started


def _row_seconds(path, X):
    """Seconds of a row in blocks of 256, of one thread."""
    model = as_classifier(str(path))
    model.predict_proba(X[:256])
    times = []
    for _ in range(5):
        begun = time.process_time()
        for start in range(0, min(2560, len(X)), 256):
            model.predict_proba(X[start : start + 256])
        times.append((time.process_time() - begun) / min(2560, len(X)))
    return float(np.median(times))


def measure(job, folder):
    """Both models of a job, run one after the other with the same store."""
    job(folder)
    X = np.load(folder / "test.npz")["X"]
    found = {}
    models = sorted(folder.glob("model*.*"))
    for which in RUNS:
        model = models[which != "first"]
        run = which.replace(" ", "-")
        config = [f'[model]\npath = "{model.name}"\n\n[data]\ntest = "test.npz"\n']
        if (folder / "train.npz").is_file():
            config[0] += 'train = "train.npz"\nvotes = "votes.npy"\n'
        config.append(f'[run]\nfolder = "{run}"\n')
        config[-1] += 'store = "off"\n' if which == "without store" else ""
        config[-1] += "" if len(X) < 100_000 else 'parts = ["accuracy"]\n'
        (folder / "fireassay.toml").write_text("\n".join(config))
        cache, left = folder / "cache", folder / "as the first left it"
        if which == "second":
            shutil.copytree(cache, left)
        elif which == "two workers":  # its own runs have added to it
            shutil.rmtree(cache)
            shutil.copytree(left, cache)
        workers = "2" if which == "two workers" else "1"
        cpu, wall = _child(folder, "run", "--quiet", "--workers", workers)
        costs = json.loads((folder / run / "costs.json").read_text())
        rows = sum(cost["actual"].get("delivered", 0) for cost in costs.values())
        parts = {name: round(cost["actual"]["quiet_seconds"], 2) for name, cost in costs.items()
                 if "quiet_seconds" in cost["actual"]}  # fmt: skip
        found[which] = {"cpu_s": cpu, "wall_s": wall, "parts": parts,
                        "passes_s": rows * _row_seconds(model, X)}  # fmt: skip
        print(job.__name__, which, found[which], flush=True)
    bytes_of = {(folder / w.replace(" ", "-") / "result.json").read_bytes() for w in RUNS[1:]}
    found["same_bytes"] = len(bytes_of) == 1
    found["load_average"] = round(os.getloadavg()[0], 1)
    return found


JOBS = {job.__name__: job for job in (mlp, cnn, resnet, boosting)}


def main():
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    compileall.compile_dir(str(Path(fireassay.__file__).parent), quiet=1)
    kept = json.loads(RESULTS.read_text()) if RESULTS.is_file() else {}
    for name in sys.argv[1:] or JOBS:
        with tempfile.TemporaryDirectory() as folder:
            kept[name] = measure(JOBS[name], Path(folder))
        RESULTS.write_text(json.dumps(kept, indent=1) + "\n")
    print(json.dumps(kept, indent=1))


if __name__ == "__main__":
    main()
