"""Fig. 8 of the ambiguity paper: samples to look at, and what people keep of 300 of each set.

    python studies/ambiguity_fig8.py --work FOLDER
    fireassay serve FOLDER/review          # a person reviews them; then the first command again

``FOLDER`` is that of ambiguity_table1.py, which makes the sets. The paper chose its pictures by eye
among 300 of each test set; here 20 of the 300 are drawn as they come, and the 300 are a queue in
the app. What is kept of them goes into studies/results/ambiguity_fig8.json.
"""

from pathlib import Path
from typing import Any

import numpy as np
from commands import FIGURES, options, write
from PIL import Image

from fireassay.ambiguity.export import tiles
from fireassay.core.seeds import generator
from fireassay.engine.labels.book import LabelBook
from fireassay.papers.ambiguity_trainings import DATA
from fireassay.web.queue import QUEUES, read_queue
from fireassay.web.queue_state import queue_status
from fireassay.web.review import ExportedSamples, read_exported, write_review_queue

REVIEWED, DRAWN, ACROSS, ENLARGED = 300, 20, 10, 3


def chosen_at_random(made: ExportedSamples) -> ExportedSamples:
    """At most 300 samples of a set, the same ones each time."""
    rows = generator(0, "Fig. 8").permutation(len(made.X))[:REVIEWED]
    return ExportedSamples(made.X[rows], made.pairs[rows])


def outcome(run: Path, name: str) -> dict[str, Any]:
    """How many were reviewed and kept so far, with the interval of that share."""
    queue = read_queue(run / QUEUES / name)
    with LabelBook(run) as book:
        book.register(queue)
        status = queue_status(queue, book.slots(queue), book.answers(queue), adaptive=False)
    if status.precision is None:
        return {"queued": len(queue), "reviewed": 0}
    kept = status.precision.overall
    return {
        "queued": len(queue), "reviewed": kept.n, "kept": status.precision.verdicts["keep"],
        "share": kept.value, "low": kept.low, "high": kept.high,
    }  # fmt: skip


def main() -> None:
    chosen = options(__doc__).parse_args()
    run, found, drawn = chosen.work / "review", {}, []
    for name in DATA:
        folder = chosen.work / name / "test"
        if not folder.is_dir():
            print(f"no ambiguous set of {name} in {chosen.work}: run ambiguity_table1.py")
            continue
        samples = chosen_at_random(read_exported(folder))
        if not (run / QUEUES / name).is_dir():
            write_review_queue(run, samples, name=name, budget=len(samples.X))
        found[name] = outcome(run, name)
        drawn.append(samples.X[:DRAWN])
    if not found:
        raise SystemExit(1)
    write(chosen, "ambiguity_fig8", found)
    sheet = np.kron(tiles(np.concatenate(drawn), ACROSS), np.ones((ENLARGED, ENLARGED), np.uint8))
    where = chosen.work if chosen.quick else FIGURES
    Image.fromarray(sheet).save(where / "ambiguity_fig_8.png", optimize=True)
    print(f"drew Fig. 8 to {where}; to review: fireassay serve {run}", flush=True)


if __name__ == "__main__":
    main()
