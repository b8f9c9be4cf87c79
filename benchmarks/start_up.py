"""CPU seconds of commands that should answer at once, on a small ONNX model.

    python benchmarks/start_up.py

User and system seconds of each whole program, the median of seven starts after one that fills the
cache of byte code (as an installed package has it). Kept in results/waiting.json for table.py.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

RESULTS = Path(__file__).resolve().parent / "results" / "waiting.json"
STARTS = 7
INIT = ["init", "--model", "model.onnx", "--data", "test.npz", "--force"]
COMMANDS = {
    "--help": ["--help"],
    "run --help": ["run", "--help"],
    "init --help": ["init", "--help"],
    "survival --help": ["survival", "--help"],
    "init": INIT,
    "plan": ["plan"],
    "run, nothing to do": ["run", "--config", "done.toml"],
}


def project(folder: Path) -> None:
    """A logistic regression of digits as ONNX, and 897 rows to test it with."""
    X, y = load_digits(return_X_y=True)
    X = (X / 16).astype(np.float32)
    fitted = LogisticRegression(max_iter=300).fit(X[:900], y[:900])
    helper, floats = onnx.helper, onnx.TensorProto.FLOAT
    weights = {"W": fitted.coef_.T, "b": fitted.intercept_}
    graph = helper.make_graph(
        [
            helper.make_node("Gemm", ["X", "W", "b"], ["z"]),
            helper.make_node("Softmax", ["z"], ["p"], axis=1),
        ],
        "digits",
        [helper.make_tensor_value_info("X", floats, ["n", 64])],
        [helper.make_tensor_value_info("p", floats, ["n", 10])],
        [onnx.numpy_helper.from_array(v.astype(np.float32), k) for k, v in weights.items()],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (folder / "model.onnx").write_bytes(made.SerializeToString())
    np.savez(folder / "test.npz", X=X[900:], y=y[900:])
    (folder / "done.toml").write_text(
        '[model]\npath = "model.onnx"\nclasses = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]\n'
        '[data]\ntest = "test.npz"\n[run]\nparts = ["accuracy", "reliability"]\n'
        '[gates.max]\n"accuracy.error" = 0.1\n'
    )


def seconds(words: list[str], folder: Path) -> float:
    """User and system seconds of one start."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-m", "fireassay", *words], cwd=folder, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"{words}: {done.stderr[-800:]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Measure every command and keep the medians."""
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        project(folder)
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ |= {
            "PYTHONPYCACHEPREFIX": str(folder / "byte code"),
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        for name, words in COMMANDS.items():
            seconds(words, folder)
            starts = [seconds(words, folder) for _ in range(STARTS)]
            found[name] = statistics.median(starts)
            print(f"{name:20} {found[name]:.3f} CPU s, {min(starts):.3f} at least", flush=True)
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    kept["start_up"] = {"command": "python benchmarks/start_up.py", "cpu_s": found}
    RESULTS.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
