"""Tables of the docs that are made from the code: ``python docs/tables.py --write``.

A page says where a table comes from, in a comment before it:

    <!-- registry: fireassay.ambiguity:PRESETS -->
    <!-- measures: fireassay.ambiguity:MEASURES -->

Without ``--write`` it only says which tables are not current, and ends with code 1 if any is.
"""

import importlib
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
_MARK = re.compile(r"(<!-- (\w+): ([\w.]+):(\w+) -->\n)((?:\|.*\n)*)")


def _registry(registry: Any) -> str:
    return str(registry.markdown())


def _measures(measures: Any) -> str:
    lines = ["| number | what people read | unit | better | meaning |", "|---|---|---|---|---|"]
    lines += [f"| `{m.name}` | {m.label} | {m.unit} | {m.better} | {m.meaning} |" for m in measures]
    return "\n".join(lines)


KINDS: dict[str, Callable[[Any], str]] = {"registry": _registry, "measures": _measures}


def current(text: str) -> str:
    """A page with every marked table as the code has it now."""

    def table(found: re.Match[str]) -> str:
        mark, kind, module, name, _ = found.groups()
        return f"{mark}{KINDS[kind](getattr(importlib.import_module(module), name))}\n"

    return _MARK.sub(table, text)


def pages() -> list[Path]:
    """Pages that may have tables."""
    return sorted(DOCS.rglob("*.md"))


def main(write: bool) -> int:
    """Show, or mend, what is not current."""
    stale = [page for page in pages() if current(page.read_text()) != page.read_text()]
    for page in stale:
        state = "written" if write else "a table is not current"
        sys.stdout.write(f"{page.relative_to(DOCS)}: {state}\n")
        if write:
            page.write_text(current(page.read_text()))
    return 0 if write else int(bool(stale))


if __name__ == "__main__":
    sys.exit(main("--write" in sys.argv[1:]))
