"""A million rows in the sample browser: time to the first row, filters, orders, and memory.

    python benchmarks/samples.py [ROWS]

The table of rows is written as a run writes it (a simple model on twelve columns, two slices; the
part itself runs on the first 2,000 rows, which costs less). Then the app is started in a process
of its own and asked for pages as a browser would. Times are those of single requests; memory is
the app's own (RssAnon); mapped columns are the page cache's. Writes results/samples.json.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from web import SERVER, Person, cpu_seconds, memory_mib

ROWS, COLUMNS = 1_000_000, 12
REQUESTS = {
    "first page": "",
    "the same again": "",
    "one filter": "?right=wrong",
    "three filters": "?right=wrong&slice.site=b&confidence=0.8..0.9",
    "surest first": "?sort=-confidence",
    "page 10,000": "?page=10000",
    "page 10,000, surest first": "?sort=-confidence&page=10000",
    "one row in detail": "/test/{row}",
    "its nearest rows": "/test/{row}/near",
}


def model(X):
    p = 1 / (1 + np.exp(-6 * (X[:, 0] + 0.3 * X[:, 1] - 0.65)))
    return np.column_stack([1 - p, p])


def write_run(folder, n):
    """A run on some of the rows; then the table of all of them, with the model's real answers."""
    from fireassay.assessment.context import Context
    from fireassay.assessment.parts.accuracy import AnsweredRows
    from fireassay.assessment.parts.part import row_marks
    from fireassay.assessment.parts.table import settings_models
    from fireassay.assessment.run.loop import Run
    from fireassay.assessment.samples.table import write_samples
    from fireassay.classifiers import as_classifier
    from fireassay.data import DataSet
    from fireassay.engine import Executor, RunStore

    rng = np.random.default_rng(0)
    X = rng.random((n, COLUMNS))
    y = np.where(rng.random(n) < model(X)[:, 1], "yes", "no")
    slices = {
        "site": np.array(list("abcde"))[rng.integers(0, 5, n)],
        "device": np.array(["old", "new"])[rng.integers(0, 2, n)],
    }
    data = DataSet(X, y, slices=slices)
    asked = as_classifier(model, classes=("no", "yes"), bounds=(0.0, 1.0))
    with RunStore(folder) as store:
        executor = Executor(store=store, progress=False)
        settings = {name: kind() for name, kind in settings_models().items()}
        some = Context(asked, data.subset(np.arange(min(n, 2000))), executor=executor)
        run = Run(some, ("accuracy",), settings)
        run.go()
    answers = model(X)
    top = np.argsort(-answers, axis=1, kind="stable").astype(np.int32)
    said, truth = answers.argmax(axis=1), (y == "yes").astype(np.int64)
    rows = AnsweredRows(
        row_marks(X, truth), np.asarray(data.ids), truth, said, None, top,
        np.take_along_axis(answers, top, axis=1).astype(np.float32),
    )  # fmt: skip
    whole = replace(run._results["accuracy"], rows=rows, correct=said == truth, sure=answers.max(1))
    began = time.process_time()
    write_samples(folder, Context(asked, data), {"accuracy": whole}, {"accuracy": "all rows"})
    return time.process_time() - began


def measure(folder, n):
    result = {"rows": n, "writing_cpu_s": write_run(folder / "run", n)}
    files = list((folder / "run" / "samples").iterdir())
    result["table_mib"] = sum(file.stat().st_size for file in files) / 2**20
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(folder)], stdout=subprocess.PIPE, text=True
    )
    try:
        port = int(re.search(r":(\d+)/", process.stdout.readline()).group(1))
        visitor = Person(port)
        _, home = visitor.request("GET", "/")
        key = re.search(r"/runs/(\w{12})", home).group(1)
        result["memory_before_mib"] = memory_mib(process.pid)
        for name, query in REQUESTS.items():
            cpu, began = cpu_seconds(process.pid), time.perf_counter()
            status, _ = visitor.request("GET", f"/runs/{key}/samples{query.format(row=n // 8)}")
            assert status == 200, (name, status)
            result[f"{name}_s"] = time.perf_counter() - began
            result[f"{name}_cpu_s"] = cpu_seconds(process.pid) - cpu
            result[f"{name}_memory_mib"] = memory_mib(process.pid)
        for page in range(2, 102):
            visitor.request("GET", f"/runs/{key}/samples?right=wrong&page={page}")
        result["after_100_pages_memory_mib"] = memory_mib(process.pid)
    finally:
        process.kill()
        process.wait()
    result["load_average"] = os.getloadavg()[0]
    return result


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    with tempfile.TemporaryDirectory() as folder:
        result = measure(Path(folder), n)
    for name, value in result.items():
        print(f"{name:40} {value:.4g}")
    path = Path(__file__).parent / "results" / "samples.json"
    path.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
