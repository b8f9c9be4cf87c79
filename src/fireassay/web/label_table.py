"""Labels of a queue as a table."""

from pathlib import Path

import pandas as pd

from fireassay.engine.labels.book import LabelBook
from fireassay.engine.labels.records import consensus
from fireassay.web.queue import QUEUES, read_queue

_COLUMNS = ["row", "id", "state", "label", "predicted", "confidence", "wrong", "answers"]


def labels(folder: str | Path, name: str) -> pd.DataFrame:
    """What people said about each answered item of a queue.

    Args:
        folder: The run folder.
        name: The queue.

    Returns:
        One row per item, in the order of the first answers, with ``row`` of the data set, ``id``,
            ``state`` ("settled", "conflict", "cannot tell"), ``label`` (None unless settled;
            "(other)" for a class that is not among the choices), the model's ``predicted`` class
            and ``confidence``, whether it is ``wrong``, and how many ``answers`` there are.

    >>> import tempfile
    >>> from fireassay import web
    >>> with tempfile.TemporaryDirectory() as run:
    ...     _ = web.write_queue(run, [[0.0], [1.0]], classes=["cat", "dog"], name="audit")
    ...     len(labels(run, "audit"))  # nobody has answered yet
    0
    """
    run = Path(folder)
    queue = read_queue(run / QUEUES / name)
    with LabelBook(run) as book:
        book.register(queue)
        found = consensus(book.answers(queue))
    rows = []
    for item, agreed in found.items():
        known = queue.has_prediction(item)
        label = agreed.label
        wrong = label != int(queue.predicted[item]) if known and label is not None else None
        said = None if label is None else queue.choice_name(label)
        predicted = queue.choices[int(queue.predicted[item])] if known else None
        confidence = float(queue.confidence[item]) if known else None
        answers = sum(answer.kind == "answer" for answer in agreed.answers)
        where = int(queue.rows[item]), str(queue.ids[item])
        rows.append((*where, agreed.state, said, predicted, confidence, wrong, answers))
    return pd.DataFrame(rows, columns=_COLUMNS)
