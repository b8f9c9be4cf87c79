"""What the wrapper itself costs: imports and time."""

import subprocess
import sys
import time
from statistics import median

import numpy as np
import pytest

import fireassay as fa


def test_heavy_libraries_are_imported_only_when_a_model_needs_them() -> None:
    code = (
        "import sys, fireassay, fireassay.classifiers as c\n"
        "m = c.as_classifier(lambda X: X); m.predict_proba([[0.5, 0.5]]); m.sha256\n"
        "heavy = {'torch', 'onnx', 'onnxruntime', 'skops', 'maite'} & set(sys.modules)\n"
        "print(sorted(heavy))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.extras
def test_counting_costs_next_to_nothing_on_a_small_network() -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    network = torch.nn.Sequential(
        torch.nn.Conv2d(1, 16, 3, padding=1),
        torch.nn.ReLU(),
        torch.nn.MaxPool2d(2),
        torch.nn.Conv2d(16, 32, 3, padding=1),
        torch.nn.ReLU(),
        torch.nn.Flatten(),
        torch.nn.Linear(32 * 14 * 14, 10),
    ).eval()
    rows = np.random.default_rng(0).random((256, 1, 28, 28)).astype(np.float32)
    model = fa.as_classifier(network, output="logits")
    # The C library keeps freed memory once a block as large was freed; before, every call gets new
    # pages, which takes as long as the network does, and one of the two may be spared it.
    for _ in range(3):
        np.ones(3_000_000).sum()
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        bare, wrapped = [], []
        for _ in range(9):  # one after the other, so that a busy machine slows both
            started = time.process_time()
            with torch.no_grad():
                torch.softmax(network(torch.from_numpy(rows)), 1).numpy()
            between = time.process_time()
            model.predict_proba(rows)
            bare.append(between - started)
            wrapped.append(time.process_time() - between)
    finally:
        torch.set_num_threads(before)
    ratio = median(w / b for w, b in zip(wrapped[1:], bare[1:], strict=True))
    assert ratio < 1.25, f"the wrapper took {ratio:.3f} times the bare network's time"
