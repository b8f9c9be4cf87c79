"""Pages of the reference, made from what packages call public: ``python docs/api.py --write``.

A page lists exactly the names in its package's ``__all__``. ``python docs/api.py --owed`` prints
the public functions and classes that have no example yet, as the list in ``api_examples.toml``.
Without an option it says which pages are not current, and ends with code 1 if any is.
"""

import importlib
import inspect
import re
import sys
import tomllib
import typing
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

PAGES = Path(__file__).parent / "api"
EXAMPLES = Path(__file__).parent / "api_examples.toml"
PACKAGES = (
    "curation", "ambiguity", "supervision", "discovery", "reliability", "survival",
    "classifiers", "data", "attacks", "networks", "statistics", "engine", "report", "assessment",
    "core", "web",
)  # fmt: skip
_ABOUT = (
    "What `import fireassay as fa` offers, and a page for each package. Results have `.frame()`, "
    "`.charts()`, `.summary()` and `.save(path)`; those that answer a question also `.evidence()`."
)
WITHOUT_PAGE = ("cli", "papers")  # a program; what only repeats the papers' tables


def package(name: str) -> ModuleType:
    """One of ours."""
    return importlib.import_module(f"fireassay.{name}")


def public(name: str) -> list[tuple[str, Any]]:
    """The public names of a package with what they stand for, as a reader looks for them."""
    module = package(name)
    return [(own, getattr(module, own)) for own in sorted(module.__all__, key=str.lower)]


def page(name: str) -> str:
    """The page of one package: what it is, a table of its names, then each of them."""
    about = (package(name).__doc__ or "").strip()
    named = public(name)
    lines = [f"# {name}", "", about, "", "| name | what it is |", "|---|---|"]
    lines += [f"| [`{own}`](#fireassay.{name}.{own}) | {_said(thing)} |" for own, thing in named]
    for own, _ in named:
        lines += ["", f"::: fireassay.{name}.{own}"]
    return "\n".join(lines) + "\n"


def index() -> str:
    """What ``import fireassay as fa`` offers, with links to where each is described."""
    import fireassay

    here: list[str] = []
    lines = [
        "# fireassay",
        "",
        _ABOUT,
        "",
        "| name | what it is |",
        "|---|---|",
    ]
    for own in sorted(fireassay.__all__, key=str.lower):
        thing = getattr(fireassay, own)
        home = _home(own, thing)
        page = f"{home}.md#fireassay.{home}.{own}" if home else f"#fireassay.{own}"
        link = f"[`{own}`]({page})" if home or callable(thing) else f"`{own}`"
        if callable(thing) and home is None:
            here += ["", f"::: fireassay.{own}"]
        lines.append(f"| {link} | {_said(thing)} |")
    lines += ["", "| package | what it is |", "|---|---|"]
    lines += [
        f"| [`{name}`]({name}.md) | {_first_line(package(name).__doc__)} |" for name in PACKAGES
    ]
    return "\n".join(lines + here) + "\n"


def written() -> dict[Path, str]:
    """Every page of the reference by its file."""
    return {PAGES / "index.md": index()} | {PAGES / f"{p}.md": page(p) for p in PACKAGES}


def _home(own: str, thing: Any) -> str | None:
    """The package whose page describes a name of the whole."""
    for name in PACKAGES:
        if own in package(name).__all__ and getattr(package(name), own) is thing:
            return name
    return None


def _said(thing: Any) -> str:
    if callable(thing):
        return _first_line(inspect.getdoc(thing))
    if hasattr(thing, "markdown"):
        return f"the table of every {thing.kind}: {', '.join(f'`{key}`' for key in thing)}"
    if isinstance(thing, str | int | float):
        return f"`{thing!r}`"
    return "a constant"


def _first_line(text: str | None) -> str:
    return (text or "").strip().split("\n")[0].replace("|", "\\|")


# Examples -------------------------------------------------------------------------------------


def owed() -> dict[str, list[str]]:
    """Public functions and classes that lack an example and could have one, by package."""
    impossible = tomllib.loads(EXAMPLES.read_text())["impossible"]
    made = {cls for name in PACKAGES for _, thing in public(name) for cls in _returned(thing)}
    missing = {
        name: [
            own
            for own, thing in public(name)
            if _needs(thing, made) and not has_example(thing) and f"{name}.{own}" not in impossible
        ]
        for name in PACKAGES
    }
    return {name: names for name, names in missing.items() if names}


def _needs(thing: Any, made: set[type]) -> bool:
    """Whether an example is due.

    None for constants, errors and protocols; a result that a public function with an example
    returns is shown there.
    """
    if inspect.isclass(thing):
        protocol = getattr(thing, "_is_protocol", False)
        return not (issubclass(thing, BaseException) or protocol or thing in made)
    return inspect.isfunction(thing)


def _returned(thing: Any) -> Iterator[type]:
    """Classes that a function, or a method of a class, gives back, if it has an example."""
    functions = [thing] if inspect.isfunction(thing) else []
    if inspect.isclass(thing) and has_example(thing):
        functions = [f for n, f in inspect.getmembers(thing, inspect.isfunction) if n[0] != "_"]
    for function in functions:
        if inspect.isclass(thing) or has_example(function):
            yield from _classes(inspect.signature(function).return_annotation, function)


def _classes(annotation: Any, function: Any) -> Iterator[type]:
    if isinstance(annotation, str):  # of several classes each name counts
        known = (function.__globals__.get(name) for name in re.findall(r"\w+", annotation))
        yield from (found for found in known if inspect.isclass(found))
        return
    if inspect.isclass(annotation):
        yield annotation
    for inner in typing.get_args(annotation):
        yield from _classes(inner, function)


def has_example(thing: Any) -> bool:
    """Whether a doctest is in the docstring, or in that of a public method of a class."""
    if ">>> " in (inspect.getdoc(thing) or ""):
        return True
    if not inspect.isclass(thing):
        return False
    members = [member for name, member in vars(thing).items() if not name.startswith("_")]
    described = (FunctionType, classmethod, staticmethod, property, cached_property)
    return any(">>> " in (m.__doc__ or "") for m in members if isinstance(m, described))


def described(thing: Any) -> set[str]:
    """Names in the section "Args" (or, with a line below it, "Parameters") of a docstring."""
    text = inspect.getdoc(thing) or ""
    section = re.search(r"^Args:\n((?:    .*\n?)+)", text, re.MULTILINE)
    if section:
        entries = re.findall(r"^ {4}(\S[^:]*):", section[1], re.MULTILINE)
    else:
        below = r"^Parameters\n-+\n(.*?)(?=^[^\n]+\n-+\n|^>>>|\Z)"
        section = re.search(below, text, re.MULTILINE | re.DOTALL)
        entries = re.findall(r"^\S.*", section[1], re.MULTILINE) if section else []
    return {name.strip() for entry in entries for name in entry.split(",")}


def main(options: list[str]) -> int:
    """Show or mend the pages, or print what is owed."""
    if "--owed" in options:
        for name, names in owed().items():
            listed = "".join(f'    "{own}",\n' for own in names)
            sys.stdout.write(f"{name} = [\n{listed}]\n")
        return 0
    stale = [f for f, text in written().items() if not f.exists() or f.read_text() != text]
    stale += [f for f in sorted(PAGES.glob("*.md")) if f not in written()]
    for file in stale:
        state = "written" if "--write" in options else "not current"
        sys.stdout.write(f"{file.name}: {state}\n")
        if "--write" in options and file in written():
            file.write_text(written()[file])
        elif "--write" in options:
            file.unlink()
    return 0 if "--write" in options else int(bool(stale))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
