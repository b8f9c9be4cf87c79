"""Every study of the five papers, one after the other, then docs/papers.md.

    FIREASSAY_DATA=FOLDER python studies/all.py --work FOLDER [--workers N] [--quick] [--only NAME]

In the order of the claim decided per CPU minute. Each study has a folder of its own in ``--work``
and goes on where it was stopped; one that fails or whose data are missing is named at the end,
the others still run. With ``--quick`` nothing is written outside ``--work``: minutes for all.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

from commands import options

HERE = Path(__file__).parent
# Command, data it needs, CPU hours at full size (those from 1 hour on are estimates).
STUDIES = {
    "survival_archive": (["survival_archive.py"], ["deckard"], 0.01),
    "reliability_table1": (["reliability_table1.py"], ["reasdl"], 0.01),
    "authors_archives": (["authors_archives.py"], ["ambiguess", "advdist", "deckard"], 0.001),
    "curation": (["curation_case_studies.py"], ["nad"], 0.1),
    "superpixels": (["superpixels.py"], [], 0.05),
    "reliability_mnist": (["reliability_latent.py", "mnist"], ["mnist"], 0.3),
    "reliability_authors_mnist": (["reliability_authors_mnist.py"], ["reasdl", "mnist"], 0.1),
    "ambiguity": (["ambiguity_table1.py"], ["mnist", "fashion-mnist"], 3.5),
    "ambiguity_fig8": (["ambiguity_fig8.py"], ["mnist", "fashion-mnist"], 0.01),
    "ambiguity_networks": (["ambiguity_networks.py"], ["mnist", "fashion-mnist"], 0.9),
    "reliability_cifar10": (["reliability_latent.py", "cifar10"], ["cifar10"], 1.4),
    "discovery": (["discovery_errors.py"], ["cifar10", "fashion-mnist"], 1.5),
    "supervision": (["supervision_table2.py"], ["mnist", "fashion-mnist"], 4.5),
    "survival_cifar10": (["survival_cifar10.py"], ["cifar10"], 3),
}
WORKS_IN = {"ambiguity_fig8": "ambiguity"}  # goes on with what another study made
# Left out of the quick version: their networks take minutes, their runners are those of others.
NOT_QUICK = ("reliability_cifar10", "survival_cifar10")


def main() -> int:
    parser = options(__doc__)
    parser.add_argument("--only", nargs="+", choices=list(STUDIES))
    chosen = parser.parse_args()
    root = Path(os.environ.get("FIREASSAY_DATA", "."))
    wanted = chosen.only or [n for n in STUDIES if not (chosen.quick and n in NOT_QUICK)]
    trouble = []
    for name in wanted:
        command, data, hours = STUDIES[name]
        missing = [folder for folder in data if not (root / folder).is_dir()]
        if missing:
            trouble.append(f"{name}: no {', '.join(missing)} in FIREASSAY_DATA")
            continue
        print(f"== {name}" + ("" if chosen.quick else f", about {hours:g} CPU hours"), flush=True)
        started = time.monotonic()
        extra = ["--quick"] if chosen.quick else []
        if chosen.cluster:
            extra += ["--cluster", chosen.cluster]
        ended = subprocess.run(
            [sys.executable, str(HERE / command[0]), *command[1:], "--work",
             str(chosen.work / WORKS_IN.get(name, name)), "--workers", str(chosen.workers), *extra],
            check=False,
        )  # fmt: skip
        print(f"== {name}: {time.monotonic() - started:.0f} s", flush=True)
        if ended.returncode:
            trouble.append(f"{name}: ended with {ended.returncode}")
    if not chosen.quick:
        subprocess.run([sys.executable, str(HERE / "papers.py")], check=True)
    for line in trouble:
        print(f"not done: {line}", flush=True)
    return 1 if trouble else 0


if __name__ == "__main__":
    sys.exit(main())
