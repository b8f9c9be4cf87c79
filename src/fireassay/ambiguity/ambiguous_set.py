"""The generated set: inputs, probabilistic labels, where each came from, and controls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fireassay.ambiguity.measures import MEASURES, SENTENCES
from fireassay.core.arrays import AnyArray, BoolArray, FloatArray, IntArray
from fireassay.core.errors import DataError
from fireassay.core.estimate import Estimate
from fireassay.core.evidence import Assumption, Claim, Evidence, Provenance, Table
from fireassay.core.hashing import sha256
from fireassay.core.lazy import pd
from fireassay.core.result import Answer
from fireassay.core.seeds import generator
from fireassay.core.validation import check_class_indices, check_features


@dataclass(frozen=True, eq=False)
class ControlSet:
    """Held-out nominal rows, reconstructed by the autoencoders that made the ambiguous ones.

    A detector that tells ambiguous inputs from *original* nominal ones may only have noticed that
    they went through a decoder. Compare with these.

    >>> from fireassay.ambiguity import AmbiguityGenerator
    >>> from fireassay.data import digits
    >>> data = digits()
    >>> amb = AmbiguityGenerator([(3, 8)], tries=1).fit(data.X, data.y).sample(40)
    >>> amb.control.shape, np.unique(amb.control.labels).tolist()
    ((40, 8, 8), [3, 8])
    """

    X: AnyArray
    labels: AnyArray
    rows: IntArray
    autoencoders: IntArray

    def __len__(self) -> int:
        return len(self.X)

    def __str__(self) -> str:
        return f"{len(self)} nominal rows, reconstructed"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> AnyArray:
        return np.array(self.X, dtype=dtype, copy=copy)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the inputs."""
        return self.X.shape


@dataclass(frozen=True, eq=False)
class AmbiguousSet(Answer):
    """Inputs that belong to two classes.

    Attributes:
        X: The inputs, in the shape and type of the data the generator was fitted on.
        soft_labels: Class probabilities ``(n, k)``, float64, two non-zeros, columns as in
            ``classes``.
        labels: One class per row, drawn from its soft label.
        pairs: The two classes of each row ``(n, 2)``, as labels.
        autoencoders, codes: Which autoencoder made a row (a row of the generator's
            ``autoencoders``), and from which point of its latent plane.
        control: Reconstructed nominal rows.
        report: Per pair: accepted tries, accuracies, reasons of rejection.
        manifest: Seed, settings, versions, hash of the data, and what took part in the generation.
    """

    X: AnyArray
    soft_labels: FloatArray
    labels: AnyArray
    pairs: AnyArray
    classes: tuple[Any, ...]
    autoencoders: IntArray
    codes: FloatArray
    control: ControlSet
    report: pd.DataFrame
    manifest: dict[str, Any]

    def __len__(self) -> int:
        return len(self.X)

    @cached_property
    def sha256(self) -> str:
        """Identifies the content."""
        return sha256(
            np.ascontiguousarray(self.X), self.soft_labels, self.labels, self.pairs, self.classes
        )

    @property
    def pair_positions(self) -> IntArray:
        """The two classes of each row as positions in ``classes``, the lower first."""
        rows = np.argsort(self.soft_labels == 0.0, axis=1, kind="stable")[:, :2]
        return np.sort(rows, axis=1)

    @property
    def unique_pairs(self) -> list[tuple[Any, Any]]:
        """The pairs there are, in order of the classes."""
        positions = np.unique(self.pair_positions, axis=0)
        return [(self.classes[a], self.classes[b]) for a, b in positions]

    def of_pair(self, first: Any, second: Any) -> IntArray:
        """Row numbers of one pair, in either order."""
        if first not in self.classes or second not in self.classes:
            raise DataError(
                f"A pair must be of the classes {self.classes}.", got=repr((first, second))
            )
        wanted = sorted((self.classes.index(first), self.classes.index(second)))
        return np.flatnonzero((self.pair_positions == wanted).all(axis=1))

    def frame(self) -> pd.DataFrame:
        """One row per sample: pair, probabilities, drawn label, autoencoder, latent point."""
        rows = np.arange(len(self))
        positions = self.pair_positions
        names = np.asarray(self.classes)
        return pd.DataFrame(
            {
                "first": names[positions[:, 0]],
                "second": names[positions[:, 1]],
                "p_first": self.soft_labels[rows, positions[:, 0]],
                "p_second": self.soft_labels[rows, positions[:, 1]],
                "label": self.labels,
                "autoencoder": self.autoencoders,
                "latent_x": self.codes[:, 0],
                "latent_y": self.codes[:, 1],
            }
        )

    def export(self, folder: str | Path, feature_names: Sequence[str] | None = None) -> list[Path]:
        """Write arrays, tables, manifest and a picture sheet per pair (see `export_set`)."""
        from fireassay.ambiguity.export import export_set

        return export_set(self, folder, feature_names)

    def evidence(self) -> Evidence:
        """What was generated, from which autoencoders, and why some pairs are missing."""
        accepted = int((self.report["accepted"] > 0).sum())
        asked = len(self.report)
        rejected = self.report[self.report["accepted"] == 0]
        independence = self.manifest["independence"]
        return Evidence(
            question="ambiguity",
            headline=f"{len(self)} inputs between two classes, from {accepted} of {asked} pairs.",
            claims=tuple(
                Claim(f"No inputs between {row.first} and {row.second}: {row.reason}.")
                for row in rejected.itertuples()
            ),
            measures=MEASURES,
            estimates={"accepted_pairs": Estimate.count(accepted / asked, asked, "share of pairs")},
            assumptions=(
                Assumption(
                    "No model under test took part in the generation.",
                    "contradicted" if independence["model_chose_pairs"] else "supported",
                    "The model's confusions chose the pairs; its samples and labels are its own."
                    if independence["model_chose_pairs"]
                    else "Pairs were given beforehand; labels come from the discriminators.",
                    id="no-model-in-generation",
                ),
                Assumption(
                    "A person would see both classes.",
                    "untestable",
                    "Look at the picture sheets.",
                    id="both-classes-visible",
                ),
            ),
            tables={"pairs": Table.from_frame(self.report, "Autoencoders per pair", index=False)},
            limits=(SENTENCES["judge"],),
            provenance=Provenance(
                seed=int(self.manifest["seed"]), data_sha256=self.manifest["data_sha256"]
            ),
        )


