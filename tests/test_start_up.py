"""What each command loads before it does anything: told by modules, not by a clock."""

import subprocess
import sys

import numpy as np
import pytest
import typer

SLOW_LIBRARIES = ("pandas", "scipy", "networkx", "torch", "sklearn", "pyarrow", "matplotlib")
NOT_FOR_HELP = (*SLOW_LIBRARIES, "numpy", "pydantic", "rich")
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


def words_of_every_help(group, before=()):
    yield [*before, "--help"]
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from words_of_every_help(command, (*before, name))
        else:
            yield [*before, name, "--help"]


def test_no_help_loads_more_than_the_program_that_prints_it(project):
    """One process prints them all: what one of them loads is seen."""
    from fireassay.cli.main import app

    helps = list(words_of_every_help(typer.main.get_command(app)))
    assert ["run", "--help"] in helps
    assert ["label", "next", "--help"] in helps
    code = (
        f"import sys\nfrom fireassay.cli.main import app\nfor words in {helps!r}:\n"
        "    try:\n        app(words)\n    except SystemExit as stopped:\n"
        "        assert not stopped.code\n"
        f"print([m for m in {NOT_FOR_HELP!r} if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=project, capture_output=True, text=True, check=True
    )
    assert done.stdout.count("Usage: ") == len(helps)
    assert done.stdout.splitlines()[-1] == "[]"


WHAT_RUNS = (
    "fireassay.assessment.parts.attack_space",
    "fireassay.assessment.parts.troubles",
    "fireassay.assessment.parts.field_draws",
    "fireassay.reliability.assess",
    "fireassay.discovery.search",
    "fireassay.supervision.registry",
    "fireassay.attacks.registry",
    "fireassay.curation.labelling",
)


def test_init_and_plan_load_no_library_that_they_do_not_need(project):
    words = ["init", "--model", "half:model", "--data", "test.npz", "--train", "train.npz"]
    found, done = loaded([*words, "--trust"], project, (*SLOW_LIBRARIES, *WHAT_RUNS))
    assert found == "[]"
    said = done.stdout.splitlines()
    assert [line.split()[0] for line in said[:5]] == [
        "rows",
        "form",
        "input",
        "classes",
        "output",
    ]
    planned = (*SLOW_LIBRARIES, *WHAT_RUNS[:4])
    assert loaded(["plan", "--trust"], project, planned)[0] == "[]"


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


def test_a_run_of_one_part_loads_what_that_part_needs(project):
    """Counted in one process: 224 modules of ours when this was written, 458 before."""
    words = ["run", "--only", "accuracy", "--trust", "--output", "one"]
    code = CODE.replace(
        "print([m for m in {libraries!r} if m in sys.modules])",
        "print(sum(m.startswith('fireassay') for m in sys.modules))",
    )
    (project / "fireassay.toml").unlink(missing_ok=True)
    loaded(["init", "--model", "half:model", "--data", "test.npz", "--trust"], project)
    done = subprocess.run(
        [sys.executable, "-c", code.format(words=words)],
        cwd=project, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert int(done.stdout.splitlines()[-1]) <= 250


def test_all_parts_are_known_without_any_of_them(project):
    code = (
        "import sys\nimport fireassay.assessment.parts.table\n"
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
