"""Tables 4 and 5 of the ambiguity paper, clean training, on the networks that its program builds.

    FIREASSAY_DATA=FOLDER python studies/ambiguity_networks.py --work FOLDER [--runs N]

Their program trains each network once for these tables. Only nominal rows are learnt and tested:
the ambiguous ones are theirs. Journalled; writes studies/results/ambiguity_networks.json after each
round.
"""

from commands import executor, options, write

from fireassay.core.evidence import host_size, library_versions
from fireassay.papers.ambiguity_trainings import DATA
from fireassay.papers.published_networks import PUBLISHED_NETWORKS, nominal_training


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--models", nargs="+", default=list(PUBLISHED_NETWORKS))
    parser.add_argument("--runs", type=int, default=2, help="Trainings of each network.")
    chosen = parser.parse_args()
    shared = {"rows": 500, "epochs": 1} if chosen.quick else {"rows": None, "epochs": None}
    where, parts = executor(chosen), []
    for i in range(1 if chosen.quick else chosen.runs):
        for model in chosen.models:
            rows = [{"model": model, "data": data, "run": i} for data in DATA]
            found = where.map(nominal_training, rows, shared, name=f"{model}, round {i + 1}")
            parts += [row | part for row, part in zip(rows, found, strict=True)]
            seconds = sum(part["cpu_seconds"] for part in parts)
            results = {"versions": library_versions(), "host": host_size(), "settings": shared}
            write(chosen, "ambiguity_networks", results | {"parts": parts, "cpu_seconds": seconds})


if __name__ == "__main__":
    main()
