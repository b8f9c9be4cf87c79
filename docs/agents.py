"""``llms.txt`` and ``AGENTS.md`` from the docs and the commands: ``python docs/agents.py --write``.

Without an option it says which of them is not current, and ends with code 1 if any is.
"""

import re
import sys
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
ROOT = DOCS.parent


def first_sentence(page: Path) -> str:
    """The first sentence of a page below its title."""
    whole = page.read_text(encoding="utf-8")
    lines = re.sub(r"\A---\n.*?\n---\n", "", whole, flags=re.S).splitlines()
    text = next(
        (line for line in lines if line and not line.startswith(("#", "<", "!", "[", "`", "|"))), ""
    )
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.split(r"(?<=[.!?]) ", plain.replace("*", ""))[0]


def pages(items: list[Any], depth: int = 2) -> list[str]:
    """The navigation of the docs as headings and links, each with a sentence."""
    lines: list[str] = []
    for item in items:
        if isinstance(item, str):  # the first page of a section
            item = {"Overview": item}
        ((title, inner),) = item.items()
        if isinstance(inner, list):
            lines += ["", f"{'#' * min(depth, 3)} {title}", "", *pages(inner, depth + 1)]
        else:
            lines.append(f"- [{title}](docs/{inner}): {first_sentence(DOCS / inner)}")
    return lines


def llms() -> str:
    """What the documentation has, for programs that read text."""
    import yaml

    text = re.sub(r"!!python/\S+", "", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    nav = yaml.safe_load(text)["nav"]
    summary = first_sentence(DOCS / "index.md")
    return "\n".join(["# fireassay", "", f"> {summary}", "", *pages(nav)]).rstrip() + "\n"


def agents() -> str:
    """How to use and how to change fireassay, for programs that work in a terminal."""
    import typer

    from fireassay.cli.main import QUESTIONS, VERBS, app

    known = typer.main.get_command(app).commands
    rows = [
        f"| `fireassay {name}` | {known[name].get_short_help_str(limit=200)} |"
        for name in (*VERBS, *QUESTIONS)
    ]
    return "\n".join(
        [
            "# fireassay for programs in a terminal",
            "",
            "Every command has `--help` with an example, `--json` and `--quiet`. Exit codes of",
            "`check` and `judge`: 0 pass, 1 a limit is not met, 2 usage, 3 not enough evidence.",
            "`fireassay schema result` prints the JSON schema of `result.json`.",
            "",
            "| command | what it does |",
            "|---|---|",
            *rows,
            "",
            "Start with `fireassay judge predictions.csv` or `fireassay demo`. The documentation",
            "is listed in `llms.txt`. Whoever changes the code reads `CONTRIBUTING.md`:",
            "`make test` runs the fast tests, `make lint` the checks, `.ci/run` everything.",
            "",
        ]
    )


def written() -> dict[Path, str]:
    """Each file with the content that it should have."""
    return {ROOT / "llms.txt": llms(), ROOT / "AGENTS.md": agents()}


if __name__ == "__main__":
    files = written()
    stale = [f for f, text in files.items() if not f.is_file() or f.read_text() != text]
    for file in stale:
        if "--write" in sys.argv:
            file.write_text(files[file], encoding="utf-8")
        print(f"{file.name}: {'written' if '--write' in sys.argv else 'not current'}")
    sys.exit(1 if stale and "--write" not in sys.argv else 0)
