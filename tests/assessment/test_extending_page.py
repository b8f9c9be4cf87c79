"""The examples on the page "Add your own" run as they stand there, and pass the common checks."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

pytestmark = pytest.mark.extras
HERE = Path(__file__).parent
spec = importlib.util.spec_from_file_location("extending_page", HERE / "extending_page.py")
page = importlib.util.module_from_spec(spec)
spec.loader.exec_module(page)


@pytest.fixture(scope="module")
def names():
    with page.taken_back():
        yield page.run("\n".join(page.examples().values()))


def test_every_kind_has_an_example_and_every_row_is_taken_back():
    known = {where: set(registry) for where, registry in page.registries().items()}
    with page.taken_back():
        page.run("\n".join(page.examples().values()))
        added = {
            (where[0], name)
            for where, registry in page.registries().items()
            for name in set(registry) - known[where]
        }
    assert added == {
        ("supervision", "runner-up"),
        ("attacks", "noisy-step"),
        ("curation", "smoothed-majority"),
        ("discovery", "most-confident"),
        ("data", "dead_columns"),
        ("reliability", "half-and-half"),
        ("classifiers", "look-up"),
    }
    assert {where: set(registry) for where, registry in page.registries().items()} == known


def test_the_supervisor_is_compared(names):
    frame = names["monitors"].frame()
    ours = frame[frame["supervisor"] == "runner-up"]
    twin = frame[frame["supervisor"] == "max-softmax"]
    assert ours["auroc"].to_numpy() == twin["auroc"].to_numpy()  # with two classes 1 - p


def test_the_attack_is_observed(names):
    table = names["fallen"].frame()
    assert set(table["attack"]) == {"noisy-step"}
    assert 0 < table["success"].mean() < 1
    assert table["distance"][table["success"]].max() <= 0.1 + 1e-12
    assert table["queries"].max() <= 3


def test_the_labeler_labels(names):
    assert len(names["curated"].labels) == 80


def test_the_search_asks_where_it_is_most_confident(names):
    confidence = names["model"].predict_proba(names["X_test"]).max(axis=1)
    first = int(np.ravel(names["first"])[0])
    assert confidence[first] == confidence.max()


def test_the_corruption_blackens_columns(names):
    black = (names["corrupted"].X == 0).all(axis=(0, 1)).sum()
    assert black >= 2
    assert set(names["corrupted"].kind) == {"dead_columns"}


def test_the_design_gives_a_bound(names):
    design = names["design"]
    found = design.estimate(np.zeros(60))
    assert found.pmi == 0.0
    assert 0 < found.pool_upper < 0.2


def test_the_model_answers(names):
    model = names["looked_up"]
    np.testing.assert_array_equal(model.predict_proba([[1.0], [0.0]]), [[0.2, 0.8], [0.9, 0.1]])
    assert model.queries == 2


CHECKS = {
    "attacks/test_common_checks.py": ("noisy-step", 10),
    "supervision/test_common_checks.py": ("runner-up", 5),
    "curation/test_labelers.py": ("smoothed-majority", 1),
    "discovery/test_searches.py": ("most-confident", 1),
    "data/test_corruptions.py": ("dead_columns", 2),
    "reliability/test_label_designs.py": ("half-and-half", 2),
}


@pytest.mark.slow
def test_the_common_checks_pass():
    """The checks that everything of a kind must pass, in a process where the page is registered."""
    wanted = " or ".join(name for name, _ in CHECKS.values())
    files = [str(HERE.parent / file) for file in CHECKS]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-v", "-p", "extending_page", "-p", "no:cacheprovider",
         "-m", "not slow", "-k", wanted, *files],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), *sys.path])},
        capture_output=True,
        text=True,
        timeout=280,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    passed = [line for line in done.stdout.splitlines() if " PASSED" in line]
    for file, (name, least) in CHECKS.items():
        assert sum(file in line and name in line for line in passed) >= least, file
