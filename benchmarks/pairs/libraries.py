"""Models of other libraries and other forms of answers: boosters, networks, services, factories."""

import sys
from pathlib import Path

import numpy as np
from pair import Setup, function, pair, share, thirds
from tables import patients

EXAMPLES = Path(__file__).parents[2] / "examples" / "gallery"
PORT = 8477
SERVICE = """
import json
from http.server import BaseHTTPRequestHandler, HTTPServer
import numpy as np

class Answers(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        p = 1 / (1 + np.exp(-3 * np.array(asked["inputs"])[:, 0]))
        scores = [{"scores": {"yes": float(v), "no": float(1 - v)}} for v in p]
        body = json.dumps({"outputs": scores}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *words):
        pass

HTTPServer(("127.0.0.1", PORT), Answers).serve_forever()
""".replace("PORT", str(PORT))


def two_moons(n=450, seed=20):
    """Rows of five columns; the first two tell the class."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    return X, (X[:, 0] + 0.5 * X[:, 1] + rng.normal(0, 0.5, n) > 0).astype(int)


@pair("XGBoost's own file", "xgboost.Booster, .ubj", "npz, float64")
def _(folder):
    import xgboost

    X, y = two_moons()
    cut = thirds(X, y, folder)
    settings = {"objective": "binary:logistic", "nthread": 1, "max_depth": 3}
    booster = xgboost.train(settings, xgboost.DMatrix(X[:cut], y[:cut]), 20)
    booster.save_model(folder / "model.ubj")
    said = booster.predict(xgboost.DMatrix(X[cut:])) > 0.5
    return Setup(["--model", "model.ubj", "--data", "test.npz", "--trust"], share(said, y[cut:]))


@pair("LightGBM's own file", "lightgbm.Booster, three classes, .txt", "CSV, numbers with holes")
def _(folder):
    import lightgbm

    frame = patients(seed=21)[["age", "bmi", "visits", "outcome"]]
    y = np.where(frame["age"] > 60, 2, (frame["outcome"] == "ill").astype(int))
    frame = frame.drop(columns="outcome").assign(label=y)
    rows = lightgbm.Dataset(frame.drop(columns="label")[:400], y[:400])
    settings = {"objective": "multiclass", "num_class": 3, "num_threads": 1, "verbose": -1}
    booster = lightgbm.train(settings, rows, 15)
    booster.save_model(folder / "model.txt")
    frame[400:].to_csv(folder / "test.csv", index=False)
    said = booster.predict(frame.drop(columns="label")[400:], num_threads=1).argmax(axis=1)
    return Setup(["--model", "model.txt", "--data", "test.csv", "--trust"], share(said, y[400:]))


@pair("a network with gradients", "torch module made by a factory, logits", "npz, float32 8 × 8")
def _(folder):
    import torch
    from sklearn.datasets import load_digits

    found = load_digits()
    X = (found.images[:900] / 16).astype(np.float32)
    cut = thirds(X, found.target[:900], folder)
    torch.manual_seed(0)
    network = torch.nn.Sequential(
        torch.nn.Flatten(), torch.nn.Linear(64, 32), torch.nn.ReLU(), torch.nn.Linear(32, 10)
    )
    steps = torch.optim.Adam(network.parameters(), 0.01)
    rows, labels = torch.from_numpy(X[:cut]), torch.from_numpy(found.target[:cut])
    for _ in range(60):
        steps.zero_grad()
        torch.nn.functional.cross_entropy(network(rows), labels).backward()
        steps.step()
    torch.save(network.state_dict(), folder / "weights.pt")
    (folder / "digits_net.py").write_text(
        "from pathlib import Path\nimport torch\n\ndef load():\n"
        "    network = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(64, 32),\n"
        "        torch.nn.ReLU(), torch.nn.Linear(32, 10))\n"
        "    place = Path(__file__).with_name('weights.pt')\n"
        "    network.load_state_dict(torch.load(place, weights_only=True))\n"
        "    return network.eval()\n"
    )
    with torch.no_grad():
        said = network.eval()(torch.from_numpy(X[cut:])).argmax(dim=1).numpy()
    arguments = ["--model", "digits_net:load", "--data", "test.npz", "--train", "train.npz"]
    return Setup(arguments, share(said, found.target[cut:900]))


@pair(
    "a service with its own format",
    "HTTP, request and answer templates, classes by name",
    "npz, float64",
    beside=(sys.executable, "service.py"),
)
def _(folder):
    X, y = two_moons(300, seed=22)
    names = np.where(y, "yes", "no")
    np.savez(folder / "test.npz", X=X[200:], y=names[200:])
    (folder / "service.py").write_text(SERVICE)
    arguments = ["--model", f"http://127.0.0.1:{PORT}/predict", "--data", "test.npz"]
    arguments += ["--request", '{"inputs": {rows}}', "--answer", "outputs[*].scores"]
    return Setup(arguments, share(np.where(X[200:, 0] > 0, "yes", "no"), names[200:]))


@pair("a dict of logits", "a function that returns {'logits': …}", "npz, float64")
def _(folder):
    X, y = two_moons(seed=23)
    np.savez(folder / "test.npz", X=X, y=y)
    body = "def model(X):\n    return {'logits': np.column_stack([-2 * X[:, 0], 2 * X[:, 0]])}"
    name = function(folder, "dict_of_logits", body)
    return Setup(["--model", name, "--data", "test.npz"], share(X[:, 0] > 0, y))


@pair("one column", "a function that returns one probability", "npz, float64")
def _(folder):
    X, y = two_moons(seed=24)
    np.savez(folder / "test.npz", X=X, y=y)
    name = function(
        folder, "one_column", "def model(X):\n    return 1 / (1 + np.exp(-3 * X[:, 0]))"
    )
    return Setup(["--model", name, "--data", "test.npz"], share(X[:, 0] > 0, y))


@pair("labels alone", "a function that returns names", "npz, float64, labels by name")
def _(folder):
    X, y = two_moons(seed=25)
    names = np.where(y, "ill", "well")
    np.savez(folder / "test.npz", X=X, y=names)
    name = function(
        folder, "names_alone", "def model(X):\n    return np.where(X[:, 0] > 0, 'ill', 'well')"
    )
    return Setup(
        ["--model", name, "--data", "test.npz"], share(np.where(X[:, 0] > 0, "ill", "well"), names)
    )


@pair("affairs", "LightGBM with categories, real data", "CSV, names of occupations")
def _(folder):
    sys.path.insert(0, str(EXAMPLES))
    import affairs_table
    import pandas as pd

    affairs_table.main(folder)
    sys.path.insert(0, str(folder))
    import affairs_model

    test = pd.read_csv(folder / "test.csv")
    scores = pd.DataFrame(affairs_model.predict(test.drop(columns="answer")))
    arguments = ["--model", "affairs_model:predict", "--data", "test.csv", "--train", "train.csv"]
    said = scores.columns.to_numpy()[scores.to_numpy().argmax(axis=1)]
    return Setup([*arguments, "--label", "answer"], share(said, test["answer"]))


@pair("another order of classes", "a function without names", "npz, labels by name")
def _(folder):
    X, y = two_moons(seed=26)
    np.savez(folder / "test.npz", X=X, y=np.where(y, "yes", "no"))
    body = (
        "def model(X):\n    p = 1 / (1 + np.exp(-3 * X[:, 0]))\n"
        "    return np.column_stack([p, 1 - p])"
    )
    return Setup(["--model", function(folder, "yes_first", body), "--data", "test.npz"])


@pair("two inputs", "ONNX graph with two inputs", "npz, float64")
def _(folder):
    from onnx import TensorProto, helper, save

    inputs = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 2]) for name in ("a", "mask")
    ]
    output = helper.make_tensor_value_info("p", TensorProto.FLOAT, ["n", 2])
    nodes = [
        helper.make_node("Mul", ["a", "mask"], ["m"]),
        helper.make_node("Softmax", ["m"], ["p"]),
    ]
    graph = helper.make_graph(nodes, "two", inputs, [output])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    save(made, folder / "model.onnx")
    np.savez(folder / "test.npz", X=np.zeros((40, 2)), y=np.arange(40) % 2)
    return Setup(["--model", "model.onnx", "--data", "test.npz"])
