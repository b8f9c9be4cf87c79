"""`corrupt`: rows as they might arrive when something in the world or the pipeline goes wrong."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.core.arrays import FloatArray
from fireassay.core.errors import DataError, ParameterError
from fireassay.core.registry import Registry
from fireassay.core.seeds import generator
from fireassay.core.validation import check_features, check_integer
from fireassay.data.corruptions import images, table

IMAGES, TABLES = "images", "tables"


@dataclass(frozen=True)
class Corruption:
    """A row of the table: a function of rows, known by its name and the first line of its words.

    Attributes:
        of: ``"images"``: rows are (n, H, W, C) in [0, 1]; ``"tables"``: (n, d).
        change: ``function(rows, severity from 1 to 5, generator) -> rows`` of the same shape.

    >>> def mirror(rows, severity, rng):
    ...     '''Columns from right to left.'''
    ...     return rows[:, ::-1]
    >>> row = Corruption("tables", mirror)
    >>> row.name, row.summary
    ('mirror', 'Columns from right to left')
    """

    of: str
    change: Callable[[FloatArray, int, np.random.Generator], FloatArray]

    @property
    def name(self) -> str:
        """What people type."""
        return self.change.__name__

    @property
    def summary(self) -> str:
        """What it is, in a few words."""
        return (self.change.__doc__ or "").strip().split("\n")[0].rstrip(".")


CORRUPTIONS: Registry[Corruption] = Registry(
    "corruption",
    (
        Corruption(IMAGES, images.gaussian_noise),
        Corruption(IMAGES, images.shot_noise),
        Corruption(IMAGES, images.impulse_noise),
        Corruption(IMAGES, images.defocus_blur),
        Corruption(IMAGES, images.motion_blur),
        Corruption(IMAGES, images.glass_blur),
        Corruption(IMAGES, images.rotate),
        Corruption(IMAGES, images.shear),
        Corruption(IMAGES, images.scale),
        Corruption(IMAGES, images.translate),
        Corruption(IMAGES, images.brightness),
        Corruption(IMAGES, images.contrast),
        Corruption(IMAGES, images.fog),
        Corruption(IMAGES, images.pixelate),
        Corruption(IMAGES, images.stripe),
        Corruption(TABLES, table.missing),
        Corruption(TABLES, table.noise),
        Corruption(TABLES, table.unit_change),
        Corruption(TABLES, table.swap),
    ),
)


def corruption_kinds(of: str = IMAGES) -> tuple[str, ...]:
    """Names that `corrupt` understands, for ``"images"`` or ``"tables"``.

    Args:
        of: Of what.

    >>> corruption_kinds("tables")
    ('missing', 'noise', 'unit_change', 'swap')
    """
    if of not in (IMAGES, TABLES):
        raise ParameterError("The kinds are those of 'images' or 'tables'.", got=repr(of))
    return tuple(name for name, row in CORRUPTIONS.items() if row.of == of)


def corrupt(X: ArrayLike, kind: str, severity: int = 3, seed: int = 0) -> NDArray[Any]:
    """Rows with a common corruption.

    Args:
        X: Images (n, H, W) or (n, H, W, C) in [0, 1], or a table (n, d).
        kind: A name of `corruption_kinds` for images or for tables.
        severity: 1 (hardly visible) to 5 (hardly recognisable).
        seed: Same seed, same corruption.

    Returns:
        array: Of the shape and type of X; images stay in [0, 1].

    Raises:
        ParameterError: For an unknown kind, or one that does not fit the shape of X.
        DataError: For images outside [0, 1].

    >>> float(corrupt(np.zeros((1, 8, 8)), "brightness", severity=2).max())
    0.22
    """
    rows = check_features(X)
    level = check_integer(severity, "severity", low=1, high=5)
    rng = generator(seed, "corruption", kind)
    of = TABLES if rows.ndim == 2 else IMAGES
    if kind not in corruption_kinds(of) or rows.ndim not in (2, 3, 4):
        raise ParameterError(
            f"The 'kind' for {of} must be one of {', '.join(corruption_kinds(of))}.",
            got=f"{kind!r} for shape {rows.shape}",
            do="Images have the shape (n, H, W) or (n, H, W, C), tables (n, d).",
        )
    change = CORRUPTIONS[kind].change
    if of == TABLES:
        return change(rows.astype(np.float64), level, rng).astype(rows.dtype)
    if rows.min() < 0 or rows.max() > 1:
        raise DataError(
            "Images must have values in [0, 1].",
            got=f"{rows.min():g} to {rows.max():g}",
            do="For 0–255 images pass X / 255.",
        )
    images = rows.astype(np.float64)
    images = images[..., None] if rows.ndim == 3 else images
    changed = np.clip(change(images, level, rng), 0.0, 1.0)
    return np.asarray(changed.reshape(rows.shape).astype(rows.dtype))
