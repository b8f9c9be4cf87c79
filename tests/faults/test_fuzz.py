"""Damaged and made-up bytes for every reader: a value, or an error that fireassay means."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import fuzz  # noqa: E402

sys.path.remove(str(HERE))
NEVER = ("pickle", "pt2", "xgboost", "lightgbm")
QUIET = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


@pytest.mark.parametrize("name", fuzz.READERS)
def test_the_sound_content_is_read(tmp_path: Path, name: str) -> None:
    never = name in NEVER
    assert fuzz.is_read(name, tmp_path, fuzz.READERS[name][1]) is not never


@pytest.mark.parametrize("name", fuzz.READERS)
@settings(max_examples=8, suppress_health_check=QUIET)
@given(chance=st.randoms(use_true_random=False))
def test_a_value_or_an_error_that_is_meant(
    tmp_path: Path, name: str, chance: random.Random
) -> None:
    """Anything else that a reader raises, or that takes too long, ends the test."""
    is_read = fuzz.is_read(name, tmp_path, fuzz.damaged(fuzz.READERS[name][1], chance))
    assert not (is_read and name in NEVER), "what can run code is never read"


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads memory from /proc")
def test_ten_thousand_times_within_bounded_memory() -> None:
    each = -(-10_000 // len(fuzz.READERS))
    done = subprocess.run(
        [sys.executable, str(HERE / "fuzz.py"), str(each)],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert ", 0 else" in done.stdout


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads memory from /proc")
def test_files_that_keep_to_their_grammar_are_read_or_refused() -> None:
    done = subprocess.run(
        [sys.executable, str(HERE / "grammar.py"), "100"],
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert ", 0 batches ended by something else" in done.stdout
