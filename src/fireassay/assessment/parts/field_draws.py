"""Random labelling of field rows with known probabilities, and the error bound from the labels."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay import statistics
from fireassay.assessment.context import Context
from fireassay.assessment.parts.accuracy_result import AccuracyResult
from fireassay.assessment.parts.part import PartAnswer
from fireassay.assessment.parts.supervision import suspicion
from fireassay.attacks import AttackSpace
from fireassay.classifiers import Classifier
from fireassay.core import DataError, Estimate, Result, generator, sha256
from fireassay.core.arrays import AnyArray, BoolArray, FloatArray, IntArray, largest
from fireassay.core.lazy import pd
from fireassay.data import DataSet
from fireassay.discovery import Search, SearchResult, SearchState
from fireassay.discovery.known_rows import place
from fireassay.discovery.label_files import keep_shown
from fireassay.discovery.result import CONFIDENCE, KNOWN_CHANCES
from fireassay.engine.labels.book import STATE_FILE

POOL_ROWS = 2000
# With fewer labels no plan expects the errors that make suspicion pay (`thinning`).
_TOO_FEW, _OUTSIDE = 50, 500


@dataclass(frozen=True, eq=False)
class FieldDraws(Result):
    """Rows drawn by lot among a pool, every one with a known chance, and their labels."""

    result: SearchResult
    source: str
    guide: str | None
    waiting: int
    plan: statistics.Thinning | None = None

    @property
    def state(self) -> SearchState:
        """The search: its pool, what was drawn with what chance, and the answers."""
        return self.result.state

    def frame(self) -> pd.DataFrame:
        """The rows that were drawn, as the search has them."""
        return self.result.frame()

    @property
    def error_rate(self) -> Estimate | None:
        """Of what the pool was drawn from, with a two-sided interval; None without labels."""
        n = len(self.result.wrong)
        if self.waiting or not n:
            return None
        if self.plan is None:
            return statistics.share(
                int(self.result.wrong.sum()), n, CONFIDENCE, rests_on=(KNOWN_CHANCES.id,)
            )
        drawn, wrong = self._rows()
        each = (1.0 + CONFIDENCE) / 2.0
        return Estimate.around(
            float(((drawn & wrong) / self.plan.chances).mean()),
            statistics.thinned_lower(self.plan, drawn, wrong, each),
            statistics.thinned_upper(self.plan, drawn, wrong, each),
            confidence=CONFIDENCE,
            n=n,
            method="betting on weighted draws",
            rests_on=(KNOWN_CHANCES.id,),
        )

    def upper_bound(self, confidence: float) -> Estimate | None:
        """Upper bound of the error rate that the pool was drawn from; None while labels miss."""
        n = len(self.result.wrong)
        if self.waiting or not n:
            return None
        if self.plan is None:
            upper = statistics.clopper_pearson(
                int(self.result.wrong.sum()), n, confidence, "upper"
            )[1]
            method = "Clopper-Pearson"
        else:
            upper = statistics.thinned_upper(self.plan, *self._rows(), confidence)
            method = "betting on weighted draws"
        rests_on = (KNOWN_CHANCES.id,)
        return Estimate.bound(float(upper), confidence, n, method, rests_on=rests_on)

    def _rows(self) -> tuple[BoolArray, BoolArray]:
        """For each row of the pool whether it was drawn, and is wrong or could not be labelled."""
        scores = self.state.scores
        assert scores is not None  # the draws of a plan are the rows of score 0
        drawn = np.zeros(len(scores), dtype=bool)
        drawn[self.state.rows] = scores == 0
        wrong = drawn.copy()
        wrong[self.result.rows] = self.result.wrong
        return drawn, wrong


def draw_labels(
    context: Context,
    space: AttackSpace,
    model: Classifier,
    test_pool: IntArray,
    budget: int,
) -> FieldDraws:
    """Draw rows of the field (else of the test rows) by lot, and label them."""
    # Where enough errors are expected, suspicious rows are drawn more often (`thinning`). Where
    # field rows have no labels, the search waits in the run folder for ``fireassay label``.
    source = "test" if context.operational is None else "operational"
    data = context.test if context.operational is None else context.operational
    supervised = context.results.get("supervision")
    scores = suspect = None
    if isinstance(supervised, PartAnswer):
        scores, suspect = suspicion(supervised, source, len(data))
    rows = test_pool if source == "test" else _field_pool(len(data), scores, context.seed)
    pool = data.subset(rows)
    X, budget = space.inside(pool.X), min(budget, len(pool))
    plan, guide = None, None
    if budget > _TOO_FEW:
        by_supervisor = _risk_by_supervisor(context, suspect, scores, rows)
        risks = by_supervisor or _risk_by_confidence(context, space, model, X, test_pool)
        made = None if risks is None else statistics.thinning(*risks, budget)
        if made is not None and made.even < 1.0:
            plan, guide = made, suspect if by_supervisor else "confidence"
    how: dict[str, Any] = {"name": "random", "budget": budget}
    if plan is not None:
        drawn = plan.draw(generator(context.seed, "field draws"))
        how = {"name": "score", "budget": int(drawn.sum()), "scores": (~drawn).astype(float)}
    path = _waiting_path(context, data)
    if path is not None and path.is_file():
        search = _going_on(path, X, how["name"])
    else:
        same = source == "test" or scores is None  # rows of the pool, whatever the model
        places = _places(context, data, rows, X, space) if same else None
        search = Search(
            model=model, X=X, threshold=0.0, ids=pool.ids, path=path, seed=context.seed,
            features=places, **how,
        )  # fmt: skip
        if path is not None:
            keep_shown(path, *_to_look_at(context, pool))
    if pool.y is not None:
        search.run(lambda row: pool.labels[row])
    return FieldDraws(search.result, source, guide, search.remaining, plan)


def _places(
    context: Context, data: DataSet, rows: IntArray, X: AnyArray, space: AttackSpace
) -> FloatArray:
    """Where the rows of the pool are, which no model changes."""
    inputs = context.digest(data), rows, space.sha256
    found: FloatArray = context.of_data("places", inputs, lambda: place(X, context.seed))
    return found


def _to_look_at(context: Context, pool: DataSet) -> tuple[Any, tuple[str, ...] | None, str]:
    """Rows as the user has them, not as codes; images in their natural range, 0 to 1."""
    values, natural = pool.rows.values, context.natural_range
    if natural is None:
        return values, pool.feature_names, pool.rows.form
    return values if pool.rows.form == "series" else natural.inside(values), None, pool.rows.form


def _risk_by_supervisor(
    context: Context, suspect: str | None, scores: FloatArray | None, rows: IntArray
) -> tuple[FloatArray, FloatArray] | None:
    """How likely rows of the pool and test rows are wrong, learnt on the labelled test rows."""
    from sklearn.isotonic import IsotonicRegression

    supervised, judged = context.results.get("supervision"), context.results.get("accuracy")
    if (
        scores is None
        or suspect is None
        or context.operational is None
        or not isinstance(supervised, PartAnswer)
        or not isinstance(judged, AccuracyResult)
    ):
        return None
    known, _ = suspicion(supervised, "test", len(context.test))
    if known is None:
        return None
    seen = ~np.isnan(known)
    curve = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
    curve.fit(known[seen], ~judged.correct[seen])
    return curve.predict(scores[rows]), curve.predict(known[seen])


def _risk_by_confidence(
    context: Context, space: AttackSpace, model: Classifier, X: Any, test_pool: IntArray
) -> tuple[FloatArray, FloatArray] | None:
    """One minus the confidence, of the pool and of test rows outside it, if there are any."""
    others = np.arange(len(context.test))
    if context.operational is None:
        others = np.setdiff1d(others, test_pool)
    if not len(others):
        return None
    outside = space.inside(context.test.X[others[:_OUTSIDE]])
    risk, other = (1.0 - largest(model.predict_proba(part)) for part in (X, outside))
    return risk, other


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


def _going_on(path: Path, X: NDArray[np.floating], name: str) -> Search:
    search = Search.load(path)
    if (search.state.name, search.state.data_sha256) != (name, sha256(X)):
        raise DataError(
            f"{path} must be the search of this run.",
            got="a search on other rows",
            do="Move it to another folder, then run again.",
        )
    return search
