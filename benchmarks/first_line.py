"""CPU seconds until each command says its first word.

    python benchmarks/first_line.py

A person should see within a third of a second that a command works. Counted from the start of the
program to its first byte on either stream, the least of three.
"""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

LIMIT_S = 0.3
MODEL = """
import numpy as np
def model(X):
    return np.column_stack([1 - X[:, 0], X[:, 0]])
"""
GIVEN = ["--model", "half:model", "--data", "test.npz"]
COMMANDS = {
    "init": ["init", *GIVEN, "--trust", "--force"],
    "plan": ["plan", "--trust"],
    "run": ["run", "--trust"],
    "report": ["report", "fireassay-run"],
    "check": ["check", "fireassay-run", "--min", "accuracy.accuracy=0.5"],
    "compare": ["compare", "fireassay-run", "fireassay-run"],
    "label next": ["label", "next", "fireassay-run"],
    "label add": ["label", "add", "fireassay-run", "next.csv"],
    "serve": ["serve", "fireassay-run", "--port", "0"],
    "watch": ["watch", "rows.csv", "--model", "half:model", "--reference", "test.npz"],
    "demo": ["demo", "--output", "demo"],
    "doctor": ["doctor"],
    "--help": ["--help"],
}


def project(folder: Path) -> None:
    """A small model, its data and a run of it."""
    X = np.random.default_rng(0).random((80, 2))
    np.savez(folder / "test.npz", X=X, y=(X[:, 0] > 0.45).astype(int))
    (folder / "half.py").write_text(MODEL)
    (folder / "rows.csv").write_text("a,b\n0.2,0.4\n")
    for words in (COMMANDS["init"], ["run", "--trust", "--only", "accuracy"]):
        subprocess.run([sys.executable, "-m", "fireassay", *words], cwd=folder, check=False,
                       capture_output=True)  # fmt: skip


def until_first_word(words: list[str], folder: Path) -> tuple[float, str]:
    """CPU seconds of the program by then, and what it said."""
    reading, writing = os.pipe()
    program = subprocess.Popen(
        [sys.executable, "-m", "fireassay", *words], cwd=folder, stdout=writing, stderr=writing,
        stdin=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    os.close(writing)
    said = os.read(reading, 200)
    fields = Path(f"/proc/{program.pid}/stat").read_text().rsplit(")", 1)[1].split()
    with contextlib.suppress(ProcessLookupError):
        os.killpg(program.pid, signal.SIGKILL)
    program.wait()
    os.close(reading)
    used = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return used, said.decode(errors="replace").strip().splitlines()[0]


def main() -> None:
    late = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        project(folder)
        for name, words in COMMANDS.items():
            seconds, said = min(until_first_word(words, folder) for _ in range(3))
            late += [name] if seconds > LIMIT_S else []
            print(f"{name:12} {seconds:5.2f} CPU s   {said[:70]}", flush=True)
    print(f"load {os.getloadavg()[0]:.1f}; over {LIMIT_S} CPU s: {', '.join(late) or 'none'}")


if __name__ == "__main__":
    main()
