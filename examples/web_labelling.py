"""Ask two people for labels, and see what may be concluded.

Writes a run folder with a search and its queue, lets two simulated people label (in the browser
they would see the pictures: ``fireassay serve FOLDER``), and reads the labels back.
"""

import tempfile
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

from fireassay import discovery, web
from fireassay.data import digits, split
from fireassay.web.workspace import Workspace


def main() -> None:
    train, pool = split(digits(), (0.15, 0.85), seed=0)
    flat = LogisticRegression(max_iter=300).fit(train.X.reshape(len(train), -1), train.y)

    def model(X):
        return flat.predict_proba(np.asarray(X).reshape(len(X), -1))

    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        run.mkdir()
        discovery.Search(
            "low-confidence", model=model, X=pool.X, budget=40, seed=0, path=run / "search.npz"
        )
        web.queue_from_search(run, pool.X, annotators_per_item=2)

        workspace = Workspace([run])
        (queue,) = workspace.queues().values()
        careless = np.random.default_rng(1)
        for name in ("careful", "careless"):
            while (lease := queue.lease(name, name)) is not None:
                truth = int(pool.y[queue.queue.rows[lease.item]])
                slip = name == "careless" and careless.random() < 0.1
                label = (truth + 1) % 10 if slip else truth
                queue.book.answer(queue.queue, lease.token, label)
        status = queue.status()
        workspace.close()

        print(f"agreement (Fleiss' kappa): {status.agreement.fleiss}")
        print(f"conflicts to resolve: {len(status.conflicts)}")
        now = status.curve.now
        print(
            f"{now.errors} errors in {now.n} labels, {now.expected:.1f} expected:"
            f" ratio {now.value:.2f} [{now.low:.2f}, {now.high:.2f}]"
        )
        print(web.labels(run, "search").head())


if __name__ == "__main__":
    main()
