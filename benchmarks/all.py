"""Every benchmark, one after the other, then the table in benchmarks/README.md.

    python benchmarks/all.py [--only rivals scaling]        # hours in full; each part stands alone

Needs FIREASSAY_DATA for the parts on real data; those say so and are left out without it.
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

from peers import python_with_peers

HERE = Path(__file__).resolve().parent


def parts(peers: str) -> dict[str, list[str]]:
    """Commands by name; those with peers in one process run with the peers' Python."""
    ours = sys.executable
    script = {name: str(HERE / f"{name}.py") for name in (
        "scaling", "engine", "classifiers", "coverage", "curation", "ambiguity",
        "supervision", "discovery", "reliability", "survival", "web", "profiles")}  # fmt: skip
    return {
        "rivals": [peers, str(HERE / "rivals")],
        "scaling": [ours, script["scaling"]],
        "engine": [ours, script["engine"]],
        "classifiers": [ours, script["classifiers"]],
        "coverage": [ours, script["coverage"]],
        "curation": [ours, script["curation"], "--peer", peers, "--interval-rows", "847486",
                     "--stream", "100000000"],
        "ambiguity": [ours, script["ambiguity"], "--work", str(HERE / ".work")],
        "supervision": [peers, script["supervision"]],
        "discovery": [peers, script["discovery"]],
        "reliability": [ours, script["reliability"]],
        "survival": [ours, script["survival"], "--peer", peers],
        "web": [ours, script["web"]],
        "profiles": [ours, script["profiles"]],
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", nargs="+", help="names of parts")
    options = parser.parse_args()
    known = parts(python_with_peers())
    unknown = set(options.only or ()) - set(known)
    if unknown:
        parser.error(f"{', '.join(sorted(unknown))}: no such part; there are {', '.join(known)}")
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    failed = []
    for name in options.only or known:
        print(f"=== {name}", flush=True)
        started = time.monotonic()
        done = subprocess.run(known[name], env=environment, cwd=HERE.parent, check=False)
        print(f"=== {name}: {time.monotonic() - started:.0f} s", flush=True)
        if done.returncode:
            failed.append(name)
    subprocess.run([sys.executable, str(HERE / "table.py")], check=True)
    if failed:
        raise SystemExit(f"failed, and not in the table anew: {', '.join(failed)}")


if __name__ == "__main__":
    main()
