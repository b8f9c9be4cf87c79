"""How a server wants to be asked, and where its answer lies: a JSON template and a path."""

import json
import re
from dataclasses import dataclass
from typing import Any, Final

from fireassay.core.errors import ModelError, ParameterError, ProbabilityError

ROWS, ROW = "{rows}", "{row}"
_STEP: Final = re.compile(r"\.?([^.\[\]]+)|\[(\d+|\*)\]")


@dataclass(frozen=True)
class Template:
    """A request with a place for the rows, and the path of the scores in the answer.

    Parameters
    ----------
    request
        JSON with ``{rows}`` (all rows of a block, a list of lists) or ``{row}`` (one row, then
        every row is a request of its own) where the numbers go.
    answer
        A path such as ``"scores"``, ``"outputs[0].data"`` or ``"predictions[*].scores"``; empty or
        ``"$"`` for the whole answer. Text found there is read as JSON, as chat models answer.

    >>> template = Template('{"inputs": {rows}}', "result.scores")
    >>> template.body([[1.0, 2.0]])
    b'{"inputs": [[1.0, 2.0]]}'
    >>> template.found({"result": {"scores": [[0.1, 0.9]]}})
    [[0.1, 0.9]]
    """

    request: str = '{"instances": {rows}}'
    answer: str = "predictions"

    def __post_init__(self) -> None:
        places = self.request.count(ROWS) + self.request.count(ROW)
        try:
            json.loads(self.request.replace(ROWS, "[]").replace(ROW, "[]"))
        except json.JSONDecodeError as failure:
            raise ParameterError(
                "The 'request' of a server must be JSON with {rows} or {row} in it, e.g. "
                '{"inputs": {rows}}.',
                got=f"{self.request!r} ({failure})",
            ) from failure
        if places != 1:
            raise ParameterError(
                "The 'request' of a server must have {rows} or {row} in it, once.",
                got=f"{self.request!r}",
            )
        self._steps()

    @property
    def one_by_one(self) -> bool:
        """Whether every row is a request of its own."""
        return ROW in self.request

    def body(self, rows: list[Any]) -> bytes:
        """The request for some rows; for one row if the template says so."""
        place, content = (ROW, rows[0]) if self.one_by_one else (ROWS, rows)
        return self.request.replace(place, json.dumps(content, allow_nan=False)).encode()

    def found(self, answer: Any) -> Any:
        """What lies at the path, one entry per row.

        Raises
        ------
        ModelError
            If there is nothing at the path; the message says what there is.
        """
        value = _at(answer, self._steps(), "$")
        if isinstance(value, str):
            try:
                value = json.loads(value)
            except (json.JSONDecodeError, RecursionError) as failure:
                raise ProbabilityError(
                    f"Text at {self.answer!r} in a server's answer must be JSON with numbers.",
                    got=repr(value[:80]),
                ) from failure
        return [value] if self.one_by_one else value

    def _steps(self) -> list[str | int]:
        path = self.answer.strip().removeprefix("$")
        steps: list[str | int] = []
        place = 0
        while place < len(path):
            step = _STEP.match(path, place)
            if step is None:
                raise ParameterError(
                    "The 'answer' of a server must be a path such as outputs[0].data.",
                    got=repr(self.answer),
                )
            key, index = step.groups()
            steps.append(key if key is not None else index if index == "*" else int(index))
            place = step.end()
        return steps


def _at(value: Any, steps: list[str | int], here: str) -> Any:
    if not steps:
        return value
    step, rest = steps[0], steps[1:]
    if step == "*" and isinstance(value, list):
        return [_at(item, rest, f"{here}[{i}]") for i, item in enumerate(value)]
    if isinstance(step, int) and isinstance(value, list) and step < len(value):
        return _at(value[step], rest, f"{here}[{step}]")
    if isinstance(step, str) and isinstance(value, dict) and step in value:
        return _at(value[step], rest, f"{here}.{step}")
    there = f"a list of {len(value)}" if isinstance(value, list) else type(value).__name__
    if isinstance(value, dict):
        there = f"the keys {', '.join(map(repr, list(value)[:8]))}"
    raise ModelError(
        f"A server's answer must have {step!r} at {here}.",
        got=there,
        do="Say where the scores are: answer= (in TOML: [model.http] answer).",
    )
