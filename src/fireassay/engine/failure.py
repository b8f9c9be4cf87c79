"""What is left of a task that failed, and the error that lists all of them."""

import traceback
from collections.abc import Sequence
from dataclasses import dataclass

from fireassay.core.errors import FireassayError

_MOST_LISTED = 5


@dataclass(frozen=True)
class Failure:
    """One failed task: the position of its row, the kind of error, its text and its traceback.

    Attributes
    ----------
    position, kind, message
        Which row, and the error's class and text.
    details
        Its traceback.

    >>> print(Failure.of(3, RuntimeError("no answer")))
    row 3: RuntimeError: no answer
    """

    position: int
    kind: str
    message: str
    details: str = ""

    @classmethod
    def of(cls, position: int, error: BaseException) -> "Failure":
        """Describe an exception as plain text, which survives any pickling or storing."""
        details = "".join(traceback.format_exception(error))
        return cls(position, type(error).__name__, str(error), details)

    def __str__(self) -> str:
        return f"row {self.position}: {self.kind}: {self.message}"


class ExecutionError(FireassayError):
    """Some tasks of a run failed; the others are finished (and journalled, with a store).

    Attributes
    ----------
    failures
        One `Failure` for each failed task, in the order of the rows.
    """

    def __init__(
        self,
        expected: str,
        *,
        got: str | None = None,
        do: str | None = None,
        failures: Sequence[Failure] = (),
    ) -> None:
        super().__init__(expected, got=got, do=do)
        self.failures = tuple(failures)

    @classmethod
    def listing(cls, failures: Sequence[Failure], total: int, name: str) -> "ExecutionError":
        """The error for ``failures`` among ``total`` tasks."""
        shown = "; ".join(str(failure) for failure in failures[:_MOST_LISTED])
        more = len(failures) - _MOST_LISTED
        return cls(
            f"All {total} tasks{f' of {name}' if name else ''} must finish.",
            got=f"{len(failures)} failed ({shown}{f'; and {more} more' if more > 0 else ''})",
            do="Mend the cause and run again: with a run store, finished tasks are kept.",
            failures=failures,
        )
