"""Typed errors and warnings: what was expected, what came, what to do."""

import functools
import warnings
from collections.abc import Callable
from typing import ParamSpec, TypeVar


class FireassayError(ValueError):
    """Base of every error that fireassay raises on purpose.

    The message is built from what was expected, what came instead and what the user can do:

    >>> raise DataError("X must have at least 1 row.", got="0 rows", do="Check the file.")
    Traceback (most recent call last):
    ...
    fireassay.core.errors.DataError: X must have at least 1 row. Got 0 rows. Check the file.
    """

    def __init__(self, expected: str, *, got: str | None = None, do: str | None = None) -> None:
        parts = [expected]
        if got is not None:
            parts.append(f"Got {got}.")
        if do is not None:
            parts.append(do)
        # One joined argument, so that the error survives pickling on its way back from a worker.
        super().__init__(" ".join(parts))


class DataError(FireassayError):
    """Features, labels, votes or a data file are not usable as they are."""


class ParameterError(FireassayError):
    """An argument is outside what the function accepts."""


class ModelError(FireassayError):
    """A model cannot be used, or answered with something that is not a classification."""


class ProbabilityError(ModelError):
    """What should be class probabilities is not."""


class BudgetExceededError(FireassayError):
    """A call would need more model queries or labels than the budget allows."""


class UntrustedFileError(FireassayError):
    """A file could run code when read, and the user did not say that it is trusted."""


class MissingExtraError(FireassayError, ImportError):
    """An optional dependency is not installed."""


class ConfigError(FireassayError):
    """The configuration file is not valid."""


class StoreError(FireassayError):
    """A run folder cannot be used: damaged, locked, read-only or of another version."""


class NotEnoughEvidenceError(FireassayError):
    """The data at hand cannot support the asked claim."""


class FireassayWarning(UserWarning):
    """Base of every warning that fireassay gives."""


class AssumptionWarning(FireassayWarning):
    """The data contradicts an assumption that a number depends on."""


class ConvergenceWarning(FireassayWarning):
    """An iterative fit stopped before it converged."""


class DeprecatedNameWarning(FireassayWarning, FutureWarning):
    """A name that was used has a successor, and goes in the version that is said."""


class ReproducibilityWarning(FireassayWarning):
    """A result may not be reproducible, because the model itself is not."""


P = ParamSpec("P")
R = TypeVar("R")


def deprecated(use: str, *, gone_in: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate the function behind an old name: ``use`` is the new one, ``gone_in`` a version."""

    def warning(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def still_works(*args: P.args, **kwargs: P.kwargs) -> R:
            text = f"{function.__qualname__} is now {use}; fireassay {gone_in} drops the old name."
            warnings.warn(text, DeprecatedNameWarning, stacklevel=2)
            return function(*args, **kwargs)

        return still_works

    return warning
