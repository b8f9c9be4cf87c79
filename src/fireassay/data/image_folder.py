"""A folder of images with one folder per class."""

import struct
import warnings
import zlib
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from fireassay.core.errors import DataError
from fireassay.core.files import MAX_BYTES, check_declared_size, expected
from fireassay.data.dataset import DataSet
from fireassay.data.parts import PARTS
from fireassay.data.pixel_range import scaled_pixels

# By content, whatever a file is called: other formats would be handed to other programs.
_FORMATS = ("PNG", "JPEG", "BMP", "GIF", "TIFF", "WEBP")
# Bytes as they are read, then float32 in [0, 1].
_BYTES_PER_VALUE = 5
_DEEP = ("I;16", "I;16B", "I;16L")
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
    """Images from ``folder/<class name>/<file>``, in the order of their names."""
    # Labels are positions in the sorted folder names; ids are the paths inside the folder. All
    # images grey: shape (n, height, width); any in colour: (n, height, width, 3).
    root = Path(folder)
    class_names = tuple(sorted(entry.name for entry in root.iterdir() if _is_class(entry)))
    if not class_names:
        raise DataError(f"{root} must have one folder of images per class.", got="no folders in it")
    parts = {word for words in PARTS.values() for word in words}
    if {class_name.lower() for class_name in class_names} <= parts:
        raise DataError(
            f"{root} must have one folder of images per class, or a folder test of such folders.",
            got=f"parts: {', '.join(class_names)}",
            do=f"Name the part: --data {root.name}/{class_names[-1]}.",
        )
    found = [
        (path, label)
        for label, class_name in enumerate(class_names)
        for path in sorted(root.joinpath(class_name).rglob("*"))
        if _is_image(path)
    ]
    if not found:
        raise DataError(f"{root} must have images ({', '.join(_ENDINGS)}).", got="none")
    images = read_pictures([path for path, _ in found], size, max_bytes)
    return DataSet(
        scaled_pixels(images, scale, name=str(root)),
        np.array([label for _, label in found]),
        np.array([path.relative_to(root).as_posix() for path, _ in found]),
        class_names,
        name=name or root.name,
    )


def split_folders(path: Path) -> dict[str, Path]:
    """The folders of an image folder that are its parts (test, train, field), not classes."""
    if not path.is_dir() or not (path / "test").is_dir():
        return {}
    found = ((part, path / word) for part, words in PARTS.items() for word in words)
    return {part: folder for part, folder in found if folder.is_dir()}


def _is_class(entry: Path) -> bool:
    _refuse_link(entry)
    return entry.is_dir() and not entry.name.startswith(".")


def _is_image(path: Path) -> bool:
    _refuse_link(path)
    return path.is_file() and is_picture_name(path.name) and not path.name.startswith(".")


def is_picture_name(name: str) -> bool:
    """Whether a file of this name should hold a picture."""
    return name.lower().endswith(_ENDINGS)


def _refuse_link(path: Path) -> None:
    if path.is_symlink():
        raise DataError(
            "An image folder must hold its files itself.",
            got=f"a link: {path}",
            do="Copy the files into the folder, or remove the link.",
        )


def read_pictures(
    sources: Sequence[Path | BytesIO],
    size: tuple[int, int] | None = None,
    max_bytes: int = MAX_BYTES,
) -> NDArray[Any]:
    """Pixels of files, or of their bytes: uint8, or float32 in [0, 1] where some have 16 bits."""
    first, grey, deep = _inspect(sources)
    shape = size or first
    total = len(sources) * shape[0] * shape[1] * (1 if grey else 3) * _BYTES_PER_VALUE
    packed = sum(_length(source) for source in sources)
    check_declared_size(total, max_bytes, _named(sources[0]), packed=packed)
    form = (len(sources), *shape) if grey else (len(sources), *shape, 3)
    images = np.empty(form, dtype=np.float32 if deep else np.uint8)
    for row, source in enumerate(sources):
        with _opened(source) as image:
            if size is None and (image.height, image.width) != first:
                raise DataError(
                    f"All images must have one size, here {first[0]} × {first[1]}.",
                    got=f"{image.height} × {image.width} in {_named(source)}",
                    do=f"Pass size=(height, width), --size {first[0]} {first[1]}, to resize all.",
                )
            images[row] = _pixels(image, "L" if grey else "RGB", size, source)
    return images


def _inspect(sources: Sequence[Path | BytesIO]) -> tuple[tuple[int, int], bool, bool]:
    """The first image's size, and whether all are grey and some deep: from the headers alone."""
    first, grey, deep = None, True, False
    for source in sources:
        with _opened(source) as image:
            first = first or (image.height, image.width)
            grey = grey and image.mode in ("L", "1", "LA", *_DEEP)
            deep = deep or image.mode in _DEEP
            if image.mode.startswith(("I", "F")) and image.mode not in _DEEP:
                raise DataError(
                    "Images must have 8 or 16 bits per channel.",
                    got=f"mode {image.mode!r} in {_named(source)}",
                    do="Convert them, or save their pixels as an npz file.",
                )
    assert first is not None
    if deep and not grey:
        raise DataError(
            "Images must be all grey, or all of 8 bits per channel.",
            got=f"some of 16 bits beside colours, with {_named(sources[0])}",
        )
    return first, grey, deep


def _named(source: Path | BytesIO) -> str:
    return "a cell" if isinstance(source, BytesIO) else str(source)


def _length(source: Path | BytesIO) -> int:
    return source.getbuffer().nbytes if isinstance(source, BytesIO) else source.stat().st_size


def _opened(source: Path | BytesIO) -> Image.Image:
    if isinstance(source, BytesIO):
        source = BytesIO(source.getbuffer())  # an image closes what it was read from
    bombs = (Image.DecompressionBombError, Image.DecompressionBombWarning)
    with (
        expected(f"Expected an image at {_named(source)}.", _DAMAGED),
        expected(f"{_named(source)} must be an image of a usual size.", bombs),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        return Image.open(source, formats=_FORMATS)


def _pixels(
    image: Image.Image, mode: str, size: tuple[int, int] | None, source: Path | BytesIO
) -> NDArray[Any]:
    with expected(f"Expected a whole image at {_named(source)}.", _DAMAGED):
        deep = image.mode in _DEEP
        converted = image.convert("F" if deep else mode)
        if size is not None:
            converted = converted.resize((size[1], size[0]), Image.Resampling.BILINEAR)
        pixels = np.asarray(converted)
        return pixels / np.float32(65535) if deep else pixels
