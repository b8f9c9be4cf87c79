"""A model as an attack sees it: flat rows, bounds, one class to leave, and exact counts."""

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fireassay.attacks import inputs
from fireassay.attacks.attack_space import AttackSpace
from fireassay.attacks.norms import NORMS, length, project
from fireassay.attacks.result import ALREADY_WRONG, FOUND, NOT_FOUND, AttackResult
from fireassay.classifiers.kept_answers import asking_anew
from fireassay.classifiers.protocol import backward_passes, score_gradient
from fireassay.core.arrays import AnyArray, BoolArray, FloatArray, IntArray, softmax
from fireassay.core.errors import ModelError, ParameterError
from fireassay.core.seeds import check_seed, generator
from fireassay.core.validation import check_class_indices, check_features, check_integer, check_real

Index = IntArray


class AttackedModel:
    """The state of one attack on ``n`` samples.

    Points are rows of an ``(m, d)`` array; ``rows`` says to which sample each of them belongs.
    Every question to the model goes through here, so that the counts are exact and the limit is
    hard. `check` is the only way in which a sample can fall. An answer that the model withholds
    (``withheld(probabilities)``) is no failure and counts as the class attacked. A model whose
    answers are random says which are failures (``mostly_wrong(probabilities, goal)``).

    Args:
        attack: Name of the attack, which names its random numbers and its result.
        model, X, y, norm, seed, mask: As in every attack.
        max_queries: Hard limit of forward queries per sample.
        eps: If given, only points within this distance count.
        needs_gradients: Whether to refuse a model without them.
        norms: In which the attack can measure.
        moves: Columns of an `AttackSpace`: ``"reals"``, or ``"all"`` (integers, categories, too).

    >>> half = lambda X: np.column_stack([1 - X[:, 0], X[:, 0]])
    >>> target = AttackedModel("a step right", half, [[0.4], [0.1]], [0, 0], norm="l2", seed=0)
    >>> rows = target.begin(np.arange(target.n))
    >>> target.check(target.original[rows] + 0.2, rows).tolist()
    [True, False]
    >>> target.result().queries.tolist()  # one before, one for the step
    [2, 2]
    """

    def __init__(
        self,
        attack: str,
        model: Any,
        X: ArrayLike,
        y: ArrayLike | None,
        *,
        norm: str,
        seed: int,
        max_queries: int | None = None,
        eps: float | None = None,
        mask: ArrayLike | None = None,
        needs_gradients: bool = False,
        moves: str = "reals",
        norms: Sequence[str] = NORMS,
    ) -> None:
        if norm not in norms:
            wanted = " or ".join(repr(name) for name in norms)
            raise ParameterError(f"The 'norm' of {attack} must be {wanted}.", got=repr(norm))
        self.attack, self.norm = attack, norm
        self.seed = check_seed(seed)
        self.model = inputs.checked_classifier(model, needs_gradients=needs_gradients)
        features = check_features(X)
        self.n, self.shape, self.dtype = len(features), features.shape[1:], features.dtype
        self.original = np.ascontiguousarray(features).reshape(self.n, -1)
        self.space: AttackSpace | None = getattr(self.model, "space", None)
        self.mask = inputs.checked_mask(mask, self.shape)
        self.low, self.high = inputs.bounds_of(self.model, self.dtype)
        if self.space is None:
            inputs.check_inside(self.original, self.low, self.high)
        else:
            self.low, self.high = (end.astype(self.dtype) for end in self.space.scaled_range())
            self.mask &= self.space.reals if moves == "reals" else self.space.moving
            inputs.check_some_free(self.mask)
            self.stays = self.space.holes(self.original)
        self.free = np.flatnonzero(self.mask)
        limit = np.iinfo(np.int64).max
        self.limit = limit if max_queries is None else check_integer(max_queries, "max_queries")
        self.eps = np.inf if eps is None else check_real(eps, "eps", low=0.0)
        self.queries = np.zeros(self.n, dtype=np.int64)
        self.gradient_queries = np.zeros(self.n, dtype=np.int64)
        self.shared_queries = 0
        self.labelled = y is not None
        self.goal = np.full(self.n, -1, dtype=np.int64)
        if y is not None:
            self.goal = check_class_indices(y, self._classes(), n=self.n)
        self._box: tuple[float, AnyArray, AnyArray] | None = None
        self.best = self.original.copy()
        self.distance = np.full(self.n, np.inf)
        self.status = np.full(self.n, NOT_FOUND, dtype="<U13")
        self.before = np.zeros((2, self.n))
        self.failed_at = np.full((2, self.n), np.inf)

    def generators(self, rows: Index) -> list[np.random.Generator]:
        """One generator per sample, named by its content: order and batch do not matter."""
        contents = (hashlib.sha256(self.original[row].tobytes()).hexdigest() for row in rows)
        return [generator(self.seed, self.attack, content) for content in contents]

    def queries_left(self, rows: Index) -> Index:
        """Forward queries that are left for each of these samples."""
        return np.asarray(self.limit - self.queries[rows])

    def inside(self, points: AnyArray, rows: Index) -> AnyArray:
        """Points as the model will get them: fixed features kept, clipped, rounded to X's type."""
        low, high = self.low, self.high
        if self.space is not None:
            samples = self.original[rows]
            low, high = np.minimum(low, samples), np.maximum(high, samples)
            low = np.where(self.space.increasing, samples, low)
        rounded: AnyArray = np.clip(points, low, high).astype(self.dtype)
        if self.space is not None and self.stays.any():
            rounded = np.where(self.stays[rows], samples, rounded)
        if len(self.free) < len(self.mask):
            rounded[:, ~self.mask] = self.original[rows][:, ~self.mask]
        return rounded

    def within(self, points: AnyArray, rows: Index, radius: float) -> AnyArray:
        """Points pulled back into the ball of ``radius`` around their samples, and `inside`.

        The ball is shrunk by what rounding can add, so that the distance never exceeds ``radius``.
        """
        centre = self.original[rows].astype(np.float64)
        moves = project(points - centre, self.norm, self._radii(centre, radius))
        return self.inside(centre + moves, rows)

    def box(self, rows: Index, radius: float) -> tuple[AnyArray, AnyArray]:
        """Lowest and highest values of the linf ball: clipping at them is `within`."""
        if self._box is None or self._box[0] != radius:
            centre = self.original.astype(np.float64)
            radii, everyone = self._radii(centre, radius)[:, None], np.arange(self.n)
            lowest, highest = (self.inside(centre + side * radii, everyone) for side in (-1, 1))
            self._box = radius, lowest, highest
        _, low, high = self._box
        return (low, high) if len(rows) == self.n else (low[rows], high[rows])

    def _radii(self, centre: FloatArray, radius: float) -> FloatArray:
        """The radius less what rounding can add to a distance, for each row."""
        largest = np.maximum(np.abs(centre.max(axis=1)), np.abs(centre.min(axis=1))) + radius
        spread = {"linf": 1.0, "l2": np.sqrt(centre.shape[1]), "l1": centre.shape[1], "l0": 0.0}
        rounding = spread[self.norm] * np.spacing(largest.astype(self.dtype)).astype(np.float64)
        return np.asarray(np.maximum(radius - rounding, 0.0))

    def probabilities(self, points: AnyArray, rows: Index) -> FloatArray:
        """Class probabilities, certain of the attacked class where withheld; one forward query."""
        answers, _ = self.answers(points, rows)
        withheld = self._withheld(answers)
        if withheld.any():
            answers = answers.copy()
            answers[withheld] = 0.0
            answers[withheld, self.goal[rows[withheld]]] = 1.0
        return answers

    def answers(self, points: AnyArray, rows: Index) -> tuple[FloatArray, BoolArray]:
        """Class probabilities as the model gives them, and which answers are failures.

        One forward query each; an answer that is withheld is no failure.
        """
        if not len(rows):
            return np.zeros((0, 1)), np.zeros(0, dtype=np.bool_)
        np.add.at(self.queries, rows, 1)
        with asking_anew(self.model):
            found = self.model.predict_proba(points.reshape(len(points), *self.shape))
        answers = np.asarray(found, dtype=np.float64)
        return answers, self._failures(answers, rows)

    def logits(self, points: AnyArray, rows: Index) -> FloatArray:
        """Scores before the softmax, of a model that has them; one forward query each."""
        np.add.at(self.queries, rows, 1)
        return np.asarray(self.model.logits(points.reshape(len(points), *self.shape)))

    def seems_wrong(self, logits: FloatArray, rows: Index) -> BoolArray:
        """Whether logits that are known already give another class than the one attacked."""
        if not hasattr(self.model, "withheld") and not hasattr(self.model, "mostly_wrong"):
            return np.asarray(logits.argmax(axis=1) != self.goal[rows])
        return self._failures(softmax(logits), rows)

    def is_wrong(self, points: AnyArray, rows: Index) -> BoolArray:
        """Whether each point gets another class than the one attacked; one forward query each."""
        return self.answers(points, rows)[1]

    def loss_gradient(self, points: AnyArray, rows: Index) -> tuple[FloatArray, AnyArray]:
        """Logits and the gradient of the cross-entropy; one forward and one gradient query each."""
        self._count_gradients(rows, 1)
        shaped = points.reshape(len(points), *self.shape)
        logits, gradient = self.model.loss_gradient(shaped, self.goal[rows])
        return logits, self._masked(gradient, (len(points), -1))

    def score_gradient(
        self,
        points: AnyArray,
        rows: Index,
        columns: Index,
        loss: Callable[[FloatArray, Index], tuple[Any, FloatArray]],
    ) -> tuple[FloatArray, AnyArray]:
        """Logits and the gradient of a loss of them (see `losses`); one forward query each.

        One gradient query each, too; from a model that is not ours one for every class.
        """
        self._count_gradients(rows, backward_passes(self.model))
        shaped = points.reshape(len(points), *self.shape)
        logits, gradient = score_gradient(
            self.model, shaped, columns, lambda scores, some: loss(scores, some)[1]
        )
        return logits, self._masked(gradient, (len(points), -1))

    def logit_gradients(
        self, points: AnyArray, rows: Index, columns: Index
    ) -> tuple[FloatArray, AnyArray]:
        """Logits and gradients of chosen logits; one forward query and m gradient queries each."""
        self._count_gradients(rows, columns.shape[1])
        shaped = points.reshape(len(points), *self.shape)
        logits, gradients = self.model.logit_gradients(shaped, columns)
        return logits, self._masked(gradients, (*columns.shape, -1))

    def begin(self, rows: Index) -> Index:
        """Predict the samples themselves; returns those that an attack still has to break."""
        rows = rows[self.queries_left(rows) >= 1]
        return self.begin_with(self.probabilities(self.original[rows], rows), rows)

    def begin_with(self, scores: FloatArray, rows: Index) -> Index:
        """As `begin`, from scores of the samples that are known already."""
        predicted = scores.argmax(axis=1)
        if not self.labelled:
            self.goal[rows] = predicted
        right = predicted == self.goal[rows]
        wrong = rows[~right]  # as they are: failed before the attack
        self.status[wrong] = ALREADY_WRONG
        self.distance[wrong] = 0.0
        self.failed_at[:, wrong] = 0.0
        self.stood(rows[right])
        return np.asarray(rows[right])

    def check(self, points: AnyArray, rows: Index) -> BoolArray:
        """Ask the model about finished points (as `inside` returns them), one per sample.

        A point that is wrong, and within ``eps``, is kept if it is the nearest so far; the first
        such check is the sample's time of failure.
        """
        wrong = self.is_wrong(points, rows)
        self.settle(points, rows, wrong)
        return wrong

    def settle(self, points: AnyArray, rows: Index, wrong: BoolArray) -> None:
        """Book the model's answers about finished points; several per sample are allowed."""
        at, right = np.flatnonzero(wrong), rows[~wrong]
        points, rows = points[at], rows[at]
        distance = self.distances(points, rows)
        counts = distance <= self.eps
        if self.space is not None:
            counts &= self.space.valid(points, self.original[rows])
        for i in np.flatnonzero(counts & (distance < self.distance[rows])).tolist():
            row = rows[i]
            if distance[i] < self.distance[row]:
                self.best[row], self.distance[row] = points[i], distance[i]
        fallen = rows[counts]
        first = fallen[self.status[fallen] == NOT_FOUND]
        self.status[first] = FOUND
        self.failed_at[0, first] = self.queries[first]
        self.failed_at[1, first] = self.gradient_queries[first]
        self.stood(np.concatenate([right, rows[~counts]]))  # those with no other point that fell

    def stood(self, rows: Index) -> None:
        """Book that these samples have not fallen to anything asked so far."""
        standing = rows[self.status[rows] == NOT_FOUND]
        self.before[0, standing] = self.queries[standing]
        self.before[1, standing] = self.gradient_queries[standing]

    def distances(self, points: AnyArray, rows: Index) -> FloatArray:
        """How far points lie from their samples; categories count in l0 alone.

        Elsewhere another category is a change without a size: not nothing, but less than any.
        """
        moves = points.astype(np.float64) - self.original[rows]
        if self.space is None or self.norm == "l0" or not self.space.category.any():
            return length(moves, self.norm)
        other = moves[:, self.space.category].any(axis=1)
        moves[:, self.space.category] = 0.0
        found = length(moves, self.norm)
        return np.where(other & (found == 0.0), np.finfo(np.float64).tiny, found)

    def keep_last(self, points: AnyArray, rows: Index) -> None:
        """For fixed-size attacks: what to return for samples that did not fall."""
        self.best[rows] = points

    def result(self) -> AttackResult:
        """Everything, frozen."""
        return AttackResult(
            attack=self.attack,
            norm=self.norm,
            seed=self.seed,
            adversarial=self.best.reshape(self.n, *self.shape),
            success=np.asarray(self.status != NOT_FOUND),
            distance=self.distance,
            queries=self.queries,
            gradient_queries=self.gradient_queries,
            queries_before_failure=self.before[0],
            queries_to_failure=self.failed_at[0],
            gradient_queries_before_failure=self.before[1],
            gradient_queries_to_failure=self.failed_at[1],
            status=self.status,
            shared_queries=self.shared_queries,
        )

    def _classes(self) -> Sequence[Any]:
        """The model's classes; a model that does not know them before an answer is asked once."""
        try:
            return tuple(self.model.classes)
        except ModelError:
            self.shared_queries += 1
            with asking_anew(self.model):
                self.model.predict_proba(self.original[:1].reshape(1, *self.shape))
            return tuple(self.model.classes)

    def _failures(self, answers: FloatArray, rows: Index) -> BoolArray:
        """Which of these answers are failures of the model as it is used."""
        if hasattr(self.model, "mostly_wrong"):
            return np.asarray(self.model.mostly_wrong(answers, self.goal[rows]))
        wrong = answers.argmax(axis=1) != self.goal[rows]
        return np.asarray(wrong & ~self._withheld(answers))

    def _withheld(self, probabilities: FloatArray) -> BoolArray:
        if not self.labelled or not hasattr(self.model, "withheld"):
            return np.zeros(len(probabilities), dtype=np.bool_)
        return np.asarray(self.model.withheld(probabilities))

    def _masked(self, gradients: Any, shape: tuple[int, ...]) -> AnyArray:
        """Flat gradients, zero in features that stay as they are."""
        flat: AnyArray = np.asarray(gradients).reshape(shape)
        return flat if len(self.free) == len(self.mask) else flat * self.mask

    def _count_gradients(self, rows: Index, backward: int) -> None:
        np.add.at(self.queries, rows, 1)
        np.add.at(self.gradient_queries, rows, backward)
