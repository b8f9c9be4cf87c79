"""One pair through init, plan, run, report and serve, each step in a process of its own."""

import json
import os
import resource
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path

from pair import Pair

SMALL = {
    "survival": {"samples": 12, "budget": 60},
    "discovery": {"pool": 60, "max_queries": 40, "budget": 10, "drawn": 10},
    "supervision": {"samples": 60},
    "ambiguity": {"samples": 20},
}
STEPS = ("init", "plan", "run", "report", "serve")
PART_FAILED = 3  # exit code of run; the part says why


@dataclass(frozen=True)
class Step:
    """What one step took: seconds of the processor, most memory, and how it ended."""

    seconds: float
    megabytes: float
    code: int
    said: str


@dataclass(frozen=True)
class Outcome:
    """What happened to one pair; ``parts`` are those that could not be asked, each with its reason.

    Curation needs votes, which no pair has, and is not listed.
    """

    seconds: dict[str, float]
    megabytes: float
    accuracy: float | None
    bare: float | None
    parts: dict[str, str]
    said: str

    def as_dict(self) -> dict[str, object]:
        """For the file in which outcomes are kept."""
        return asdict(self)


def walk(one: Pair) -> Outcome:
    """One pair through every step, in a folder of its own."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["XDG_CONFIG_HOME"] = str(folder / "settings")
        setup = one.make(folder)
        os.chdir(folder)
        beside = subprocess.Popen(one.beside) if one.beside else None
        try:
            return _steps(one, setup.arguments, setup.accuracy, folder)
        finally:
            os.chdir(before)
            if beside is not None:
                beside.kill()
                beside.wait()


def _steps(one: Pair, arguments: list[str], bare: float | None, folder: Path) -> Outcome:
    seconds: dict[str, float] = {}
    most = 0.0
    for name in STEPS[:4]:
        step = in_a_process([name, *([*arguments, "--json"] if name == "init" else [])])
        seconds[name], most = step.seconds, max(most, step.megabytes)
        if step.code and (name, step.code) != ("run", PART_FAILED):
            said = step.said.split("the model and the data ")[-1].replace(f"{folder}/", "")
            return Outcome(seconds, most, None, bare, {}, f"{name}: {said}")
        if name == "init":
            missing = json.loads(step.said)["missing"]
            _shorten(folder / "fireassay.toml", SMALL if one.settings is None else one.settings)
    seconds["serve"], said = _served(folder / "fireassay-run")
    parts = json.loads((folder / "fireassay-run" / "result.json").read_text())["parts"]
    accuracy = parts["accuracy"]["estimates"]["accuracy"]["value"]
    left = {n: why for n, why in missing.items() if why is not None and n != "curation"}
    left |= {n: f"{p['status']}: {p['reason']}" for n, p in parts.items() if p["status"] != "done"}
    return Outcome(seconds, most, accuracy, bare, left, said)


def in_a_process(arguments: list[str]) -> Step:
    """A command in a child of this process, which has the libraries already."""
    import fireassay.assessment  # noqa: F401
    from fireassay.cli.main import app

    with tempfile.TemporaryFile("w+") as told:
        child = os.fork()
        if child == 0:
            os.dup2(told.fileno(), 1)
            os.dup2(told.fileno(), 2)
            sys.argv = ["fireassay", *arguments]
            code = 70
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    app(standalone_mode=True)
            except SystemExit as end:
                code = int(end.code or 0)
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)
        _, status, used = os.wait4(child, 0)
        told.seek(0)
        said = " ".join(told.read().split())
    code = os.waitstatus_to_exitcode(status)
    return Step(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, code, said)


def _shorten(path: Path, settings: dict[str, dict[str, object]]) -> None:
    """Short settings, so that a pair takes seconds; everything else as init wrote it."""
    lines, section = [], ""
    for line in path.read_text().splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        for key, value in settings.get(section, {}).items():
            if line.startswith(f"# {key} ="):
                line = f"{key} = {value}"
        lines.append(line)
    path.write_text("\n".join(lines) + "\n")


def _served(run: Path) -> tuple[float, str]:
    """Seconds of the processor until the first page is there, and what is wrong with it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "fireassay", "serve", str(run), "--port", str(port)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as server:
        try:
            said = _first_page(f"http://127.0.0.1:{port}/")
        finally:
            server.terminate()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, said


def _first_page(address: str, most_seconds: float = 120.0) -> str:
    until = time.perf_counter() + most_seconds
    while time.perf_counter() < until:
        try:
            with urllib.request.urlopen(address, timeout=60) as answer:
                return "" if answer.status == 200 else f"serve answered {answer.status}"
        except urllib.error.HTTPError as error:
            return f"serve answered {error.code}"
        except (urllib.error.URLError, TimeoutError):
            time.sleep(0.1)
    return "serve did not answer"
