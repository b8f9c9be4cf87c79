"""Tables of what can be named: adding a thing is one file and one row."""

import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol, TypeVar

from fireassay.core.errors import ParameterError


class Row(Protocol):
    """What every row has: the name people type, and what it is in a few words."""

    @property
    def name(self) -> str:
        """What people type."""
        ...

    @property
    def summary(self) -> str:
        """What it is, in a few words."""
        ...


R = TypeVar("R", bound=Row)


class Registry(Mapping[str, R]):
    """Rows by name; help texts, configuration comments, docs tables and checks are made from it."""

    def __init__(self, kind: str, rows: Iterable[R] = ()) -> None:
        self.kind = kind
        self._rows: dict[str, R] = {}
        for row in rows:
            self.register(row)

    def register(self, row: R) -> R:
        """Add a row; a name that is taken is refused. Usable as a decorator of a class."""
        if row.name in self._rows:
            raise ParameterError(f"Every {self.kind} needs a name of its own.", got=repr(row.name))
        self._rows[row.name] = row
        return row

    def unregister(self, name: str) -> R:
        """Take a row back; the name is free again."""
        row = self[name]
        del self._rows[name]
        return row

    def __getitem__(self, name: str) -> R:
        if name not in self._rows:
            near = difflib.get_close_matches(str(name), self._rows, n=1)
            raise ParameterError(
                f"The {self.kind} must be one of {self.listed()}.",
                got=repr(name),
                do=f"Did you mean {near[0]}?" if near else None,
            )
        return self._rows[name]

    def __contains__(self, name: object) -> bool:
        return name in self._rows

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def listed(self) -> str:
        """The names in one line, for help texts and messages."""
        return ", ".join(self._rows)

    def markdown(self) -> str:
        """The table for the docs: names, summaries, and the rows' ``facts`` if they have any."""
        facts = {row.name: dict(getattr(row, "facts", {})) for row in self.values()}
        more = list(dict.fromkeys(key for own in facts.values() for key in own))
        lines = [f"| {' | '.join([self.kind, 'what it is', *more])} |"]
        lines.append("|---" * (2 + len(more)) + "|")
        for row in self.values():
            cells = [f"`{row.name}`", row.summary, *(facts[row.name].get(key, "") for key in more)]
            lines.append(f"| {' | '.join(cells)} |")
        return "\n".join(lines)
