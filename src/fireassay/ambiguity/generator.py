"""`AmbiguityGenerator`: learn what lies between two classes, then draw from there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from fireassay.ambiguity.ambiguous_set import AmbiguousSet
from fireassay.ambiguity.pairs import Pair, choose_pairs
from fireassay.ambiguity.preset import Preset, check_preset
from fireassay.ambiguity.scaling import FeatureScaling, check_inputs
from fireassay.classifiers import as_classifier
from fireassay.core.arrays import BoolArray, IntArray
from fireassay.core.errors import DataError, NotEnoughEvidenceError, ParameterError
from fireassay.core.evidence import library_versions
from fireassay.core.hashing import sha256
from fireassay.core.lazy import pd, require
from fireassay.core.seeds import check_seed, generator
from fireassay.core.validation import check_choice, check_integer, check_labels, check_real
from fireassay.engine import Executor

if TYPE_CHECKING:
    from fireassay.ambiguity.fitting import FittedPairs

SPLITS = ("test", "train", "any")
_HELD_OUT_SHARE = 0.2
_HELD_OUT_MOST = 500


class AmbiguityGenerator:
    """Generates inputs that belong to two classes at once, with probabilistic labels.

    For every pair, adversarial autoencoders put the two classes on two sides of a plane; what their
    decoders make of the points in between shows both. No model under test takes part, unless
    ``pairs="confused"`` asks for its confusions.

    Args:
        pairs: "all"; a list of pairs of class labels; or "confused": the pairs that ``model``
            confuses.
        tries: Autoencoders per pair. Train and test samples come from different ones: two at least.
        preset: "fast", "paper", or a `Preset`.
        seed: Same seed, same data: same bytes on one machine.
        model: For ``pairs="confused"``: anything `as_classifier` takes.

    >>> from fireassay.data import digits
    >>> data = digits()
    >>> gen = AmbiguityGenerator(pairs=[(3, 8)], tries=1).fit(data.X, data.y)
    >>> amb = gen.sample(100)
    >>> amb.X.shape, amb.soft_labels.shape
    ((100, 8, 8), (100, 10))
    """

    def __init__(
        self,
        pairs: str | Sequence[Any] = "all",
        tries: int = 2,
        preset: str | Preset = "fast",
        seed: int = 0,
        *,
        model: Any = None,
    ) -> None:
        self.pairs = pairs
        self.tries = tries
        self.preset = preset
        self.seed = seed
        self.model = model

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        model: Any = None,
        *,
        workers: int = 1,
        cluster: Any = None,
        kept: Any = None,
    ) -> Self:
        """Train the autoencoders and judge them on held-out rows.

        Args:
            X: Images in [0, 1] of shape ``(n, height, width[, channels])``, or rows ``(n, d)`` and
                windows ``(n, time, channels)`` of any scale.
            y: A class label per row.
            workers, cluster: Processes on this machine, or the address of a Dask scheduler, that
                train groups of autoencoders; the result does not depend on them.
            kept: A `ContentStore` that has what earlier runs trained.

        Raises:
            DataError: For unusable data, a single class, or if no pair can be trained (with the
                reasons).
            MissingExtraError: Without torch.
        """
        require("torch", "torch", "Generating ambiguous inputs")
        check_integer(self.tries, "tries", low=1)
        check_seed(self.seed)
        preset = check_preset(self.preset)
        array = check_inputs(X)
        labels = check_labels(y, n=len(array))
        classes, y_index = np.unique(labels, return_inverse=True)
        if len(classes) < 2:
            raise DataError(
                "Ambiguity needs at least two classes in y.", got=f"only {classes.tolist()!r}"
            )
        self.classes_: tuple[Any, ...] = tuple(classes.tolist())
        self.model_ = self.model if model is None else model
        confusable = None
        if self.pairs == "confused" and self.model_ is not None:
            confusable = as_classifier(self.model_)
        self.pairs_: list[Pair] = choose_pairs(
            self.pairs, self.classes_, confusable, array, y_index
        )
        self.scaling_ = FeatureScaling.of(array)
        self.data_sha256_ = sha256(np.ascontiguousarray(array), labels)
        self.held_out_ = _hold_out(y_index, self.seed)
        from fireassay.ambiguity.fitting import fit_pairs

        self.fitted_: FittedPairs = fit_pairs(
            self.scaling_.flat(array), y_index, self.held_out_, self.pairs_, self.classes_,
            self.tries, preset, self.seed,
            Executor(
                workers=workers, cluster=cluster, kept=kept,
                progress=False if workers == 1 and cluster is None else None,
            ),
        )  # fmt: skip
        self.labels_ = labels
        return self

    @property
    def report(self) -> pd.DataFrame:
        """Per pair: accepted tries, label accuracy, real/fake accuracy, reason of rejections."""
        return self._fitted().report

    @property
    def autoencoders(self) -> pd.DataFrame:
        """Per autoencoder: pair, try, split, what it reached, why it was rejected."""
        return self._fitted().autoencoders

    def sample(
        self, n: int, delta_max: float = 0.25, split: str = "test", *, weighted: bool = True
    ) -> AmbiguousSet:
        """Draw ambiguous inputs, equally many per accepted pair.

        Args:
            n: How many.
            delta_max: Largest difference of the two class probabilities, in (0, 1]. The paper uses
                0.25 to test and 0.4 to train.
            split: "test" or "train": their autoencoders differ. "any": all accepted ones.
            weighted: Draw regions where images change fast more often; False draws uniformly.

        Raises:
            NotEnoughEvidenceError: If no accepted autoencoder is there for this split, or none has
                a point that is ambiguous enough.
        """
        fitted = self._fitted()
        check_integer(n, "n", low=1)
        check_real(delta_max, "delta_max", low=0.0, high=1.0, inclusive="high")
        check_choice(split, "split", SPLITS)
        members = fitted.members(split)
        if not members:
            raise NotEnoughEvidenceError(
                f"Sampling needs an accepted autoencoder for split={split!r}.",
                got=_no_members(self.report, split),
                do="Train more tries (tries=4), more rows, or other pairs; see report.reason.",
            )
        from fireassay.ambiguity.sampling import draw_set

        asked = {"n": n, "delta_max": float(delta_max), "split": split, "weighted": weighted}
        return draw_set(
            fitted, members, seed=self.seed, classes=self.classes_, scaling=self.scaling_,
            labels=self.labels_, manifest=self._manifest(asked),
        )  # fmt: skip

    def _manifest(self, asked: dict[str, Any]) -> dict[str, Any]:
        preset = check_preset(self.preset)
        return {
            "seed": self.seed,
            **asked,
            "tries": self.tries,
            "pairs": self.pairs if isinstance(self.pairs, str) else "chosen",
            "preset": asdict(preset),
            "versions": library_versions(),
            "data_sha256": self.data_sha256_,
            "independence": {
                "model_chose_pairs": self.pairs == "confused",
                "pair_classifier_judged_acceptance": preset.relative_acceptance,
                "classifier_filtered_or_labelled_samples": False,
            },
        }

    def _fitted(self) -> FittedPairs:
        if not hasattr(self, "fitted_"):
            raise ParameterError(
                "The generator must be fitted first.", got="no fit", do="Call fit(X, y)."
            )
        return self.fitted_


def _hold_out(y_index: IntArray, seed: int) -> BoolArray:
    """A fifth of each class, at most 500 rows, that autoencoders are judged on."""
    held = np.zeros(len(y_index), dtype=np.bool_)
    for label in range(int(y_index.max()) + 1):
        rows = np.flatnonzero(y_index == label)
        shuffled = generator(seed, "held out", label).permutation(rows)
        held[shuffled[: min(_HELD_OUT_MOST, round(_HELD_OUT_SHARE * len(rows)))]] = True
    return held


def _no_members(report: pd.DataFrame, split: str) -> str:
    accepted = int(report["accepted"].sum())
    if accepted and split == "train":
        return f"{accepted} accepted, and each pair's first one is for the test split"
    reasons = [reason for reason in report["reason"] if reason]
    return f"{accepted} accepted ({reasons[0] if reasons else 'no reason recorded'})"
