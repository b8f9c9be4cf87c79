"""Table I and Figs. 1 to 9 of "Harnessing Adversarial Distances …", its three mechanisms rebuilt.

    FIREASSAY_DATA=FOLDER python studies/discovery_errors.py --work FOLDER [--workers N]

bias: CIFAR-10 cats and dogs, no dark cat was learnt. shift: the same, learnt in colour, searched in
grey. overfitting: Fashion-MNIST sandals and sneakers, 75 epochs. As in the paper: eight
convolutional and three linear layers, a temperature fitted on held-out images, up to 2,000
candidates predicted critical above .65 (all, where fewer exist), 1,000 replications, 50 labels, the
boundary attack (1,000 queries; theirs are up to 25,000: ``--boundary 25000``, about 18 CPU hours)
beside HopSkipJump. Twin trees and the other searches by a second model learn from 200 of the
held-out images; what is stored was searched without them. The paper has one network of each; so has
what is stored, ``--seeds 0 1 2`` trains three. Models are journalled, their weights, attacks and
replications too. Figs. 8 and 9 show images of the data sets and stay in ``--work``; what they show
is counted over the first 50 errors. ``--figures`` only draws what is stored.
"""

import json

import numpy as np
from commands import draw, draw_to, executor, options, write

from fireassay.papers.discovery_figures import figures
from fireassay.papers.discovery_run import one_classifier
from fireassay.papers.error_mechanisms import MECHANISMS
from fireassay.papers.error_pictures import explained_errors, pictures

SIZES = {"rows": 1_000_000, "epochs": 75, "width": 16, "candidates": 2_500, "replications": 1_000,
         "boundary": 1_000, "hopskipjump": 500}  # fmt: skip
QUICK = {"rows": 1_500, "epochs": 4, "width": 4, "candidates": 150, "replications": 4,
         "boundary": 60, "hopskipjump": 40}  # fmt: skip


def stored(folder):
    """What is stored by kind of error."""
    found = {
        kind: [json.loads(path.read_text()) for path in sorted(folder.glob(f"{kind}-*.json"))]
        for kind in MECHANISMS
    }
    return {kind: models for kind, models in found.items() if models}


def others(chosen, rows):
    """What is stored of the superpixels of networks that are not asked for now."""
    path = chosen.results / "discovery_superpixels.json"
    if chosen.quick or not path.exists():
        return []
    asked = [(row["kind"], row["seed"]) for row in rows]
    found = json.loads(path.read_text())["models"]
    return [model for model in found if (model["kind"], model["seed"]) not in asked]


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--kinds", nargs="+", choices=list(MECHANISMS), default=list(MECHANISMS))
    parser.add_argument("--seeds", nargs="+", type=int, default=[0], help="A network each.")
    parser.add_argument("--boundary", type=int, help="Queries of that attack; theirs up to 25,000.")
    parser.add_argument("--figures", action="store_true", help="Only draw what is stored.")
    chosen = parser.parse_args()
    if not chosen.figures:
        kinds = ["overfitting"] if chosen.quick else chosen.kinds
        rows = [{"kind": kind, "seed": seed} for seed in chosen.seeds for kind in kinds]
        settings = QUICK if chosen.quick else SIZES
        settings = settings | {"boundary": chosen.boundary or settings["boundary"]}
        shared = {"work": str(chosen.work), "settings": settings}
        where = executor(chosen)
        found = where.map(one_classifier, rows, shared, name="classifiers")
        for row, result in zip(rows, found, strict=True):
            write(chosen, f"discovery/{row['kind']}-{row['seed']}", result)
        told = where.map(explained_errors, rows, shared, name="superpixels of errors")
        counts = [row | result for row, result in zip(rows, told, strict=True)]
        write(chosen, "discovery_superpixels", {"models": [*others(chosen, rows), *counts]})
        kept = chosen.work / f"{rows[0]['kind']}-{rows[0]['seed']}" / "pictures.npz"
        if kept.exists():
            with np.load(kept, allow_pickle=False) as arrays:
                draw_to(chosen.work, "discovery", pictures(arrays))
    folder = chosen.work if chosen.quick else chosen.results
    draw(chosen, "discovery", figures(stored(folder / "discovery")))


if __name__ == "__main__":
    main()
