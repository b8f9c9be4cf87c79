"""Settings for all tests."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# A loaded machine is not a failure: what is slow is told by benchmarks.
settings.register_profile("fireassay", deadline=None)
settings.load_profile("fireassay")

# Where no byte code is kept, every process that a test starts would compile the package anew.
if sys.dont_write_bytecode:
    sys.dont_write_bytecode = False
    sys.pycache_prefix = str(Path(__file__).resolve().parents[1] / ".pytest_cache" / "bytecode")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix

# Started in the background of a shell (nohup make test &), interrupts are ignored, and every child
# would inherit that: the programs under test are started as a terminal does.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def settings_of_nobody(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What tests trust is not written into the settings of whoever runs them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FIREASSAY_SETTINGS", str(tmp_path_factory.mktemp("settings")))
        yield
