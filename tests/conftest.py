"""Settings for all tests."""

import importlib.util
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from fireassay.attacks.art import write_settings_of_art
from fireassay.core.files import cache_folder

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


def pytest_configure() -> None:
    """Tests ask for ART by importing it, two processes at once."""
    if "PYTEST_XDIST_WORKER" not in os.environ and importlib.util.find_spec("art"):
        write_settings_of_art()


@pytest.fixture(scope="session", autouse=True)
def settings_of_nobody(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What tests trust is not written into the settings of whoever runs them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FIREASSAY_SETTINGS", str(tmp_path_factory.mktemp("settings")))
        yield


@pytest.fixture(scope="session", autouse=True)
def store_of_nobody(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What runs keep between them is forgotten after the tests; the charts' script stays."""
    mine = cache_folder()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        cache_folder().mkdir()
        for script in mine.glob("*.js"):
            (cache_folder() / script.name).symlink_to(script)
        yield


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A real browser, where there is one; closed with its file: its loop would disturb others."""
    named = os.environ.get("FIREASSAY_CHROMIUM")
    places = (named, "/usr/bin/chromium", shutil.which("chromium"), shutil.which("google-chrome"))
    program = next((place for place in places if place and Path(place).exists()), None)
    if program is None:
        pytest.skip("no Chromium: install it (apt install chromium) or set FIREASSAY_CHROMIUM")
    api = pytest.importorskip("playwright.sync_api", reason="needs playwright (extra 'dev')")
    api.expect.set_options(timeout=20_000)
    with api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(
            executable_path=program,
            args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
        )
        yield opened
        opened.close()


@pytest.fixture
def barriers() -> Callable[[Any], list[tuple[str, list[str]]]]:
    """What axe-core finds wrong with a page."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs extra 'dev'")

    def found(page: Any) -> list[tuple[str, list[str]]]:
        broken = axe.Axe().run(page).response["violations"]
        return [(v["id"], [node["html"][:120] for node in v["nodes"][:3]]) for v in broken]

    return found


@pytest.fixture(scope="session")
def two_workers() -> Callable[..., Any]:
    """Starts a Dask scheduler and two worker processes on loopback: ``with two_workers() as …``."""
    distributed = pytest.importorskip("distributed")

    def start(threads: int = 1) -> Any:
        return distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=threads,
            processes=True,
            host="127.0.0.1",
            dashboard_address=None,
            silence_logs=50,
        )

    return start


@pytest.fixture(scope="module")
def cluster_address(two_workers: Callable[..., Any]) -> Iterator[str]:
    """The scheduler of a cluster that the tests of a module share."""
    with two_workers() as cluster:
        yield cluster.scheduler_address
