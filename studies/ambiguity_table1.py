"""Tables 1 and 4 to 7 of the ambiguity paper: clean and mixed-ambiguous training, both data sets.

    FIREASSAY_DATA=FOLDER python studies/ambiguity_table1.py --work FOLDER [--workers N]

At the paper's size: 20 autoencoders for each of 45 pairs, 60,000 nominal and 20,000 ambiguous rows,
10,000 of each to test, 5 trainings of four networks; the paper prints no epochs, here 10. The
DenseNet and the ResNet are narrow and stopped after 5 and 4. ``--models`` trains some of them and
leaves what is stored of the others. Ambiguous sets are kept in ``FOLDER/DATA``, what is finished in
``FOLDER/journal``: the same command goes on where it was stopped, and writes
studies/results/ambiguity_table1.json after each round of trainings. ``--quick``: minutes.
"""

import argparse
import json
from typing import Any

from commands import executor, options, write

from fireassay.core.evidence import host_size, library_versions
from fireassay.papers.ambiguity_published import BASELINE
from fireassay.papers.ambiguity_trainings import (
    DATA,
    KINDS,
    make_sets,
    networks,
    one_training,
)

SIZES = {"rows": 60_000, "ambiguous": 20_000, "tested": 10_000, "epochs": 10, "batch": 128,
         "tries": 20, "runs": 5}  # fmt: skip
QUICK = {"rows": 3_000, "ambiguous": 100, "tested": 100, "epochs": 1, "batch": 128,
         "tries": 2, "runs": 1}  # fmt: skip


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--data", nargs="+", choices=list(DATA), default=list(DATA))
    parser.add_argument("--models", nargs="+", choices=list(networks()), default=list(networks()))
    parser.add_argument("--preset", choices=("fast", "paper"), default="fast",
                        help="Of the autoencoders; as published takes 30 CPU hours.")  # fmt: skip
    for name, value in SIZES.items():
        parser.add_argument(f"--{name}", type=int, help=f"{value:,} if not given.")
    chosen = parser.parse_args()
    usual = QUICK if chosen.quick else SIZES
    settings: dict[str, Any] = {name: getattr(chosen, name) or usual[name] for name in SIZES}
    settings["preset"] = chosen.preset
    if chosen.quick:
        chosen.data = ["mnist"]
        settings["pairs"] = [(3, 8)]
    run(chosen, settings)


def stored_of_others(chosen: argparse.Namespace, new: dict[str, Any]) -> list[dict[str, Any]]:
    """Trainings of networks that are not asked for now, if they saw the same rows."""
    path = chosen.results / "ambiguity_table1.json"
    if chosen.quick or not path.exists():
        return []
    found = json.loads(path.read_text())
    if (found["settings"], hashes(found)) != (new["settings"], hashes(new)):
        return []
    return [part for part in found["parts"] if part["model"] not in chosen.models]


def hashes(results: dict[str, Any]) -> dict[str, list[str]]:
    """Which ambiguous sets were trained and tested on."""
    return {name: own["sha256"] for name, own in results.get("sets", {}).items()}


def run(chosen: argparse.Namespace, settings: dict[str, Any]) -> None:
    """All trainings of a round, then the next round; the results are there after each."""
    runs = settings.pop("runs")
    where = executor(chosen)
    shared: dict[str, Any] = {"work": str(chosen.work), "settings": settings}
    names = [*chosen.data, *([BASELINE] if "mnist" in chosen.data else [])]
    made = where.map(make_sets, [{"made": name} for name in names], shared, name="ambiguous sets")
    results: dict[str, Any] = {
        "versions": library_versions(), "host": host_size(), "settings": settings,
        "sets": dict(zip(names, made, strict=True)),
    }  # fmt: skip
    shared["sets"] = hashes(results)
    parts = stored_of_others(chosen, results)
    for i in range(runs):
        rows = [
            {"made": name, "training": training, "model": model, "run": i}
            for model in chosen.models
            for name, training in KINDS
            if name in names
        ]
        found = where.map(one_training, rows, shared, name=f"trainings, round {i + 1}")
        parts += [row | part for row, part in zip(rows, found, strict=True)]
        seconds = sum(own["cpu_seconds"] for own in (*made, *parts))
        write(chosen, "ambiguity_table1", results | {"parts": parts, "cpu_seconds": seconds})


if __name__ == "__main__":
    main()
