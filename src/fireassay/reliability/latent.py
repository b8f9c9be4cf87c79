"""Latent spaces of images (PCA, VAE) and the paper's assessment by latent cells."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.core import DataError, derived_seed, generator
from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.lazy import pd, require
from fireassay.core.validation import check_choice, check_features, check_integer, check_real
from fireassay.reliability.cell_details import LatentCells
from fireassay.reliability.cells import CROSS_BOUNDARY, EMPTY, KINDS, CellLabels
from fireassay.reliability.label_bounds import exact_row
from fireassay.reliability.ledger import full_ledger
from fireassay.reliability.problem import Problem
from fireassay.reliability.rare_events import MonteCarlo, RareEventEstimator
from fireassay.reliability.result import ReliabilityResult, build_result
from fireassay.reliability.separation import r_separation
from fireassay.reliability.splitting import ball_problem
from fireassay.statistics import betting_interval
from fireassay.statistics.kde import leave_one_out_bandwidth, product_cell_mass


class Latent(Protocol):
    """A map from inputs to a few numbers, and back."""

    def encode(self, X: NDArray[Any]) -> FloatArray:
        """Latent coordinates, shape ``(n, dims)``."""
        ...

    def decode(self, Z: FloatArray) -> FloatArray:
        """Inputs, shape ``(n, *row shape)``."""
        ...


class PcaLatent:
    """Principal components, scaled to unit variance each.

    Args:
        dims: Number of components.
        bounds: Decoded values are clipped to them; None: not.

    >>> X = np.random.default_rng(0).random((50, 4, 4))
    >>> latent = PcaLatent(3).fit(X)
    >>> latent.decode(latent.encode(X)).shape
    (50, 4, 4)
    """

    def __init__(self, dims: int = 8, bounds: tuple[float, float] | None = (0, 1)) -> None:
        self.dims = dims
        self.bounds = bounds

    def fit(self, X: ArrayLike) -> Self:
        """Learn the components from rows of any shape."""
        check_integer(self.dims, "dims", low=1)
        rows = check_features(X, min_rows=2)
        self.shape_ = rows.shape[1:]
        flat = rows.reshape(len(rows), -1).astype(np.float64)
        if self.dims > min(flat.shape):
            raise DataError(
                f"PCA with {self.dims} dims needs at least as many rows and features.",
                got=f"{flat.shape}",
            )
        self.mean_ = flat.mean(axis=0)
        _, singular, axes = np.linalg.svd(flat - self.mean_, full_matrices=False)
        self.axes_ = axes[: self.dims]
        self.scale_ = np.maximum(singular[: self.dims] / np.sqrt(len(flat)), 1e-12)
        return self

    def encode(self, X: NDArray[Any]) -> FloatArray:
        """Scores on the components."""
        flat = np.asarray(X, dtype=np.float64).reshape(len(X), -1)
        return np.asarray((flat - self.mean_) @ self.axes_.T / self.scale_, dtype=np.float64)

    def decode(self, Z: FloatArray) -> FloatArray:
        """Rows from scores, clipped to the bounds."""
        flat = self.mean_ + (Z * self.scale_) @ self.axes_
        if self.bounds is not None:
            flat = np.clip(flat, *self.bounds)
        return np.asarray(flat.reshape(len(Z), *self.shape_), dtype=np.float64)


class VaeLatent:
    """The latent means of a small convolutional VAE (extra ``torch``).

    Args:
        dims: Latent dimensions: the paper takes 8 for MNIST and 16 for CIFAR-10.
        epochs: Passes over the training images.
        seed: Of its training.

    >>> images = np.random.default_rng(0).random((40, 8, 8))
    >>> latent = VaeLatent(dims=2, epochs=1).fit(images)
    >>> latent.encode(images).shape, latent.decode(np.zeros((3, 2))).shape
    ((40, 2), (3, 8, 8))
    """

    def __init__(self, dims: int = 8, epochs: int = 5, seed: int = 0) -> None:
        self.dims, self.epochs, self.seed = dims, epochs, seed

    def fit(self, X: ArrayLike) -> Self:
        """Train the VAE on images with values in [0, 1]."""
        require("torch", "torch", "A VAE latent space")
        from fireassay.networks.vae import train_vae

        self.vae_ = train_vae(X, self.dims, epochs=self.epochs, seed=self.seed)
        return self

    def encode(self, X: NDArray[Any]) -> FloatArray:
        """Latent means."""
        from fireassay.networks.vae import encode

        return encode(self.vae_, X)

    def decode(self, Z: FloatArray) -> FloatArray:
        """Images from latent coordinates."""
        from fireassay.networks.vae import decode

        return decode(self.vae_, Z)


_ROWS_FOR_R = 2000
_IMAGES_AT_ONCE = 2000
_LITTLE_MASS = 0.5


@dataclass(frozen=True)
class TopCells:
    """Which latent cells are evaluated, and how.

    Attributes:
        side: Side of a latent cell.
        top_k, mass: Cells are evaluated from the heaviest on, until ``top_k`` of them or this share
            of the profile's mass.
        rest: What the others count: ``"worst"`` (always wrong) or ``"mean"`` (like the evaluated
            ones).
        draws: Cells drawn from the latent profile, evaluated as well: their mean is an estimate of
            E[λ] over the whole profile, however little mass the heaviest cells hold.
        candidates: Rows drawn from the latent profile to find cells beside those hit by data.
        decoded: Images decoded from each cell.
        balls: How failures in the pixel ball around each decoded image are counted.
        logarithm: ``"common"`` takes the logarithm of a failure probability for one of base 10, as
            the paper's program does, which makes p the smaller p^2.3.

    >>> from fireassay.reliability import PcaLatent, Ram, assess
    >>> images = np.random.default_rng(0).random((60, 4, 4))
    >>> bright = lambda X: np.column_stack([1 - X.mean(axis=(1, 2)), X.mean(axis=(1, 2))])
    >>> ram = Ram(latent=PcaLatent(2).fit(images), top=TopCells(side=0.5, top_k=5, draws=20))
    >>> found = assess(bright, images, images.mean(axis=(1, 2)) > 0.5, method=ram).details
    >>> bound = found.mean * found.evaluated_mass + 1 - found.evaluated_mass  # rest="worst"
    >>> abs(found.pmi - bound) < 1e-12
    True
    """

    side: float = 0.1
    top_k: int = 1000
    mass: float = 0.99
    rest: str = "worst"
    draws: int = 500
    candidates: int = 10_000
    decoded: int = 8
    balls: RareEventEstimator = field(default_factory=lambda: MonteCarlo(20))
    logarithm: str = "natural"

    def __post_init__(self) -> None:
        check_real(self.side, "side", low=0)
        check_integer(self.top_k, "top_k", low=1)
        check_real(self.mass, "mass", low=0, high=1, inclusive="high")
        check_choice(self.rest, "rest", ("worst", "mean"))
        check_integer(self.draws, "draws", low=0)
        check_integer(self.candidates, "candidates", low=1)
        check_integer(self.decoded, "decoded", low=1)
        check_choice(self.logarithm, "logarithm", ("natural", "common"))


def by_latent_cells(
    problem: Problem,
    latent: Latent,
    top: TopCells,
    width: float | str | None = None,
    radius: float | None = None,
) -> ReliabilityResult:
    """Rank latent cells by mass, decode samples from the heaviest, count failures around them."""
    seed = problem.seed
    images = problem.labelled.X.reshape(-1, *problem.row_shape)
    codes = latent.encode(images)
    field_codes = codes
    if problem.operational is not None:
        field_codes = latent.encode(problem.operational.X.reshape(-1, *problem.row_shape))
    if width is None or isinstance(width, str):
        rng = generator(seed, "latent-bandwidth")
        width = leave_one_out_bandwidth(field_codes, max_rows=400, rng=rng)
    keys, seen, draws = _cells(codes, field_codes, problem.y, width, top, seed)
    corner: FloatArray = np.asarray(keys * top.side, dtype=np.float64)
    mass = product_cell_mass(field_codes, corner, corner + top.side, width)
    order = np.argsort(-mass, kind="stable")
    enough = int(np.searchsorted(np.cumsum(mass[order]), top.mass)) + 1
    chosen = order[: min(top.top_k, enough, len(order))]
    if radius is None:
        X, y = problem.labelled.X[:_ROWS_FOR_R], problem.y[:_ROWS_FOR_R]
        radius = max(1e-6, r_separation(X, y).r)
    ball = check_real(radius, "radius", low=0)
    # Drawn cells are evaluated once per draw, so that the draws are independent of each other.
    wanted = np.append(chosen, draws)
    labels = CellLabels(seen.kind[wanted], seen.label[wanted])
    every, label = _evaluate(problem, latent, top, keys[wanted], labels, ball)
    unastuteness, drawn = every[: len(chosen)], every[len(chosen) :]
    weight = mass[chosen]
    inside = float(weight @ unastuteness)
    evaluated = float(weight.sum())
    mean = inside / evaluated if evaluated > 0 else 1.0
    pmi = inside + (1 - evaluated) * (1.0 if top.rest == "worst" else mean)
    cells = pd.DataFrame({f"low_{a}": column for a, column in enumerate(corner[chosen].T)})
    cells["kind"] = [KINDS[i] for i in seen.kind[chosen]]
    cells["label"], cells["unastuteness"] = label[: len(chosen)], unastuteness
    cells["mass"], cells["vote"] = weight, 1 - unastuteness
    rows = [("latent cells, heaviest", mean, pmi, "none: see the evaluated mass")]
    others = "always wrong" if top.rest == "worst" else "like these"
    notes = [
        f"The {len(chosen)} heaviest latent cells hold {evaluated:.3g} of the profile's mass.",
        f"E[λ] within them is {mean:.4g}; the others count as {others}, which gives {pmi:.4g}.",
        f"Pixel balls of radius {ball:.3g} (L∞).",
    ]
    if evaluated < _LITTLE_MASS:
        notes.insert(
            2,
            "So little mass says nothing about the field: larger cells (top.side), or the mean "
            "over cells drawn from the profile, do.",
        )
    average = drawn_upper = float("nan")
    if len(drawn) > 1:
        average = float(drawn.mean())
        drawn_upper = betting_interval(drawn, 1.0 - problem.alpha, alternative="upper")[1]
        why = "none: empty cells are labelled by the model, balls are not the field"
        name = f"latent cells, {len(drawn)} drawn from the profile"
        rows.append((name, average, drawn_upper, why))
    mixed = int((seen.kind == CROSS_BOUNDARY).sum()), int((seen.kind != EMPTY).sum())
    details = LatentCells(
        pmi=pmi,
        pmi_upper=pmi,
        acu=float(unastuteness.mean()),
        cells=cells,
        contradiction_p=problem.contradiction(pmi),
        mean=mean,
        evaluated_mass=evaluated,
        drawn=average,
        drawn_upper=drawn_upper,
    )
    return build_result(
        problem,
        "ram",
        details,
        limits=(0.0, pmi, pmi),
        comparison=[*rows, exact_row(problem)],
        assumptions=full_ledger(problem, mixed=mixed),
        notes=tuple(notes),
        is_bound=False,
    )


def _cells(
    codes: FloatArray, field_codes: FloatArray, y: IntArray, width: float, top: TopCells, seed: int
) -> tuple[IntArray, CellLabels, IntArray]:
    """Cells hit by data or drawn: corners in units of the side, labels, and the cells drawn."""
    rng = generator(seed, "latent-candidates")
    candidates = max(top.candidates, top.draws)
    drawn = field_codes[rng.integers(len(field_codes), size=candidates)]
    drawn = drawn + width * rng.standard_normal(drawn.shape)
    every = np.floor(np.concatenate([codes, field_codes, drawn]) / top.side).astype(np.int64)
    keys, owner = np.unique(every, axis=0, return_inverse=True)
    owner = owner.ravel()
    labels = CellLabels.of(owner[: len(codes)], y, len(keys))
    return keys, labels, owner[len(owner) - candidates :][: top.draws]


def _evaluate(
    problem: Problem, latent: Latent, top: TopCells, keys: IntArray, seen: CellLabels, radius: float
) -> tuple[FloatArray, IntArray]:
    """λ and label of cells, some cells at a time, wherever there is room."""
    size = max(1, _IMAGES_AT_ONCE // top.decoded)
    shared = {"problem": problem.without_rows(), "latent": latent, "top": top, "keys": keys}
    shared |= {"kind": seen.kind, "label": seen.label, "radius": radius}
    rows = [(start, min(start + size, len(keys))) for start in range(0, len(keys), size)]
    parts = problem.workers.run(latent_unastuteness, rows, shared, "latent cells")
    unastuteness, label = zip(*parts, strict=True)
    return np.concatenate(unastuteness), np.concatenate(label)


def latent_unastuteness(
    row: tuple[int, int],
    problem: Problem,
    latent: Latent,
    top: TopCells,
    keys: IntArray,
    kind: IntArray,
    label: IntArray,
    radius: float,
) -> tuple[FloatArray, IntArray]:
    """Mean failure probability of pixel balls around images decoded from each of some cells."""
    start, stop = row
    keys, kind, label = keys[start:stop], kind[start:stop], label[start:stop].copy()
    unastuteness = np.ones(len(keys))
    rows = np.flatnonzero(kind != CROSS_BOUNDARY)
    if not len(rows):
        return unastuteness, label
    rng = generator(problem.seed, "latent-decoded", start)
    dims = keys.shape[1]

    def decoded(cells: IntArray) -> FloatArray:
        spots = keys[cells, None] + rng.random((len(cells), top.decoded, dims))
        images = latent.decode((spots * top.side).reshape(-1, dims))
        return images if problem.model.bounds is None else np.clip(images, *problem.model.bounds)

    empty = rows[kind[rows] == EMPTY]
    if len(empty):
        # Labels come from images of their own: a cell is not judged by those that voted for it.
        pilot = decoded(empty)
        voted = problem.predict(pilot.reshape(len(pilot), -1)).reshape(len(empty), -1)
        label[empty] = (
            (voted[:, :, None] == np.arange(problem.n_classes)).sum(axis=1).argmax(axis=1)
        )
    images = decoded(rows)
    margin, low, high = ball_problem(problem.model, images, radius)
    owners = np.repeat(label[rows], top.decoded)
    found = top.balls(margin, low, high, owners, derived_seed(problem.seed, "balls", start))
    failing = (np.e if top.logarithm == "natural" else 10.0) ** found.log_p
    unastuteness[rows] = failing.reshape(len(rows), -1).mean(axis=1)
    return unastuteness, label
