"""Errors found by every search, over worlds, calibration labels and budgets: who falls behind?

    python benchmarks/discovery_regret.py WORLDS --work FOLDER [--repetitions 20] [--worlds A B]

WORLDS is the folder of ``discovery_worlds.py``. A repetition draws up to 1,000 calibration rows and
up to 2,000 candidates (confidence above .65) from a world, anew; every search gets the same. All
labels go into the search, none into an audit: budgets 50 and 100 are the first labels of 200. What
is finished is journalled in ``--work``; the same command goes on. Adversarial distances (250
queries of HopSkipJump) exist for worlds of images; "score" is Mahalanobis there and elsewhere.
``--table`` only writes the table of what is stored.
"""

import argparse
import functools
import json
import time
from pathlib import Path

import numpy as np

from fireassay.core.seeds import generator
from fireassay.discovery.adversarial_distance import adversarial_distance
from fireassay.discovery.fixed_searches import SEARCHES
from fireassay.discovery.known_rows import KnownRows, answer_numbers, input_numbers
from fireassay.discovery.space import principal_components
from fireassay.discovery.strategy import Candidates, spent
from fireassay.engine import Executor, RunStore

SEARCHED = ("random", "low-confidence", "adversarial-distance", "hybrid", "mahalanobis",
            "knn-disagreement", "second-opinion", "error-model", "twin-trees")  # fmt: skip
BUDGETS = (50, 100, 200)
CALIBRATION = (0, 50, 200, 1000)
CANDIDATES = 2000
RESULTS = Path(__file__).parent / "results" / "discovery_regret.json"


@functools.cache
def load_world(path):
    """Numbers of every row, made once without labels; calibration rows from elsewhere come last."""
    with np.load(path) as file:
        world = {name: file[name] for name in file.files}
    X, p, y = world["X"], world["p"], world["y"]
    n = len(X)
    if "columns" in world:
        import pandas as pd

        X = pd.DataFrame(X[:, :-3]).assign(
            **{f"name {i}": names for i, names in enumerate(world["columns"].T)}
        )
    if "X_cal" in world:
        X = np.concatenate([X, world["X_cal"]])
        p, y = np.concatenate([p, world["p_cal"]]), np.concatenate([y, world["y_cal"]])
    return {
        "inputs": input_numbers(X, 0),
        "answers": answer_numbers(p),
        "confidence": p.max(axis=1),
        "predicted": p.argmax(axis=1),
        "y": y.astype(np.int64),
        "own": n,
        "logs": world.get("log_mae"),
    }


def mahalanobis(inputs, rows, labels, pool, predicted):
    """Distance of each candidate from the mean of the class it is said to be, pooled covariance."""
    if len(rows) < 2:
        return np.zeros(len(pool))
    means = {c: inputs[rows[labels == c]].mean(axis=0) for c in np.unique(labels)}
    overall = inputs[rows].mean(axis=0)
    centred = inputs[rows] - np.array([means[c] for c in labels])
    spread = np.cov(centred.T) + 0.1 * np.eye(inputs.shape[1])
    gaps = inputs[pool] - np.array([means.get(c, overall) for c in predicted])
    return np.einsum("ij,ij->i", gaps @ np.linalg.inv(spread), gaps)


def repetition(row, worlds, searches):
    """Errors after each label, and CPU seconds, of every search in one repetition."""
    world = load_world(Path(worlds) / f"{row['world']}.npz")
    return {
        str(k): one_draw(world, row["number"], k, searches) for k in row.get("known", CALIBRATION)
    }


