"""Labelling functions: rules of thumb as plain Python functions."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, overload

from fireassay.core.errors import ParameterError
from fireassay.core.hashing import sha256


@dataclass(frozen=True, eq=False)
class LabellingFunction:
    """A rule of thumb: given a sample it votes for a class, or abstains with -1.

    Attributes
    ----------
    function
        What decides; it can also be called directly through this object.
    name, meaning
        What tables and reports call it, and what it says in plain words.
    batch
        Whether it sees a block of samples at once and returns one vote for each.
    """

    function: Callable[[Any], Any]
    name: str
    meaning: str
    batch: bool = False

    def __call__(self, sample: Any) -> Any:
        """The vote for one sample, or the votes for a block."""
        return self.function(sample)

    @property
    def sha256(self) -> str:
        """A hash of the source text, which tells two versions of a rule apart."""
        try:
            text = inspect.getsource(self.function)
        except (OSError, TypeError):
            text = repr(getattr(self.function, "__code__", self.function))
        return sha256(self.name, text, self.batch)


@overload
def labelling_function(function: Callable[[Any], Any]) -> LabellingFunction: ...
@overload
def labelling_function(
    *, name: str | None = None, meaning: str | None = None, batch: bool = False
) -> Callable[[Callable[[Any], Any]], LabellingFunction]: ...
def labelling_function(
    function: Callable[[Any], Any] | None = None,
    *,
    name: str | None = None,
    meaning: str | None = None,
    batch: bool = False,
) -> LabellingFunction | Callable[[Callable[[Any], Any]], LabellingFunction]:
    """Make a labelling function of a plain function, with or without arguments.

    Parameters
    ----------
    function
        Takes a sample (a row of an array, a row of a data frame, a time-series window, a text …)
        and returns a class 0, 1, … or -1 to abstain.
    name
        The function's own name by default.
    meaning
        The first line of the function's docstring by default.
    batch
        The function takes a block of samples and returns as many votes. Each sample must be judged
        on its own: how samples are put into blocks is not defined.

    >>> @labelling_function(meaning="a heart rate over 120 is not normal")
    ... def fast(row):
    ...     return 1 if row["heart_rate"] > 120 else -1
    >>> fast.name, fast({"heart_rate": 140})
    ('fast', 1)
    """

    def wrap(plain: Callable[[Any], Any]) -> LabellingFunction:
        if not callable(plain):
            raise ParameterError("A labelling function must be callable.", got=type(plain).__name__)
        chosen = name or getattr(plain, "__name__", type(plain).__name__)
        first_line = (inspect.getdoc(plain) or "").split("\n")[0]
        described = first_line if meaning is None else meaning
        return LabellingFunction(plain, str(chosen), described, batch)

    return wrap if function is None else wrap(function)


def as_labelling_function(candidate: Any) -> LabellingFunction:
    """A labelling function as it is, or made of any callable."""
    if isinstance(candidate, LabellingFunction):
        return candidate
    return labelling_function(candidate)
