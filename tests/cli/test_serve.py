import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import textwrap
import urllib.request

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from fireassay.cli.label import serve
from fireassay.core import DataError, ParameterError
from fireassay.web.queue import read_queue, write_queue

pytestmark = pytest.mark.extras
pytest.importorskip("uvicorn", reason="the app needs the extra 'web'")

PROGRAM = "import typer; from fireassay.cli.label import serve; typer.run(serve)"
app = typer.Typer(pretty_exceptions_enable=False)
app.command()(serve)


def test_help_is_fast_and_has_an_example():
    code = textwrap.dedent("""
        import sys, typer
        from fireassay.cli.label import serve
        assert not {"numpy", "fastapi", "uvicorn"} & set(sys.modules)
        typer.run(serve)
    """)
    done = subprocess.run(
        [sys.executable, "-c", code, "--help"], capture_output=True, text=True, check=True
    )
    assert "Example: fireassay serve" in done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_it_starts_quickly_answers_and_ends_on_interrupt(tmp_path):
    write_queue(tmp_path, np.zeros((2, 2)), classes="ab")
    program = [sys.executable, "-c", PROGRAM, str(tmp_path), "--port", "0", "--json"]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as process:
        text = ""
        while not text.endswith("}\n"):
            text += process.stdout.readline()
        address = json.loads(text)["address"]
        with urllib.request.urlopen(address) as answer:
            assert "labels" in answer.read().decode()
        with open(f"/proc/{process.pid}/stat") as stat:
            ticks = sum(map(int, stat.read().rsplit(")", 1)[1].split()[11:13]))
        # Two seconds on a free core; other tests may hold the cores, so CPU time is what counts.
        # The loading of the report's libraries, which goes on behind the first page, is in it.
        assert ticks / os.sysconf("SC_CLK_TCK") < 4.0
        process.send_signal(signal.SIGINT)
        process.wait(60)


def test_a_folder_without_runs_is_refused(tmp_path):
    found = CliRunner().invoke(app, [str(tmp_path)])
    assert isinstance(found.exception, DataError)
    assert "fireassay demo" in str(found.exception)


def test_a_short_token_and_a_taken_port_are_refused(tmp_path, monkeypatch):
    write_queue(tmp_path, np.zeros((2, 2)), classes="ab")
    monkeypatch.setenv("FIREASSAY_TOKEN", "short")
    found = CliRunner().invoke(app, [str(tmp_path), "--port", "0"])
    assert isinstance(found.exception, ParameterError)
    assert "16 characters" in str(found.exception)
    assert "short" not in str(found.exception).replace("shorter", "")
    monkeypatch.delenv("FIREASSAY_TOKEN")
    found = CliRunner().invoke(app, [str(tmp_path), "--port", "1", "--host", "203.0.113.7"])
    assert isinstance(found.exception, ParameterError)
    assert "free port" in str(found.exception)


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_elsewhere_a_token_is_printed(tmp_path):
    write_queue(tmp_path, np.zeros((2, 2)), classes="ab")
    program = [sys.executable, "-c", PROGRAM, str(tmp_path), "--port", "0", "--host", "0.0.0.0"]
    clean = {k: v for k, v in os.environ.items() if k != "FIREASSAY_TOKEN"}
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True, env=clean) as process:
        line = process.stdout.readline()
        address = line.split(" at ")[1].split()[0]
        assert "?token=" in address
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(address.split("?")[0])
        process.kill()


def test_queues_are_made_from_a_search_and_a_set(tmp_path, monkeypatch):
    from fireassay import discovery
    from fireassay.web import server

    rng = np.random.default_rng(0)
    X = rng.random((40, 2))
    model = lambda rows: np.column_stack([1 - rows[:, 0], rows[:, 0]])  # noqa: E731
    discovery.Search(
        "random", model=model, X=X, threshold=0.5, budget=5, path=tmp_path / "search.npz"
    )
    np.savez(tmp_path / "data.npz", X=X, y=(X[:, 0] > 0.4).astype(int))
    (tmp_path / "amb").mkdir()
    np.savez(tmp_path / "amb" / "ambiguous.npz", X=X, pairs=np.array([[0, 1]] * 40))
    started = []
    monkeypatch.setattr(server, "serve", lambda folders, **rest: started.append(folders))
    arguments = ["--data", tmp_path / "data.npz", "--ambiguous", tmp_path / "amb"]
    arguments += ["--annotators", "2"]
    found = CliRunner().invoke(app, [str(a) for a in (tmp_path, *arguments)])
    assert found.exception is None, found.exception
    assert started == [[tmp_path]]
    search = read_queue(tmp_path / "queues" / "search")
    review = read_queue(tmp_path / "queues" / "review")
    assert (search.budget, search.annotators_per_item, search.search) == (5, 2, "random")
    assert (review.purpose, len(review)) == ("review", 40)


def own_address():
    """An address of this machine that is not loopback, if it has one (nothing is sent)."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        try:
            asking.connect(("192.0.2.1", 9))
        except OSError:
            return "127.0.0.2"
        return asking.getsockname()[0]


def fetched(at, port, path="/", **headers):
    connection = http.client.HTTPConnection(at, port, timeout=60)
    try:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        return answer.status, dict(answer.headers), answer.read().decode()
    finally:
        connection.close()


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
@pytest.mark.parametrize("host", ["0.0.0.0", "own"])
def test_on_another_address_than_loopback_nothing_is_shown_without_the_token(tmp_path, host):
    write_queue(tmp_path, np.zeros((2, 2)), classes="ab")
    own = own_address()
    listen = own if host == "own" else host
    program = [sys.executable, "-c", PROGRAM, str(tmp_path), "--port", "0", "--host", listen]
    clean = {k: v for k, v in os.environ.items() if k != "FIREASSAY_TOKEN"}
    secret = "token-of-sixteen-or-more"
    with subprocess.Popen(
        program, stdout=subprocess.PIPE, text=True, env=clean | {"FIREASSAY_TOKEN": secret}
    ) as process:
        try:
            port = int(re.search(r":(\d+)/", process.stdout.readline()).group(1))
            assert fetched(own, port)[0] == 401
            assert fetched(own, port, "/?token=wrong-token-of-this-app")[0] == 401
            assert fetched(own, port, "/static/app.js")[0] == 401
            status, headers, _ = fetched(own, port, f"/?token={secret}")
            assert (status, headers["location"]) == (303, "/")
            cookie = headers["set-cookie"].split(";")[0]
            assert secret not in cookie
            assert fetched(own, port, cookie=cookie)[0] == 200
            assert fetched(own, port, cookie="x" + cookie[1:])[0] == 401
            # Another site's name that points at this address (DNS rebinding), even with the cookie.
            for name in ("evil.example", f"evil.example:{port}", f"{own}:1", ""):
                assert fetched(own, port, cookie=cookie, host=name)[0] == 421
            assert fetched(own, port, host=f"evil.example:{port}")[0] == 421
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(30)
