"""Random generators named by what they are for, so that no worker count changes a result."""

import hashlib

import numpy as np

from fireassay.core.errors import ParameterError


def check_seed(seed: int) -> int:
    """A seed as a plain int, or an error: ``None`` would make a result that nobody can repeat."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or int(seed) < 0:
        raise ParameterError("The 'seed' must be an int >= 0.", got=repr(seed))
    return int(seed)


def seed_sequence(seed: int, *names: str | int) -> np.random.SeedSequence:
    """The seed sequence of one named piece of work, e.g. ``seed_sequence(0, "pgd", row)``.

    It depends on the seed and the names alone: not on order, number of workers or batch size.

    Args:
        seed: An integer, at least 0.
        names: What the work is called.

    >>> first, again = (seed_sequence(0, "rows", 7).generate_state(2) for _ in range(2))
    >>> bool((first == again).all())
    True
    """
    path = "\x1f".join(f"{'s' if isinstance(name, str) else 'i'}:{name}" for name in names)
    digest = hashlib.sha256(path.encode()).digest()[:16]
    first = check_seed(seed)
    first_words = first.to_bytes(max(-(-first.bit_length() // 32), 1) * 4, "little")
    # An array of words, not a list of numbers: the same sequence in a third of the time.
    return np.random.SeedSequence(np.frombuffer(first_words + digest, dtype="<u4"))


def generator(seed: int, *names: str | int) -> np.random.Generator:
    """An independent generator for one named piece of work.

    Args:
        seed, names: As in `seed_sequence`.

    >>> generator(0, "bootstrap").random() == generator(0, "bootstrap").random()
    True
    >>> generator(0, "row", 1).random() == generator(0, "row", 2).random()
    False
    """
    return np.random.Generator(np.random.PCG64(seed_sequence(seed, *names)))


def derived_seed(seed: int, *names: str | int) -> int:
    """A 32-bit seed for libraries that take only an int (scikit-learn, torch).

    Args:
        seed, names: As in `seed_sequence`.

    >>> derived_seed(0, "weights") == derived_seed(0, "weights") != derived_seed(0, "order")
    True
    """
    return int(seed_sequence(seed, *names).generate_state(1)[0])
