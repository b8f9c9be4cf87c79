"""Which label model should order? What an audit chooses on the nine case studies.

    FIREASSAY_DATA=FOLDER python benchmarks/label_choice.py [--draws 20]

FOLDER/nad holds votes and true labels of the nine case studies of natural adversarial datasets;
every part with labels is a task (of more than 20,000 rows the first). For each label model: the
rank correlation of decile and true error, and the mean accuracy of the ten nested sets. Then 50,
100 and 200 labels are drawn as `audit_rows` does, and `stability(audit=…)` chooses. "votes fit" is
the label model that explains the votes best, without any label. Writes
benchmarks/results/label_choice.json.
"""

import argparse
import json
import os
from pathlib import Path

import numpy as np

from fireassay import curation
from fireassay.statistics import spearman

ROWS, AUDITS = 20_000, (50, 100, 200)
RESULTS = Path(__file__).parent / "results" / "label_choice.json"


def tasks(folder):
    for path in sorted(folder.glob("*_L_*.npy")):
        truth = folder / path.name.replace("_L_", "_Y_")
        if truth.exists():
            yield path.stem.replace("_L_", " "), np.load(path)[:ROWS], np.load(truth)[:ROWS]


def judged(votes, y, labeler):
    """Correlation of decile and true error, worst decile, mean accuracy of the nested sets."""
    trend = curation.curate(votes, labeler=labeler).validate(y, n_permutations=1)
    _, accuracy, _ = trend.added
    return {
        "deciles": spearman(np.arange(len(accuracy)), 1 - accuracy)[0],
        "worst decile": float(accuracy.min()),
        "nested": float(trend.accuracy.mean()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=20)
    draws = parser.parse_args().draws
    found = []
    for name, votes, y in tasks(Path(os.environ["FIREASSAY_DATA"]) / "nad"):
        by = {labeler: judged(votes, y, labeler) for labeler in curation.LABELERS}
        result = curation.curate(votes)
        panel = result.stability(seeds=(0,)).panel.set_index("labeler")
        best = max(by, key=lambda labeler: by[labeler]["nested"])
        chosen = {"votes fit": [str(panel["votes_fit"].idxmax())]}
        for size in AUDITS:
            if size <= result.n // 2:
                rng = np.random.default_rng(size)
                picks = []
                for _ in range(draws):
                    each = [rng.permutation(part)[: size // 10] for part in result.added_rows]
                    rows = np.concatenate(each)
                    picks.append(result.stability(seeds=(0,), audit=(rows, y[rows])).trusted)
                chosen[str(size)] = picks
        means = {how: float(np.mean([by[p]["nested"] for p in ps])) for how, ps in chosen.items()}
        picked = {how: {p: ps.count(p) for p in sorted(set(ps))} for how, ps in chosen.items()}
        task = {"task": name, "rows": len(y), "labelers": by, "best": best}
        found.append(task | {"chosen": means, "picks": picked})
        print(
            name, len(y), f"best {best} {by[best]['nested']:.3f}, majority "
            f"{by['majority']['nested']:.3f}", {k: round(v, 3) for k, v in means.items()}
        )  # fmt: skip
    RESULTS.write_text("[" + ",\n".join(map(json.dumps, found)) + "]\n")
    for labeler in curation.LABELERS:
        rhos = [task["labelers"][labeler]["deciles"] for task in found]
        nested = [task["labelers"][labeler]["nested"] for task in found]
        short = [max(r["nested"] for r in t["labelers"].values()) for t in found]
        gap = np.max(np.subtract(short, nested))
        print(
            f"{labeler}: deciles mean {np.mean(rhos):.2f}, least {min(rhos):.2f}; "
            f"nested mean {np.mean(nested):.3f}, at most {gap:.3f} short"
        )
    for how in ("votes fit", *map(str, AUDITS)):
        own = [t for t in found if how in t["chosen"]]
        gain = [t["chosen"][how] - t["labelers"]["majority"]["nested"] for t in own]
        print(
            f"chosen by {how}: {np.mean(gain):+.3f} to majority in {len(own)} tasks, "
            f"least {min(gain):+.3f}, most {max(gain):+.3f}"
        )


if __name__ == "__main__":
    main()
