"""How many products DSA needs where all directions are alike, and how many a bound could spare.

    python benchmarks/dsa_bounds.py         # results/dsa_bounds.json; table.py shows it

The best distance of a row is taken as known, which no program has: a bound can spare no more. A
pair is spared where its distance along some directions, and by the lengths of what is left of
both rows, is larger than that. The directions are those of the class centres, then of the largest
spread. Products are done in blocks, so that a block keeps what any of its rows needs.
"""

import json
import sys
from pathlib import Path

import numpy as np
from figures import RESULTS

sys.path.append(str(Path(__file__).parent / "rivals"))
BLOCK = 128


def main():
    """Count, print and keep."""
    from supervision_rows import _simulated, met_rows

    train, known, test, predicted = _simulated(18_000, 10_000)
    classes = np.unique(known)
    own = sum((known == c).sum() * (predicted == c).sum() for c in classes)
    met = met_rows(train, known, test, predicted)
    other = sum((known[met] == c).sum() * (known != c).sum() for c in classes)
    width = train.shape[1]
    record = {
        "met": len(met),
        "own_gflop": 2e-9 * width * int(own),
        "other_gflop": 2e-9 * width * int(other),
        "bounds": [bound(train.astype(np.float64), known, met, further) for further in (0, 22, 55)],
    }
    (RESULTS / "dsa_bounds.json").write_text(json.dumps(record, indent=1) + "\n")
    print(json.dumps(record, indent=1))


def bound(train, known, met, further):
    """Shares of pairs, and of columns of a block, that remain possible."""
    rows = train - train.mean(axis=0)
    centres = np.array([rows[known == c].mean(axis=0) for c in np.unique(known)])
    basis = np.linalg.qr(centres.T)[0][:, : len(centres) - 1]
    left = rows - rows @ basis @ basis.T
    spread = np.linalg.eigh(left.T @ left)[1][:, ::-1][:, :further]
    basis = np.concatenate([basis, spread], axis=1)
    along = rows @ basis
    squares = np.einsum("ij,ij->i", rows, rows)
    rest = np.sqrt(np.maximum(squares - np.einsum("ij,ij->i", along, along), 0.0))
    pairs = columns = total = wide = 0
    for label in np.unique(known):
        mine, others = met[known[met] == label], known != label
        sums = squares[mine][:, None] + squares[others]
        best = (sums - 2 * rows[mine] @ rows[others].T).min(axis=1)
        least = sums - 2 * (along[mine] @ along[others].T + np.outer(rest[mine], rest[others]))
        possible = (least <= best[:, None])[np.argsort(best)]
        pairs, total = pairs + possible.sum(), total + possible.size
        for start in range(0, len(mine), BLOCK):
            block = possible[start : start + BLOCK]
            columns, wide = columns + block.any(axis=0).sum() * len(block), wide + block.size
    return {
        "directions": basis.shape[1],
        "pairs": float(pairs / total),
        "columns_of_a_block": float(columns / wide),
    }


if __name__ == "__main__":
    main()
