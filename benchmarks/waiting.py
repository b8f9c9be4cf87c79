"""Where a user waits: whole commands on models of usual size, before and now.

    python benchmarks/waiting.py [NAME …]       (minutes each; names below)

Each figure is stored in results/waiting.json with the command that made it; table.py shows them.
CPU seconds, since machines are shared. "Before" are the figures of an independent measurement on
an earlier version, or of this script on it.
"""

import compileall
import contextlib
import json
import os
import pty
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "waiting.json"
CLASSES = """
import time, json, sys, numpy as np
import fireassay as fa
from fireassay.assessment.context import Context
from fireassay.assessment.parts import part_module
from fireassay.data import DataSet
n, k, d = 50_000, 1_000, 64
rng = np.random.default_rng(0)
W = rng.standard_normal((d, k)).astype(np.float32)
X = rng.standard_normal((n, d)).astype(np.float32)
y = np.concatenate([(part @ W + 4 * rng.standard_normal((len(part), k), dtype=np.float32)).argmax(1)
                    for part in np.array_split(X, 50)])
spent = [0.0]
def linear(rows):
    begun = time.process_time()
    z = rows @ W
    z -= z.max(1, keepdims=True)
    np.exp(z, out=z)
    z /= z.sum(1, keepdims=True)
    spent[0] += time.process_time() - begun
    return z
part, data = part_module("accuracy"), DataSet(X, y)
part.run(Context(fa.as_classifier(linear, classes=list(range(k))), data.subset(np.arange(500))),
         part.Settings())
spent[0], begun = 0.0, time.process_time()
part.run(Context(fa.as_classifier(linear, classes=list(range(k))), data), part.Settings())
print(json.dumps({"cpu_s": time.process_time() - begun, "model_s": spent[0]}))
"""
MAPPED = """
import json, sys, time
from pathlib import Path
def held(field):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(field))
from fireassay.data import load
before, begun = held("RssAnon"), time.process_time()
data = load(sys.argv[1])
_ = data.sha256
some = data.subset([0, len(data) - 1])
print(json.dumps({"cpu_s": time.process_time() - begun, "rows": len(data),
                  "anonymous_mb": held("RssAnon") - before, "most_mb": held("VmHWM")}))
"""


def child(words, folder):
    """Run Python on a terminal; its last line of JSON, CPU seconds, and the longest silence."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = quiet_since = time.monotonic()
    longest, said = 0.0, b""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, *words], cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    with contextlib.suppress(OSError):  # the other end is closed
        while chunk := os.read(ours, 65536):
            longest, quiet_since = max(longest, time.monotonic() - quiet_since), time.monotonic()
            said += chunk
    os.close(ours)
    process.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    lines = said.decode(errors="replace").splitlines()
    if process.returncode not in (0, 3):
        raise SystemExit("\n".join(lines[-30:]))
    last = next((line for line in reversed(lines) if line.startswith("{")), "{}")
    return {
        "longest_silence_s": longest,
        "wall_s": time.monotonic() - started,
        "child_cpu_s": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        **json.loads(last),
    }


def mid_size(folder):
    """A ResNet-18-like network on 32 × 32 × 3, 2,000 rows, default settings."""
    from onnx_networks import mid_size

    mid_size(folder)
    child(["-m", "fireassay", "init", "--model", "model.onnx", "--data", "test.npz"], folder)
    found = child([str(HERE / "forward_share.py"), "run", "--quiet"], folder)
    costs = json.loads((folder / "fireassay-run" / "costs.json").read_text())
    found["parts"] = {name: cost["actual"]["seconds"] for name, cost in costs.items()}
    useful = (found["asked"] - found["known"]) / found["through"]  # no padding, no probe
    found["useful_share"] = useful * found["model_s"] / found["cpu_s"]
    return found


def thousand_classes(folder):
    """Accuracy of a linear model on 50,000 rows and 1,000 classes, and what it must do at least.

    Five runs of both in turn; the medians, since new memory may cost little or much.
    """
    pairs = [
        (child(["-c", CLASSES], folder), child([str(HERE / "classes_floor.py")], folder))
        for _ in range(5)
    ]
    ours, floors = ([one[i] for one in pairs] for i in (0, 1))
    middle = sorted(ours, key=lambda one: one["cpu_s"])[2]
    floor = sorted(floors, key=lambda one: one["cpu_s"])[2]
    every = {"every_cpu_s": [one["cpu_s"] for one in ours]}
    return middle | every | {"floor": {name: floor[name] for name in ("cpu_s", "steps")}}


def mapped_npz(folder):
    """4 GB of float32 images in an uncompressed npz: loaded and hashed."""
    rows = 7_000
    X = np.lib.format.open_memmap(
        folder / "X.npy", mode="w+", dtype=np.float32, shape=(rows, 224, 224, 3)
    )
    X[::50] = 0.5
    X.flush()
    np.savez(folder / "test.npz", X=X, y=np.arange(rows) % 10)
    del X
    (folder / "X.npy").unlink()
    return child(["-c", MAPPED, "test.npz"], folder)


def large_network(folder):
    """ResNet-18 at 224 × 224 with 1,000 classes and random weights: init and plan."""
    from onnx_networks import large

    large(folder)
    given = ["--model", "model.onnx", "--data", "test.npz", "--accept-below-baseline"]
    init = child(["-m", "fireassay", "init", *given], folder)
    plan = child(["-m", "fireassay", "plan"], folder)
    return {"init": init, "plan": plan}


MEASURED = {work.__name__: work for work in (mid_size, thousand_classes, mapped_npz, large_network)}


def main():
    """Measure what is named, or all, and keep it."""
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    compileall.compile_dir(HERE.parent / "src", quiet=1)  # an installed package has its byte code
    for name in sys.argv[1:] or MEASURED:
        with tempfile.TemporaryDirectory() as folder:
            found = MEASURED[name](Path(folder))
        kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        kept[name] = {"command": f"python benchmarks/waiting.py {name}", **found}
        print(name, json.dumps(found), flush=True)
        RESULTS.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