@dataclass(frozen=True, eq=False)
class MixedSet:
    """Shuffled training rows.

    Attributes:
        X: Nominal and ambiguous inputs.
        y: One label per row: the given one, or the one drawn from the soft label.
        soft_labels: Class probabilities ``(n, k)``; one-hot for nominal rows.
        is_ambiguous: Which rows are ambiguous.
    """

    X: AnyArray
    y: AnyArray
    soft_labels: FloatArray
    is_ambiguous: BoolArray

    def __str__(self) -> str:
        return f"{len(self.X)} training rows, {int(self.is_ambiguous.sum())} of them ambiguous"


def mix(X: ArrayLike, y: ArrayLike, amb: AmbiguousSet, seed: int = 0) -> MixedSet:
    """Mix nominal training rows with an ambiguous set (drawn with ``split="train"``).

    Models trained on the mixture know ambiguous inputs: the uncertainty that is left comes from
    ambiguity, not from novelty (the paper's "mixed-ambiguous" training).

    Args:
        X, y: Nominal training rows and their labels.
        amb: The ambiguous set.
        seed: Of the order of the rows.

    Raises:
        DataError: If the shapes differ, or y has a class that the set does not know.

    >>> from fireassay.data import digits
    >>> from fireassay.ambiguity import AmbiguityGenerator
    >>> data = digits()
    >>> amb = AmbiguityGenerator([(4, 9)], tries=2).fit(data.X, data.y).sample(50, split="train")
    >>> mix(data.X, data.y, amb).X.shape
    (1847, 8, 8)
    """
    nominal = check_features(X)
    if nominal.shape[1:] != amb.X.shape[1:]:
        raise DataError(
            f"X must have rows of shape {amb.X.shape[1:]}, like the ambiguous set.",
            got=f"{nominal.shape[1:]}",
        )
    index = check_class_indices(y, amb.classes, n=len(nominal))
    one_hot = np.zeros((len(nominal), len(amb.classes)))
    one_hot[np.arange(len(nominal)), index] = 1.0
    order = generator(seed, "mix").permutation(len(nominal) + len(amb))
    labels = np.concatenate([np.asarray(amb.classes)[index], amb.labels])
    return MixedSet(
        X=np.concatenate([nominal, amb.X.astype(nominal.dtype)])[order],
        y=labels[order],
        soft_labels=np.concatenate([one_hot, amb.soft_labels])[order],
        is_ambiguous=order >= len(nominal),
    )
