"""ImageNet-sized data, simulated: is a plan from a hundredth of the rows right, and does it fit?

    python benchmarks/large_images.py FOLDER [--rows 50000]     (FOLDER: scratch, 151 kB for a row)

Writes random byte images of 224 × 224 × 3 into an uncompressed npz file, with random labels, and a
strided convolution with random weights as ONNX. Runs accuracy and reliability on a hundredth of the
rows, plans the whole from that run (`fireassay plan --like`), and runs it. CPU seconds of each
command; memory is anonymous memory at its most, so that pages of the file do not count, beside that
of a process with the bare model. What was written to FOLDER is deleted; the result is kept in
results/large_images.json.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import numpy as np

RESULTS = Path(__file__).resolve().parent / "results" / "large_images.json"
SHAPE, CLASSES, AT_ONCE = (224, 224, 3), 10, 250
PARTS = ("accuracy", "reliability")
BARE = """
import numpy as np
from fireassay import as_classifier
model = as_classifier("model.onnx")
for _ in range(8):
    model.predict_proba(np.random.default_rng(0).random((256, 224, 224, 3), dtype=np.float32))
"""


def write_images(path, rows):
    """Random bytes and labels, block by block: the array is never whole in memory."""
    rng = np.random.default_rng(0)
    about = {"descr": "|u1", "fortran_order": False, "shape": (rows, *SHAPE)}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as file:
        with file.open("X.npy", "w", force_zip64=True) as member:
            np.lib.format.write_array_header_2_0(member, about)
            for first in range(0, rows, AT_ONCE):
                member.write(rng.bytes(min(AT_ONCE, rows - first) * int(np.prod(SHAPE))))
        with file.open("y.npy", "w") as member:
            np.lib.format.write_array(member, rng.integers(0, CLASSES, rows))


def write_network(path):
    """Two strided convolutions and a linear layer."""
    import torch
    from onnx_networks import write

    class Strided(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.convolutions = torch.nn.Sequential(
                torch.nn.Conv2d(3, 32, 8, stride=8), torch.nn.ReLU(),
                torch.nn.Conv2d(32, 64, 3, stride=2, padding=1), torch.nn.ReLU(),
            )  # fmt: skip
            self.output = torch.nn.Linear(64, CLASSES)

        def forward(self, x):
            return self.output(self.convolutions(x.movedim(-1, 1)).mean((2, 3)))

    torch.manual_seed(0)
    torch.set_num_threads(1)
    write(Strided().eval(), SHAPE, path)


def child(folder, *words):
    """Run Python to its end: what it prints, CPU seconds, and megabytes of anonymous memory."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with subprocess.Popen(
        [sys.executable, *words], cwd=folder, text=True, stdout=subprocess.PIPE
    ) as process:
        most = 0.0
        while process.poll() is None:
            most = max(most, anonymous_mb(process.pid))
            time.sleep(0.05)
        said = process.stdout.read()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode not in (0, 3):
        raise SystemExit(f"{words}: {said[-2000:]}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return said, {"cpu_s": round(cpu, 2), "anonymous_mb": round(most)}


def anonymous_mb(pid):
    """What a process holds now, without pages of files."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except FileNotFoundError:  # over by now
        return 0.0
    return next((int(n.split()[1]) / 1024 for n in lines if n.startswith("RssAnon")), 0.0)


def project(folder, rows, network):
    """A folder with data, the network and a configuration; what `init` took."""
    folder.mkdir()
    write_images(folder / "test.npz", rows)
    shutil.copy(network, folder / "model.onnx")
    given = ["--model", "model.onnx", "--data", "test.npz", "--accept-below-baseline", "--quiet"]
    return child(folder, "-m", "fireassay", "init", *given)[1]


def measured(folder, rows):
    """Planned and spent, by part."""
    network = folder / "network.onnx"
    write_network(network)
    only = [word for part in PARTS for word in ("--only", part)]
    project(folder / "small", max(200, rows // 100), network)
    child(folder / "small", "-m", "fireassay", "run", "--quiet", *only)
    found = {"rows": rows, "init": project(folder / "whole", rows, network)}
    like = ["--like", str(folder / "small" / "fireassay-run"), "--json"]
    said, found["plan"] = child(folder / "whole", "-m", "fireassay", "plan", *like)
    _, found["bare_model"] = child(folder / "whole", "-c", BARE)
    _, found["run"] = child(folder / "whole", "-m", "fireassay", "run", "--quiet", *only)
    small, whole = (
        json.loads((folder / name / "fireassay-run" / "costs.json").read_text())
        for name in ("small", "whole")
    )
    planned = json.loads(said)["parts"]
    found["parts"], found["small"] = (
        {
            part: {
                "planned_s": plan[part]["seconds"],
                "spent_s": costs[part]["actual"]["quiet_seconds"],
            }
            for part in PARTS
        }
        for plan, costs in (
            (planned, whole),
            ({part: small[part]["planned"] for part in PARTS}, small),
        )
    )
    return found


def main():
    """Measure, show, keep."""
    given = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    given.add_argument("folder", type=Path, help="a scratch folder")
    given.add_argument("--rows", type=int, default=50_000)
    given = given.parse_args()
    need, free = given.rows * int(np.prod(SHAPE)) * 1.05, shutil.disk_usage(given.folder).free
    if free < need:
        raise SystemExit(f"{given.folder} has room for {free / 1e9:.1f} GB, not {need / 1e9:.1f}.")
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        found = measured(Path(folder), given.rows)
    planned, spent = (
        sum(p[key] for p in found["parts"].values()) for key in ("planned_s", "spent_s")
    )
    for part, one in found["parts"].items():
        print(f"{part:<12} planned {one['planned_s']:.1f} s, spent {one['spent_s']:.1f} s")
    print(f"together     planned {planned:.1f} s, spent {spent:.1f} s ({planned / spent - 1:+.0%})")
    above = found["run"]["anonymous_mb"] - found["bare_model"]["anonymous_mb"]
    print(f"anonymous memory {found['run']['anonymous_mb']:,} MB, {above:,} above the bare model")
    print(json.dumps(found))
    RESULTS.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
