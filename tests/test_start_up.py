"""What each command loads before it does anything: told by modules, not by a clock."""

import subprocess
import sys

import numpy as np
import pytest

SLOW_LIBRARIES = ("pandas", "scipy", "networkx", "torch", "sklearn", "pyarrow", "matplotlib")
CODE = """
import sys
from fireassay.cli.main import app
try:
    app({words!r})
except SystemExit as stopped:
    assert not stopped.code, stopped.code
print([m for m in {libraries!r} if m in sys.modules])
"""
MODEL = """
import numpy as np
def model(X):
    return np.column_stack([1 - X[:, 0], X[:, 0]])
"""


def loaded(words, folder, libraries=SLOW_LIBRARIES):
    done = subprocess.run(
        [sys.executable, "-c", CODE.format(words=words, libraries=libraries)],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.splitlines()[-1], done


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    X = np.random.default_rng(0).random((80, 2))
    y = (X[:, 0] > 0.45).astype(int)
    np.savez(folder / "test.npz", X=X, y=y)
    np.savez(folder / "train.npz", X=X + 0.001, y=y)
    (folder / "half.py").write_text(MODEL)
    return folder


@pytest.mark.parametrize("command", ["run", "init", "check"])
def test_help_of_a_command_loads_no_library_of_science(project, command):
    assert loaded([command, "--help"], project, (*SLOW_LIBRARIES, "numpy"))[0] == "[]"


def test_init_and_plan_load_no_library_that_they_do_not_need(project):
    words = ["init", "--model", "half:model", "--data", "test.npz", "--train", "train.npz"]
    found, done = loaded([*words, "--trust"], project)
    assert found == "[]"
    said = done.stdout.splitlines()
    assert [line.split()[0] for line in said[:5]] == [
        "rows",
        "input",
        "classes",
        "output",
        "answers",
    ]
    assert loaded(["plan", "--trust"], project)[0] == "[]"


@pytest.mark.parametrize(
    "words",
    [
        ["init", "--model", "half:model", "--data", "test.npz"],
        ["plan"],
        ["run"],
        ["report", "no-run"],
        ["check", "no-run"],
        ["compare", "no-run", "no-run"],
        ["label", "next", "no-run"],
        ["label", "add", "no-run", "next.csv"],
        ["serve", "no-run"],
        ["watch", "rows.csv"],
        ["demo"],
        ["doctor"],
    ],
    ids=lambda words: " ".join(words[:2] if words[0] == "label" else words[:1]),
)
def test_the_first_line_comes_before_any_library_of_science(words, tmp_path):
    with subprocess.Popen(
        [sys.executable, "-X", "importtime", "-m", "fireassay", *words],
        cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    ) as program:  # fmt: skip
        before = []
        for line in program.stderr:
            if not line.startswith("import time:"):
                break
            before.append(line.rsplit("|", 1)[1].strip())
        program.kill()
    assert line.startswith("fireassay ")
    assert "typer" in before
    assert not {"numpy", "fastapi", *SLOW_LIBRARIES} & set(before)


def test_all_parts_are_known_without_any_of_them(project):
    code = (
        "import sys\nfrom fireassay.assessment.parts import settings_models\nsettings_models()\n"
        f"print([m for m in {SLOW_LIBRARIES!r} if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=project
    )
    assert done.stdout.strip() == "[]"


def test_a_module_named_after_its_function_does_not_take_its_place():
    code = (
        "import fireassay.statistics.loess, fireassay.statistics as s\n"
        "from fireassay.statistics import loess\n"
        "print(callable(loess), callable(s.loess))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True True"
