"""What every adapter shares: checks, fixed-size blocks, counting, budgets, probabilities."""

import contextlib
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.classifiers import answers, declared, first_use
from fireassay.classifiers import blocks as block_ladder
from fireassay.classifiers.asking import HANG_S, Answers, asked, fresh_block
from fireassay.classifiers.blocks import Call, ChoosesBlocks, kind_of_objects
from fireassay.classifiers.kept_answers import Keep, KeptAnswers
from fireassay.core.arrays import AnyArray, Probabilities
from fireassay.core.errors import ModelError
from fireassay.core.hashing import sha256
from fireassay.core.mapped import stay_bytes
from fireassay.core.validation import check_choice, check_features, check_integer

Output = Literal["probabilities", "logits", "labels"]
OUTPUTS: Final = ("probabilities", "logits", "labels")
BLOCK_ROWS: Final = 256


class BaseClassifier(ChoosesBlocks):
    """Base class of adapters: inputs and answers of a model are checked and counted here.

    Rows are sent in blocks of ``batch_size`` rows, the last one filled up by repeating its last
    row, so that an answer does not depend on how a caller cut the rows into calls. Smaller blocks
    are used once a probe has shown that they give the same bytes (``block_sizes``). Functions,
    servers and models under a budget get their rows in cuts of ``batch_size``, not filled up.

    Args:
        classes: Class labels in column order; None takes 0 … k-1 from the first answer.
        bounds: Smallest and largest allowed input value; inputs outside are refused.
        output: What the model returns: "probabilities", "logits" or "labels".
        batch_size: Rows in the largest block ("auto": 256); None sends each call as it is.
        max_queries: Hard budget of rows that reach the model; the call that would pass it sends
            nothing.

    >>> class Half(BaseClassifier):
    ...     def _raw(self, block):
    ...         return np.column_stack([1 - block[:, 0], block[:, 0]])
    ...     def _content_hash(self):
    ...         return sha256("half")
    >>> model = Half(classes=["low", "high"], bounds=(0, 1), max_queries=2)
    >>> model.predict([[0.2], [0.9]]).tolist(), model.queries
    (['low', 'high'], 2)
    >>> model.predict([[0.5]])
    Traceback (most recent call last):
        ...
    fireassay.core.errors.BudgetExceededError: The budget is 2 queries, of which 0 are left. Got ...
    """

    hang_s: float = HANG_S  # seconds for one block, after which the model is said to hang
    takes_missing: bool = False  # whether NaN is sent, and not refused
    takes_integers: bool = False  # whether integers are sent as such, and not as floats
    counts_requests: bool = False  # whether `_raw` counts the rows itself, as often as they go out
    may_be_trained: bool = False  # whether training changes it in place: its identity is read anew

    def __init__(
        self,
        *,
        classes: Sequence[Any] | None = None,
        bounds: tuple[float, float] | None = None,
        output: str = "probabilities",
        batch_size: int | Literal["auto"] | None = "auto",
        max_queries: int | None = None,
    ) -> None:
        self.output = check_choice(output, "output", OUTPUTS)
        self._classes = None if classes is None else declared.checked_classes(classes)
        self._declared_classes = self._classes
        self._is_settled = self._has_answered = False
        self._bounds = None if bounds is None else declared.checked_bounds(bounds)
        size = BLOCK_ROWS if batch_size == "auto" else batch_size
        rows = None if size is None else check_integer(size, "batch_size", low=1)
        super().__init__(rows, max_queries)
        self.kept: KeptAnswers | None = None  # answers about rows of a run's data
        self._identity: str | None = None
        self.made_from: Any = None  # files, and how often others took its place: part of what it is
        self.beside: tuple[Path, ...] = ()  # files besides its own that it was read from

    def _need_classes(self, model: str) -> None:
        """Refuse labels without classes: nobody could say which column is whose."""
        if self.output == "labels" and self._classes is None:
            raise ModelError(
                f"A {model} that returns labels needs its classes.",
                do="Pass classes=[…] to as_classifier.",
            )

    # What an adapter says -------------------------------------------------------------------

    @abstractmethod
    def _raw(self, block: NDArray[Any]) -> Any:
        """What the model itself answers for one block."""

    @abstractmethod
    def _content_hash(self) -> str:
        """SHA-256 of the model's content."""

    def _features(self, X: ArrayLike) -> NDArray[Any]:
        """The caller's X as a checked array."""
        declared.refuse_text(X)
        if self.takes_missing and isinstance(X, np.ndarray) and X.dtype.kind == "f":
            held = check_features(np.where(np.isnan(X), 0, X))
            return X.astype(held.dtype, copy=False)
        checked = check_features(X)
        if stay_bytes(checked):
            return checked
        whole = isinstance(X, np.ndarray) and X.dtype.kind in "iu"
        return np.asarray(X) if whole and self.takes_integers else checked

    # What a caller sees ---------------------------------------------------------------------

    @property
    def classes(self) -> tuple[Any, ...]:
        """Class labels in the order of the probability columns."""
        if self._classes is None:
            raise ModelError(
                "The classes of this model are not known before its first answer.",
                do="Pass classes=[…] to as_classifier, or call predict_proba once.",
            )
        return self._classes

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The smallest and largest allowed input value, or None if not declared."""
        return self._bounds

    @property
    def sha256(self) -> str:
        """Identifies the model and the options that change its answers or its inputs."""
        if self._identity is None or self.may_be_trained:
            self.identify()
        content = str(self._identity)
        if self.made_from:
            content = sha256("made from", content, self.made_from)
        if (self.output, self._declared_classes, self._bounds) == ("probabilities", None, None):
            return content
        declared_names = self._declared_classes
        names = None if declared_names is None else [repr(c) for c in declared_names]
        return sha256("classifier", content, self.output, names, self._bounds)

    def identify(self) -> None:
        """Take the identity of the model as it is now; asking it does not change it."""
        self._identity = self._content_hash()

    @property
    def keeps_state(self) -> bool:
        """Whether the model's content has changed since its identity was taken."""
        return self._identity is not None and self._content_hash() != self._identity

    def predict_proba(self, X: ArrayLike) -> Probabilities:
        """Probabilities of shape ``(n, k)``, rows summing to one: float32 stays, else float64."""
        if self._has_answered:
            return self._answered(X)
        found = first_use.answered(self, X)
        self._has_answered = True
        return found

    def _answered(self, X: ArrayLike) -> Probabilities:
        objects = self._objects(X)
        if objects is not None:
            call, positions = self._of_objects(objects), np.arange(len(objects))
            kind = kind_of_objects(objects)
            return self._in_blocks(kind, call, positions, may_probe=False)[0]
        rows = self._checked_input(X)
        if self.kept is not None and self.kept.is_asked:
            return self.kept.answered(rows, self._sent_anew, self.count_kept)
        return self._sent_anew(rows, 0, None)

    def _sent_anew(self, rows: AnyArray, known: int, keep: Keep | None) -> Probabilities:
        """Send rows, not counting ``known`` of them against the budget."""
        ask = self._probabilities_of_block
        with self.counting_kept(known):
            return self._in_blocks("probabilities", ask, rows, keep=keep)[0]

    def _of_objects(self, objects: Any) -> Call:
        """A call by positions: frames and texts go to the model as they are, block by block."""
        chosen = self._columns_of(objects)

        def call(positions: AnyArray) -> tuple[AnyArray, ...]:
            if isinstance(chosen, list):
                texts = [chosen[i] for i in positions]
                named = getattr(self, "feature_names", None) or ("text",)
                return self._probabilities_of_block(first_use.handed(texts, self.rows_as, named))
            return self._probabilities_of_block(chosen.iloc[positions].reset_index(drop=True))

        return call

    def _columns_of(self, objects: Any) -> Any:
        """What the model takes of the caller's frame or texts."""
        return objects

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The most probable class label of each row (the first one on ties)."""
        return answers.labels_of(self.predict_proba(X), self.classes)

    def __repr__(self) -> str:
        about = f"{self._described()}, output={self.output!r}, queries={self.queries}"
        return f"{type(self).__name__}({about})"

    def _described(self) -> str:
        return "model"

    # How rows are sent ----------------------------------------------------------------------

    def _checked_input(self, X: ArrayLike) -> NDArray[Any]:
        declared.refuse_masked(X)
        array = self._features(X)
        if self._bounds is not None:
            declared.check_within(array, self._bounds)
        return array

    def _probabilities_of_block(self, block: Any) -> tuple[Probabilities]:
        probabilities, names = answers.named_probabilities(
            self._raw(block),
            output=self.output,
            n=len(block),
            classes=self._classes,
            first_row=getattr(self._local, "first_row", 0),
            declared=self._declared_classes is not None or self._is_settled,
        )
        if self._classes is None or names is not None:
            self._settle_classes(probabilities.shape[1], names)
        return (probabilities,)

    def _settle_classes(self, n_classes: int, names: Sequence[Any] | None = None) -> None:
        """Classes that nobody declared: the names in the first answer, else their positions."""
        with self._lock:
            if not self._is_settled and (self._classes is None or names is not None):
                found = range(n_classes) if names is None else names
                self._classes = declared.checked_classes(tuple(found))
                self._is_settled = True

    def _in_blocks(
        self,
        kind: str | None,
        call: Call,
        *arrays: AnyArray,
        gradients_per_row: int = 0,
        keep: Keep | None = None,
        may_probe: bool = True,
    ) -> list[AnyArray]:
        """Send arrays of equal length block by block, and join what comes back."""
        # ``kind`` names the question, so that smaller blocks can be decided on for it; None always
        # takes the largest. ``keep`` gets the answers of each block. Without ``may_probe`` nothing
        # is decided: positions of frames and texts are no rows to decide with.
        n, known = len(arrays[0]), vars(self._local).pop("known", 0)
        sizes = self._sizes(kind, call, arrays, may_probe=may_probe)
        if self.max_queries is not None:
            self._check_room(sum(size for _, _, size in self._pieces(arrays[0], sizes)))
        self._count(queries=known)
        answered = Answers(n)
        for start, stop, size in self._pieces(arrays[0], sizes):
            asked_now = stop - start
            self._count(queries=asked_now, gradient_queries=asked_now * gradients_per_row)
            found = self._piece(call, arrays, start, stop, size)
            answered.put(start, stop, found)
            if keep is not None:
                keep(start, stop, found[0])
        return answered.whole()

    def _piece(
        self, call: Call, arrays: Sequence[AnyArray], start: int, stop: int, size: int
    ) -> tuple[AnyArray, ...]:
        blocks = [fresh_block(array, start, stop, size - (stop - start)) for array in arrays]
        return tuple(part[: stop - start] for part in self._ask(call, blocks, start, stop))

    def _pieces(
        self, rows: AnyArray, sizes: tuple[int, ...] | None
    ) -> Iterator[tuple[int, int, int]]:
        n = len(rows)
        if sizes is None:
            yield 0, n, n
        elif self.has_fixed_batch or (self.pads_blocks and self.max_queries is None):
            yield from block_ladder.cut(n, sizes, block_ladder.call_price(rows))
        else:
            for start in range(0, n, sizes[-1]):
                stop = min(start + sizes[-1], n)
                yield start, stop, stop - start

    def _ask(
        self, call: Call, blocks: list[AnyArray], start: int, stop: int
    ) -> tuple[AnyArray, ...]:
        """The one exit to the model: what passes here is counted, and kept within the budget."""
        self._local.first_row = start
        if not self.counts_requests:
            self._deliver(len(blocks[0]))
        return asked(call, blocks, start, stop, self.hang_s)

    def _sent(
        self, call: Call, arrays: Sequence[AnyArray], sizes: tuple[int, ...] | None
    ) -> list[AnyArray]:
        """Answers for rows that no caller asked about."""
        answered = Answers(len(arrays[0]))
        for start, stop, size in self._pieces(arrays[0], sizes):
            answered.put(start, stop, self._piece(call, arrays, start, stop, size))
        return answered.whole()


def innermost(model: Any) -> Any:
    """The adapter inside wrapped classifiers, or what somebody wrote from scratch."""
    while not isinstance(model, BaseClassifier) and hasattr(model, "model"):
        model = model.model
    return model


def identify(model: Any) -> None:
    """Take the identity of the innermost classifier as it is now: one for a whole run."""
    model = innermost(model)
    if isinstance(model, BaseClassifier):
        model.identify()


@contextlib.contextmanager
def without_probes(model: Any) -> Iterator[None]:
    """Meanwhile this thread's calls send no row but their own: hooks would read a probe's, too."""
    adapter = innermost(model)
    held = vars(adapter._local) if isinstance(adapter, BaseClassifier) else {}
    held["watched"] = held.get("watched", 0) + 1
    try:
        yield
    finally:
        held["watched"] -= 1


def hand_rows_as(model: Any, rows: str | None) -> None:
    """Let the innermost classifier send texts in another way, or frames of numbers as frames."""
    model = innermost(model)
    if rows in ("array", "frame", "each") and isinstance(model, BaseClassifier):
        model.rows_as = rows


def allow_missing(model: Any) -> None:
    """Let the innermost classifier send rows with NaN: the user has said that it takes them."""
    model = innermost(model)
    if isinstance(model, BaseClassifier):
        model.takes_missing = True
