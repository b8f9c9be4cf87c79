"""The reference lists exactly what packages call public, each with an example that runs."""

import importlib.util
import inspect
import re
import sys
import tomllib
from pathlib import Path

import pytest

pytest.importorskip("torch")  # networks are public, too

pytestmark = pytest.mark.extras
ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def script(name):
    spec = importlib.util.spec_from_file_location(f"docs_{name}", DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


api = script("api")
PUBLIC = [(name, own, thing) for name in api.PACKAGES for own, thing in api.public(name)]


def test_every_package_says_what_is_public():
    folders = {file.parent.name for file in (ROOT / "src" / "fireassay").glob("*/__init__.py")}
    assert folders == {*api.PACKAGES, *api.WITHOUT_PAGE}
    for name in folders:
        listed = api.package(name).__all__
        assert len(set(listed)) == len(listed), name


def test_pages_are_current():
    written = api.written()
    assert {file.name for file in written} == {file.name for file in api.PAGES.glob("*.md")}
    stale = [file.name for file, text in written.items() if file.read_text() != text]
    assert not stale, "python docs/api.py --write"


def test_what_is_documented_is_what_is_public_and_nothing_else():
    pages = "\n".join(page.read_text() for page in DOCS.rglob("*.md"))
    documented = re.findall(r"^::: (\S+)$", pages, re.MULTILINE)
    expected = [f"fireassay.{name}.{own}" for name, own, _ in PUBLIC]
    of_the_whole = [d for d in documented if d.count(".") == 1]
    assert sorted(documented) == sorted(expected + of_the_whole)
    import fireassay

    assert {d.removeprefix("fireassay.") for d in of_the_whole} <= set(fireassay.__all__)


def test_every_page_can_be_reached():
    named = set(re.findall(r"api/(\w+\.md)", (ROOT / "mkdocs.yml").read_text()))
    assert named == {file.name for file in api.PAGES.glob("*.md")}


@pytest.mark.parametrize(
    "thing", [pytest.param(thing, id=f"{name}.{own}") for name, own, thing in PUBLIC]
)
def test_every_function_and_class_says_what_it_is(thing):
    if inspect.isclass(thing) or inspect.isfunction(thing):
        own = thing.__doc__ or ""
        generated = inspect.isclass(thing) and own.startswith(f"{thing.__name__}(")
        assert own.strip()
        assert not generated  # a dataclass without a docstring gets its signature
        assert thing.__module__.startswith("fireassay."), "the doctest step would not see it"


@pytest.mark.parametrize(
    "function",
    [pytest.param(f, id=f"{name}.{own}") for name, own, f in PUBLIC if inspect.isfunction(f)],
)
def test_every_parameter_is_described(function):
    assert api.described(function) == set(inspect.signature(function).parameters)


def test_examples_that_are_missing_are_listed_and_no_others():
    listed = tomllib.loads((DOCS / "api_examples.toml").read_text())
    assert api.owed() == listed["owed"]
    for name, reason in listed["impossible"].items():
        package, own = name.split(".")
        assert own in api.package(package).__all__, name
        assert not api.has_example(getattr(api.package(package), own)), name
        assert reason
