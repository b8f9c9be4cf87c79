"""`corrupt`: rows as they might arrive when something in the world or the pipeline goes wrong."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.core.errors import DataError, ParameterError
from fireassay.core.seeds import generator
from fireassay.core.validation import check_features, check_integer
from fireassay.data.corruptions import blur, geometry, light, noise, pixels, table

# kind -> function(images (n, H, W, C) in [0, 1], severity 1–5, generator) -> images
IMAGES = {
    "gaussian_noise": noise.gaussian_noise,
    "shot_noise": noise.shot_noise,
    "impulse_noise": noise.impulse_noise,
    "defocus_blur": blur.defocus_blur,
    "motion_blur": blur.motion_blur,
    "glass_blur": blur.glass_blur,
    "rotate": geometry.rotate,
    "shear": geometry.shear,
    "scale": geometry.scale,
    "translate": geometry.translate,
    "brightness": light.brightness,
    "contrast": light.contrast,
    "fog": light.fog,
    "pixelate": pixels.pixelate,
    "stripe": pixels.stripe,
}
# kind -> function(table (n, d), severity 1–5, generator) -> table
TABLES = {
    "missing": table.missing,
    "noise": table.noise,
    "unit_change": table.unit_change,
    "swap": table.swap,
}


def corruption_kinds(of: str = "images") -> tuple[str, ...]:
    """Names that `corrupt` understands, for ``"images"`` or ``"tables"``.

    >>> corruption_kinds("tables")
    ('missing', 'noise', 'unit_change', 'swap')
    """
    if of not in ("images", "tables"):
        raise ParameterError("The kinds are those of 'images' or 'tables'.", got=repr(of))
    return tuple(IMAGES if of == "images" else TABLES)


def corrupt(X: ArrayLike, kind: str, severity: int = 3, seed: int = 0) -> NDArray[Any]:
    """Rows with a common corruption.

    Parameters
    ----------
    X
        Images (n, H, W) or (n, H, W, C) in [0, 1], or a table (n, d).
    kind
        For images: gaussian_noise, shot_noise, impulse_noise, defocus_blur, motion_blur,
        glass_blur, rotate, shear, scale, translate, brightness, contrast, fog, pixelate, stripe.
        For tables: missing (filled with the column's median), noise, unit_change, swap (of
        columns).
    severity
        1 (hardly visible) to 5 (hardly recognisable).
    seed
        Same seed, same corruption.

    Returns
    -------
    array
        Of the shape and type of X; images stay in [0, 1].

    Raises
    ------
    ParameterError
        For an unknown kind, or one that does not fit the shape of X.
    DataError
        For images outside [0, 1].

    >>> float(corrupt(np.zeros((1, 8, 8)), "brightness", severity=2).max())
    0.22
    """
    rows = check_features(X)
    level = check_integer(severity, "severity", low=1, high=5)
    rng = generator(seed, "corruption", kind)
    if rows.ndim == 2:
        if kind not in TABLES:
            raise ParameterError(
                f"The 'kind' for a table must be one of {', '.join(TABLES)}.",
                got=repr(kind),
                do="Images have the shape (n, H, W) or (n, H, W, C)." if kind in IMAGES else None,
            )
        return TABLES[kind](rows.astype(np.float64), level, rng).astype(rows.dtype)
    if kind not in IMAGES or rows.ndim not in (3, 4):
        raise ParameterError(
            f"The 'kind' for images (n, H, W) or (n, H, W, C) must be one of {', '.join(IMAGES)}.",
            got=f"{kind!r} for shape {rows.shape}",
        )
    if rows.min() < 0 or rows.max() > 1:
        raise DataError(
            "Images must have values in [0, 1].",
            got=f"{rows.min():g} to {rows.max():g}",
            do="For 0–255 images pass X / 255.",
        )
    images = rows.astype(np.float64)
    images = images[..., None] if rows.ndim == 3 else images
    changed = np.clip(IMAGES[kind](images, level, rng), 0.0, 1.0)
    return np.asarray(changed.reshape(rows.shape).astype(rows.dtype))