def one_draw(world, number, known, searches):
    rng = generator(number, "regret")
    own, total = world["own"], len(world["y"])
    order = rng.permutation(own)
    labelled = rng.permutation(np.arange(own, total)) if total > own else order
    rest = order if total > own else order[max(CALIBRATION) :]
    if total == own and own < 3 * max(CALIBRATION):  # small worlds keep two thirds to search in
        rest = order[own // 3 :]
        labelled = order[: own // 3]
    labelled = labelled[:known]
    pool = np.sort(rest[world["confidence"][rest] > 0.65][:CANDIDATES])
    at = np.concatenate([pool, labelled])
    wrong = world["predicted"][pool] != world["y"][pool]
    kept = KnownRows(
        world["inputs"][at], world["answers"][at], world["predicted"][labelled],
        world["confidence"][labelled], world["y"][labelled],
        world["confidence"][labelled] > 0.65,
    )  # fmt: skip
    confidence = world["confidence"][pool]
    space = principal_components(world["inputs"][pool])
    found = {"candidates": len(pool), "errors": int(wrong.sum()), "calibration": len(labelled)}
    for name in searches:
        scores = None
        if name in ("adversarial-distance", "hybrid"):
            if world["logs"] is None:
                continue
            scores = adversarial_distance(log_mae=world["logs"][pool], confidence=confidence)
        if name == "mahalanobis":
            scores = -mahalanobis(world["inputs"], labelled, world["y"][labelled], pool,
                                  world["predicted"][pool])  # fmt: skip
        candidates = Candidates(confidence, space, scores, number, world["predicted"][pool], kept)
        search = SEARCHES["score" if name == "mahalanobis" else name]
        start = time.process_time()
        queried = spent(
            search, candidates, wrong, world["y"][pool], min(max(BUDGETS), len(pool)),
            generator(number, name, known),
        )  # fmt: skip
        curve = np.cumsum(wrong[queried])
        found[name] = [int(curve[min(b, len(curve)) - 1]) for b in BUDGETS]
        found[f"{name} seconds"] = round(time.process_time() - start, 2)
    return found


def summary(stored):
    """Mean errors with 95 % intervals over repetitions, and ratios to the best search."""
    lines = []
    for world, numbers in stored.items():
        for known in map(str, CALIBRATION):
            draws = [draw[known] for draw in numbers if known in draw]
            if not draws:
                continue
            for at, budget in enumerate(BUDGETS):
                for name in SEARCHED:
                    values = np.array([draw[name][at] for draw in draws if name in draw])
                    if len(values):
                        half = 1.96 * values.std(ddof=1) / np.sqrt(len(values))
                        lines.append({
                            "world": world, "known": int(known), "budget": budget, "search": name,
                            "mean": round(float(values.mean()), 2), "half": round(float(half), 2),
                            "n": len(values),
                            "pool_errors": round(float(np.mean([d["errors"] for d in draws])), 1),
                        })  # fmt: skip
    for line in lines:
        same = [
            o["mean"] for o in lines if all(o[k] == line[k] for k in ("world", "known", "budget"))
        ]
        line["of_best"] = round(line["mean"] / max(1e-9, max(same)), 3)
    return lines


def table(lines, known):
    """Markdown: errors found with 50/100/200 labels by search and world, ± at 200 labels."""
    chosen = [o for o in lines if o["known"] == known]
    worlds = list(dict.fromkeys(o["world"] for o in chosen))
    head = [f"{known} calibration labels", *worlds]
    rows = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for name in SEARCHED:
        cells = []
        for world in worlds:
            own = [o for o in chosen if (o["search"], o["world"]) == (name, world)]
            found = "/".join(f"{o['mean']:.0f}" for o in own)
            cells.append(f"{found} ± {own[-1]['half']:.0f}" if own else "–")
        rows.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(rows)


def regrets(lines):
    """Markdown: the smallest share of the best search's errors over worlds, with its world."""
    cases = [(known, budget) for known in CALIBRATION for budget in BUDGETS]
    head = ["worst share of the best", *(f"{known}, {budget}" for known, budget in cases)]
    rows = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for name in SEARCHED:
        cells = []
        for case in cases:
            own = [o for o in lines if (o["known"], o["budget"]) == case and o["search"] == name]
            worst = min(own, key=lambda line: line["of_best"])
            cells.append(f"{worst['of_best']:.2f} ({worst['world']})")
        rows.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--work", type=Path, default=Path("regret-work"))
    parser.add_argument("--repetitions", type=int, default=20)
    parser.add_argument("--worlds", nargs="+")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--table", action="store_true")
    chosen = parser.parse_args()
    if not chosen.table:
        names = chosen.worlds or sorted(path.stem for path in chosen.folder.glob("*.npz"))
        rows = [{"world": name, "number": i} for i in range(chosen.repetitions) for name in names]
        with RunStore(chosen.work) as store:
            shared = {"worlds": str(chosen.folder.resolve()), "searches": SEARCHED}
            found = Executor(workers=1, store=store).map(repetition, rows, shared, name="regret")
        by_world = {name: [] for name in names}
        for row, draw in zip(rows, found, strict=True):
            by_world[row["world"]].append(draw)
        lines = [json.dumps(line) for line in summary(by_world)]
        chosen.results.write_text("[" + ",\n".join(lines) + "]\n")
    lines = json.loads(chosen.results.read_text())
    print(table(lines, 200), regrets(lines), sep="\n\n")


if __name__ == "__main__":
    main()
