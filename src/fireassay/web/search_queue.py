"""A queue whose next item is chosen by a discovery search, from the labels so far."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.errors import DataError
from fireassay.core.hashing import sha256
from fireassay.core.validation import check_features, check_integer
from fireassay.discovery.state_file import STATE_FILE
from fireassay.web.queue import save_queue
from fireassay.web.queue_items import check_choices, check_content, check_feature_names


def queue_from_search(
    folder: str | Path,
    X: ArrayLike | None = None,
    *,
    state_file: str = STATE_FILE,
    name: str = "search",
    kind: str | None = None,
    class_names: Sequence[str] | None = None,
    feature_names: Sequence[str] | None = None,
    annotators_per_item: int = 1,
    instructions: str = "",
) -> Path:
    """Let people label what a saved search asks for.

    Parameters
    ----------
    folder
        The run folder, with the search's file in it (made by ``Search(..., path=…)``).
    X
        The data that the search was made with (checked by hash); None: the rows that a waiting run
        keeps beside its search, as the data set has them.
    class_names
        Names for the buttons, in the order of the model's classes.
    state_file
        Name of the search's file.
    name, kind, feature_names, annotators_per_item, instructions
        As in `write_queue`.

    Returns
    -------
    Path
        The queue's folder. Labels given in the browser are the search's own, and the reverse.

    >>> import tempfile
    >>> import numpy as np
    >>> from fireassay import discovery
    >>> model = lambda X: np.column_stack([1 - X[:, 0], X[:, 0]])
    >>> X = np.array([[0.9], [0.8], [0.1]])
    >>> with tempfile.TemporaryDirectory() as run:
    ...     _ = discovery.Search("random", model=model, X=X, budget=2, path=f"{run}/search.npz")
    ...     queue_from_search(run, X, class_names=["cat", "dog"]).name
    'search'
    """
    run = Path(folder)
    from fireassay.discovery import Search
    from fireassay.discovery.shown_rows import ShownRows, shown_path

    state = Search.load(run / state_file).state
    if X is None:
        kept = ShownRows(run / state_file)
        if kept.values is None:
            raise DataError(
                f"{run} must have the rows of its search.",
                got=f"no {shown_path(run / state_file).name}",
                do="Pass the data: fireassay serve RUN --data field.npz.",
            )
        items, feature_names = kept.values, feature_names or kept.names or None
        kind = kind or kept.kind
        if items.ndim == 1:
            items, feature_names = items[:, None], feature_names or ("text",)
        if kind == "series" and items.ndim == 3:
            items = np.moveaxis(items, 1, -1)  # a queue has time first
    else:
        items = check_features(X)
        if sha256(items) != state.data_sha256:
            raise DataError(
                "X must be the data that the search was made with.",
                got="other values, types or rows",
                do="Pass the array that was given to Search(X=…).",
            )
        if kind == "series" and items.ndim == 3 and items.shape[1] < items.shape[2]:
            items = np.moveaxis(items, 1, 2)  # time is the longer side
    chosen = items[state.rows]
    kind = kind or ("image" if items.ndim in (3, 4) else "row")
    names = tuple(str(known) for known in (class_names or state.classes))
    if len(names) != len(state.classes):
        raise DataError(
            "class_names must name every class of the model.",
            got=f"{len(names)} for {len(state.classes)}",
        )
    return save_queue(
        run,
        name,
        check_content(chosen, kind),
        {
            "purpose": "label",
            "kind": kind,
            "choices": check_choices(names),
            "search": state.name,
            "budget": min(state.budget, len(chosen)) or None,
            "annotators_per_item": check_integer(
                annotators_per_item, "annotators_per_item", low=1, high=20
            ),
            "reveal": True,
            "instructions": str(instructions)[:4000],
            "feature_names": check_feature_names(feature_names, chosen, kind),
            "state_file": state_file,
            "search_sha256": state.identity,
        },
        ids=state.ids,
        predicted=state.predicted,
        confidence=state.confidence,
        rows=state.rows,
    )
