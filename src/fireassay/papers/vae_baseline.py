"""The baseline: one VAE over all classes, and a filter by uncertainty (Mukhoti et al. 2021)."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fireassay.ambiguity.metrics import has_top_pair
from fireassay.ambiguity.scaling import check_inputs
from fireassay.core.arrays import FloatArray, entropy_bits
from fireassay.core.errors import DataError, ParameterError
from fireassay.core.lazy import require
from fireassay.core.result import Result
from fireassay.core.seeds import derived_seed, generator
from fireassay.core.validation import check_integer, check_labels, check_real

_BLOCK = 2000
_BATCH = 32
_BLOCKS = 100


@dataclass(frozen=True, eq=False)
class BaselineSet(Result):
    """Inputs between random pairs of rows, with labels drawn from an ensemble's answers.

    Attributes:
        soft_labels: Shares of the drawn labels, ``(n, k)``.
        non_ambiguous: Share of inputs whose drawn labels are all the same.
        without_pair: Share without two leading classes: for these, top-pair accuracy is not
            calculable.
        kept: Share of the candidates that passed the filter.
    """

    X: NDArray[Any]
    soft_labels: FloatArray
    labels: NDArray[Any]
    classes: tuple[Any, ...]
    entropy: FloatArray
    mutual_information: FloatArray
    non_ambiguous: float
    without_pair: float
    kept: float

    def __len__(self) -> int:
        return len(self.X)

    def frame(self) -> pd.DataFrame:
        """One row per input: drawn label, entropy and mutual information in bits."""
        return pd.DataFrame(
            {
                "label": self.labels,
                "entropy": self.entropy,
                "mutual_information": self.mutual_information,
            }
        )


class VaeBaseline:
    """Ambiguous inputs by filtering the decodings of mixed latent codes.

    A VAE of all classes decodes straight mixtures of two rows' codes; an ensemble of small
    networks keeps those with high entropy (ambiguous) and low mutual information (not junk), and
    gives each several drawn labels. Models therefore take part in the generation, and an input
    need not be ambiguous between exactly two classes: that is what `AmbiguityGenerator` mends.

    Args:
        dims: Latent dimensions.
        epochs: Passes over the data, for the VAE and the ensemble.
        members: Networks of the ensemble.
        labels_per_input: Labels drawn for each input.
        least_entropy, most_mutual_information: The filter, in bits.
    """

    def __init__(
        self,
        dims: int = 10,
        epochs: int = 5,
        members: int = 3,
        labels_per_input: int = 10,
        least_entropy: float = 0.5,
        most_mutual_information: float = 0.2,
        seed: int = 0,
    ) -> None:
        self.dims = dims
        self.epochs = epochs
        self.members = members
        self.labels_per_input = labels_per_input
        self.least_entropy = least_entropy
        self.most_mutual_information = most_mutual_information
        self.seed = seed

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train the VAE and the ensemble on images in [0, 1]."""
        require("torch", "torch", "The VAE baseline")
        from fireassay.networks.small_networks import Mlp
        from fireassay.networks.training import train
        from fireassay.networks.vae import encode, train_vae

        check_integer(self.members, "members", low=2)
        check_integer(self.labels_per_input, "labels_per_input", low=1)
        check_real(self.least_entropy, "least_entropy", low=0.0, inclusive="low")
        check_real(self.most_mutual_information, "most_mutual_information", low=0.0)
        images = check_inputs(X)
        labels = check_labels(y, n=len(images))
        classes, index = np.unique(labels, return_inverse=True)
        if len(classes) < 2:
            raise DataError("The baseline needs at least two classes.", got=f"{len(classes)}")
        self.classes_: tuple[Any, ...] = tuple(classes.tolist())
        self.vae_ = train_vae(
            images, self.dims, epochs=self.epochs, batch_size=_BATCH, seed=self.seed
        )
        self.codes_ = encode(self.vae_, images)
        self.ensemble_ = []
        for member in range(self.members):
            seed = derived_seed(self.seed, "baseline", member)
            net = Mlp(images.shape[1:], len(classes), (64,), seed=seed)
            train(net, images, index, self.epochs, batch_size=_BATCH, learning_rate=2e-3, seed=seed)
            self.ensemble_.append(net)
        self.dtype_ = images.dtype
        return self

    def sample(self, n: int) -> BaselineSet:
        """Draw ``n`` inputs, as equally over the predicted classes as the candidates allow.

        Raises:
            DataError: If the filter lets too few candidates through.
        """
        if not hasattr(self, "vae_"):
            raise ParameterError("The baseline must be fitted first.", got="no fit")
        check_integer(n, "n", low=1)
        from fireassay.networks.vae import decode

        rng = generator(self.seed, "baseline", n)
        images: list[NDArray[Any]] = []
        answers: list[FloatArray] = []
        information: list[FloatArray] = []
        found = tried = 0
        for _ in range(_BLOCKS):
            codes = self._mixtures(rng)
            candidates = decode(self.vae_, codes).astype(self.dtype_)
            votes = self._votes(candidates)
            mean = votes.mean(axis=0)
            disagreement = entropy_bits(mean) - np.mean([entropy_bits(v) for v in votes], axis=0)
            kept = (entropy_bits(mean) >= self.least_entropy) & (
                disagreement <= self.most_mutual_information
            )
            tried += len(codes)
            found += int(kept.sum())
            images.append(candidates[kept])
            answers.append(mean[kept])
            information.append(disagreement[kept])
            if found >= 2 * n:
                break
        if found < n:
            raise DataError(
                f"{n} candidates must pass the filter.",
                got=f"{found} of {tried}",
                do="Lower least_entropy or raise most_mutual_information.",
            )
        probabilities = np.concatenate(answers)
        rows = _spread_over_classes(probabilities.argmax(axis=1), n, rng)
        counts = rng.multinomial(self.labels_per_input, probabilities[rows])
        soft = counts / self.labels_per_input
        drawn = np.array([rng.choice(len(self.classes_), p=row) for row in soft], dtype=np.int64)
        return BaselineSet(
            X=np.concatenate(images)[rows],
            soft_labels=soft,
            labels=np.asarray(self.classes_)[drawn],
            classes=self.classes_,
            entropy=entropy_bits(probabilities[rows]),
            mutual_information=np.concatenate(information)[rows],
            non_ambiguous=float((soft.max(axis=1) == 1.0).mean()),
            without_pair=float((~has_top_pair(soft)).mean()),
            kept=found / tried,
        )

    def _mixtures(self, rng: np.random.Generator) -> FloatArray:
        a, b = rng.integers(0, len(self.codes_), (2, _BLOCK))
        share = rng.random((_BLOCK, 1))
        return np.asarray(share * self.codes_[a] + (1.0 - share) * self.codes_[b])

    def _votes(self, candidates: NDArray[Any]) -> FloatArray:
        import torch

        inputs = torch.from_numpy(candidates.astype(np.float32))
        with torch.no_grad():
            votes = [torch.softmax(net(inputs).double(), dim=1).numpy() for net in self.ensemble_]
        return np.stack(votes)


def _spread_over_classes(
    predicted: NDArray[np.int64], n: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """n rows, taken from the predicted classes by turns."""
    order = rng.permutation(len(predicted))
    turn = np.empty(len(predicted), dtype=np.int64)
    for label in np.unique(predicted):
        own = order[predicted[order] == label]
        turn[own] = np.arange(len(own))
    return np.asarray(order[np.argsort(turn[order], kind="stable")][:n])
