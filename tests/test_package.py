"""Promises of the package as a whole."""

import importlib.metadata
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import fireassay as fa

ROOT = Path(__file__).resolve().parents[1]
HEAVY = ("torch", "distributed", "dask", "onnxruntime", "fastapi", "art", "statsmodels", "numpy")


def run_python(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_import_is_light():
    loaded = run_python(f"import sys, fireassay; print([m for m in {HEAVY!r} if m in sys.modules])")
    assert loaded == "[]"


def test_import_takes_less_than_half_a_second():
    code = "import time; t = time.process_time(); import fireassay; print(time.process_time() - t)"
    assert min(float(run_python(code)) for _ in range(3)) < 0.5


def test_help_does_not_load_scientific_libraries():
    code = (
        "import sys\nfrom fireassay.cli.main import app\n"
        "try: app(['--help'])\nexcept SystemExit: pass\n"
        "print([m for m in ('numpy', 'scipy', 'pandas', 'sklearn', 'torch') if m in sys.modules])"
    )
    assert run_python(code).splitlines()[-1] == "[]"


def test_public_names_are_there():
    for name in fa.__all__:
        assert getattr(fa, name) is not None
    assert set(fa.__all__) <= set(dir(fa))
    with pytest.raises(AttributeError, match="no_such_name"):
        fa.no_such_name  # noqa: B018


def test_python_dash_m_is_the_same_program():
    done = subprocess.run(
        [sys.executable, "-m", "fireassay", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == f"fireassay {fa.__version__}"


@pytest.mark.slow
@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.stem)
@pytest.mark.extras
def test_examples_run(example, tmp_path):
    done = subprocess.run(
        [sys.executable, str(example)], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.strip(), "an example shows something"


def test_nothing_in_the_wheel_names_what_is_not():
    """The layers forbid imports; a name in a string or a table would fail only once installed."""
    built = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    package = ROOT / "src" / "fireassay"
    assert built["targets"]["wheel"]["exclude"] == ["src/fireassay/papers"]
    assert (package / "papers").is_dir()
    naming = [
        path
        for path in package.rglob("*.py")
        if package / "papers" not in path.parents and "fireassay.papers" in path.read_text("utf-8")
    ]
    assert naming == []


def test_per_cent_is_written_one_way():
    """Python's own format says 95%; people read 95 % everywhere."""
    written = [
        f"{path.name}: {found.group()}"
        for path in Path(fa.__file__).parent.rglob("*.py")
        for found in re.finditer(r"\{[^{}\n]+:\.\d%\}", path.read_text(encoding="utf-8"))
    ]
    assert written == []


def test_no_package_that_is_installed_with_it_is_copyleft():
    copyleft = {}
    for line in (ROOT / "constraints.txt").read_text().splitlines():
        name = line.partition("==")[0]
        try:
            found = importlib.metadata.metadata(name)
        except (importlib.metadata.PackageNotFoundError, ValueError):
            continue  # not in this environment, or a comment
        kinds = [c for c in found.get_all("Classifier") or () if c.startswith("License")]
        words = [found.get("License-Expression") or "", (found.get("License") or "")[:80], *kinds]
        if any(re.search(r"(?<!L)GPL|GNU General", word) for word in words):
            copyleft[name] = words
    assert copyleft == {}
