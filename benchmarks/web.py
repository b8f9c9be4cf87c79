"""The local app under load: how fast a label is saved, and whether any is lost or double.

    python benchmarks/web.py [kills [pause]]

Twenty simulated people label 2,000 items over HTTP on this machine, twice: as fast as people look
("paced", a third of a second on average per item) and as fast as the app answers ("flat out").
Every label waits for the disk before the answer; the server is killed at the end, then the labels
are counted. With ``kills`` instead each of the twenty gives 2,000 labels while the server is killed
and started again ten times, and people send an answer again until it is saved: flat out, or with a
``pause`` of so many seconds on average before each answer; beside them somebody asks for a small
file now and then, which says what the machine itself makes people wait.
Also: how soon the app answers, and how long a page of a 100,000-item queue takes.
Writes benchmarks/results/web.json, or a record of benchmarks/results/web_kills.json.
"""

import http.client
import json
import os
import random
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

import numpy as np

from fireassay.engine.labels.book import LabelBook
from fireassay.web import read_queue, write_queue

PEOPLE, LABELS, MANY = 20, 2000, 100_000
THINKING_S = {"paced": 0.33, "flat out": 0.0}
KILLS = 10
SERVER = (
    "import sys; from fireassay.web import serve;"
    "serve(sys.argv[1:], port=0, ready=lambda address: print(address, flush=True))"
)


ON_PORT = "import sys; from fireassay.web import serve; serve(sys.argv[2:], port=int(sys.argv[1]))"


class Person:
    """One keep-alive connection, as a browser has."""

    def __init__(self, port):
        self.host = f"127.0.0.1:{port}"
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.cookies, self.csrf = {}, ""

    def request(self, method, path, body=None, headers=()):
        sent = {"host": self.host, **dict(headers)}
        if self.cookies:
            sent["cookie"] = "; ".join(f"{k}={v}" for k, v in self.cookies.items())
        self.connection.request(method, path, body, sent)
        answer = self.connection.getresponse()
        text = answer.read().decode()
        for header in answer.headers.get_all("set-cookie") or ():
            name, _, value = header.split(";")[0].partition("=")
            self.cookies[name] = value
        found = re.search(r'name="csrf" content="([^"]+)"', text)
        self.csrf = found.group(1) if found else self.csrf
        return answer.status, text

    def post(self, path, fields):
        body = "&".join(f"{k}={v}" for k, v in {**fields, "csrf": self.csrf}.items())
        kind = "application/x-www-form-urlencoded"
        return self.request("POST", path, body, {"content-type": kind, "x-fragment": "task"})


class Stubborn(Person):
    """Sends the same request again while the server is away."""

    def request(self, method, path, body=None, headers=()):
        while True:
            try:
                return super().request(method, path, body, headers)
            except (OSError, http.client.HTTPException):
                self.connection.close()
                time.sleep(0.05)


def label_all(port, key, name, waits, failures, thinking_s=0.0, most=None, kind=Person):
    person, rng = kind(port), random.Random(name)
    person.request("GET", "/")
    person.post("/annotator", {"name": name})
    _, page = person.request("GET", f"/queues/{key}/label")
    while token := re.search(r'name="token" value="([^"]+)"', page):
        item = int(re.search(r"/items/(\d+)/image.png", page.split("stage", 1)[1]).group(1))
        if thinking_s:
            time.sleep(rng.expovariate(1 / thinking_s))
        began = time.perf_counter()
        status, page = person.post(
            f"/queues/{key}/answer", {"token": token.group(1), "choice": item % 3}
        )
        waits.append(time.perf_counter() - began)
        if most is not None and len(waits) >= most:
            return
        if status != 200 or "Saved." not in page:
            failures.append((item, status))


def only_look(port, waits):
    """Ask for a small file about once a second: what the machine itself makes people wait."""
    visitor = Stubborn(port)
    while True:
        began = time.perf_counter()
        visitor.request("GET", "/static/icon.svg")
        waits.append(time.perf_counter() - began)
        time.sleep(random.expovariate(1))


