"""A folder of images with one folder per class."""

import struct
import warnings
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from fireassay.core.errors import DataError
from fireassay.core.limits import MAX_BYTES, check_declared_size
from fireassay.data.dataset import DataSet
from fireassay.data.pixels import scaled_pixels

# By content, whatever a file is called: other formats would be handed to other programs.
_FORMATS = ("PNG", "JPEG", "BMP", "GIF", "TIFF", "WEBP")
# Bytes as they are read, then float32 in [0, 1].
_BYTES_PER_VALUE = 5
_ENDINGS = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp")
# What Pillow raises on damaged files; UnidentifiedImageError is an OSError.
_DAMAGED = (
    ArithmeticError,
    AttributeError,
    EOFError,
    LookupError,
    OSError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
    struct.error,
    zlib.error,
)


def load_image_folder(
    folder: str | Path,
    *,
    size: tuple[int, int] | None = None,
    scale: str | float = "auto",
    name: str = "",
    max_bytes: int = MAX_BYTES,
) -> DataSet:
    """Images from ``folder/<class name>/<file>``, in the order of their names.

    Labels are positions in ``class_names``, the sorted folder names; ids are the paths inside the
    folder. All images grey: shape ``(n, height, width)``; any in colour: ``(n, height, width, 3)``.

    Parameters
    ----------
    folder
        The folder of class folders. Links are refused: they could lead out of it.
    size
        (height, width) to resize every image to; None: all must have one size.
    scale
        See `scaled_pixels`.
    """
    root = Path(folder)
    class_names = tuple(sorted(entry.name for entry in root.iterdir() if _is_class(entry)))
    if not class_names:
        raise DataError(f"{root} must have one folder of images per class.", got="no folders in it")
    found = [
        (path, label)
        for label, class_name in enumerate(class_names)
        for path in sorted(root.joinpath(class_name).iterdir())
        if _is_image(path)
    ]
    if not found:
        raise DataError(f"{root} must have images ({', '.join(_ENDINGS)}).", got="none")
    images = _read_all([path for path, _ in found], size, max_bytes)
    return DataSet(
        scaled_pixels(images, scale, name=str(root)),
        np.array([label for _, label in found]),
        np.array([path.relative_to(root).as_posix() for path, _ in found]),
        class_names,
        name=name or root.name,
    )


def _is_class(entry: Path) -> bool:
    _refuse_link(entry)
    return entry.is_dir() and not entry.name.startswith(".")


def _is_image(path: Path) -> bool:
    _refuse_link(path)
    return path.is_file() and path.suffix.lower() in _ENDINGS and not path.name.startswith(".")


def _refuse_link(path: Path) -> None:
    if path.is_symlink():
        raise DataError(
            "An image folder must hold its files itself.",
            got=f"a link: {path}",
            do="Copy the files into the folder, or remove the link.",
        )


def _read_all(paths: list[Path], size: tuple[int, int] | None, max_bytes: int) -> NDArray[Any]:
    first, grey = _inspect(paths)
    shape = size or first
    total = len(paths) * shape[0] * shape[1] * (1 if grey else 3) * _BYTES_PER_VALUE
    packed = sum(path.stat().st_size for path in paths)
    check_declared_size(total, max_bytes, paths[0].parent.parent, packed=packed)
    images = np.empty((len(paths), *shape) if grey else (len(paths), *shape, 3), dtype=np.uint8)
    for row, path in enumerate(paths):
        with _opened(path) as image:
            if size is None and (image.height, image.width) != first:
                raise DataError(
                    f"All images must have one size, here {first[0]} × {first[1]}.",
                    got=f"{image.height} × {image.width} in {path}",
                    do="Pass size=(height, width) to resize them all.",
                )
            images[row] = _pixels(image, "L" if grey else "RGB", size, path)
    return images


def _inspect(paths: list[Path]) -> tuple[tuple[int, int], bool]:
    """The size of the first image, and whether all are grey: from the headers alone."""
    first, grey = None, True
    for path in paths:
        with _opened(path) as image:
            first = first or (image.height, image.width)
            grey = grey and image.mode in ("L", "1", "LA")
            if image.mode.startswith(("I", "F")):
                raise DataError(
                    "Images must have 8 bits per channel.",
                    got=f"mode {image.mode!r} in {path}",
                    do="Convert them, or save their pixels as an npz file.",
                )
    assert first is not None
    return first, grey


def _opened(path: Path) -> Image.Image:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            return Image.open(path, formats=_FORMATS)
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise DataError(f"{path} must be an image of a usual size.", got=str(error)) from error
    except _DAMAGED as error:
        raise DataError(f"Expected an image at {path}.", got=str(error)) from error


def _pixels(
    image: Image.Image, mode: str, size: tuple[int, int] | None, path: Path
) -> NDArray[np.uint8]:
    try:
        converted = image.convert(mode)
        if size is not None:
            converted = converted.resize((size[1], size[0]), Image.Resampling.BILINEAR)
        return np.asarray(converted)
    except _DAMAGED as error:
        raise DataError(f"Expected a whole image at {path}.", got=str(error)) from error
