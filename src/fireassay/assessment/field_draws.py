"""Labels bought by lot: which rows, by whose suspicion, and what they say of the whole field."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fireassay.assessment.context import Context
from fireassay.assessment.part_answer import PartAnswer
from fireassay.assessment.parts.supervision import suspicion
from fireassay.attacks import AttackSpace
from fireassay.classifiers import Classifier
from fireassay.core import DataError, Estimate, Result, generator, sha256
from fireassay.core.arrays import FloatArray, IntArray
from fireassay.data import DataSet
from fireassay.discovery import Search, SearchResult, SearchState, estimate_error
from fireassay.discovery.labelling import STATE_FILE
from fireassay.discovery.shown_rows import keep_shown
from fireassay.discovery.result import KNOWN_CHANCES
from fireassay.statistics import clopper_pearson

POOL_ROWS = 2000
_SEARCH = "weighted"


@dataclass(frozen=True, eq=False)
class FieldDraws(Result):
    """A search that draws its rows by lot, every row of a pool with a known chance.

    Attributes
    ----------
    source
        ``"operational"`` or ``"test"``: where the pool comes from.
    guide
        Whose suspicion made a row more likely: a supervisor's name, or "confidence".
    waiting
        Labels that a person still has to give.
    """

    result: SearchResult
    source: str
    guide: str
    waiting: int

    @property
    def state(self) -> SearchState:
        """The search: its pool, what was drawn with what chance, and the answers."""
        return self.result.state

    def frame(self) -> pd.DataFrame:
        """The rows that were drawn, as the search has them."""
        return self.result.frame()

    def upper_bound(self, confidence: float) -> Estimate | None:
        """Upper bound of the error rate that the pool was drawn from; None while labels miss.

        With half of the error probability the pool has more errors than the betting interval of
        the draws allows; if not, with the other half the field's rate is above the exact binomial
        bound of that many errors in the pool. Both hold together with this confidence.
        """
        alpha = 1 - confidence
        found, pool = self.result, len(self.state.rows)
        if self.waiting or not len(found.wrong):
            return None
        chances = np.array(self.state.probabilities)
        rate = estimate_error(found.queried, found.wrong, chances, pool, confidence=confidence)
        most = int(np.floor(min(1.0, rate.high) * pool + 1e-9))
        upper = float(clopper_pearson(most, pool, 1 - alpha / 2, "upper")[1])
        method = "betting on weighted draws, then exact binomial"
        n = len(found.wrong)
        return Estimate.bound(upper, confidence, n, method, rests_on=(KNOWN_CHANCES.id,))


def draw_labels(
    context: Context,
    space: AttackSpace,
    model: Classifier,
    test_pool: IntArray,
    budget: int,
) -> FieldDraws:
    """Draw rows of the field (else of the test rows), suspicious ones more often, and label them.

    Where field rows have no labels, the search waits in the run folder for ``fireassay label``.
    """
    source = "test" if context.operational is None else "operational"
    data = context.test if context.operational is None else context.operational
    supervised = context.results.get("supervision")
    scores, guide = None, "confidence"
    if isinstance(supervised, PartAnswer):
        scores, supervisor = suspicion(supervised, source, len(data))
        guide = supervisor or guide
    rows = test_pool if source == "test" else _field_pool(len(data), scores, context.seed)
    low_is_suspicious = None if scores is None else -scores[rows]
    pool = data.subset(rows)
    path = _waiting_path(context, data)
    if path is not None and path.is_file():
        search = _going_on(path, space.inside(pool.X))
    else:
        search = Search(
            _SEARCH,
            model=model,
            X=space.inside(pool.X),
            threshold=0.0,
            budget=budget,
            scores=low_is_suspicious,
            ids=pool.ids,
            path=path,
            seed=context.seed,
        )
        if path is not None:
            keep_shown(path, pool.X, pool.feature_names)
    if pool.y is not None:
        search.run(lambda row: pool.labels[row])
    return FieldDraws(search.result, source, guide, search.remaining)


def answers_so_far(context: Context) -> tuple[tuple[int, object, str], ...]:
    """Labels that people have given to the search that waits in the run folder."""
    path = None if context.operational is None else _waiting_path(context, context.operational)
    return Search.load(path).state.labels if path is not None and path.is_file() else ()


def _field_pool(n: int, scores: FloatArray | None, seed: int) -> IntArray:
    """A random part of the field rows: those that have a score, which were chosen at random."""
    if scores is not None:
        return np.flatnonzero(~np.isnan(scores))
    return np.sort(generator(seed, "field pool").permutation(n)[:POOL_ROWS])


def _waiting_path(context: Context, data: DataSet) -> Path | None:
    store = context.executor.store
    return store.path / STATE_FILE if store is not None and data.y is None else None


def _going_on(path: Path, X: NDArray[np.floating]) -> Search:
    search = Search.load(path)
    if (search.state.name, search.state.data_sha256) != (_SEARCH, sha256(X)):
        raise DataError(
            f"{path} must be the search of this run.",
            got="a search on other rows",
            do="Move it to another folder, then run again.",
        )
    return search