def write_queues(folder):
    rng = np.random.default_rng(0)
    for name in THINKING_S:
        write_queue(
            folder,
            rng.random((LABELS, 28, 28)),
            classes=["cat", "dog", "owl"],
            name=name,
            predicted=["cat"] * LABELS,
            confidence=rng.uniform(0.7, 0.99, LABELS),
        )
    items = np.zeros((MANY, 28, 28), np.uint8)
    write_queue(folder, items, classes=["a", "b"], ids=np.arange(MANY).astype(str), name="many")


def measure(folder):
    write_queues(folder)
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(folder)], stdout=subprocess.PIPE, text=True
    )
    try:
        port = int(re.search(r":(\d+)/", process.stdout.readline()).group(1))
        visitor = Person(port)
        _, home = visitor.request("GET", "/")
        result = {"first_page_s": time.perf_counter() - began}
        result["first_page_cpu_s"] = cpu_seconds(process.pid)
        keys = {name: key for key, name in re.findall(r'href="/queues/(\w+)">([\w ]+)<', home)}
        time.sleep(6)  # the app loads the report's libraries behind its first page
        for page in (1, 1000, 2084):
            began = time.perf_counter()
            visitor.request("GET", f"/queues/{keys['many']}/items?page={page}")
            result[f"page_{page}_of_{MANY}_items_s"] = time.perf_counter() - began
        for name, thinking_s in THINKING_S.items():
            result[name] = crowd(process.pid, port, keys[name], thinking_s)
        result["server_memory_mib"] = memory_mib(process.pid)
    finally:
        process.kill()  # as hard as it gets: what was said to be saved must be there
        process.wait()
    for name in THINKING_S:
        result[name] |= count(folder, name)
    result["load_average"] = os.getloadavg()[0]
    return result


def measure_kills(folder, pause_s):
    """Twenty people, 2,000 labels each, and a server that dies ten times in the middle."""
    rng = np.random.default_rng(0)
    n = PEOPLE * LABELS
    items = rng.integers(0, 255, (n, 8, 8), dtype=np.uint8)
    path = write_queue(folder, items, classes=["cat", "dog", "owl"], name="kills")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    servers = []

    def start():
        program = [sys.executable, "-c", ON_PORT, str(port), str(folder)]
        servers.append(subprocess.Popen(program))

    start()
    visitor = Stubborn(port)
    _, home = visitor.request("GET", "/")
    key = re.search(r"/queues/(\w{12})", home).group(1)
    waits, failures = [[] for _ in range(PEOPLE)], []
    people = [
        threading.Thread(
            target=label_all,
            args=(port, key, f"p{i}", waits[i], failures, pause_s, LABELS, Stubborn),
        )
        for i in range(PEOPLE)
    ]
    began = time.perf_counter()
    for person in people:
        person.start()
    floor = []
    threading.Thread(target=only_look, args=(port, floor), daemon=True).start()
    costs, loads = [], []

    def wait_until(share):
        """Until so much is labelled: labels so far and CPU seconds of the server by then."""
        while sum(map(len, waits)) < share * n and any(person.is_alive() for person in people):
            time.sleep(0.05)
        loads.append(os.getloadavg()[0])
        return np.array([sum(map(len, waits)), cpu_seconds(servers[-1].pid)])

    for number in range(1, KILLS + 2):
        # A server has started, and loaded its libraries, by the second half of its life.
        middle = wait_until((number - 0.5) / (KILLS + 1))
        labels, seconds = wait_until(number / (KILLS + 1)) - middle
        costs.append(1000 * seconds / max(labels, 1))
        if number <= KILLS:
            servers[-1].kill()
            servers[-1].wait()
            start()
    for person in people:
        person.join()
    looked = np.array(floor)
    servers[-1].kill()
    servers[-1].wait()
    queue = read_queue(path)
    with LabelBook(folder) as book:
        book.register(queue)
        kept = book.answers(queue)
    per_item = Counter(answer.item for answer in kept)
    every = np.concatenate(waits)
    return {
        "labels_saved": len(every),
        "kills": len(servers) - 1,
        "pause_s": pause_s,
        "labels_on_disk": len(kept),
        "lost": len(every) - len(per_item),
        "double": sum(count - 1 for count in per_item.values()),
        "changed": sum(answer.choice != answer.item % 3 for answer in kept),
        "failed_requests": len(failures),
        "p50_ms": 1000 * float(np.percentile(every, 50)),
        "p95_ms": 1000 * float(np.percentile(every, 95)),
        "within_200_ms": float((every <= 0.2).mean()),
        "small_file_p50_ms": 1000 * float(np.percentile(looked, 50)),
        "small_file_p95_ms": 1000 * float(np.percentile(looked, 95)),
        "server_cpu_ms_per_label": float(np.mean(costs)),
        "server_cpu_ms_per_label_first": float(costs[0]),
        "server_cpu_ms_per_label_last": float(costs[-1]),
        "labels_per_s": len(every) / (time.perf_counter() - began),
        "load_lowest": min(loads),
        "load_highest": max(loads),
    }


