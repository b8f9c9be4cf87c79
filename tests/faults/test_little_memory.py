"""Little memory is a sentence: not a traceback of an import, not an abort of a library."""

import subprocess
import sys
from pathlib import Path

import pytest

from fireassay.core.memory import is_out_of_memory

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="ulimit is of POSIX")


def limited(kilobytes: int, *words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    line = f'ulimit -v {kilobytes}; exec "$@"'
    command = ("bash", "-c", line, "bash", sys.executable, "-P", "-m", "fireassay", *words)
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("words", [("demo",), ("run",), ("report", "x"), ("curation", "v.csv")])
@pytest.mark.parametrize("kilobytes", [250_000, 600_000, 900_000])
def test_an_address_limit_is_a_sentence(tmp_path, words, kilobytes):
    found = limited(kilobytes, *words, folder=tmp_path)
    assert found.returncode == 2
    assert "ulimit -v unlimited" in found.stderr
    assert "Traceback" not in found.stderr
    assert not list(tmp_path.iterdir())


def test_what_draws_says_at_once_that_it_cannot(tmp_path):
    found = limited(4_000_000, "demo", folder=tmp_path)
    assert found.returncode == 2
    assert "needs 70 GB of address space" in found.stderr


def test_what_draws_nothing_works_in_little(tmp_path):
    assert limited(600_000, "doctor", folder=tmp_path).returncode == 0
    assert limited(600_000, "run", "--help", folder=tmp_path).returncode == 0
    found = limited(4_000_000, "curation", "no-such.csv", folder=tmp_path)
    assert "no-such.csv" in found.stderr


def test_a_chart_is_refused_before_the_library_aborts(tmp_path):
    code = (
        "from fireassay.core import Chart, FireassayError\n"
        "from fireassay.core.drawing import bars\n"
        "try: Chart(bars([('a', 1.0)], 'n')).svg()\n"
        "except FireassayError as error: print(error)"
    )
    line = 'ulimit -v 8000000; exec "$@"'
    command = ("bash", "-c", line, "bash", sys.executable, "-c", code)
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert found.returncode == 0
    assert found.stdout.startswith("A chart needs 70 GB of address space")


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (MemoryError(), True),
        (ImportError("libtorch_cpu.so: failed to map segment from shared object"), True),
        (OSError(12, "Cannot allocate memory"), True),
        (ImportError("No module named 'torch'"), False),
        (OSError(28, "No space left on device"), False),
    ],
)
def test_which_errors_are_of_memory(error, expected):
    assert is_out_of_memory(error) is expected
