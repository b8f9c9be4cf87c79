"""Rows sent for each row that is asked about, in whole runs of a table model and a text model.

    python benchmarks/rows_sent.py

Both are scikit-learn pipelines that take frames and texts as they are. Default settings; rows
asked and sent of each part are those of costs.json. Kept in results/waiting.json for table.py.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "pairs"))

from tables import patients, pipeline  # noqa: E402
from texts import reader, sentences  # noqa: E402

RESULTS = HERE / "results" / "waiting.json"
PARTS = '["accuracy", "discovery", "reliability", "survival"]'
PERTURB = """
def other_words(text, rng):
    words = text.split()
    longer = [" ".join([*words[:i], "rather", *words[i:]]) for i in range(len(words))]
    return longer + [" ".join([*words[:i], *words[i + 1:]]) for i in range(len(words))]
"""


def table(folder):
    """Numbers, names and holes; the pipeline encodes them."""
    import joblib

    frame = patients(1400)
    frame[800:].to_csv(folder / "test.csv", index=False)
    joblib.dump(pipeline(frame[:800]), folder / "model.joblib")
    return ["--data", "test.csv", "--label", "outcome", "--ignore", "patient"]


def texts(folder):
    """Short reviews, changed by a function that keeps their meaning."""
    import joblib
    import numpy as np

    rows, y = sentences(1400)
    np.savez(folder / "test.npz", X=rows[800:], y=y[800:])
    joblib.dump(reader(rows[:800].tolist(), y[:800]), folder / "model.joblib")
    (folder / "changes.py").write_text(PERTURB)
    return ["--data", "test.npz", "--perturb", "changes:other_words"]


def measured(make):
    """Rows asked and sent by part, and how many times as many in all."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        given = ["--model", "model.joblib", *make(folder), "--trust"]
        fireassay("init", *given, folder=folder)
        config = folder / "fireassay.toml"
        lines = config.read_text().splitlines()
        chosen = [f"parts = {PARTS}" if line.startswith("parts = ") else line for line in lines]
        config.write_text("\n".join(chosen) + "\n")
        fireassay("run", "--trust", "--quiet", folder=folder)
        costs = json.loads((folder / "fireassay-run" / "costs.json").read_text())
    rows = {
        name: {"asked": cost["actual"]["queries"], "sent": cost["actual"]["delivered"]}
        for name, cost in costs.items()
    }
    asked, sent = (sum(row[word] for row in rows.values()) for word in ("asked", "sent"))
    return {"parts": rows, "asked": asked, "sent": sent, "ratio": sent / asked}


def fireassay(*words, folder):
    """One command; 3 is a part that is not available."""
    done = subprocess.run(
        [sys.executable, "-m", "fireassay", *words], cwd=folder, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    if done.returncode not in (0, 3):
        raise SystemExit(done.stdout[-800:] + done.stderr[-800:])


def main():
    """Measure both and keep them."""
    found = {}
    for make in (table, texts):
        found[make.__name__] = measured(make)
        print(make.__name__, json.dumps(found[make.__name__]), flush=True)
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    kept["rows_sent"] = {"command": "python benchmarks/rows_sent.py", **found}
    RESULTS.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