def crowd(pid, port, key, thinking_s):
    """Let the people label everything; how long each of them waited."""
    waits, failures = [], []
    people = [
        threading.Thread(target=label_all, args=(port, key, f"p{i}", waits, failures, thinking_s))
        for i in range(PEOPLE)
    ]
    began, cpu = time.perf_counter(), cpu_seconds(pid)
    for person in people:
        person.start()
    for person in people:
        person.join()
    levels = {f"p{level}_ms": 1000 * float(np.percentile(waits, level)) for level in (50, 95, 99)}
    return levels | {
        "labels_per_s": LABELS / (time.perf_counter() - began),
        "server_cpu_ms_per_label": 1000 * (cpu_seconds(pid) - cpu) / LABELS,
        "failed_requests": len(failures),
    }


def count(folder, name):
    """What is on the disk after the kill."""
    queue = read_queue(folder / "queues" / name)
    with LabelBook(folder) as book:
        book.register(queue)
        kept = book.answers(queue)
    per_item = Counter(answer.item for answer in kept)
    return {
        "labels": len(kept),
        "lost": LABELS - len(per_item),
        "double": sum(n - 1 for n in per_item.values()),
        "changed": sum(answer.choice != answer.item % 3 for answer in kept),
    }


def cpu_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


def memory_mib(pid):
    """Anonymous memory: mapped files of the queues are the page cache's."""
    return (
        int(re.search(r"RssAnon:\s+(\d+)", Path(f"/proc/{pid}/status").read_text()).group(1)) / 1024
    )


def main():
    if sys.argv[1:2] == ["kills"]:
        pause_s = float(sys.argv[2]) if len(sys.argv) > 2 else 0.0
        with tempfile.TemporaryDirectory() as folder:
            result = measure_kills(Path(folder), pause_s)
        for name, value in result.items():
            print(f"{name:36} {value:.4g}")
        path = Path(__file__).parent / "results" / "web_kills.json"
        records = json.loads(path.read_text()) if path.exists() else {}
        records[f"{pause_s:g} s between answers"] = result
        path.write_text(json.dumps(records, indent=2) + "\n")
        return
    with tempfile.TemporaryDirectory() as folder:
        result = measure(Path(folder))
    shown = {k: v for k, v in result.items() if not isinstance(v, dict)}
    for case in THINKING_S:
        shown |= {f"{case}: {name}": value for name, value in result[case].items()}
    for name, value in shown.items():
        print(f"{name:36} {value:.4g}")
    path = Path(__file__).parent / "results" / "web.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
