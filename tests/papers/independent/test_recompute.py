"""Ten cells drawn at random come out again by a script that has nothing of the product."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent / "recompute.py"


def recomputed(*options):
    if not os.environ.get("FIREASSAY_DATA"):
        pytest.skip("FIREASSAY_DATA is not set")
    command = [sys.executable, str(SCRIPT), *map(str, options)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_script_imports_nothing_of_the_product():
    names = []
    for node in ast.walk(ast.parse(SCRIPT.read_text())):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names.append(node.module)
    assert names
    assert not [name for name in names if name.startswith("fireassay")]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_ten_cells_drawn_at_random_come_out_again(seed):
    done = recomputed("--seed", seed)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("same:") == 10


@pytest.mark.slow
def test_all_cells_come_out_again():
    done = recomputed("--cells", "all")
    assert done.returncode == 0, done.stdout + done.stderr
