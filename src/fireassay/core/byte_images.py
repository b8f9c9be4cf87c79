"""Very many images of bytes: they stay bytes, on disk if they are there, until rows are taken."""

from typing import Any, Final

import numpy as np

from fireassay.core.arrays import AnyArray

LEAST_NUMBERS: Final = 2**28  # as float32 this is a gigabyte


class ByteImages(np.ndarray[Any, np.dtype[Any]]):
    """Images whose rows come out as float32, as those of smaller sets are from the beginning.

    `byte_images` makes them. ``divisor`` is what the rows are divided by.

    >>> images = byte_images(np.full((3, 2, 2), 51, dtype=np.uint8), divisor=255)
    >>> images[:2].dtype, float(images[0, 0, 0]), float(images.max())
    (dtype('float32'), 0.20000000298023224, 0.20000000298023224)
    """

    divisor: int
    _known_hash: str | None

    def __array_finalize__(self, made_from: Any) -> None:
        self.divisor, self._known_hash = getattr(made_from, "divisor", 1), None

    def __getitem__(self, index: Any) -> Any:
        found = np.asarray(self)[index]
        if found.size >= LEAST_NUMBERS:
            return byte_images(found, divisor=self.divisor)
        return self._floats(found)

    def _floats(self, numbers: Any) -> Any:
        floats = numbers.astype(np.float32)
        return floats if self.divisor == 1 else floats / np.float32(self.divisor)

    def min(self, *axes: Any, **options: Any) -> Any:
        """The smallest number, as it comes out."""
        return self._floats(np.asarray(self).min(*axes, **options))

    def max(self, *axes: Any, **options: Any) -> Any:
        """The largest number, as it comes out."""
        return self._floats(np.asarray(self).max(*axes, **options))

    def floats(self) -> AnyArray:
        """All of them as they come out: four times the memory."""
        whole: AnyArray = self._floats(np.asarray(self))
        return whole

    @property
    def sha256(self) -> str:
        """Identifies the content; of a file that nobody can write to it is found out once."""
        from fireassay.core.hashing import sha256

        if self._known_hash is None or self.flags.writeable:
            self._known_hash = sha256("byte images", self.divisor, np.asarray(self))
        return self._known_hash

    def __reduce__(self) -> tuple[Any, ...]:
        return byte_images, (np.asarray(self), self.divisor)


def byte_images(images: AnyArray, divisor: int = 1) -> ByteImages:
    """Bytes that stay so until rows are taken.

    Parameters
    ----------
    images
        Of type uint8, in memory or mapped from a file.
    divisor
        What rows are divided by.
    """
    kept = images.view(ByteImages)
    kept.divisor = divisor
    return kept
